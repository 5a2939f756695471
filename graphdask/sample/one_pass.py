"""One-pass samples of vertices and of edges: a number of them, without replacement, all sets alike.

Vertices are drawn by Floyd's algorithm. Edges get 64-bit keys, drawn for their vertex and their place in its row, and
those of the smallest keys are the sample: one pass over the edges, wherever they are. A pass lists the few edges whose
keys are below a threshold that leaves out none of the smallest, but for a chance of e^-30; then another one is made.

Sources: Pandey et al., c-saw, Table I; Fan, Muller, Rezucha, Development of sampling plans by using sequential (item
by item) selection techniques (1962); Bentley, Floyd, A sample of brilliance (1987).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array, get_backend
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Messages
from graphdask.engine.without_supersteps import WithoutSupersteps
from graphdask.errors import InputError
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import checked_seed, whole
from graphdask.interface.parameters import documented
from graphdask.kernels.neighbors.neighbors_pack import ItemDraws
from graphdask.partition.part import Part
from graphdask.sample._edge_tables import edge_rows, in_order
from graphdask.sample.result import Samples
from graphdask.sample.sampler import Placement, Sampler, numbered, sampled
from graphdask.sample.taken import Taken
from graphdask.sample.traversal import ids_of_slots

TOP = 2**64 - 1


class SampledEdges(Samples):
    """Edges in the order in which they were drawn."""

    columns = ("src", "dst")
    vertex_valued = ("src", "dst")

    @property
    def src(self) -> np.ndarray:
        """The caller's id of the source of each edge; of an undirected edge, its end of the smaller number."""
        return self._column("src")

    @property
    def dst(self) -> np.ndarray:
        """The caller's id of its destination."""
        return self._column("dst")


class OnePassEdges(WithoutSupersteps[dict[str, Array]], Sampler[dict[str, Array]]):
    """The sampler: instance i is the edge of the i-th smallest key."""

    name = "edge sampling"
    gives_edges = True
    undivided = "draws all that is drawn together; it cannot be done in chunks"
    result_type = SampledEdges
    record_columns: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, k: int, directed: bool, seed: int):
        self.k, self.directed, self.seed, self.first, self.last = k, directed, seed, 0, k

    def taken(self, xp: Any, columns: Mapping[str, Array], first: int) -> Taken:
        none = xp.zeros(len(columns["src"]), np.int64)
        return Taken(columns["src"], columns["dst"], none, none, again=False)

    def memory(self, part: Part, allocation: Allocation) -> int:
        width = part.vertex_map.dtype.itemsize
        ends = 0 if self.directed or in_order(part) else 4 * width * part.out.num_edges
        return 16 * part.num_owned + ends + 64 * self._wanted()

    def _wanted(self) -> int:
        """How many edges are listed in the mean, so that they are k at least but for a chance of e^-30."""
        return self.k + int(8 * self.k**0.5) + 64

    def init(self, part: Part, env: Environment) -> tuple[dict[str, Array], Messages]:
        """The whole pass, and the smallest keys of all ranks."""
        xp, csr = env.xp, part.out
        ends = csr.indices if self.directed else ids_of_slots(part, env, csr.indices)
        here = csr.num_edges if self.directed else int(self._offsets(part, env, ends, TOP)[-1])
        stored = _summed(part, env, here)
        if self.k > stored:
            raise InputError(f"k={self.k} edges are asked for, and the graph has {stored}")
        chance = min(1.0, self._wanted() / max(stored, 1))
        while True:
            least = TOP if chance >= 1 else int(chance * 2.0**64)
            keys, src, edges = self._listed(part, env, ends, least)
            if chance >= 1 or _summed(part, env, len(keys)) >= self.k:
                break
            chance = min(1.0, 2 * chance)
        order = _smallest(xp, keys, src, edges, self.k)
        keys, src = keys[order], src[order]
        places = edges[order] - csr.indptr[part.vertex_map.to_position(env.backend, src) - part.first_position]
        state = {"src": src, "dst": ids_of_slots(part, env, csr.indices[edges[order]])}
        if self.numbered:
            state["edge"] = edge_rows(part, csr)[edges[order]].astype(np.int64, copy=False)
        if part.size > 1:
            state = {name: env.gather(column) for name, column in state.items()}
            keys, places = env.gather(keys), env.gather(places)
            order = _smallest(xp, keys, state["src"], places, self.k)
            state = {name: column[order] for name, column in state.items()}
        bounds = self.homes(part.size)
        mine = slice(int(bounds[part.rank]), int(bounds[part.rank + 1]))
        state = {name: column[mine].copy() for name, column in state.items()}
        return state, Messages.none(part.size, edges=csr.num_edges)

    def _below(self, part: Part, ends: Array, least: int) -> tuple[Any, ...]:
        number = np.uint64(self.seed)
        return part.ids, part.out.indptr, ends, int(not self.directed), number, np.uint64(least)

    def _offsets(self, part: Part, env: Environment, ends: Array, least: int) -> Array:
        """How many edges of the rows before each have a key of no more than `least`."""
        xp, n = env.xp, part.out.num_rows
        kernels = env.kernels("one_pass", index_t=part.vertex_map.dtype)
        counts, offsets = xp.empty(n, np.int64), xp.zeros(n + 1, np.int64)
        kernels.one_pass_below(n, *self._below(part, ends, least), counts, per_item=32)
        xp.cumsum(counts, out=offsets[1:])
        return offsets

    def _listed(self, part: Part, env: Environment, ends: Array, least: int) -> tuple[Array, Array, Array]:
        xp, dtype = env.xp, part.vertex_map.dtype
        offsets = self._offsets(part, env, ends, least)
        total = int(offsets[-1])
        src, edges, keys = xp.empty(total, dtype), xp.empty(total, np.int64), xp.empty(total, np.uint64)
        env.kernels("one_pass", index_t=dtype).one_pass_listed(
            part.out.num_rows, *self._below(part, ends, least), offsets, src, edges, keys, per_item=32
        )
        return keys, src, edges

    def share(self, rank: int, size: int) -> OnePassEdges:
        return _Shared(self, rank, size)


class _Shared(OnePassEdges):
    """The edges of the smallest keys, of which a worker with the whole graph hands back its share."""

    def __init__(self, whole: OnePassEdges, rank: int, size: int):
        super().__init__(whole.k, whole.directed, whole.seed)
        self.mine, self.numbered = whole.homes(size)[rank : rank + 2], whole.numbered

    def homes(self, size: int) -> np.ndarray:
        return self.mine


def _summed(part: Part, env: Environment, number: int) -> int:
    if part.size == 1:
        return number
    return int(env.gather(env.xp.full(1, number, np.int64)).sum())


def _smallest(xp: Any, keys: Array, src: Array, places: Array, k: int) -> Array:
    """The places of the k smallest keys, in their order; of equal ones the smaller vertex and place first."""
    order = xp.lexsort(xp.stack([places, src.astype(np.int64), (keys ^ np.uint64(1 << 63)).view(np.int64)]))
    return order[:k]


def random_nodes(G: Graph, k: int, *, seed: int = 0) -> np.ndarray:
    """Random vertices without replacement, all sets of k alike.

    Parameters
    ----------
    G : Graph
    k : int
    seed : int
        0 to 2**64 - 1.

    Returns
    -------
    numpy.ndarray, shape (k,)
        The caller's ids, as Floyd's algorithm draws them: the set is random, the order in it is not quite.

    Raises
    ------
    InputError
        For a k that is no whole number of 0 or more, or more than there are vertices.

    References
    ----------
    Bentley, Floyd, Programming pearls: a sample of brilliance, CACM 30 (1987).

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1], [1, 2, 2])
    >>> sorted(gd.sample.random_nodes(G, 3).tolist())
    [0, 1, 2]
    """
    n = checked_graph(G).num_vertices
    if whole("k", k, 0) > n:
        raise InputError(f"k={k} vertices are asked for, and the graph has {n}")
    kernels = get_backend("cpu").kernels("neighbors")
    one, out = np.zeros(1, np.int64), [np.empty(int(k), np.int64) for _ in range(3)]
    number = np.uint64(checked_seed(seed))
    item = np.full(1, -(1 << 62))  # no vertex has such a number
    kernels.neighbors_uniform(
        1, ItemDraws(
            rows=one, vertices=item, instances=one, tags=one, indptr=np.array([0, n]), offsets=np.array([0, int(k)]),
            replace=0, seed=number, src=out[0], dst=out[1], tag=out[2],
        ),
    )  # fmt: skip
    return G.ids.to_caller(out[1])


@documented
def random_edges(
    G: Graph,
    k: int,
    *,
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> SampledEdges:
    """Random edges without replacement, all sets of k alike, in random order; one pass over the edges.

    An undirected edge counts once, parallel edges as often as they are there.

    Parameters
    ----------
    G : Graph
    k : int

    Returns
    -------
    SampledEdges
        `src`, `dst`: a row for each edge.

    Raises
    ------
    InputError
        For a k that is no whole number of 0 or more, or more than there are edges.

    References
    ----------
    Fan, Muller, Rezucha, Journal of the American Statistical Association 57 (1962).

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1], [1, 2, 2])
    >>> e = gd.sample.random_edges(G, 3)
    >>> sorted(zip(e.src.tolist(), e.dst.tolist()))
    [(0, 1), (0, 2), (1, 2)]
    """
    checked_graph(G)
    sampler = OnePassEdges(whole("k", k, 0), G.directed, checked_seed(seed))
    return sampled(G, numbered(sampler, edge_rows), placement, client, progress)
