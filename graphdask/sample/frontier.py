"""Frontier sampling: a walk of several dimensions, whose pool of vertices goes on from one of them at each step.

A pool's vertices have so many edges together; one number below that names one of them, which is sampled, and its end
takes the place of the vertex that it leaves. Over partitions a pool stays at home with the degrees of its vertices, and
asks the owner of the vertex it goes on from which vertex the edge leads to, and what degree that has: two supersteps
for each step.

Source: Ribeiro, Towsley: Estimating and sampling graphs with multidimensional random walks (IMC 2010), Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages
from graphdask.errors import InputError
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import checked_seed
from graphdask.interface.parameters import documented
from graphdask.kernels.walks.frontier_pack import FrontierDraws
from graphdask.partition.given import given_array
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import index_dtype
from graphdask.sample.result import Samples
from graphdask.sample.sampler import Placement, Sampler, checked_placement, numbered, owners, routed, sampled
from graphdask.sample.taken import Taken, in_turn
from graphdask.sample.walkers import checked_length, is_whole, launches


class Frontiers(Samples):
    """What frontier sampling returns."""

    columns = ("src", "dst", "lengths")
    vertex_valued = ("src", "dst")

    @property
    def src(self) -> np.ndarray:
        """Where each sampled edge begins, by the caller's ids, -1 (None among string ids) after the last; shape
        (instances, length)."""
        return self._column("src")

    @property
    def dst(self) -> np.ndarray:
        """Where it ends."""
        return self._column("dst")

    @property
    def lengths(self) -> np.ndarray:
        """Edges that each instance sampled; int32, shape (instances,)."""
        return self._column("lengths")


GATHERED = 1 << 22
"""Steps whose rows are looked up together."""


@dataclass
class FrontierState:
    """Pools, and what was sampled, of the instances that are here."""

    pool: Array
    """Ids, shape (instances, size)."""
    degrees: Array
    """int64, of the vertices of the pools."""
    src: Array
    dst: Array
    lengths: Array
    left: int
    """How many launches are to come, over the whole graph."""
    todo: Iterator[tuple[int, int, int, int]]
    ids: Array
    """Per slot, over partitions."""
    of_slots: Array
    """Degrees per slot, over partitions."""
    step: int = 0
    """The step that is under way; 0 while degrees are asked for."""
    answers: bool = True
    """Whether questions arrive now, or their answers."""
    chosen: Array | None = None
    """The place that each pool goes on from."""
    edges: Array | None = None
    """int64, (instances, length), where rows are asked for: over the whole graph the place of the edge of each step,
    over partitions its row in what the caller gave; -1 of none."""


class FrontierSampling(Sampler[FrontierState]):
    """The sampler."""

    name = "frontier sampling"
    result_type = Frontiers
    gives_edges = True
    travelling: ClassVar[Mapping[str, Any]] = {
        "instance": np.int64, "place": np.int32, "at": INDEX, "edge": np.int64,
    }  # fmt: skip

    @property
    def record_columns(self) -> Mapping[str, Any]:  # type: ignore[override]
        """What records hold; where rows are asked for, also that of the edge of a step."""
        return {**self.travelling, "row": np.int64} if self.numbered else self.travelling

    cut = ("pools",)

    def __init__(self, pools: np.ndarray, length: int, seed: int):
        self.pools, self.length, self.seed = pools, length, np.uint64(seed)
        self.first, self.last = 0, len(pools)

    def taken(self, xp: Any, columns: Mapping[str, Array], first: int) -> Taken:
        return in_turn(xp, columns["src"], columns["dst"], first)

    @property
    def work(self) -> int:
        return self.instances * (self.length + self.pools.shape[1])

    def memory(self, part: Part, allocation: Allocation) -> int:
        index, (count, size) = part.vertex_map.dtype.itemsize, self.pools.shape
        here = self.instances if is_whole(part) else -(-count // part.size)
        state = here * (self.length * (2 * index + 16 * self.numbered) + 4 + size * (2 * index + 8))
        if is_whole(part):
            return state
        asked = min(count, -(-2 * count // part.size)) * max(size, 1)
        return state + 8 * (20 + index) * asked + (index + 8) * part.num_slots + 8 * part.num_owned

    def init(self, part: Part, env: Environment) -> tuple[FrontierState, Messages]:
        xp, dtype, csr = env.xp, part.vertex_map.dtype, part.out
        whole = is_whole(part)
        first, last = self.first, self.last
        if not whole:
            bounds = self.homes(part.size)
            first, last = int(bounds[part.rank]), int(bounds[part.rank + 1])
        count, size = last - first, self.pools.shape[1]
        pool = env.backend.from_host(np.array(self.of(self.pools, first, last), dtype))
        todo = list(launches(env.backend.name, count, self.length)) if whole else []
        ids = of_slots = xp.zeros(0, np.int64)
        if not whole:
            ids, of_slots = env.fetch_ghosts(part, [part.ids, csr.indptr[1:] - csr.indptr[:-1]])
        state = FrontierState(
            pool, xp.zeros((count, size), np.int64), xp.full((count, self.length), -1, dtype),
            xp.full((count, self.length), -1, dtype), xp.zeros(count, np.int32), len(todo), iter(todo), ids, of_slots,
            edges=xp.full((count, self.length), -1, np.int64) if self.numbered else None,
        )  # fmt: skip
        every = xp.arange(0 if whole or not self.length else count * size, dtype=np.int64)
        asked = pool.reshape(-1)[: len(every)]
        place = (every % max(size, 1)).astype(np.int32)
        instance, edge = every // max(size, 1) + first, xp.full(len(every), -1, np.int64)
        return state, self._ask(part, env, instance, place, asked, edge, bool(todo))

    def _ask(
        self,
        part: Part,
        env: Environment,
        instance: Array,
        place: Array,
        ids: Array,
        edge: Array,
        active: bool = False,
        **counts: int,
    ) -> Messages:
        """Questions to the owners of vertices."""
        dtype = part.vertex_map.dtype
        position = part.vertex_map.to_position(env.backend, ids).astype(dtype, copy=False)
        owner = owners(env, part, position)
        records = {"instance": instance, "place": place, "at": position, "edge": edge}
        if self.numbered:
            records["row"] = edge  # the answer says it
        sent, bounds = routed(env, owner, records)
        counts = counts or {"frontier": len(ids)}
        return Messages.of_records(sent, bounds, active=active or len(ids) > 0, **counts)

    def superstep(self, part: Part, state: FrontierState, inbox: Inbox, env: Environment) -> Messages:
        if is_whole(part):
            return self._walk(part, state, env)
        came, state.answers = inbox.records, not state.answers
        return self._take(part, state, came, env) if state.answers else self._answer(part, state, came, env)

    def _walk(self, part: Part, state: FrontierState, env: Environment) -> Messages:
        a, b, begin, end = next(state.todo)
        state.left -= 1
        rows, csr = slice(a, b), part.out
        env.kernels("frontier", index_t=part.vertex_map.dtype).frontier(
            b - a, FrontierDraws(
                first=self.first + a, size=self.pools.shape[1], begin=begin, end=end, length=self.length,
                seed=self.seed, starts=state.pool[rows].copy(), indptr=csr.indptr, indices=csr.indices,
                pool=state.pool[rows], degrees=state.degrees[rows], src=state.src[rows], dst=state.dst[rows],
                lengths=state.lengths[rows], places=None if state.edges is None else state.edges[rows],
            ), per_item=32,
        )  # fmt: skip
        none = env.xp.zeros(0, np.int64)
        return self._ask(
            part, env, none, none, none, none, state.left > 0, frontier=b - a, edges=(b - a) * (end - begin)
        )

    def _answer(self, part: Part, state: FrontierState, came: Mapping[str, Array], env: Environment) -> Messages:
        """Where edges lead to, and what degrees the vertices there have; of no edge, the vertex's own degree."""
        xp, csr, edge = env.xp, part.out, came["edge"]
        slot = came["at"] - came["at"].dtype.type(part.first_position)
        leads = edge >= 0
        at, row = csr.indptr[slot[leads]] + edge[leads], {}
        slot[leads] = csr.indices[at]
        if self.numbered:
            assert csr.rows is not None
            row["row"] = xp.full(len(edge), -1, np.int64)
            row["row"][leads] = csr.rows[at]
        records = {**came, "at": state.ids[slot], "edge": state.of_slots[slot], **row}
        bounds = self.homes(part.size)
        home = xp.searchsorted(env.backend.from_host(bounds[1:-1]), came["instance"], side="right")
        sent, cuts = routed(env, home, records)
        return Messages.of_records(sent, cuts, active=len(slot) > 0, frontier=len(slot), edges=int(leads.sum()))

    def _take(self, part: Part, state: FrontierState, came: Mapping[str, Array], env: Environment) -> Messages:
        """Let the ends of edges take their places, and choose the next ones."""
        xp = env.xp
        first = int(self.homes(part.size)[part.rank])
        row, place = came["instance"] - first, came["place"]
        if state.step:
            state.src[row, state.step - 1] = state.pool[row, place]
            state.dst[row, state.step - 1] = came["at"]
            if state.edges is not None:
                state.edges[row, state.step - 1] = came["row"]
            state.pool[row, place] = came["at"]
            state.lengths[row] += np.int32(1)
        state.degrees[row, place] = came["edge"]
        state.step += 1
        count, size = state.pool.shape
        if state.step > self.length:
            count = 0
        totals = state.degrees.sum(axis=1)
        places, offset = xp.zeros(count, np.int32), xp.full(count, -1, np.int64)
        env.kernels("frontier", index_t=part.vertex_map.dtype).frontier_choose(
            count, first, size, state.step, self.seed, state.degrees, totals, places, offset
        )
        rows = xp.flatnonzero(offset >= 0).astype(np.int64)
        return self._ask(part, env, rows + first, places[rows], state.pool[rows, places[rows]], offset[rows])

    def result(self, part: Part, state: FrontierState, env: Environment) -> dict[str, Any]:
        columns = {"src": state.src, "dst": state.dst, "lengths": state.lengths}
        if state.edges is None:
            return columns
        if is_whole(part):
            assert part.out.rows is not None
            for row in range(0, len(state.edges), step := max(1, GATHERED // max(self.length, 1))):
                some = state.edges[row : row + step]
                there = some >= 0
                some[there] = part.out.rows[some[there]]
        return {**columns, "edge": state.edges}


@documented
def frontier_sampling(
    G: Graph,
    pools: Any,
    length: int,
    *,
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> Frontiers:
    """Frontier sampling (multi-dimensional random walk): edges that pools of vertices go along.

    At each step an instance draws a vertex of its pool with a probability proportional to its out-degree, and one of
    its out-edges uniformly; the edge is sampled, and its end takes the vertex's place in the pool.

    Parameters
    ----------
    G : Graph
        Parallel edges count as often as they stand there.
    pools : array-like of shape (k, m), or (m,) for one instance
        The vertices that each instance begins with, by the caller's ids; one may stand there more than once.
    length : int
        Edges that each instance samples, 0 or more.

    Returns
    -------
    Frontiers
        `src` and `dst` of shape (k, length), the edges in the order in which they were sampled, -1 (None among string
        ids) where no vertex of the pool had an out-edge left, and `lengths`. They are identical bit for bit for every
        number of workers, in both placements and on every device.

    Raises
    ------
    VertexNotFound
        If a vertex of a pool is none of the graph.
    InputError
        If an argument has a value that is not allowed.

    References
    ----------
    Ribeiro, Towsley: Estimating and sampling graphs with multidimensional random walks, IMC 2010.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 0])
    >>> r = gd.sample.frontier_sampling(G, [0], 3)
    >>> r.src.tolist(), r.dst.tolist()
    ([[0, 1, 2]], [[1, 2, 0]])
    """
    checked_graph(G)
    where = checked_placement(placement)
    given = np.atleast_1d(given_array("pools", pools))
    given = given[None] if given.ndim == 1 else given
    if given.ndim != 2:
        raise InputError(f"pools must be one pool of vertices or an array of pools; got the shape {given.shape}")
    numbers = G.ids.to_internal(given, "pool vertex") if given.size else np.zeros(given.shape, np.int64)
    numbers = numbers.astype(index_dtype(G.num_vertices), copy=False)
    sampler = FrontierSampling(numbers, checked_length(length), checked_seed(seed))
    edges: Frontiers = sampled(G, numbered(sampler, edge_rows), where, client, progress)
    return edges
