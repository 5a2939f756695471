"""A result of betweenness by weight, checked by what three sums of it must be, distributed.

As `graphdask.verify.betweenness` does: the scores, and the scores times a weight for each vertex, must add up to what
the inner vertices of shortest paths add up to, found on the way forward alone. Shortest paths to a vertex may have
unequal numbers of inner vertices here. So every source has three lanes: one with the numbers of paths, one with the
inner vertices of all of them, and one with what these weigh. Besides, no edge may make a distance smaller, so that the
distances, and with them the paths, are those of the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.algorithms.weighted_betweenness import WeightedBetweenness
from graphdask.algorithms.weighted_paths import PathCounts, WeightedPathsState
from graphdask.device.backend import Array
from graphdask.engine.lane_search import Level
from graphdask.engine.loop import Environment, Messages, RankContext, RankResult
from graphdask.engine.violation import Violation
from graphdask.partition.part import Part
from graphdask.verify.betweenness import PIECE, proved, weights_of
from graphdask.verify.table import verifies

SOURCES = 21
"""That a batch has at most, three lanes each."""


class CountInner(PathCounts):
    """The way forward alone; adds up the inner vertices of all paths, and what they weigh."""

    name = "search for betweenness by weight"

    def init(self, part: Part, env: Environment) -> tuple[WeightedPathsState, Messages]:
        self.inner, self.weight = 0.0, 0.0
        return super().init(part, env)

    def _counted(self, part: Part, state: WeightedPathsState, level: Level, env: Environment, edges: int) -> Messages:
        piece = max(1, PIECE[env.backend.name] // self.lanes)
        for begin in range(0, len(level.rows), piece):
            some = slice(begin, begin + piece)
            self._add_up(part, state, level.rows[some], level.masks[some], env)
        return super()._counted(part, state, level, env, edges)

    def _add_up(self, part: Part, state: WeightedPathsState, rows: Array, masks: Array, env: Environment) -> None:
        """Add what paths to some rows have inside, and put each row inside the paths that go on from it."""
        xp = env.xp
        lanes = xp.arange(0, self.lanes, 3, dtype=np.uint64)
        here = (masks[:, None] >> lanes) & np.uint64(1) != 0
        table = state.paths[rows]
        paths = xp.where(here, table[:, ::3], 1.0)
        inside, weighed = (xp.where(here, table[:, column::3], 0.0) for column in (1, 2))
        if state.levels:
            self.inner += float((inside / paths).sum())
            self.weight += float((weighed / paths).sum())
            inside += paths
            weighed += weights_of(part.first_position + rows.astype(np.int64))[:, None] * paths
        else:  # sources are inside no path from them
            inside[:] = weighed[:] = 0.0
        for column, found in ((1, inside), (2, weighed)):
            table[:, column::3] = xp.where(here, found, table[:, column::3])
        state.paths[rows] = table

    def _backward(self, part: Part, state: WeightedPathsState, env: Environment) -> Messages:
        return self._end(state)


class InnerVertices(WeightedBetweenness):
    """The searches alone, with the sums that `graphdask.verify.betweenness.sums` compares."""

    name = "search for betweenness by weight"
    copies = 3
    pairs = True

    def counts(self, sources: Sequence[int], lanes: int, rows: Any, distance: Array) -> CountInner:
        self.counted = CountInner(sources, lanes, rows, distance)
        return self.counted

    def result(self, part: Part, state: Any, env: Environment) -> dict[str, Any]:
        self.inner, self.weight, self.shorter = 0.0, 0.0, 0
        for _, _, found in self.batches(part, self.rows(part, env), env):
            self.inner += self.counted.inner
            self.weight += self.counted.weight
            self.shorter += found.values["shorter"]
        return {}


def search_of(primitive: WeightedBetweenness) -> InnerVertices:
    """What a result is compared with."""
    batch = min(primitive.lanes, SOURCES)
    return InnerVertices(primitive.sources, batch, primitive.scale, primitive.scale, primitive.lengths)


@verifies(WeightedBetweenness)
def verify(context: RankContext, part: Part, primitive: WeightedBetweenness, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    return proved(context, part, primitive, result, search_of(primitive))
