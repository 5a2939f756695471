"""Minimum spanning forest: the lightest edges that join what can be joined, without a cycle.

Edges are ordered by weight and, where weights are equal, by their rows in what the caller gave. No two edges are equal
then, so the forest is one, and depends on neither the partitions nor the order of events. Each rank first finds the
forest of its own edges, because an edge that is the heaviest of a cycle there is not in the whole forest either. Of
many edges it takes the lightest ones first, and of the others only those that join two trees (as Filter-Kruskal does).
The edges that are left, fewer than the rank has vertices and ghosts, are contracted by all ranks (`_lightest`).

Sources: Boruvka (1926); Osipov, Sanders, Singler, The Filter-Kruskal minimum spanning tree algorithm (2009); Chung,
Condon, Parallel implementation of Boruvka's minimum spanning tree algorithm (1996).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms._lightest import Contraction, by_weight, lightest
from graphdask.device.backend import Array
from graphdask.display import terminal
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Inbox, Messages, Primitive
from graphdask.engine.owners import Owners, least_at, least_of_each
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.parameters import documented
from graphdask.interface.registry import algorithm
from graphdask.partition.neighbours import edge_blocks
from graphdask.partition.part import Part
from graphdask.results.edge_values import EdgesResult

LIGHT = 3
"""Edges for each vertex that are taken first."""
SAMPLE = 1 << 14
"""Weights from which the bound of the light edges is estimated."""


class SpanningForestResult(EdgesResult):
    """What `minimum_spanning_forest` returns. Its edges are in the order of their rows."""

    columns = ("label",)
    vertex_valued = ("label",)

    @property
    def label(self) -> np.ndarray:
        """The smallest id of the vertex's tree; shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("label")

    @property
    def weight(self) -> np.ndarray:
        """The weight of each edge, 1 without weights; shape (edges,)."""
        return self._of_edges("weight")

    @property
    def total_weight(self) -> float:
        """The sum of the weights: exact if they are integers, else rounded once."""
        weight = self.weight
        return sum(weight.tolist()) if weight.dtype.kind == "i" else math.fsum(weight)

    @property
    def num_trees(self) -> int:
        """The number of trees, a vertex without edges being one."""
        return self.graph.num_vertices - len(self.row)


class SpanningForest(Primitive[dict[str, Array]]):
    """The primitive, for undirected graphs. All is done in `init`, in which ranks ask each other."""

    name = "minimum spanning forest"
    columns: ClassVar[Mapping[str, Any]] = {}
    result_type = SpanningForestResult
    queues = False
    edge_rows = True
    needs_memory = "components join along edges in memory, until one is left; gd.connected_components(S) finds these"

    def memory(self, part: Part, allocation: Allocation) -> int:
        return 30 * part.out.num_edges + (80 if part.size == 1 else 200) * part.num_slots

    def init(self, part: Part, env: Environment) -> tuple[dict[str, Array], Messages]:
        owners, none = Owners(part, env), part.ids[:0]
        edges, root = _own_forest(part, env)
        one, other = owners.positions(edges.pop("one")), owners.positions(edges.pop("other"))
        if part.size > 1:
            joined = Contraction(part, env, one, other, edges["weight"], edges["row"])
            taken = []
            while (grown := joined.grow()) is not None:
                env.check_deadline(self.name)
                taken.append({name: column[grown["joins"]] for name, column in grown.items()})
            names = {name: joined.columns[name][:0] for name in joined.columns}
            edges = {name: env.xp.concatenate([none, *(each[name] for each in taken)]) for name, none in names.items()}
            one, other, root = edges["one"], edges["other"], joined.root
        ids = [part.vertex_map.to_id(env.backend, end) for end in (one, other)]
        found = {"source": env.xp.minimum(*ids), "destination": env.xp.maximum(*ids)}
        found |= {name: edges[name] for name in ("weight", "row")} | {"label": _labels(part, env, owners, root)}
        return found, Messages(none, none, {}, False, part.num_owned, part.out.num_edges)

    def superstep(self, part: Part, state: dict[str, Array], inbox: Inbox, env: Environment) -> Messages:
        raise AssertionError("nothing is sent")

    def result(self, part: Part, state: dict[str, Array], env: Environment) -> dict[str, Any]:
        return state


def _own_forest(part: Part, env: Environment) -> tuple[dict[str, Array], Array]:
    """The lightest forest of the edges that this rank has, and the root of each slot's tree."""
    xp, csr, weights = env.xp, part.out, part.out.weights
    root = xp.arange(part.num_slots, dtype=part.vertex_map.dtype)
    light, classes = 2 * LIGHT * part.num_slots, [(None, None)]
    if weights is not None and csr.num_edges > 2 * light:
        sample = np.sort(env.backend.to_host(weights[:: max(1, csr.num_edges // SAMPLE)]))
        bound = sample[len(sample) * light // csr.num_edges].item()
        classes = [(None, bound), (bound, None)]
    taken: list[dict[str, Array]] = []
    for above, most in classes:
        edges = _edges(part, env, root, above, most)
        order = by_weight(xp, edges["weight"], edges["row"])
        edges = {name: column[order] for name, column in edges.items()}
        places, root = lightest(xp, root, edges["one"], edges["other"])
        taken.append({name: column[places] for name, column in edges.items()})
    return {name: xp.concatenate([each[name] for each in taken]) for name in taken[0]}, root


def _edges(part: Part, env: Environment, root: Array, above: Any, most: Any) -> dict[str, Array]:
    """The edges of weights in a range that join two trees, each once on this rank."""
    xp, csr = env.xp, part.out
    assert csr.rows is not None
    none = csr.weights[:0] if csr.weights is not None else xp.zeros(0, np.int64)
    found = [{"one": csr.indices[:0], "other": csr.indices[:0], "weight": none, "row": csr.rows[:0]}]
    for block in edge_blocks(env.backend, part):
        begin, end = (int(csr.indptr[row]) for row in (block.first, block.last))
        weight = None if csr.weights is None else csr.weights[begin:end]
        kept = block.rows < block.slots
        if above is not None:
            kept &= weight > above
        if most is not None:
            kept &= weight <= most
        places = xp.flatnonzero(kept)
        one, other = block.rows[places], block.slots[places]
        if above is not None:
            apart = root[one] != root[other]
            places, one, other = places[apart], one[apart], other[apart]
        of = xp.ones(len(places), np.int64) if weight is None else weight[places]
        found.append({"one": one, "other": other, "weight": of, "row": csr.rows[begin:end][places]})
    return {name: xp.concatenate([each[name] for each in found]) for name in found[0]}


def _labels(part: Part, env: Environment, owners: Owners, root: Array) -> Array:
    """The smallest id of each own vertex's tree, whose root is given as a position."""
    xp = env.xp
    root = root[: part.num_owned]
    best = xp.arange(len(root)) if part.size == 1 else least_of_each(xp, root, [part.ids])
    tree, ids = owners.send(root[best], [part.ids[best]])
    (label,) = owners.ask(root, [least_at(xp, part.num_owned, tree, ids)])
    return label


def _summary(result: Any) -> dict[str, Any]:
    return {"trees": result.num_trees, "edges": len(result.row), "weight": result.total_weight}


def _words(found: dict[str, Any]) -> str:
    edges = terminal.count(found["edges"], "edge")
    return f"{terminal.count(found['trees'], 'tree')}, {edges} of the weight {found['weight']:,}"


@algorithm(
    "forest", SpanningForestResult, "Minimum spanning forest of an undirected graph.", summary=_summary, words=_words,
    undirected=True, weights=True,
    also="mst msf minimum_spanning_tree minimum_spanning_edges spanning_tree boruvka kruskal prim",
)  # fmt: skip
@documented
def minimum_spanning_forest(
    G: Graph,
    *,
    exchange: str | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> SpanningForestResult:
    """Find the minimum spanning forest: the edges of the least total weight that join what can be joined.

    The forest has a tree for each connected component. Of edges of equal weight, the one of the smaller row in what the
    graph was made of is taken first, so the forest is unique. Self-loops are never in it. Without weights, every edge
    has the weight 1. Weights may be negative.

    Parameters
    ----------
    G : Graph
        Undirected; `G.to_undirected()` makes one of a directed graph.

    Returns
    -------
    SpanningForestResult
        Of each edge `source` and `destination`, the caller's ids, the smaller one first, `weight`, and `row`, its row
        in what the graph was made of; in ascending order of `row`. Of each vertex `label`, the smallest id of its
        tree, shape (num_vertices,), in the order of `G.vertex_ids`. `total_weight` and `num_trees`. All are identical
        for every number of partitions and on every device.

    Raises
    ------
    InputError
        If `G` is not a Graph or is directed, or an argument has no such value.
    Unsupported
        If the rows of the edges are not known, as of a graph made from Dask data frames in batches.

    References
    ----------
    Osipov, Sanders, Singler: The Filter-Kruskal minimum spanning tree algorithm, ALENEX 2009. Chung, Condon: Parallel
    implementation of Boruvka's minimum spanning tree algorithm, IPPS 1996.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2, 2], [1, 2, 0, 3], [3.0, 1.0, 2.0, 5.0], directed=False)
    >>> r = gd.minimum_spanning_forest(G)
    >>> r.row.tolist(), r.total_weight
    ([1, 2, 3], 8.0)
    """
    checked_undirected(G, "minimum_spanning_forest")
    return execute.run(G, SpanningForest(), exchange=exchange, client=client, progress=progress)
