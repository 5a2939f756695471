"""Betweenness centrality: how many shortest paths pass through a vertex.

Up to 64 sources are searched at once, each in a lane: bit b of a mask, column b of a table. A batch goes forward level
by level. Every own vertex that some lane has not reached searches its in-edges for neighbours in the frontier, and adds
up their numbers of shortest paths. The batch then goes back over the same levels and adds up dependencies. In both
directions a vertex only reads its neighbours, and owners send the frontier with its values to their ghosts. So there
are no atomics, every sum has one order, and the answer has the same bits for every number of partitions. On a GPU a
bitmap marks the vertices of the frontier. Most edges lead elsewhere, and cost only a read from the cache that holds the
bitmap.

A lane ends when its frontier is empty on all ranks: no vertex searches for it any more, and messages have no column for
it. Many sources drawn from an R-MAT graph have no edges at all.

If few edges lead out of the frontier, only the ends of these edges search for it (graphdask.engine.candidates). On a
road network the frontier has a few hundred vertices in each of about a thousand levels. With several ranks, a superstep
that notifies the owners of these ends comes first. It pays only if many vertices would search otherwise.

On a CPU that has the whole graph, many such levels of a search go together after some (_deep_levels.py).

GPUs that can write into each other's memory process a batch by themselves, in one launch each. The levels and sums are
the same; owners write them to the memory where their ghosts are read (_betweenness_team.py).

Sources: Pan et al., Multi-GPU Graph Analytics, Section IV (BC); Brandes, A faster algorithm for betweenness centrality
(2001); Then et al., The more the merrier: efficient multi-source graph traversal (2014).
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms._betweenness_team import TeamBatches, TeamTables
from graphdask.algorithms._deep_levels import Levels, back_over, search_on
from graphdask.algorithms._levels import BetweennessState, Level
from graphdask.algorithms._sources import scale_sums
from graphdask.algorithms.tuning import BETWEENNESS
from graphdask.device.backend import Array
from graphdask.engine.advance import advance
from graphdask.engine.bitmap import clear_bits
from graphdask.engine.buffers import Allocation, exchange_bytes
from graphdask.engine.candidates import PUSH, Candidates, candidates_memory, pushes
from graphdask.engine.checkpoints import Resumable, Saved, named
from graphdask.engine.loop import HUB_THREADS, Environment, Inbox, Messages, Primitive
from graphdask.engine.team import Peers
from graphdask.engine.votes import Votes
from graphdask.kernels.betweenness.betweenness_pack import COUNTS, Lanes
from graphdask.partition.part import Csr, Part
from graphdask.results.result import Result

TABLE_BYTES = 1 << 34
"""Most that the three tables of all ranks together may take, if one lane does not take more."""
LOW = (1 << 32) - 1
"""The lower half of a mask: a vote is a float64, which cannot hold all of it."""


def _union(masks: Iterable[float]) -> int:
    """The lanes of all ranks."""
    return reduce(operator.or_, map(int, masks))


VOTES = Votes("LevelVotes", found=sum, edges=sum, low=_union, high=_union, left=sum, many=sum)
"""Size and out-edges of the level that is sent, and the lower and upper half of its lanes; how many vertices are left
to search for it, and on how many ranks these are many."""


class BetweennessResult(Result):
    """What `betweenness` returns."""

    columns = ("score",)

    @property
    def score(self) -> np.ndarray:
        """Betweenness centrality, float64 of shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("score")


class Betweenness(Primitive[BetweennessState], Resumable):
    """The primitive: dependencies on the given sources, summed and scaled."""

    name = "betweenness"
    columns: ClassVar[Mapping[str, Any]] = {}
    votes = len(VOTES)
    notifies_ghosts = True
    result_type = BetweennessResult
    by_teams = True
    """Whether GPUs that can write into each other's memory go through batches by themselves."""
    goes_deep = True
    """Whether one rank of a CPU takes many small levels together."""
    first_level = 1
    """The level that ends a batch on the way back. Sources, level 0, do not score."""

    def __init__(self, sources: Sequence[int], lanes: int, scale: float, of_sources: float | None = None):
        """`scale` multiplies the sums of dependencies; `of_sources`, if given, those of the sources instead."""
        self.sources, self.lanes, self.scale = tuple(sources), lanes, scale
        self.of_sources = scale if of_sources is None else of_sources

    @property
    def width(self) -> int:
        """The columns of the tables, one for each lane; a search that counts no paths has one that nothing reads."""
        return self.lanes

    @property
    def inward(self) -> bool:
        return True

    @property
    def goal(self) -> tuple[int, str]:
        return len(self.sources), "sources"

    @property
    def mask(self) -> Any:
        """The dtype of masks."""
        return np.uint8 if self.lanes <= 8 else np.uint64

    @property
    def ghost_columns(self) -> Mapping[str, Any]:  # type: ignore[override]
        value = {"value": (np.float64, (self.width,))}
        return value if self.lanes == 1 else {"mask": self.mask, **value}

    def memory(self, part: Part, allocation: Allocation) -> int:
        slots, owned, mask = part.num_slots, part.num_owned, np.dtype(self.mask).itemsize
        tables = (8 * self.width + 2 * mask) * slots + (slots + 31) // 32 * 4
        level = allocation.first(owned) * (part.vertex_map.dtype.itemsize + mask)
        return tables + level + self._own_memory(part) + exchange_bytes(part, mask + 8 * self.width)

    def memory_together(self, part: Part, env: Environment) -> int | None:
        peers = self._peers(env)
        if peers is None:
            return None
        known = np.dtype(self.mask).itemsize * part.num_owned + 2 * ((part.num_slots + 31) // 32 * 4)
        return known + self._own_memory(part) + TeamTables.nbytes(peers, part, env, self.lanes, self.mask)

    def _own_memory(self, part: Part) -> int:
        """Bytes of the arrays for own vertices that every run has, and of lists for rows of many edges."""
        assert part.inward is not None
        index, mask = part.vertex_map.dtype.itemsize, np.dtype(self.mask).itemsize
        lists = 3 * index + 8
        levels = self._kept_levels * (index + mask)
        hubs = part.inward.num_edges // BETWEENNESS.hub * index + self._chunks(part) * (2 * index + 8 * self.width)
        return (16 * self.width + lists + levels) * part.num_owned + hubs + candidates_memory(part)

    @property
    def _kept_levels(self) -> int:
        """How many levels a vertex is in at most: one for each lane, because all are kept for the way back."""
        return self.lanes

    def _peers(self, env: Environment) -> Peers | None:
        peers = env.peers() if self.by_teams else None
        return None if peers is None or (peers.relayed and self.lanes > 1) else peers

    def _chunks(self, part: Part) -> int:
        """The most chunks that rows of many edges (`BETWEENNESS.hub`) can have."""
        edges = max(csr.num_edges for csr in part.directions)
        return edges // (BETWEENNESS.hub // 2) + edges // BETWEENNESS.hub

    def init(self, part: Part, env: Environment) -> tuple[BetweennessState, Messages]:
        xp, slots, owned, width = env.xp, part.num_slots, part.num_owned, self.width
        index, chunks, csr = part.vertex_map.dtype, self._chunks(part), part.inward
        assert csr is not None
        with_edges = xp.flatnonzero(csr.indptr[1:] > csr.indptr[:-1]).astype(index)
        peers = self._peers(env)
        tables = None if peers is None else TeamTables(peers, part, env, self.lanes, self.mask)
        levels, known, in_frontier = (1, slots, slots) if tables is None else (2, owned, 0)
        rows = owned if tables is None else self.lanes * owned
        state = BetweennessState(
            seen=xp.empty(known, self.mask),
            bits=xp.empty(levels * ((slots + 31) // 32), np.uint32),
            frontier=xp.empty(in_frontier, self.mask),
            values=xp.empty(in_frontier * width),
            sigma=xp.empty((owned, width)),
            delta=xp.empty((owned, width)),
            score=xp.zeros(owned),
            queue=env.buffer("a level of betweenness", rows, index),
            masks=env.buffer("a level of betweenness", rows, self.mask),
            with_edges=with_edges,
            left=with_edges,
            spare=(xp.empty_like(with_edges), xp.empty_like(with_edges)),
            hubs=xp.empty(csr.num_edges // BETWEENNESS.hub, index),
            chunks=xp.empty((chunks, 2), index),
            partial=xp.empty((chunks, width)),
            counters=xp.zeros(len(COUNTS), np.int64),
        )
        if tables is not None:
            return state, self._together(part, state, tables, env)
        return state, self._begin(part, state, env, 0)

    def facts(self) -> dict[str, Any]:
        return {"sources": named(self.sources), "lanes": self.lanes}

    def saved(self, part: Part, state: BetweennessState, inbox: Inbox, env: Environment) -> Saved | None:
        """Return the sums between two batches; within one a checkpoint is put off."""
        if state.back >= 0 or state.reported or len(state.levels) != 1:
            return None
        return dict(state.sums), {"batch": state.batch}

    def resumed(
        self, part: Part, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[BetweennessState, Messages]:
        state, _ = self.init(part, env)
        for name, sums in state.sums.items():
            sums[:] = columns[name]
        state.batch = numbers["batch"]
        self._advance(state.batch, env)
        return state, self._begin(part, state, env, 0)

    def _together(self, part: Part, state: BetweennessState, tables: TeamTables, env: Environment) -> Messages:
        """Process all batches; nothing is left to be sent."""
        team = TeamBatches(tables, part, env, state, self.lanes, self.mask, BETWEENNESS.many["cuda"], BETWEENNESS.hub)
        for state.batch in range(-(-len(self.sources) // self.lanes)):
            team.search(*self._own_sources(part, state.batch))
            self._advance(state.batch + 1, env)
        return Messages(state.with_edges[:0], state.with_edges[:0], {}, False)

    def _own_sources(self, part: Part, batch: int) -> tuple[int, dict[int, int], list[int]]:
        """How many sources a batch has; those that this rank owns with their lanes; and their places in a table."""
        sources = self.sources[batch * self.lanes : (batch + 1) * self.lanes]
        lanes: dict[int, int] = {}
        ones = []
        for lane, source in enumerate(sources):
            rank, local = part.vertex_map.locate(source)
            if rank == part.rank:
                lanes[local] = lanes.get(local, 0) | 1 << lane
                ones.append(local * self.lanes + lane)
        return len(sources), lanes, ones

    def _begin(self, part: Part, state: BetweennessState, env: Environment, edges: int) -> Messages:
        """Start the next batch, or end."""
        dtype = part.vertex_map.dtype
        sources, lanes, ones = self._own_sources(part, state.batch)
        state.back, state.levels = -1, []
        if not sources:
            return self._send(state, env, Level(state.queue.array[:0], state.masks.array[:0]), False, edges)
        rows = env.backend.from_host(np.array(list(lanes), dtype))
        masks = env.backend.from_host(np.array(list(lanes.values()), self.mask))
        state.seen.fill(0)
        state.seen[rows] = masks
        state.sigma.reshape(-1)[env.backend.from_host(np.array(ones, np.int64))] = 1.0
        state.left = state.with_edges
        degrees = part.out.indptr[rows + 1] - part.out.indptr[rows]
        level = Level(rows, masks, int(degrees.sum()), reduce(operator.or_, lanes.values(), 0))
        return self._show_paths(part, state, level, (1 << sources) - 1, env, edges)

    def _show_paths(
        self, part: Part, state: BetweennessState, level: Level, shown: int, env: Environment, edges: int
    ) -> Messages:
        self._clear(part, state, level, env)
        state.lanes = shown
        self._kernels(part, env).bc_show_paths(
            len(level.rows), level.rows, level.masks, state.sigma, self.width, np.uint64(shown), state.bits,
            state.frontier, state.value, per_item=state.columns,
        )  # fmt: skip
        state.levels.append(level)
        return self._send(state, env, level, True, edges)

    def _clear(self, part: Part, state: BetweennessState, level: Level, env: Environment) -> None:
        """Remove all vertices from the frontier; `level` comes into it.

        Kernels of a GPU read `frontier` only where a bit is set.
        """
        shown, state.shown = state.shown, level.rows if part.size == 1 else None
        listed = clear_bits(state.bits, shown)
        if env.backend.name == "cpu":
            state.frontier[shown if listed else slice(None)] = 0

    def _send(self, state: BetweennessState, env: Environment, level: Level, active: bool, edges: int) -> Messages:
        rows, left = level.rows, len(state.left)
        values = {name: {"mask": state.frontier, "value": state.value}[name] for name in self.ghost_columns}
        many = left >= BETWEENNESS.many[env.backend.name]
        votes = len(rows), level.edges, level.lanes & LOW, level.lanes >> 32, left, many
        widths = {"value": state.columns} if "value" in values else {}
        return Messages(rows, rows[:0], values, active, len(rows), edges, to="ghosts", votes=votes, widths=widths)

    def _kernels(self, part: Part, env: Environment) -> Any:
        return env.kernels("betweenness", index_t=part.vertex_map.dtype, mask_t=self.mask)

    def superstep(self, part: Part, state: BetweennessState, inbox: Inbox, env: Environment) -> Messages:
        if state.reported:
            state.reported = False
            assert state.candidates is not None
            for message in inbox.received:
                state.candidates.take(message)
            return self._forward(part, state, env, state.candidates.take_out())
        for message in inbox.received:
            self._kernels(part, env).bc_arrive(
                message.count, message.slots, message.columns.get("mask"), message.columns.get("value"),
                state.columns, state.bits, state.frontier, state.value, state.seen, per_item=state.columns,
            )  # fmt: skip
        if state.back >= 0:
            return self._backward(part, state, env)
        voted = VOTES.of(inbox.votes)
        if not voted.found:
            state.levels.pop()  # the last level of all ranks is empty
            return self._turn(part, state, env)
        state.levels[-1].lanes, state.edges_in = voted.low | voted.high << 32, int(voted.edges)
        if pushes(voted.edges, voted.left, voted.many, env.size):
            return self._push(part, state, env)
        return self._forward(part, state, env)

    def _push(self, part: Part, state: BetweennessState, env: Environment) -> Messages:
        """Find the candidates; if some may be vertices of other ranks, the superstep ends with sending these."""
        if state.candidates is None:
            state.candidates = Candidates.of(part, self.mask, env)
        if self._many_levels(state, env):
            lanes, bound = state.levels[-1].lanes, len(state.left) // PUSH
            level, edges = search_on(part, state, self._deep_kernels(part, env), bound)
            return self._show_paths(part, state, level, lanes, env, edges)
        rows = state.levels[-1].rows
        ghosts, edges = state.candidates.find(rows, state.frontier, state.seen)
        if env.size == 1:
            return self._forward(part, state, env, state.candidates.take_out(), edges)
        state.reported = True
        return Messages(rows[:0], ghosts, {}, True, edges=edges)

    def _many_levels(self, state: BetweennessState, env: Environment) -> bool:
        """Whether the next levels may go together."""
        if not self.goes_deep or env.size > 1 or env.backend.name != "cpu" or env.allocation.partial:
            return False
        fits = len(state.levels[-1].rows) + state.edges_in <= len(state.queue)
        return fits and len(state.levels) >= BETWEENNESS.apart

    def _deep_kernels(self, part: Part, env: Environment) -> Any:
        return env.kernels("deep", index_t=part.vertex_map.dtype, mask_t=self.mask)

    def _forward(
        self,
        part: Part,
        state: BetweennessState,
        env: Environment,
        candidates: Array | None = None,
        edges_before: int = 0,
    ) -> Messages:
        """Find the next level, among the candidates if it was pushed, and its numbers of paths."""
        kernels, csr = self._kernels(part, env), part.inward
        assert csr is not None
        state.counters.fill(0)
        left, spare, alive = *state.spare, state.levels[-1].lanes
        rows = state.left if candidates is None else candidates
        if env.allocation.partial:  # no more vertices are found than edges lead to them
            most = min(state.edges_in, len(rows))
            state.queue.fit(most), state.masks.fit(most)
        queue, masks = state.queue.array, state.masks.array
        shared = Lanes(
            out_indptr=part.out.indptr, bits=state.bits, frontier=state.frontier, alive=np.uint64(alive),
            seen=state.seen, queue=queue, left=left, hub=BETWEENNESS.hub, hubs=state.hubs, counters=state.counters,
        )  # fmt: skip
        reach = kernels.bc_reach, kernels.bc_reach_hubs
        advance(*reach, csr, len(rows), shared, rows, masks, per_item=32, cleared=True)
        counts = shared.read_counters(env.backend)
        if candidates is None:
            state.left, state.spare = left[: counts.left], (spare, left)
        found, lanes = counts.found, counts.lanes % 2**64
        level = Level(queue[:found].copy(), masks[:found].copy(), counts.out_edges, lanes)
        self._gather(part, state, level, csr, state.sigma, env)
        return self._show_paths(part, state, level, alive, env, edges_before + counts.edges)

    def _turn(self, part: Part, state: BetweennessState, env: Environment) -> Messages:
        """Go back from the last level."""
        state.back = len(state.levels) - 1
        if state.back == 0:
            return self._next_batch(part, state, env, 0)
        return self._show_dependencies(part, state, env, 0)

    def _backward(self, part: Part, state: BetweennessState, env: Environment) -> Messages:
        """Sum what the level behind gives to the next one."""
        state.back -= 1
        level = state.levels[state.back]
        if isinstance(level, Levels):
            lowest, edges = back_over(part, state, self._deep_kernels(part, env), level)
            if state.back == self.first_level:
                return self._next_batch(part, state, env, edges)
            return self._send(state, env, lowest, True, edges)
        state.counters.fill(0)
        self._gather(part, state, level, part.out, state.delta, env)
        return self._show_dependencies(part, state, env, level.edges)

    def _show_dependencies(self, part: Part, state: BetweennessState, env: Environment, edges: int) -> Messages:
        level, last = state.levels[state.back], state.back == len(state.levels) - 1
        self._clear(part, state, level, env)
        state.lanes = level.lanes
        self._kernels(part, env).bc_show_dependencies(
            len(level.rows), level.rows, level.masks, state.sigma, state.delta, self.lanes, np.uint64(level.lanes),
            int(last), state.score, state.bits, state.frontier, state.value, per_item=min(state.columns, 32),
        )  # fmt: skip
        if state.back == self.first_level:
            return self._next_batch(part, state, env, edges)
        return self._send(state, env, level, True, edges)

    def _next_batch(self, part: Part, state: BetweennessState, env: Environment, edges: int) -> Messages:
        state.batch += 1
        self._advance(state.batch, env)
        return self._begin(part, state, env, edges)

    def _advance(self, batches: int, env: Environment) -> None:
        env.advance(min(batches * self.lanes, len(self.sources)))

    def _gather(
        self, part: Part, state: BetweennessState, level: Level, csr: Csr, out: Array, env: Environment
    ) -> None:
        """Sum the values of the neighbours in the frontier for the vertices of a level."""
        kernels, over = self._kernels(part, env), state.over if state.back >= 0 else {}
        if over:
            over["here"][level.rows] = level.masks
        shared = Lanes(
            indptr=csr.indptr, indices=csr.indices, bits=state.bits, frontier=state.frontier, value=state.value,
            shown=np.uint64(state.lanes), lanes=self.lanes, out=out, hub=BETWEENNESS.hub, chunks=state.chunks,
            partial=state.partial, counters=state.counters, **over,
        )  # fmt: skip
        kernels.bc_gather(len(level.rows), level.rows, level.masks, shared, per_item=32)
        if len(level.rows) and len(state.chunks):
            kernels.bc_gather_hubs(HUB_THREADS, level.rows, level.masks, shared)
            kernels.bc_sum_hubs(HUB_THREADS, level.rows, level.masks, shared)
        if over:
            advance(kernels.bc_edges, kernels.bc_edges_hubs, csr, len(level.rows), shared, level.rows, cleared=True)

    def result(self, part: Part, state: BetweennessState, env: Environment) -> dict[str, Array]:
        scale_sums(part, env, state.score, self.sources, self.scale, self.of_sources)
        return {"score": state.score}
