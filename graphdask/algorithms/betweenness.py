"""Betweenness centrality: how many shortest paths pass through a vertex.

A batch of up to 64 sources goes forward level by level (graphdask.engine.lane_search). The vertices of a level add up
the numbers of shortest paths of their neighbours in the frontier. The batch then goes back over the same levels and
adds up dependencies. In both directions a vertex only reads its neighbours, and owners send the frontier with its
values to their ghosts. So every sum has one order, and the answer has the same bits for every number of partitions.

On a CPU that has the whole graph, many such levels of a search go together after some (_deep_levels.py).

GPUs that can write into each other's memory process a batch by themselves, in one launch each. The levels and sums are
the same; owners write them to the memory where their ghosts are read (_betweenness_team.py).

Sources: Pan et al., Multi-GPU Graph Analytics, Section IV (BC); Brandes, A faster algorithm for betweenness centrality
(2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.algorithms._betweenness_team import TeamBatches, TeamTables
from graphdask.algorithms._deep_levels import Levels, back_over, search_on
from graphdask.algorithms._sources import scale_sums
from graphdask.algorithms.betweenness_state import BetweennessState
from graphdask.algorithms.tuning import BETWEENNESS
from graphdask.device.ahead import Family, family
from graphdask.device.backend import Array
from graphdask.engine.advance import advance
from graphdask.engine.buffers import Allocation, exchange_bytes
from graphdask.engine.candidates import PUSH, candidates_memory
from graphdask.engine.checkpoints import Resumable, Saved
from graphdask.engine.lane_search import LaneSearch, Level, Sources
from graphdask.engine.loop import HUB_THREADS, Environment, Inbox, Messages, Received
from graphdask.engine.source_search import nothing
from graphdask.engine.team import Peers
from graphdask.engine.tuning import SEARCH
from graphdask.kernels.betweenness.betweenness_pack import COUNTS, Lanes
from graphdask.partition.part import Csr, Part
from graphdask.results.result import Result

TABLE_BYTES = 1 << 34
"""Most that the three tables of all ranks together may take, if one lane does not take more."""


class BetweennessResult(Result):
    """What `betweenness` returns."""

    columns = ("score",)

    @property
    def score(self) -> np.ndarray:
        """Betweenness centrality, float64 of shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("score")


class Betweenness(LaneSearch[BetweennessState], Resumable):
    """The primitive: dependencies on the given sources, summed and scaled."""

    name = "betweenness"
    result_type = BetweennessResult
    by_teams = True
    """Whether GPUs that can write into each other's memory go through batches by themselves."""
    goes_deep = True
    """Whether one rank of a CPU takes many small levels together."""
    first_level = 1
    """The level that ends a batch on the way back. Sources, level 0, do not score."""

    def __init__(self, sources: Sequence[int], lanes: int, scale: float, of_sources: float | None = None):
        """`scale` multiplies the sums of dependencies; `of_sources`, if given, those of the sources instead."""
        super().__init__(sources, lanes)
        self.scale, self.of_sources = scale, scale if of_sources is None else of_sources

    def families(self, index: np.dtype, weight: np.dtype | None, size: int) -> tuple[Family, ...]:
        return (
            family("betweenness", index_t=index, mask_t=self.mask),
            family("candidates", index_t=index, mask_t=self.mask),
        )

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
        return state, self.begin_batch(part, state, env, 0)

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
        self.advance_to(state.batch, env)
        return state, self.begin_batch(part, state, env, 0)

    def _together(self, part: Part, state: BetweennessState, tables: TeamTables, env: Environment) -> Messages:
        """Process all batches; nothing is left to be sent."""
        team = TeamBatches(tables, part, env, state, self.lanes, self.mask, SEARCH.many["cuda"], BETWEENNESS.hub)
        for state.batch in range(-(-len(self.sources) // self.lanes)):
            sources = self.own_sources(part, state.batch)
            team.search(sources, self._places(sources))
            self.advance_to(state.batch + 1, env)
        return nothing(part)

    def _places(self, sources: Sources) -> list[int]:
        """Where the own sources of a batch stand in a table."""
        lanes = range(sources.count)
        return [
            local * self.lanes + lane for local, mask in sources.lanes.items() for lane in lanes if mask >> lane & 1
        ]

    def settle(self, part: Part, state: BetweennessState, sources: Sources, env: Environment) -> None:
        state.sigma.reshape(-1)[env.backend.from_host(np.array(self._places(sources), np.int64))] = 1.0

    def _kernels(self, part: Part, env: Environment) -> Any:
        return env.kernels("betweenness", index_t=part.vertex_map.dtype, mask_t=self.mask)

    def arrive(self, part: Part, state: BetweennessState, message: Received, env: Environment) -> None:
        self._kernels(part, env).bc_arrive(
            message.count, message.slots, message.columns.get("mask"), message.columns.get("value"), state.columns,
            state.bits, state.frontier, state.value, state.seen, per_item=state.columns,
        )  # fmt: skip

    def reach(self, part: Part, state: BetweennessState, rows: Array, left: Array, alive: int, env: Environment) -> Any:
        kernels, csr, queue = self._kernels(part, env), part.inward, state.queue.array
        assert csr is not None
        state.counters.fill(0)
        shared = Lanes(
            out_indptr=part.out.indptr, bits=state.bits, frontier=state.frontier, alive=np.uint64(alive),
            seen=state.seen, queue=queue, left=left, hub=BETWEENNESS.hub, hubs=state.hubs, counters=state.counters,
        )  # fmt: skip
        reach = kernels.bc_reach, kernels.bc_reach_hubs
        advance(*reach, csr, len(rows), shared, rows, state.masks.array, per_item=32, cleared=True)
        return shared.read_counters(env.backend)

    def gather(self, part: Part, state: BetweennessState, level: Level, env: Environment) -> None:
        """Count the shortest paths to the vertices."""
        assert part.inward is not None
        self._sum_neighbours(part, state, level, part.inward, state.sigma, env)

    def show(self, part: Part, state: BetweennessState, level: Level, env: Environment) -> None:
        self._kernels(part, env).bc_show_paths(
            len(level.rows), level.rows, level.masks, state.sigma, self.width, np.uint64(state.lanes), state.bits,
            state.frontier, state.value, per_item=state.columns,
        )  # fmt: skip

    def go_deep(self, part: Part, state: BetweennessState, env: Environment) -> Messages | None:
        if not self._many_levels(state, env):
            return None
        lanes, bound = state.levels[-1].lanes, len(state.left) // PUSH
        level, edges = search_on(part, state, self._deep_kernels(part, env), bound)
        return self.show_level(part, state, level, lanes, env, edges)

    def _many_levels(self, state: BetweennessState, env: Environment) -> bool:
        """Whether the next levels may go together."""
        if not self.goes_deep or env.size > 1 or env.backend.name != "cpu" or env.allocation.partial:
            return False
        fits = len(state.levels[-1].rows) + state.edges_in <= len(state.queue)
        return fits and len(state.levels) >= BETWEENNESS.apart

    def _deep_kernels(self, part: Part, env: Environment) -> Any:
        return env.kernels("deep", index_t=part.vertex_map.dtype, mask_t=self.mask)

    def turn(self, part: Part, state: BetweennessState, env: Environment) -> Messages:
        """Go back from the last level."""
        state.back = len(state.levels) - 1
        if state.back == 0:
            return self.next_batch(part, state, env, 0)
        return self._show_dependencies(part, state, env, 0)

    def step_back(self, part: Part, state: BetweennessState, env: Environment) -> Messages:
        """Sum what the level behind gives to the next one."""
        state.back -= 1
        level = state.levels[state.back]
        if isinstance(level, Levels):
            lowest, edges = back_over(part, state, self._deep_kernels(part, env), level)
            if state.back == self.first_level:
                return self.next_batch(part, state, env, edges)
            return self.send(state, env, lowest, True, edges)
        state.counters.fill(0)
        self._sum_neighbours(part, state, level, part.out, state.delta, env)
        return self._show_dependencies(part, state, env, level.edges)

    def _show_dependencies(self, part: Part, state: BetweennessState, env: Environment, edges: int) -> Messages:
        level, last = state.levels[state.back], state.back == len(state.levels) - 1
        self.clear(part, state, level, env)
        state.lanes = level.lanes
        self._kernels(part, env).bc_show_dependencies(
            len(level.rows), level.rows, level.masks, state.sigma, state.delta, self.lanes, np.uint64(level.lanes),
            int(last), state.score, state.bits, state.frontier, state.value, per_item=min(state.columns, 32),
        )  # fmt: skip
        if state.back == self.first_level:
            return self.next_batch(part, state, env, edges)
        return self.send(state, env, level, True, edges)

    def _sum_neighbours(
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
