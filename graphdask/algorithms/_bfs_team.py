"""Breadth-first search by the GPUs of a host together: all levels in one launch on each (kernels/bfs/bfs_team.cu)."""

from __future__ import annotations

from graphdask.algorithms._bfs_state import BfsState
from graphdask.algorithms.tuning import SEARCH
from graphdask.engine.loop import Environment
from graphdask.engine.team import TeamMemory
from graphdask.engine.team_levels import TeamLevels
from graphdask.kernels.bfs.bfs_pack import RankSearch
from graphdask.kernels.common.levels_pack import Levels
from graphdask.partition.part import Part


class TeamSearch(TeamLevels):
    """The share of one rank in a search; `weight` and `levels` as for TeamLevels. It goes on to the last level."""

    name = "BFS"

    def __init__(
        self, memory: TeamMemory, part: Part, state: BfsState, env: Environment, weight: int | None = None,
        levels: int | None = None,
    ):  # fmt: skip
        kernel = env.kernels("bfs_team", cooperative=True, index_t=part.vertex_map.dtype).bfs_team
        claims = max(SEARCH.claim_edges, part.num_vertices // SEARCH.claim_share)
        plan = Levels(claims=float(claims), deepest=state.limit, has_targets=int(state.targets is not None))
        rank = RankSearch(**state.search.as_dict())
        super().__init__(memory, part, env, kernel, rank, state.frontier, state.direction.mode, plan, weight, levels)
