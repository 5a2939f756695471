"""Betweenness by the GPUs of a host together: a batch of sources in one launch (betweenness_team.cu)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms.betweenness_state import BetweennessState
from graphdask.engine.candidates import PUSH, Candidates
from graphdask.engine.lane_search import Sources
from graphdask.engine.loop import Environment
from graphdask.engine.team import Areas, Peers, TeamMemory, TeamRun
from graphdask.engine.tuning import ENGINE
from graphdask.kernels.betweenness import betweenness_team as at
from graphdask.kernels.common.team import TEAM_WORDS
from graphdask.partition.part import Part


def _areas(peers: Peers, part: Part) -> Areas:
    """Lists of ghosts, and bits; or, where hosts carry them, lists of vertices with a value each."""
    index = part.vertex_map.dtype.itemsize
    return (1 + index, 0), (0, 8 * (8 + index) if peers.relayed else 1)


def _tables(part: Part, lanes: int, mask: Any) -> int:
    return part.num_slots * (8 * lanes + np.dtype(mask).itemsize)


class TeamTables:
    """The tables of one rank that its peers write to: the value and the lanes of each vertex of the frontier.

    Every rank makes them, in `init`.
    """

    def __init__(self, peers: Peers, part: Part, env: Environment, lanes: int, mask: Any):
        size, width, before = part.size, np.dtype(mask).itemsize, _tables(part, lanes, mask)
        if peers.relayed:
            self.memory = TeamMemory(peers, part, env, _areas(peers, part))
            self.own = env.xp.empty(before // 8 + 1, np.float64)
            begin = env.backend.address(self.own)
            self.words = {at.VALUE: begin, at.FRONTIER: begin + part.num_slots * 8 * lanes}
            return
        self.memory = TeamMemory(peers, part, env, _areas(peers, part), part.slot_bounds.tolist(), before=before)
        bounds, begins = self.memory.announced, self.memory.addresses
        frontiers = [begin + int(bound[-1]) * 8 * lanes for begin, bound in zip(begins, bounds, strict=True)]
        self.words = words = {at.VALUE: begins[part.rank], at.FRONTIER: frontiers[part.rank]}
        """Of the row."""
        for step in range(1, size):
            peer = (part.rank + step) % size
            first = int(bounds[peer, size - step])
            words[at.VALUES_OUT + step], words[at.FIRST_OUT + step] = begins[peer], first
            words[at.FRONTIERS_OUT + step] = frontiers[peer] + first * width

    @staticmethod
    def nbytes(peers: Peers, part: Part, env: Environment, lanes: int, mask: Any) -> int:
        """Return the bytes of the tables and of the records of the levels. Every rank calls it."""
        levels = 8 * (ENGINE.team_steps + 1) * at.LEVEL_WORDS
        tables, areas = _tables(part, lanes, mask), _areas(peers, part)
        if peers.relayed:
            return TeamMemory.nbytes(peers, part, env, areas) + tables + 8 + levels
        return TeamMemory.nbytes(peers, part, env, areas, tables) + levels


class TeamBatches(TeamRun):
    """The share of one rank in all batches. Every rank makes one, in `init`.

    Parameters
    ----------
    tables : TeamTables
    part : Part
    env : Environment
    state : State
        Its buffers hold all levels.
    lanes : int
    mask : dtype
    many : int
        The number of vertices, over all ranks, that can search for the frontier in the time of one more
        synchronization.
    hub : int
        The number of edges above which a row is deferred.
    """

    name = "betweenness"
    kinds: ClassVar[tuple[str, ...]] = ("bitmap",)

    def __init__(
        self,
        tables: TeamTables,
        part: Part,
        env: Environment,
        state: BetweennessState,
        lanes: int,
        mask: Any,
        many: int,
        hub: int,
    ):
        xp, dtype, inward, words = env.xp, part.vertex_map.dtype, part.inward, (part.num_slots + 31) // 32
        assert inward is not None
        self.tables, self.state, self.indptr, self.lanes, self.many, self.hub = (
            tables, state, part.out.indptr, lanes, many, hub
        )  # fmt: skip
        self.counters, self.levels = xp.zeros((2, at.BC_ROW), np.int64), xp.empty((0, at.LEVEL_WORDS), np.int64)
        self.all = 0
        """Lanes of the batch."""
        votes, (spare, another) = xp.zeros((2, TEAM_WORDS), np.int64), state.spare
        candidates = Candidates.of(part, mask, env).lists
        arrays = {
            at.INDPTR: part.out.indptr, at.INDICES: part.out.indices, at.IN_INDPTR: inward.indptr,
            at.IN_INDICES: inward.indices, at.SEEN: state.seen, at.BITS: state.bits, at.BITS + 1: state.bits[words:],
            at.SIGMA: state.sigma, at.DELTA: state.delta, at.SCORE: state.score, at.ROWS: state.queue.array,
            at.MASKS: state.masks.array, at.LEFTS: state.with_edges, at.LEFTS + 1: spare, at.LEFTS + 2: another,
            at.HUB_ROWS: state.hubs, at.CHUNKS: state.chunks, at.PARTIAL: state.partial, at.CHOSEN: candidates.chosen,
            at.CANDIDATES: candidates.own, at.GHOST_QUEUE: candidates.ghosts, at.LONG_ROWS: candidates.hubs,
            at.COUNTERS: self.counters, at.VOTES: votes[0], at.REPORTED: votes[1], at.ROW - 1: None,
        }  # fmt: skip
        types = {"index_t": dtype, "mask_t": mask, "team_alone": int(part.size == 1)}
        kernels = env.kernels("betweenness_team", cooperative=True, **types)
        super().__init__(tables.memory, part, env, kernels.betweenness_team, arrays)
        for place, word in tables.words.items():
            self.row[place] = word

    def search(self, sources: Sources, places: Sequence[int]) -> None:
        """Search forward from a batch of sources through all levels, then go back. Every rank calls it.

        Parameters
        ----------
        sources : Sources
        places : sequence of int
            Indices of those that this rank owns in the flattened `sigma`.
        """
        backend, state, count = self.env.backend, self.state, len(sources.lanes)
        rows = backend.from_host(np.array(list(sources.lanes), state.queue.array.dtype))
        masks = backend.from_host(np.array(list(sources.lanes.values()), state.seen.dtype))
        state.queue.array[:count], state.masks.array[:count] = rows, masks
        state.seen.fill(0)
        state.seen[rows] = masks
        state.sigma.reshape(-1)[backend.from_host(np.array(places, np.int64))] = 1.0
        state.bits.fill(0)
        self.counters.fill(0)
        self.all = (1 << sources.count) - 1
        edges = self.indptr[rows + 1] - self.indptr[rows]
        level = count, int(edges.sum()), len(state.with_edges), self.all
        self._fit_levels(ENGINE.team_steps)
        self.levels[0] = backend.from_host(np.array([np.uint64(word) for word in level]).view(np.int64))
        self.run()

    def numbers(self, ends: np.ndarray | None) -> tuple[Any, ...]:
        level, back, looks = 0, -1, 0
        if ends is not None:
            level, back, looks = ends[[at.END_LEVEL, at.END_BACK, at.END_PULLS]].tolist()
        self._fit_levels(level + ENGINE.team_steps)
        return level, back, looks, ENGINE.team_steps, self.lanes, np.uint64(self.all), PUSH, self.many, self.hub

    def _fit_levels(self, levels: int) -> None:
        """Fit the records to so many levels and the next one."""
        before = self.levels
        if len(before) <= levels:
            self.levels = self.env.xp.zeros((max(levels + 1, 2 * len(before)), at.LEVEL_WORDS), np.int64)
            self.levels[: len(before)] = before
        self.row[at.LEVELS] = self.env.backend.address(self.levels)
