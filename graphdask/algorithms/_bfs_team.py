"""Breadth-first search by the GPUs of a host together: all levels in one launch on each (kernels/bfs/bfs_team.cu)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms._bfs_state import NO_LIMIT, BfsState
from graphdask.algorithms.tuning import SEARCH
from graphdask.device.backend import Array
from graphdask.engine.buffers import put_aside
from graphdask.engine.direction import ALPHA, BETA, Direction
from graphdask.engine.loop import Environment, Superstep
from graphdask.engine.team import Areas, Peers, TeamMemory, TeamRun
from graphdask.engine.tuning import ENGINE
from graphdask.kernels.bfs import bfs_team as at
from graphdask.kernels.bfs.bfs_pack import Levels, RankSearch, Search
from graphdask.kernels.common.team import END_DONE
from graphdask.kernels.common.tuning import PULL_FEW
from graphdask.partition.part import Part


def most_aside(part: Part) -> int:
    """Return the largest number of rows that are deferred."""
    most = put_aside(part.out)
    return most if part.inward is None else max(most, min(part.num_owned, part.inward.num_edges // PULL_FEW))


def rank_search(part: Part, search: Search, **arrays: Any) -> RankSearch:
    """Return what the kernel works on, of what a search works on and of further arrays by name."""
    inward = part.inward
    if inward is not None:
        arrays |= {"in_indptr": inward.indptr, "in_indices": inward.indices}
    return RankSearch(**search.as_dict() | arrays)


def _areas(part: Part) -> Areas:
    return (2 * part.vertex_map.dtype.itemsize, 0), (0, 1)


class TeamSearch(TeamRun):
    """The share of one rank in a search. Every rank makes one, in `init`.

    Parameters
    ----------
    sources : array, or (int, int)
        Distinct slots of those sources that this rank owns: on the host if they are few, or else on the device. For a
        search that only pushes and has begun: how many vertices the frontier has, in the queue of the level, and how
        many edges these have.
    direction : Direction
    search : RankSearch
        Without rows, sources and the bits of claimed vertices.
    levels : int, optional
        The number of levels after which the search stops, even if it could reach more vertices.
    level : int, optional
        The level of the frontier. Default: 0.
    deepest : int, optional
        The level at which the search ends.
    has_targets : bool, optional
        Whether the search ends when all targets of all ranks are reached.
    """

    name = "BFS"
    kinds: ClassVar[tuple[str, ...]] = ("list", "bitmap")

    @staticmethod
    def memory(peers: Peers, part: Part, env: Environment, announced: Sequence[int] = ()) -> TeamMemory:
        """Return the memory for lists of ghosts and their parents, and for bits."""
        return TeamMemory(peers, part, env, _areas(part), announced)

    @classmethod
    def nbytes(cls, peers: Peers, part: Part, env: Environment) -> int:
        """Return the bytes that the search takes besides the arrays that it is given. Every rank calls it."""
        claimed = 0 if part.inward is None else (part.num_slots + 31) // 32 * 4
        return TeamMemory.nbytes(peers, part, env, _areas(part)) + claimed + cls.counters().nbytes

    def __init__(
        self,
        memory: TeamMemory,
        part: Part,
        env: Environment,
        sources: Array | tuple[int, int],
        direction: Direction,
        search: RankSearch,
        levels: int | None = None,
        level: int = 0,
        deepest: int = NO_LIMIT,
        has_targets: bool = False,
    ):
        dtype = part.vertex_map.dtype
        self.weight = sources[1] if isinstance(sources, tuple) else None
        count = sources[0] if isinstance(sources, tuple) else len(sources)
        counters, row = self.counters(), level % 3
        counters[row, at.FOUND], counters[row, at.EDGES] = count, part.out.num_edges
        words = [counters.reshape(-1)]
        if isinstance(sources, np.ndarray):
            words.append(np.zeros(len(sources), np.int64))
            words[1].view(dtype)[: len(sources)] = sources
        self.words = env.backend.from_host(np.concatenate(words))
        search.rows = self.words
        if not isinstance(sources, tuple):
            search.sources = self.words[counters.size :] if isinstance(sources, np.ndarray) else sources
        self.claims = np.inf
        if part.inward is not None:
            self.claims = max(SEARCH.claim_edges, part.num_vertices // SEARCH.claim_share)
            search.claimed = env.xp.empty((part.num_slots + 31) // 32, np.uint32)
        kernel = env.kernels("bfs_team", cooperative=True, index_t=dtype).bfs_team
        super().__init__(memory, part, env, kernel, {}, search)
        self.direction, self.level, self.pulled = direction, level, False
        self.stops = levels is not None
        self.plan = Levels(
            most=min(levels or ENGINE.team_steps, ENGINE.team_steps),
            may_pull=("push", "auto", "pull").index(direction.mode),
            vertices=float(direction.num_vertices), alpha=ALPHA, beta=BETA, claims=float(self.claims),
            deepest=deepest, has_targets=int(has_targets),
        )  # fmt: skip

    @staticmethod
    def counters() -> np.ndarray:
        """Return the initial rows of counters."""
        return np.zeros((3, at.BFS_ROW), np.int64)

    def numbers(self, ends: np.ndarray | None) -> tuple[Any, ...]:
        plan, pulls = self.plan, self.direction.mode == "pull"
        plan.level, plan.ways, plan.unexplored, plan.before = self.level, at.PULLS if pulls else at.PUSHES, -1.0, 0.0
        if ends is not None:
            plan.ways = int(ends[at.END_WAYS])
            plan.unexplored, plan.before = ends[[at.END_UNEXPLORED, at.END_FOUND]].view(np.float64).tolist()
        elif self.weight is not None:
            plan.ways, plan.unexplored = at.CLAIMS if self.weight > self.claims else at.PUSHES, 0.0
        return (plan,)

    def frontier(self, env: Environment) -> tuple[int, int]:
        """Return how many vertices and edges the frontier has after a team of one that only pushes has stopped."""
        if self.ends[END_DONE]:
            return 0, 0
        found = self.ends[at.END_FOUND : at.END_FOUND + 1].view(np.float64)
        return int(found[0]), int(env.backend.to_host(self.words)[self.level % 3 * at.BFS_ROW + at.WEIGHT])

    def _superstep(self, line: list[int]) -> Superstep:
        self.level += 1
        self.pulled = self.pulled or bool(line[0])
        return super()._superstep(line)


def search_together(
    part: Part, state: BfsState, memory: TeamMemory, sources: Any, env: Environment, levels: int | None = None
) -> TeamSearch:
    """Go through all levels, or some."""
    search, waiting = state.search, {}
    if state.direction.mode != "push":
        of_list = "what is left for BFS to pull", part.num_owned, part.vertex_map.dtype
        waiting = {name: env.buffer(*of_list).array for name in ("even_waiting", "odd_waiting")}
    search.assign(
        indptr=part.out.indptr, indices=part.out.indices, ghost_queue=state.ghost_queue.array,
        hubs=state.hubs.fit(most_aside(part)),
    )  # fmt: skip
    rank = rank_search(part, search, even_queue=state.queues[0].array, odd_queue=state.queues[1].array, **waiting)
    has_targets = state.targets is not None
    team = TeamSearch(memory, part, env, sources, state.direction, rank, levels, state.level, state.limit, has_targets)
    team.run()
    return team
