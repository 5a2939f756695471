"""A betweenness result checked by what two sums of it must be, distributed.

1. No score is negative or not a number; a vertex without an edge in or without an edge out scores nothing.
2. The dependencies of a source on all vertices add up to the inner vertices of its shortest paths: the sum over reached
   targets t of d(s, t) - 1. So all scores add up to that, over all sources, found by a search of its own.
3. The same holds where every vertex has a weight: its scores times weights add up to what the inner vertices of a
   shortest path from s to t weigh, on the mean of these paths, over all s and t. That search finds it on its way
   forward: with the number of paths to a vertex, which is the sum of those to its predecessors, goes the weight of all
   of them together, to which a predecessor adds its own once for each path. Going back, as the algorithm does, is no
   part of it.

Weights are hashes between 1/2 and 3/2, as if drawn at random. So scores that add up, but belong to other vertices or
are too small here and too large there, pass 3 only by an accident of about the rounding. Both sums together cost about
as much as the result did.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms.betweenness import Betweenness
from graphdask.algorithms.betweenness_state import BetweennessState
from graphdask.device.backend import Array
from graphdask.device.counting import any_set
from graphdask.engine.lane_search import Level
from graphdask.engine.loop import Environment, Messages, RankContext, RankResult, run_primitive
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.verify.table import verifies

TOLERANCE = 1e-9
"""Relative, of a sum of rounded numbers."""
PIECE = {"cpu": 1 << 13, "cuda": 1 << 20}
"""Entries of a table that are checked together."""


def paired(primitive: Betweenness) -> Betweenness:
    """The same with every source twice, in lanes next to each other."""
    twice = [source for source in primitive.sources for _ in range(2)]
    return Betweenness(twice, max(primitive.lanes, 2), primitive.scale)


def scaled_alike(score: Array, ids: Array, primitive: Any, xp: Any) -> Array:
    """Scores of these vertices, those of sources scaled as all others are; of betweenness by hops or by weight."""
    if primitive.of_sources == primitive.scale:
        return score
    ratio = primitive.scale / primitive.of_sources if primitive.of_sources else 1.0  # a single source scores 0
    return xp.where(xp.isin(ids, xp.asarray(np.array(primitive.sources, ids.dtype))), score * ratio, score)


def weights_of(positions: Array) -> Array:
    """A weight for each vertex, by a number of its own: float64 in [1/2, 3/2)."""
    mixed = positions.astype(np.uint64) + np.uint64(1)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 0x9E3779B97F4A7C15)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 0.5


class InnerVertices(Betweenness):
    """The searches alone; adds up the inner vertices of all paths, and what they weigh.

    Of each pair of lanes one has the numbers of paths, and the other what the inner vertices of these weigh together.
    Where sources are not paired, the inner vertices are counted only.
    """

    name = "search for betweenness"
    by_teams = False
    shorter = 0
    """Edges that make a distance smaller; none in a search by hops."""

    @property
    def pairs(self) -> bool:
        """Whether every source comes twice."""
        return len(self.sources) > 1 and self.sources[0] == self.sources[1]

    def init(self, part: Part, env: Environment) -> tuple[BetweennessState, Messages]:
        self.inner, self.weight = 0, 0.0
        return super().init(part, env)

    def show_level(
        self, part: Part, state: BetweennessState, level: Level, lanes: int, env: Environment, edges: int
    ) -> Messages:
        piece = max(1, PIECE[env.backend.name] // self.lanes)
        for begin in range(0, len(level.rows), piece):
            some = slice(begin, begin + piece)
            self._add_up(part, state, level.rows[some], level.masks[some], env)
        return super().show_level(part, state, level, lanes, env, edges)

    def _add_up(self, part: Part, state: BetweennessState, rows: Array, masks: Array, env: Environment) -> None:
        """Take in some rows of a new level, and add what they weigh to what they send."""
        xp, depth, step = env.xp, len(state.levels), 2 if self.pairs else 1
        here = (masks[:, None] >> xp.arange(0, self.lanes, step, dtype=self.mask)) & self.mask(1) != 0
        if depth:
            self.inner += int(here.sum()) * (depth - 1)
        if not self.pairs:
            return
        table = state.sigma[rows]
        paths, weighed = xp.where(here, table[:, ::2], 1.0), xp.where(here, table[:, 1::2], 0.0)
        if depth:
            self.weight += float((weighed / paths).sum())
            weighed += weights_of(part.first_position + rows.astype(np.int64))[:, None] * paths
        else:  # sources are inside no path from them
            weighed[:] = 0.0
        table[:, 1::2] = weighed
        state.sigma[rows] = table

    def turn(self, part: Part, state: BetweennessState, env: Environment) -> Messages:
        return self.next_batch(part, state, env, 0)


@verifies(Betweenness)
def verify(context: RankContext, part: Part, primitive: Betweenness, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    given = paired(primitive)
    return proved(context, part, primitive, result, InnerVertices(given.sources, given.lanes, given.scale))


def proved(context: RankContext, part: Part, primitive: Any, result: RankResult, search: Any) -> Violation | None:
    """Return the first violation of scores by hops or by weight, which `search` compares with the paths."""
    xp, score = context.backend.xp, result.columns["score"]
    assert part.inward is not None
    dead_end = (xp.diff(part.out.indptr) == 0) | (xp.diff(part.inward.indptr) == 0)
    mine = impossible(score, dead_end, part.ids)
    if first_of_all(context, mine):
        return mine
    run_primitive(context.comm, part, search, context.environment("selective"))
    if search.shorter:
        return shorter_paths(context, search.shorter)
    return sums(context, part, scaled_alike(score, part.ids, primitive, xp), xp, search)


def shorter_paths(context: RankContext, edges: int) -> Violation | None:
    """That so many edges make a distance smaller, which the first rank says."""
    message = f"{edges} edges lead to shorter paths than those that were found"
    return Violation(-1, -1, message) if context.comm.rank == 0 else None


def impossible(score: Array, dead_end: Array, ids: Array) -> Violation | None:
    """The first of these vertices whose score no paths can give."""
    for wrong, message in (
        (~(score >= 0), "the score of {vertex} is negative or not a number"),
        (dead_end & (score != 0), "no path leads through {vertex}, but it has a score"),
    ):
        if any_set(wrong):
            return Violation(int(ids[wrong].min()), -1, message)
    return None


def sums(context: RankContext, part: Part, score: Array, xp: Any, search: Any) -> Violation | None:
    """Whether the scores of own vertices, arrays of `xp` in the order of their positions, add up to what was found.

    `search` has found it: InnerVertices, here or in graphdask.verify.weighted_betweenness.
    """
    weighed, scale = 0.0, search.scale
    if search.pairs:
        places = xp.arange(len(score), dtype=np.int64) + part.first_position
        weighed = float((score * weights_of(places)).sum())
    here = np.array([float(score.sum()), float(search.inner) * scale, weighed, search.weight * scale])
    found, expected, of_weight, expected_weight = context.comm.allgather(here).reshape(-1, 4).sum(axis=0)
    if context.comm.rank != 0:
        return None
    if not equal(found, expected):
        inner = f"the inner vertices of all paths to {expected:.15g}"
        return Violation(-1, -1, f"the scores add up to {found:.15g}, {inner}")
    if not equal(of_weight, expected_weight):
        return Violation(
            -1,
            -1,
            f"the scores add up, but some are too large and others too small: weighed by vertex they add up to "
            f"{of_weight:.15g}, the inner vertices of all paths to {expected_weight:.15g}",
        )
    return None


def equal(found: float, expected: float) -> bool:
    return bool(abs(found - expected) <= TOLERANCE * max(abs(expected), 1.0))
