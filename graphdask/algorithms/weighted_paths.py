"""Numbers of shortest paths by weight, and dependencies on their sources, of a batch whose distances are known.

Tight edges, d(u) + weight = d(v), form a graph without cycles in each lane. On the way forward, a superstep counts the
paths to the vertices whose last predecessor has just been counted. Every own vertex has a counter, for each lane, of
the predecessors that it still waits for. Edges out of the vertices just counted, own ones and ghosts that were
received, lower these counters. A vertex that is ready sums over its in-edges, and its owner sends the sum to its
ghosts. On the way back, the same groups of vertices come in the opposite order, because all successors of a vertex are
in later groups. Owners sum over whole rows, so that a sum has one order for all partitions, lanes and devices.

If edges that add nothing to a distance form a cycle, its vertices wait for each other, and no more vertices become
ready. That ends the batch, and `graphdask.algorithms.weighted_betweenness` reports the reason.

Source: Brandes, A faster algorithm for betweenness centrality (2001), Section 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from graphdask.algorithms.shortest_tree import unreached
from graphdask.algorithms.tuning import BETWEENNESS
from graphdask.device.backend import Array
from graphdask.device.counting import all_set, count_set
from graphdask.engine.buffers import Allocation, Buffer, exchange_bytes
from graphdask.engine.lane_search import Level
from graphdask.engine.loop import HUB_THREADS, Environment, Inbox, Messages, Primitive
from graphdask.kernels.betweenness.weighted_paths_pack import COUNTS, Paths
from graphdask.partition.build import row_of_each
from graphdask.partition.part import Csr, Part

NEVER = 1 << 30
"""What a source waits for: no path comes back to it."""
FOUND, LEFT, BEYOND = 0, 1, 2
"""Votes: vertices counted in this superstep, vertices and lanes that are not counted yet, edges to a vertex that has no
distance because that was too large."""


@dataclass
class Rows:
    """The edges of a partition without self-loops, and of parallel ones the lightest."""

    inward: Csr
    out: Csr
    after: Csr
    """Per slot, the own vertices that an edge leads to."""

    @property
    def types(self) -> dict[str, Any]:
        """The types of vertices and weights for which kernels are compiled."""
        assert self.out.weights is not None
        return {"index_t": self.out.indices.dtype, "weight_t": self.out.weights.dtype}

    @classmethod
    def of(cls, part: Part, env: Environment) -> Self:
        """Return the rows of a partition."""
        assert part.inward is not None
        inward = _simple(part.inward, env)
        out = inward if part.inward is part.out else _simple(part.out, env)
        return cls(inward, out, out if part.size == 1 else _turned(inward, part.num_slots, env))


def _simple(csr: Csr, env: Environment) -> Csr:
    kept = simple_edges(csr, env)
    return csr if all_set(kept) else csr.only(env.xp, kept)


def simple_edges(csr: Csr, env: Environment) -> Array:
    """Return a mask of the edges that are no self-loops, and of parallel ones the lightest, which stands first."""
    rows, ends = row_of_each(env.backend, csr, 0), csr.indices
    kept: Array = ends != rows
    kept[1:] &= (ends[1:] != ends[:-1]) | (rows[1:] != rows[:-1])
    return kept


def _turned(csr: Csr, slots: int, env: Environment) -> Csr:
    xp = env.xp
    order = xp.argsort(csr.indices, kind="stable")
    indptr = xp.zeros(slots + 1, np.int64)
    xp.cumsum(xp.bincount(csr.indices, minlength=slots), out=indptr[1:])
    assert csr.weights is not None
    return Csr(indptr, row_of_each(env.backend, csr, 0)[order], csr.weights[order])


def rows_memory(part: Part) -> int:
    """Return the bytes for making and keeping Rows."""
    assert part.out.weights is not None
    edges = max(csr.num_edges for csr in part.directions)
    index, weight = part.vertex_map.dtype.itemsize, part.out.weights.dtype.itemsize
    kept = len(part.directions) * (edges * (index + weight) + 8 * part.num_owned)
    turned = 0 if part.size == 1 else edges * (index + weight) + 8 * part.num_slots
    return kept + turned + edges * (16 + 2 * index)


@dataclass
class WeightedPathsState:
    frontier: Array
    """uint64 mask per slot, of those that were counted last."""
    paths: Array
    dependency: Array
    """Tables, see kernels/betweenness/weighted_paths.py."""
    pending: Array
    ready: Array
    queue: Buffer
    hubs: Array
    counters: Array
    left: int
    """Own vertices and lanes that are not counted yet."""
    beyond: int
    shorter: int
    """Edges that would make a distance smaller: none, if distances are right."""
    levels: list[Level] = field(default_factory=list)
    starts: list[Level] = field(default_factory=list)
    """Ghosts of the sources."""
    back: int = -1
    """Level whose dependencies come next; negative on the way forward."""
    stuck: bool = False
    """Whether vertices wait for each other; the same on all ranks."""
    too_far: bool = False
    """Whether a distance was too large; the same on all ranks."""


def counting_memory(part: Part, lanes: int, allocation: Allocation) -> int:
    """Bytes for a batch of so many lanes, its distances among them."""
    slots, owned, index = part.num_slots, part.num_owned, part.vertex_map.dtype.itemsize
    tables = (16 * lanes + 8) * slots + (12 * lanes + 16) * owned
    levels = lanes * (index + 8) * owned  # in the worst case a vertex is ready at another time in every lane
    lists = allocation.first(owned) * index + index * slots + index * _hubs(part)
    return tables + levels + lists + exchange_bytes(part, 8 + 8 * lanes)


def _hubs(part: Part) -> int:
    return max(csr.num_edges for csr in part.directions) // BETWEENNESS.chunk + 1


class PathCounts(Primitive[WeightedPathsState]):
    """The primitive of a batch: dependencies on each of the sources."""

    name = "shortest paths counted"
    first_level = 1
    """The level that ends the way back. Sources, level 0, have no dependency."""
    columns: ClassVar[Mapping[str, Any]] = {}
    votes = 3
    notifies_ghosts = True

    def __init__(self, sources: Sequence[int], lanes: int, rows: Any, distance: Array):
        """`sources` are one for each lane, or for fewer than there are; `rows` are Rows, or what a subclass takes in
        their place, with `types`; `distance` is the table over slots."""
        self.sources, self.lanes, self.rows, self.distance = sources, lanes, rows, distance

    @property
    def ghost_columns(self) -> Mapping[str, Any]:  # type: ignore[override]
        return {"mask": np.uint64, "value": (np.float64, (self.lanes,))}

    def memory(self, part: Part, allocation: Allocation) -> int:
        return counting_memory(part, self.lanes, allocation) - self.distance.nbytes

    def init(self, part: Part, env: Environment) -> tuple[WeightedPathsState, Messages]:
        xp, slots, owned, lanes, index = env.xp, part.num_slots, part.num_owned, self.lanes, part.vertex_map.dtype
        rows, masks, places = self._own_sources(part)
        state = WeightedPathsState(
            frontier=xp.zeros(slots, np.uint64), paths=xp.zeros((slots, lanes)), dependency=xp.zeros((owned, lanes)),
            pending=xp.zeros((owned, lanes), np.int32), ready=xp.zeros(owned, np.uint64),
            queue=env.buffer("a level of betweenness", owned, index), hubs=xp.empty(self._hubs(part), index),
            counters=xp.zeros(len(COUNTS), np.int64), left=0, beyond=0, shorter=0,
        )  # fmt: skip
        edges = self._count_tight(part, state, env)
        at = env.backend.from_host(places)
        state.pending.reshape(-1)[at] = NEVER
        state.paths.reshape(-1)[at] = 1.0
        reached = self.distance[:owned] != unreached(self.distance.dtype)
        state.left = count_set(reached) - len(places)
        level = Level(env.backend.from_host(rows), env.backend.from_host(masks))
        return state, self._counted(part, state, level, env, edges)

    def _hubs(self, part: Part) -> int:
        """Buffer for rows that kernels defer."""
        return _hubs(part)

    def _count_tight(self, part: Part, state: WeightedPathsState, env: Environment) -> int:
        """Find what every own vertex waits for; the edges that were scanned."""
        csr = self.rows.inward
        self._count_tight_in(state, 0, csr, env)
        return self._counted_tight(state, env)

    def _count_tight_in(self, state: WeightedPathsState, first: int, csr: Csr, env: Environment) -> None:
        """The same of some rows, the first of which is that of the vertex `first`."""
        kernels = self._kernels(env)
        shared = Paths(
            first=first, indptr=csr.indptr, indices=csr.indices, weights=csr.weights, distance=self.distance,
            lanes=self.lanes, pending=state.pending, hubs=state.hubs, counters=state.counters,
        )  # fmt: skip
        kernels.paths_pending(csr.num_rows, shared)
        kernels.paths_pending_hubs(HUB_THREADS, shared)

    def _counted_tight(self, state: WeightedPathsState, env: Environment) -> int:
        counts = COUNTS.of(env.backend.to_host(state.counters))
        state.beyond, state.shorter = counts.beyond, counts.shorter
        return counts.edges

    def _own_sources(self, part: Part) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Own vertices that are sources; their lanes; and where these stand in a table."""
        lanes: dict[int, int] = {}
        places = []
        for lane, source in enumerate(self.sources):
            rank, local = part.vertex_map.locate(source)
            if rank == part.rank:
                lanes[local] = lanes.get(local, 0) | 1 << lane
                places.append(local * self.lanes + lane)
        rows = np.array(list(lanes), part.vertex_map.dtype)
        return rows, np.array(list(lanes.values()), np.uint64), np.array(places, np.int64)

    def _kernels(self, env: Environment) -> Any:
        return env.kernels("weighted_paths", **self.rows.types, dist_t=self.distance.dtype)

    def _counted(self, part: Part, state: WeightedPathsState, level: Level, env: Environment, edges: int) -> Messages:
        """Take in a level whose paths are counted."""
        state.levels.append(level)
        return self._send(state, level, edges)

    def _send(self, state: WeightedPathsState, level: Level, edges: int) -> Messages:
        state.frontier[level.rows] = level.masks
        rows, votes = level.rows, (float(len(level.rows)), float(state.left), float(state.beyond))
        values = {"mask": state.frontier, "value": state.paths}
        return Messages(rows, rows[:0], values, True, len(rows), edges, to="ghosts", votes=votes)

    def _end(self, state: WeightedPathsState, frontier: int = 0, edges: int = 0) -> Messages:
        none = state.levels[0].rows[:0]
        values = {"mask": state.frontier, "value": state.paths}
        return Messages(none, none, values, False, frontier, edges, to="ghosts")

    def superstep(self, part: Part, state: WeightedPathsState, inbox: Inbox, env: Environment) -> Messages:
        kernels = self._kernels(env)
        for message in inbox.received:
            kernels.paths_arrive(
                message.count, message.slots, message.columns["mask"], message.columns["value"], self.lanes,
                state.frontier, state.paths, per_item=self.lanes,
            )  # fmt: skip
        if state.back >= 0:
            state.back -= 1
            return self._backward(part, state, env)
        found, left, beyond = inbox.votes.sum(axis=0).tolist()
        if beyond:
            state.too_far = True
            return self._end(state)
        if found:
            arrived = [message.slots for message in inbox.received]
            if len(state.levels) == 1:
                state.starts += [Level(x.slots.copy(), x.columns["mask"].copy()) for x in inbox.received]
            return self._forward(part, state, env.xp.concatenate([state.levels[-1].rows, *arrived]), env)
        if left:
            state.stuck = True
            return self._end(state)
        state.levels.pop()  # the last level of all ranks is empty
        state.back = len(state.levels) - 1
        for level in (state.levels[0], *state.starts):
            # An edge of weight 0 back to a source is on no shortest path: sources give their neighbours nothing.
            count = len(level.rows)
            nothing = env.xp.zeros((count, self.lanes))
            kernels.paths_arrive(
                count, level.rows, level.masks, nothing, self.lanes, state.frontier, state.paths, per_item=self.lanes
            )
        return self._backward(part, state, env) if state.back else self._end(state)

    def _forward(self, part: Part, state: WeightedPathsState, slots: Array, env: Environment) -> Messages:
        """Count the vertices that were waiting for these slots only."""
        after, kernels = self.rows.after, self._kernels(env)
        if env.allocation.partial:  # no more vertices become ready than edges lead to them
            state.queue.fit(int((after.indptr[slots + 1] - after.indptr[slots]).sum()))
        queue = state.queue.array
        state.counters.fill(0)
        shared = Paths(
            first=0, indptr=after.indptr, indices=after.indices, weights=after.weights, distance=self.distance,
            lanes=self.lanes, pending=state.pending, ready=state.ready, hubs=state.hubs, counters=state.counters,
        )  # fmt: skip
        kernels.paths_release(len(slots), slots, state.frontier, 0, queue, shared)
        kernels.paths_release_hubs(HUB_THREADS, slots, state.frontier, 0, queue, shared)
        counts = shared.read_counters(env.backend)
        rows = queue[: counts.ready].copy()
        level = Level(rows, state.ready[rows])
        state.ready[rows] = 0
        state.left -= counts.lanes
        edges = self._gather(state, level, self.rows.inward, state.paths, 0, env)
        return self._counted(part, state, level, env, counts.edges + edges)

    def _backward(self, part: Part, state: WeightedPathsState, env: Environment) -> Messages:
        """Find the dependencies of a level; the sources, which come last, have none."""
        level = state.levels[state.back]
        edges = self._sum_successors(part, state, level, env)
        self._kernels(env).paths_depend(
            len(level.rows), level.rows, level.masks, self.lanes, state.paths, state.dependency, per_item=self.lanes
        )
        return (
            self._send(state, level, edges)
            if state.back > self.first_level
            else self._end(state, len(level.rows), edges)
        )

    def _sum_successors(self, part: Part, state: WeightedPathsState, level: Level, env: Environment) -> int:
        """Sum what successors give to a level; the edges that were scanned."""
        return self._gather(state, level, self.rows.out, state.dependency, 1, env)

    def _gather(
        self, state: WeightedPathsState, level: Level, csr: Csr, out: Array, back: int, env: Environment,
        first: int = 0, **over: Array,
    ) -> int:  # fmt: skip
        """Sum over the tight edges of some rows, the first of `csr` being that of the vertex `first`; the edges that
        were scanned. `over` are `here` and `over` of Paths, if edges have values too."""
        kernels = self._kernels(env)
        state.counters.fill(0)
        shared = Paths(
            first=first, indptr=csr.indptr, indices=csr.indices, weights=csr.weights, distance=self.distance,
            lanes=self.lanes, paths=state.paths, hubs=state.hubs, counters=state.counters, **over,
        )  # fmt: skip
        kernels.paths_gather(
            len(level.rows), level.rows, level.masks, back, out, BETWEENNESS.chunk, shared, per_item=self.lanes
        )
        if len(level.rows):
            kernels.paths_gather_hubs(HUB_THREADS, level.rows, level.masks, back, out, BETWEENNESS.chunk, shared)
        edges: int = shared.read_counters(env.backend).edges
        if over:
            shared.set_counters(hubs=0)
            kernels.paths_over(len(level.rows), level.rows, shared)
            kernels.paths_over_hubs(HUB_THREADS, level.rows, shared)
        return edges

    def result(self, part: Part, state: WeightedPathsState, env: Environment) -> dict[str, Any]:
        waiting = state.pending if state.stuck else state.pending[:0]
        return {
            "dependency": state.dependency, "waiting": waiting, "stuck": state.stuck, "too_far": state.too_far,
            "shorter": -env.least(-state.shorter),
        }  # fmt: skip
