"""Shortest paths by the GPUs of a host together: all supersteps in one launch on each (kernels/sssp/sssp_team.cu)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms.sssp_state import SsspState
from graphdask.engine.loop import Environment
from graphdask.engine.superstep import Superstep
from graphdask.engine.team import Areas, Peers, TeamMemory, TeamRun
from graphdask.engine.tuning import ENGINE
from graphdask.kernels.common.team import TEAM_WORDS
from graphdask.kernels.sssp import sssp_team as at
from graphdask.kernels.sssp.sssp_pack import TeamBuckets, TeamRelaxing
from graphdask.partition.part import Part

TEAM_BREADTH = 1 / 16
"""Width of a bucket, in mean weights by mean degrees. The first ones, with the vertices of most edges, are narrow,
because they are scanned again whenever a vertex comes nearer; the kernel widens those after them. R-MAT 24 on one H100:
with whole weights to 255 each width from 1/32 to 2 takes 15 to 16 ms; with weights from 0 to 1 that are evenly spread,
1/16 reads 1.1 G edges in 32 ms, 1/4 1.6 in 36 and 2 2.1 in 42; with exponential ones 1/16 reads 1.3 in 28,
1/4 1.8 in 36 and 2 2.3 in 42."""
FEW_STEPS = 16
"""Supersteps of a launch after which the host looks how far away the targets are."""
ENOUGH = 1
"""Near vertices from which a rank sends what it knows before it goes on: a meeting costs less than to relax from labels
that others know better (R-MAT 24 on four H200: 24 ms, and 28 from 2^16 on; on two H100 whose hosts carry the messages
28 ms, and 31 from 2^12 on). One rank has nothing to send."""


def _areas(part: Part, label: np.dtype) -> Areas:
    nbytes = part.vertex_map.dtype.itemsize + label.itemsize
    return (nbytes, 0), (nbytes, 0)


class TeamPaths(TeamRun):
    """The part of one rank. Every rank makes it, from `init`.

    Parameters
    ----------
    kernels : object
        Of the family, for the types in use.
    state : SsspState
    delta : float
        Width of a bucket, to begin with where it `widens`.
    most : float
        Where the last one ends; `state.too_far` is in the end whether anything lies beyond.
    asks : bool
        Whether to ask again and again where the search stops, because targets come nearer.
    """

    name = "SSSP"
    kinds: ClassVar[tuple[str, ...]] = ("list",)

    @staticmethod
    def memory(peers: Peers, part: Part, env: Environment, label: np.dtype) -> TeamMemory:
        """For lists of ghosts and their labels, in turn."""
        return TeamMemory(peers, part, env, _areas(part, label))

    @staticmethod
    def nbytes(peers: Peers, part: Part, env: Environment, label: np.dtype) -> int:
        """Bytes that it takes besides the arrays that it is given. Every rank calls it."""
        return TeamMemory.nbytes(peers, part, env, _areas(part, label)) + 4 * 8 * TEAM_WORDS + part.num_slots

    def __init__(
        self, memory: TeamMemory, part: Part, env: Environment, kernels: Any, state: SsspState, delta: float,
        widens: bool, most: float, asks: bool,
    ):  # fmt: skip
        assert state.frontier is not None
        self.state, self.most, self.steps = state, most, FEW_STEPS if asks else ENGINE.team_steps
        self.buckets = TeamBuckets(
            enough=ENOUGH if env.size > 1 else 2**62, looked_before=0, looked_here=0, widens=int(widens), widened=1.0,
            delta=float(delta), farthest=most,
        )  # fmt: skip
        mine = TeamRelaxing(
            **state.frontier.search.as_dict(), bounds=env.xp.full(part.num_slots, 255, np.uint8),
            votes=env.xp.zeros(4 * TEAM_WORDS, np.int64),
        )  # fmt: skip
        super().__init__(memory, part, env, kernels.sssp_team, {}, mine)

    def numbers(self, ends: np.ndarray | None) -> tuple[Any, ...]:
        self.stop = self.state.stop.ask(self.state.labels)
        self.buckets.farthest = min(self.most, self.stop)
        if ends is None:
            return 0, self.steps, self.buckets
        self.buckets.looked_before, self.buckets.looked_here = ends[at.END_LOOKED : at.END_WIDENED].tolist()
        self.buckets.widened = float(ends[at.END_WIDENED : at.END_WIDENED + 1].view(np.float64)[0])
        return int(ends[at.END_SUPERSTEP]), self.steps, self.buckets

    def run(self) -> list[Superstep]:
        steps = super().run()
        self.state.too_far = bool(self.ends[at.END_TOO_FAR]) and self.most < self.stop
        return steps
