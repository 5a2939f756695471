"""Breadth-first search by the GPUs of a host together: all levels in one launch on each (kernels/bfs/bfs_team.cu)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms._bfs_state import BfsState
from graphdask.algorithms.tuning import SEARCH
from graphdask.engine.buffers import put_aside
from graphdask.engine.loop import Environment, Superstep
from graphdask.engine.team import Areas, Peers, TeamMemory, TeamRun
from graphdask.engine.tuning import ENGINE
from graphdask.kernels.bfs.bfs_pack import RankSearch
from graphdask.kernels.common import levels_pack as at
from graphdask.kernels.common.levels_pack import CLAIMS, PULLS, PUSHES, Levels
from graphdask.kernels.common.tuning import PULL_FEW
from graphdask.partition.part import Part


def most_aside(part: Part) -> int:
    """Return the largest number of rows that are deferred."""
    most = put_aside(part.out)
    return most if part.inward is None else max(most, min(part.num_owned, part.inward.num_edges // PULL_FEW))


def _areas(part: Part) -> Areas:
    return (2 * part.vertex_map.dtype.itemsize, 0), (0, 1)


class TeamSearch(TeamRun):
    """The share of one rank in a search. Every rank makes one, in `init`.

    Parameters
    ----------
    state : BfsState
        With the frontier in its queue, and its length in its row of counters. It goes on to the last level.
    weight : int, optional
        For a search that only pushes and has begun: how many edges the frontier has. Default: the frontier are the
        sources.
    levels : int, optional
        The number of levels after which the search stops, even if it could reach more vertices.
    """

    name = "BFS"
    kinds: ClassVar[tuple[str, ...]] = ("list", "bitmap")

    @staticmethod
    def memory(peers: Peers, part: Part, env: Environment, announced: Sequence[int] = ()) -> TeamMemory:
        """Return the memory for lists of ghosts and their parents, and for bits."""
        return TeamMemory(peers, part, env, _areas(part), announced)

    @staticmethod
    def nbytes(peers: Peers, part: Part, env: Environment) -> int:
        """Return the bytes that the search takes besides the arrays that it is given. Every rank calls it."""
        claimed = 0 if part.inward is None else (part.num_slots + 31) // 32 * 4
        return TeamMemory.nbytes(peers, part, env, _areas(part)) + claimed

    def __init__(
        self, memory: TeamMemory, part: Part, state: BfsState, env: Environment, weight: int | None = None,
        levels: int | None = None,
    ):  # fmt: skip
        dtype, mode, inward = part.vertex_map.dtype, state.direction.mode, part.inward
        search = RankSearch(
            **state.search.as_dict(), rows=state.counters, even_queue=state.queues[0].array,
            odd_queue=state.queues[1].array,
        )  # fmt: skip
        search.indptr, search.indices = part.out.indptr, part.out.indices
        search.hubs = state.hubs.fit(most_aside(part))
        if mode != "push":
            of_list = "what is left for BFS to pull", part.num_owned, dtype
            search.even_waiting, search.odd_waiting = env.buffer(*of_list).array, env.buffer(*of_list).array
        claims = np.inf
        if inward is not None:
            claims = max(SEARCH.claim_edges, part.num_vertices // SEARCH.claim_share)
            search.in_indptr, search.in_indices = inward.indptr, inward.indices
            search.claimed = env.xp.empty((part.num_slots + 31) // 32, np.uint32)
        kernel = env.kernels("bfs_team", cooperative=True, index_t=dtype).bfs_team
        super().__init__(memory, part, env, kernel, {}, search)
        self.state, self.stops = state, levels is not None
        self.plan = Levels(
            most=min(levels or ENGINE.team_steps, ENGINE.team_steps), shift=(state.turn - state.level) % 3,
            ways=PULLS if mode == "pull" else CLAIMS if (weight or 0) > claims else PUSHES,
            may_pull=("push", "auto", "pull").index(mode), unexplored=-1.0 if weight is None else 0.0, before=0.0,
            claims=float(claims), deepest=state.limit, has_targets=int(state.targets is not None),
        )  # fmt: skip

    def numbers(self, ends: np.ndarray | None) -> tuple[Any, ...]:
        plan = self.plan
        plan.level = self.state.level
        if ends is not None:
            plan.ways = int(ends[at.END_WAYS])
            plan.unexplored, plan.before = ends[[at.END_UNEXPLORED, at.END_FOUND]].view(np.float64).tolist()
        return (plan,)

    def _superstep(self, line: list[int]) -> Superstep:
        state = self.state
        state.level, state.turn, state.pulled = state.level + 1, state.turn + 1, state.pulled or bool(line[0])
        return super()._superstep(line)
