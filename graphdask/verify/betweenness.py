"""A betweenness result checked by what its sum must be, distributed.

1. No score is negative or not a number; a vertex without an edge in or without an edge out scores nothing.
2. The dependencies of a source on all vertices add up to the inner vertices of its shortest paths: the sum over reached
   targets t of d(s, t) - 1. So all scores add up to that, over all sources, found by a search of its own.

This is necessary, not sufficient: scores exchanged between vertices that have edges both ways pass. The sum costs
another search from every source, half of what the result did.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms._levels import Level, State
from graphdask.algorithms.betweenness import Betweenness
from graphdask.backend import Array
from graphdask.engine import Environment, Messages, RankContext, RankResult, run_primitive
from graphdask.part import Csr, Part
from graphdask.verify.violation import Violation, first_of_all

TOLERANCE = 1e-9
"""Relative, of a sum of rounded numbers."""


class _InnerVertices(Betweenness):
    """The searches alone; adds up d - 1 over the vertices that are reached."""

    name = "search for betweenness"
    by_teams = False

    def _gather(self, part: Part, state: State, level: Level, csr: Csr, out: Array, env: Environment) -> None:
        counted = env.xp.zeros(1, np.int64)
        self._kernels(part, env).bc_lanes(len(level.masks), level.masks, counted)
        self.inner += int(counted[0]) * (len(state.levels) - 1)

    def _turn(self, part: Part, state: State, env: Environment) -> Messages:
        return self._next_batch(part, state, env, 0)

    def init(self, part: Part, env: Environment) -> tuple[State, Messages]:
        self.inner = 0
        return super().init(part, env)

    def result(self, part: Part, state: State, env: Environment) -> dict[str, Any]:
        return {}


def verify(context: RankContext, part: Part, primitive: Betweenness, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    xp, score = context.backend.xp, result.columns["score"]
    assert part.inward is not None
    dead_end = (xp.diff(part.out.indptr) == 0) | (xp.diff(part.inward.indptr) == 0)
    mine = None
    for wrong, message in (
        (~(score >= 0), "the score of {vertex} is negative or not a number"),
        (dead_end & (score != 0), "no path leads through {vertex}, but it has a score"),
    ):
        places = xp.flatnonzero(wrong)
        if len(places) and mine is None:
            mine = Violation(int(part.ids[places].min()), -1, message)
    if first_of_all(context, mine):
        return mine
    search = _InnerVertices(primitive.sources, primitive.lanes, 1.0)
    run_primitive(context.comm, part, search, context.environment("selective"))
    sums = np.array([float(score.sum()), float(search.inner) * primitive.scale])
    found, expected = context.comm.allgather(sums).sum(axis=0)
    if abs(found - expected) <= TOLERANCE * max(abs(expected), 1.0) or context.comm.rank != 0:
        return None
    return Violation(-1, -1, f"the scores add up to {found:.15g}, the inner vertices of all paths to {expected:.15g}")
