"""Searches by levels by the GPUs of a host together: all levels in one launch on each (common/team_levels.cuh)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from graphdask.engine.buffers import most_deferred
from graphdask.engine.frontier import LevelState
from graphdask.engine.loop import Environment, Superstep
from graphdask.engine.team import Areas, Peers, TeamMemory, TeamRun
from graphdask.engine.tuning import ENGINE, SEARCH
from graphdask.kernels.common import levels_pack as at
from graphdask.kernels.common.tuning import PULL_FEW
from graphdask.partition.part import Part

MODES = ("push", "auto", "pull")
"""The directions of `Direction`, as kernels number them."""


def _areas(part: Part) -> Areas:
    return (2 * part.vertex_map.dtype.itemsize, 0), (0, 1)


class TeamLevels(TeamRun):
    """The share of one rank in a search. Every rank makes one, in `init`.

    Parameters
    ----------
    kernel : callable
        See TeamRun.
    rank : LevelTeam
        A pack of the fields of the search, which are set, and of those of a team.
    state : LevelState
        Of the search. Its frontier, whose length is in its row of counters, goes on to the last level.
    weight : int, optional
        For a search that only pushes and has begun: how many edges the frontier has. Default: the frontier are the
        sources.
    levels : int, optional
        The number of levels after which the search stops, even if it could reach more vertices.
    """

    kinds: ClassVar[tuple[str, ...]] = ("list", "bitmap")

    @staticmethod
    def memory(peers: Peers, part: Part, env: Environment, announced: Sequence[int] = ()) -> TeamMemory:
        """Return the memory for lists of ghosts with a value each, and for bits."""
        return TeamMemory(peers, part, env, _areas(part), announced)

    @staticmethod
    def nbytes(peers: Peers, part: Part, env: Environment) -> int:
        """Return the bytes that the search takes besides the arrays that it is given. Every rank calls it."""
        claimed = 0 if part.inward is None else (part.num_slots + 31) // 32 * 4
        return TeamMemory.nbytes(peers, part, env, _areas(part)) + claimed

    def __init__(
        self, memory: TeamMemory, part: Part, env: Environment, kernel: Any, rank: Any, state: LevelState,
        weight: int | None = None, levels: int | None = None,
    ):  # fmt: skip
        inward, deferred, frontier, mode = part.inward, most_deferred(part.out), state.frontier, state.direction.mode
        plan = at.Levels(deepest=state.limit, has_targets=int(state.targets is not None))
        plan.claims = np.inf
        if inward is not None:
            plan.claims = float(max(SEARCH.claim_edges, part.num_vertices // SEARCH.claim_share))
            deferred = max(deferred, min(part.num_owned, inward.num_edges // PULL_FEW))
            rank.assign(
                in_indptr=inward.indptr, in_indices=inward.indices,
                claimed=env.xp.empty((part.num_slots + 31) // 32, np.uint32),
            )  # fmt: skip
        even, odd = frontier.queues
        rank.assign(
            indptr=part.out.indptr, indices=part.out.indices, even_queue=even.array, odd_queue=odd.array,
            rows=frontier.counters, hubs=frontier.hubs.fit(deferred),
        )  # fmt: skip
        if mode != "push":
            waiting = frontier.buffers_to_pull(part, env)
            rank.assign(even_waiting=waiting[0].array, odd_waiting=waiting[1].array)
        super().__init__(memory, part, env, kernel, {}, rank)
        self.name, self.frontier, self.plan, self.stops = frontier.name, frontier, plan, levels is not None
        pushes = at.CLAIMS if (weight or 0) > plan.claims else at.PUSHES
        plan.assign(
            most=min(levels or ENGINE.team_steps, ENGINE.team_steps), shift=(frontier.turn - frontier.level) % 3,
            ways=at.PULLS if mode == "pull" else pushes, may_pull=MODES.index(mode),
            unexplored=-1.0 if weight is None else 0.0, before=0.0,
        )  # fmt: skip

    def numbers(self, ends: np.ndarray | None) -> tuple[Any, ...]:
        plan = self.plan
        plan.level = self.frontier.level
        if ends is not None:
            plan.ways = int(ends[at.END_WAYS])
            plan.unexplored, plan.before = ends[[at.END_UNEXPLORED, at.END_FOUND]].view(np.float64).tolist()
        return (plan,)

    def _superstep(self, line: list[int]) -> Superstep:
        frontier = self.frontier
        frontier.level, frontier.turn = frontier.level + 1, frontier.turn + 1
        frontier.pulled = frontier.pulled or bool(line[0])
        return super()._superstep(line)
