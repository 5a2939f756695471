"""Neighbour, snowball and forest fire sampling: what the caller sees of traversal sampling.

Sources: Pandey et al., c-saw, Section II-A and Table I; Hamilton, Ying, Leskovec, Inductive representation learning on
large graphs (2017); Stivala et al., Snowball sampling for estimating exponential random graph models for large networks
(2016); Leskovec, Faloutsos, Sampling from large graphs (2006).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, overload

import numpy as np

from graphdask.device.arrays import is_array
from graphdask.device.limits import refuse_beyond_memory
from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph, checked_graph
from graphdask.graph.type_names import EdgeType
from graphdask.graph.typed import TypedGraph
from graphdask.interface.kinds import checked_seed, choice, whole
from graphdask.interface.parameters import documented
from graphdask.partition.given import given_array, given_sequence, plain_numbers
from graphdask.partition.vertex_map import index_dtype
from graphdask.sample.biases import checked_bias
from graphdask.sample.fanouts import COLLISIONS, METHODS, REDRAWN
from graphdask.sample.neighborhoods import Neighborhoods
from graphdask.sample.sampler import Placement, checked_edge_rows, drawn, numbered, sampled
from graphdask.sample.traversal import Traversal
from graphdask.sample.typed import TypedNeighborhoods, drawn_by_type, sizes_by_type, typed_ids

DIRECTIONS = ("out", "in")


@overload
def neighbors(G: TypedGraph, *arguments: Any, **options: Any) -> TypedNeighborhoods: ...


@overload
def neighbors(G: Graph, *arguments: Any, **options: Any) -> Neighborhoods: ...


@documented
def neighbors(
    G: Graph,
    seeds: Any,
    fanouts: Sequence[int] = (10, 10),
    *,
    replace: bool = False,
    bias: str | None = None,
    direction: str = "out",
    method: str = "auto",
    collisions: str = "auto",
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> Neighborhoods | TypedNeighborhoods:
    """Neighbour sampling: a fixed number of neighbours of every vertex reached, hop by hop.

    A vertex is expanded at most once in an instance, at the hop that reaches it first. A vertex with fewer neighbours
    than asked for gives all of them, in the order of their ids; one without any gives none, and a seed without any is
    an instance without edges. Parallel edges count as often as they are there.

    Parameters
    ----------
    G : Graph
    seeds : array of vertex ids, shape (k,), or sequence of arrays
        With an array, every seed is an instance of its own; with a sequence of arrays, each array is the seeds of one
        instance. A seed that stands twice in an instance counts once. Of a TypedGraph a pair of their type and such an
        array or sequence.
    fanouts : sequence of int, or mapping of types of edges to such
        Neighbours of a vertex at each hop; -1 for all of them. Of a TypedGraph along the edges of each type; a mapping
        has numbers for every type.
    replace : bool
        Whether an edge may be drawn again; then a vertex that has neighbours gives exactly as many as asked for.
    bias : {None, "weight", "degree"}
        What a neighbour is drawn in proportion to: nothing, the weight of the edge, or the number of the neighbour's
        own edges in `direction`. Without replacement, in proportion among those that are left. An edge of bias 0 is
        like none. Floats are rounded to multiples of a power of two, about 2^(59 - b) of which are a row of d edges,
        where b is the bits of d; none above 0 comes below one multiple.
    direction : {"out", "in"}
        Whether edges are followed or gone against.
    method : {"auto", "repeated", "updated", "bipartite", "reservoir"}
        How draws without replacement avoid what is drawn already; the law is the same, but not the edges. `auto`: by
        Floyd's algorithm without a bias; with one, by up to 8 redraws, then among what is left; for rows of up to 32
        edges, and where more than 32 are asked for, among what is left at once. `repeated`: redraw until it is new.
        `updated`: among what is left. `bipartite`: a second number for the regions on either side of what is drawn
        already, then redraw. Where 128 redraws were in vain, these two go on among what is left. `reservoir`: in one
        pass over all edges of the vertex, without a bias by Algorithm R, with one by exponential keys, of which the
        smallest are taken.
    collisions : {"auto", "linear", "bitmap", "strided"}
        How `repeated` and `bipartite` see that something is drawn already; the edges are the same. `linear`: a search
        among what is drawn. `bitmap`: a bit for each edge of the vertex. `strided`: so that the bits of edges that
        follow each other are in different words, which threads of a GPU set without waiting for each other. `auto`:
        `linear` where up to 32 are asked for, else `strided`. On a GPU the bits for up to 32 neighbours are 64 in a
        register, each for several edges of longer rows, which are searched where it is set.

    Returns
    -------
    Neighborhoods
        `src`, `dst`, `hop`, `instance`: a row for each edge. `nodes`, `node_offsets`, `row`, `col`, `edge_offsets`:
        the same with the vertices of each instance numbered from 0 on, as loaders of PyTorch Geometric do.
    TypedNeighborhoods
        Of a TypedGraph: `nodes`, `row`, `col` and others by type. What is drawn for a vertex along edges of one type
        does not depend on the other types.

    Raises
    ------
    VertexNotFound
        For a seed that is no vertex.
    InputError
        For fan-outs that are no whole numbers of -1 or more, an unknown name, a bias by weight of a graph without
        weights, a weight that is negative or infinite, or whole numbers that add up to 2^59 or more at a vertex.

    References
    ----------
    Pandey et al., c-saw: A Framework for Graph Sampling and Random Walk on GPUs, SC 2020, Sections II-A and IV.
    Bentley, Floyd, Programming pearls: a sample of brilliance, CACM 30 (1987).

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    >>> s = gd.sample.neighbors(G, [0, 3], fanouts=[2, 1])
    >>> s.src.tolist(), s.dst.tolist(), s.hop.tolist(), s.instance.tolist()
    ([0, 0, 1, 2], [1, 2, 3, 3], [0, 0, 1, 1], [0, 0, 0, 0])
    >>> s.nodes.tolist(), s.node_offsets.tolist()
    ([0, 1, 2, 3, 3], [0, 4, 5])
    """
    checked_graph(G)
    if isinstance(G, TypedGraph):
        vertex_type, ids = typed_ids(G, "seeds", seeds)
        numbers, begins = typed_seeds(G, vertex_type, ids)
        options_of = typed_options(G, fanouts, "fanouts", replace, bias, direction, method, seed)
        for of_type in options_of.values():
            of_type["collisions"] = checked_collisions(collisions, method)
        with_rows = checked_edge_rows(edge_rows)

        def draw(graph: Graph, sampler: Traversal) -> Neighborhoods:
            found: Neighborhoods = drawn(graph, numbered(sampler, with_rows), placement, client, progress)
            return found

        return drawn_by_type(G, {vertex_type: (numbers, begins)}, options_of, draw)
    flat, bounds = checked_seeds(G, seeds)
    options = checked_options(G, checked_sizes(fanouts, "fanouts", -1), replace, bias, direction, method, seed)
    options["collisions"] = checked_collisions(collisions, method)
    found: Neighborhoods = sampled(
        G, numbered(Traversal(flat, bounds, **options), edge_rows), placement, client, progress
    )
    return found


def checked_options(
    G: Graph, sizes: tuple[int, ...], replace: Any, bias: Any, direction: Any, method: Any, seed: Any
) -> dict[str, Any]:
    """Arguments of Traversal, of those of `neighbors`."""
    if not isinstance(replace, bool | np.bool_):
        raise InputError(f"replace={shown(replace)} is neither True nor False")
    if replace and any(size < 0 for size in sizes):
        raise InputError("with replace=True a number of neighbours is needed; -1 stands for all of them, each once")
    choice("method", method, METHODS)
    if replace and method != "auto":
        raise InputError(f"method={shown(method)} is a way to draw without replacement; leave it out with replace=True")
    return {
        "fanouts": sizes, "replace": bool(replace), "bias": checked_bias(G, bias), "method": method,
        "seed": checked_seed(seed), "direction": choice("direction", direction, DIRECTIONS),
    }  # fmt: skip


def typed_seeds(G: TypedGraph, vertex_type: str, ids: Any) -> tuple[np.ndarray, np.ndarray]:
    """Vertex numbers of the seeds of all instances, int64, and where those of each begin; each once in its instance."""
    arrays = arrays_of_seeds(ids)
    if isinstance(arrays, list):
        numbers: Any = [G.number(vertex_type, array) for array in arrays]
    else:
        numbers = G.number(vertex_type, arrays)
    flat, bounds = checked_seeds(G, numbers)
    return flat.astype(np.int64), np.arange(len(flat) + 1) if bounds is None else bounds


def typed_options(
    G: TypedGraph, fanouts: Any, name: str, replace: Any, bias: Any, direction: Any, method: Any, seed: Any,
    graphs: Mapping[EdgeType, Graph] | None = None,
) -> dict[EdgeType, dict[str, Any]]:  # fmt: skip
    """Arguments of Traversal for each type of edges; bias may be one for each, and `graphs` have the weights."""
    sizes = sizes_by_type(G, fanouts, name, checked_sizes)
    return {
        kind: checked_options(
            G.of_type(kind) if graphs is None else graphs[kind], of_type, replace,
            bias[kind] if isinstance(bias, Mapping) else bias, direction, method, seed,
        )
        for kind, of_type in sizes.items()
    }  # fmt: skip


def checked_collisions(collisions: Any, method: str) -> Any:
    """How what is drawn already is seen; refuse it of a method that does not come upon such."""
    if choice("collisions", collisions, COLLISIONS) != "auto" and method not in REDRAWN:
        raise InputError(
            f"collisions={collisions!r} is how method='repeated' and 'bipartite' see what is drawn already; "
            f"method={shown(method)} does without"
        )
    return collisions


@documented
def snowball(
    G: Graph,
    seeds: Any,
    depth: int,
    *,
    direction: str = "out",
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> Neighborhoods:
    """Snowball sampling: all neighbours of every vertex reached, up to a depth. Nothing is drawn at random.

    Parameters
    ----------
    G : Graph
    seeds : array of vertex ids, or sequence of arrays
        As for `neighbors`.
    depth : int
        Hops.
    direction : {"out", "in"}

    Returns
    -------
    Neighborhoods

    Raises
    ------
    VertexNotFound
        For a seed that is no vertex.
    InputError
        For a depth that is no whole number of 0 or more, or an unknown name.

    References
    ----------
    Stivala, Koskinen, Rolls, Wang, Robins, Social Networks 47 (2016); Pandey et al., c-saw, Section II-A.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 3])
    >>> gd.sample.snowball(G, [0], depth=2).dst.tolist()
    [1, 2]
    """
    checked_graph(G)
    flat, bounds = checked_seeds(G, seeds)
    sampler = Traversal(
        flat, bounds, (-1,) * checked_depth(depth), seed=0,
        direction=choice("direction", direction, DIRECTIONS),
    )  # fmt: skip
    return sampled(G, numbered(sampler, edge_rows), placement, client, progress)


@documented
def forest_fire(
    G: Graph,
    seeds: Any,
    p: float = 0.7,
    depth: int = 2,
    *,
    bias: str | None = None,
    direction: str = "out",
    method: str = "auto",
    collisions: str = "auto",
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> Neighborhoods:
    """Forest fire sampling: every vertex reached burns a random number of its edges, p / (1 - p) in the mean.

    The number is geometric: one edge more with probability p, again and again, as long as there are any. Which edges
    burn is drawn without replacement.

    Parameters
    ----------
    G : Graph
    seeds : array of vertex ids, or sequence of arrays
        As for `neighbors`.
    p : float
        Probability of burning forward, 0 <= p < 1.
    depth : int
        Hops.
    bias : {None, "weight", "degree"}
        What edges burn in proportion to; as for `neighbors`.
    direction : {"out", "in"}
    method, collisions
        How those that burn are drawn; as for `neighbors`.

    Returns
    -------
    Neighborhoods

    Raises
    ------
    VertexNotFound
        For a seed that is no vertex.
    InputError
        For p out of its range, a depth that is no whole number of 0 or more, an unknown name, or weights that make no
        biases.

    References
    ----------
    Leskovec, Faloutsos, Sampling from large graphs, KDD 2006; Pandey et al., c-saw, Section II-A.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 3])
    >>> gd.sample.forest_fire(G, [0], p=0.999, depth=2, seed=1).dst.tolist()
    [1, 2]
    """
    checked_graph(G)
    flat, bounds = checked_seeds(G, seeds)
    if isinstance(p, bool) or not isinstance(p, int | float | np.number) or not 0 <= p < 1:
        raise InputError(f"p={shown(p)} is not a probability of burning on, 0 or more and below 1")
    hops = checked_depth(depth)
    burn = int(Fraction(float(p)) * 2**64)
    sampler = Traversal(
        flat, bounds, (0 if burn == 0 else -1,) * hops, bias=checked_bias(G, bias), seed=checked_seed(seed), burn=burn,
        direction=choice("direction", direction, DIRECTIONS), method=choice("method", method, METHODS),
        collisions=checked_collisions(collisions, method),
    )  # fmt: skip
    sampler.name = "forest fire sampling"
    return sampled(G, numbered(sampler, edge_rows), placement, client, progress)


def checked_seeds(G: Graph, seeds: Any, name: str = "seeds") -> tuple[np.ndarray, np.ndarray | None]:
    """Vertex numbers of the seeds of all instances, and where those of each begin; each once in its instance.

    The numbers are of the index dtype. None for where they begin says that each is an instance of its own. `name` is
    that of the argument, a plural.
    """
    index, one = index_dtype(G.num_vertices), {"vertices": "vertex"}.get(name, name.removesuffix("s"))
    arrays = arrays_of_seeds(seeds, name)
    if not isinstance(arrays, list):
        numbers = G.ids.to_internal(arrays, one, copy=False) if arrays.size else np.zeros(0, np.int64)
        return numbers.astype(index), None
    lengths = [len(array) for array in arrays]
    instance, filled = np.repeat(np.arange(len(arrays)), lengths), [array for array in arrays if len(array)]
    if len({array.dtype for array in filled}) == 1:
        flat = G.ids.to_internal(np.concatenate(filled), one)
    else:  # not joined, or whole numbers could become others
        flat = np.concatenate([instance[:0], *(G.ids.to_internal(array, one) for array in filled)])
    order = np.lexsort((flat, instance))  # equal ones in the order given
    again = (np.diff(flat[order], prepend=-1) == 0) & (np.diff(instance[order], prepend=-1) == 0)
    first = np.sort(order[~again])
    return flat[first].astype(index, copy=False), np.searchsorted(instance[first], np.arange(len(arrays) + 1))


def arrays_of_seeds(seeds: Any, name: str = "seeds") -> np.ndarray | list[np.ndarray]:
    """The seeds as an array of one dimension; or, where each instance has several, a list of such arrays."""
    if is_array(seeds):
        array = given_array(name, seeds)
        if array.ndim != 1:
            raise InputError(f"{name} is an array of {array.ndim} dimensions; it has one, or is a list of arrays")
        if array.dtype != object or not any(_has_axes(name, of_one) for of_one in array):
            return array
        seeds = list(array)  # such as a Series of arrays
    numbers = plain_numbers(seeds) if type(seeds) in (list, tuple) else None
    if numbers is not None:
        return numbers
    each = (
        seeds
        if type(seeds) is range
        else given_sequence(name, seeds, "neither an array of vertices nor a list of arrays")
    )
    if not any(_has_axes(name, of_one) for of_one in _of_new_kinds(each)):
        return given_array(name, each)
    arrays = [given_array(f"{name}[{place}]", of_one) for place, of_one in enumerate(each)]
    if any([array.ndim != 1 for array in arrays]):
        raise InputError(f"{name} is a list of arrays, but not all of them have one dimension")
    return arrays


def _of_new_kinds(each: Sequence[Any]) -> Iterable[Any]:
    """The elements that are of no kind of single vertices."""
    if type(each) is range:
        return ()
    new = {kind for kind in set(map(type, each)) if not issubclass(kind, int | str | np.generic)}
    return (value for value in each if type(value) in new) if new else ()


def _has_axes(name: str, value: Any) -> bool:
    """Whether a seed is not one vertex, but several."""
    return given_array(name, value).ndim > 0


def checked_sizes(sizes: Any, name: str, least: int) -> tuple[int, ...]:
    """Whole numbers, one for each hop."""
    each = given_sequence(name, sizes, "not a sequence of whole numbers, one for each hop")
    return tuple(whole(f"{name}[{hop}]", size, least) for hop, size in enumerate(each))


def checked_depth(depth: Any) -> int:
    """Return the number of hops; refuse more than the host's memory can plan."""
    hops = whole("depth", depth, 0)
    refuse_beyond_memory(f"depth={hops:,} hops", 64 * hops, "give a smaller depth; none reaches farther than the graph")
    return hops
