"""A result of edge betweenness, by hops or by weight, checked by what sums of it must be, distributed.

1. The edges are those of the graph, in the order in which it is stored, with their ends and rows.
2. No score is negative or not a number; self-loops have none; parallel edges that are equally short have equal scores,
   longer ones none. Scores of vertices pass the same checks as those of betweenness.
3. Every vertex and every pair of vertices has a weight. A path weighs what its inner vertices and its edges weigh. The
   scores of vertices and edges, times their weights, add up to what the shortest path from s to t weighs, on the mean
   of these paths, over all sources s and all t. A search of its own finds that on its way forward alone, as
   `graphdask.verify.betweenness` says: with the number of paths to a vertex goes the weight of all of them together.

Weights are hashes between 1/2 and 3/2, as if drawn at random. So scores that are wrong pass 3 only by an accident of
about the rounding. By weight, besides, no edge may make a distance smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.algorithms.betweenness_state import BetweennessState
from graphdask.algorithms.edge_ends import EdgeEnds, like_before
from graphdask.algorithms.over_edges import EdgeBetweenness, WeightedEdgeBetweenness
from graphdask.algorithms.shortest_tree import unreached
from graphdask.algorithms.weighted_paths import WeightedPathsState, simple_edges
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.lane_search import Level
from graphdask.engine.loop import Environment, RankContext, RankResult, run_primitive
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.ghosts import entries_and_turns
from graphdask.partition.neighbours import places_of
from graphdask.partition.part import Csr, Part
from graphdask.verify import betweenness as by_hops
from graphdask.verify import weighted_betweenness as by_weight
from graphdask.verify.betweenness import equal, impossible, paired, scaled_alike, shorter_paths, weights_of
from graphdask.verify.table import verifies

SEARCH = 40
"""Bytes for each edge of a level, while it is weighed."""


def of_pairs(source: Array, destination: Array, n: int, both_ways: bool, xp: Any) -> Array:
    """A weight for each pair of ids; the same for both directions if the graph has both."""
    one, other = (
        (xp.minimum(source, destination), xp.maximum(source, destination)) if both_ways else (source, destination)
    )
    return weights_of(one.astype(np.uint64) * np.uint64(n) + other.astype(np.uint64))


def weigh(part: Part, env: Environment, rows: Array, csr: Csr, ids: Array) -> tuple[Array, Array, Array, Array]:
    """The edges of some rows: their places, the number of the row of each, the other end, and their weights."""
    places, turns = entries_and_turns(env.backend, csr, rows)
    there = csr.indices[places]
    both = part.inward is part.out
    return places, turns, there, of_pairs(ids[there], part.ids[rows][turns], part.num_vertices, both, env.xp)


class InnerVertices(by_hops.InnerVertices):
    """The search by hops: of each pair of lanes the second has what the paths weigh together."""

    def memory(self, part: Part, allocation: Allocation) -> int:
        return super().memory(part, allocation) + SEARCH * max(csr.num_edges for csr in part.directions)

    def init(self, part: Part, env: Environment) -> Any:
        (self.ids,) = env.fetch_ghosts(part, [part.ids])
        assert part.inward is not None
        self.simple = simple_edges(part.inward, env)
        return super().init(part, env)

    def clear(self, part: Part, state: BetweennessState, level: Level, env: Environment) -> None:
        super().clear(part, state, level, env)
        state.frontier.fill(0)  # edges to all vertices are weighed, not only to those whose bit is set

    def _sum_neighbours(
        self, part: Part, state: BetweennessState, level: Level, csr: Csr, out: Array, env: Environment
    ) -> None:
        super()._sum_neighbours(part, state, level, csr, out, env)
        xp = env.xp
        places, turns, there, weight = weigh(part, env, level.rows, csr, self.ids)
        common = xp.where(self.simple[places], state.frontier[there] & level.masks[turns], self.mask(0))
        shown = [lane for lane in range(self.lanes) if state.lanes >> lane & 1]
        for column, lane in list(enumerate(shown))[::2]:
            over_it = places_of(xp, common >> self.mask(lane) & self.mask(1))
            added = state.value[there[over_it], column] * weight[over_it]
            out[level.rows, lane + 1] += xp.bincount(turns[over_it], added, len(level.rows))


class CountInner(by_weight.CountInner):
    """The counts by weight: of each three lanes the third has what the paths weigh together."""

    part: Part
    ids: Array

    def _gather(
        self, state: WeightedPathsState, level: Level, csr: Csr, out: Array, back: int, env: Environment,
        first: int = 0, **over: Array,
    ) -> int:  # fmt: skip
        edges = super()._gather(state, level, csr, out, back, env, first)
        xp, part = env.xp, self.part
        places, turns, there, weight = weigh(part, env, level.rows, csr, self.ids)
        assert csr.weights is not None
        length, here, none = csr.weights[places], level.rows[turns], unreached(self.distance.dtype)
        for lane in range(0, len(self.sources), 3):
            d = self.distance[:, lane]
            tight = (level.masks[turns] >> np.uint64(lane) & np.uint64(1)).astype(bool) & (d[there] != none)
            with np.errstate(over="ignore"):
                tight &= d[there] + length == d[here]
            over_it = places_of(xp, tight)
            added = state.paths[there[over_it], lane] * weight[over_it]
            out[level.rows, lane + 2] += xp.bincount(turns[over_it], added, len(level.rows))
        return edges


class WeightedInnerVertices(by_weight.InnerVertices):
    """The searches by weight."""

    def rows(self, part: Part, env: Environment) -> Any:
        self.part = part
        (self.ids,) = env.fetch_ghosts(part, [part.ids])
        return super().rows(part, env)

    def counts(self, sources: Sequence[int], lanes: int, rows: Any, distance: Array) -> CountInner:
        self.counted = counted = CountInner(sources, lanes, rows, distance)
        counted.part, counted.ids = self.part, self.ids
        return counted


@verifies(EdgeBetweenness)
def verify(context: RankContext, part: Part, primitive: EdgeBetweenness, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    given = paired(primitive)
    return proved(context, part, primitive, result, InnerVertices(given.sources, given.lanes, 1.0))


@verifies(WeightedEdgeBetweenness)
def verify_weighted(
    context: RankContext, part: Part, primitive: WeightedEdgeBetweenness, result: RankResult
) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    batch = min(primitive.lanes, by_weight.SOURCES)
    return proved(
        context, part, primitive, result,
        WeightedInnerVertices(primitive.sources, batch, 1.0, 1.0, primitive.lengths),
    )  # fmt: skip


def proved(context: RankContext, part: Part, primitive: Any, result: RankResult, search: Any) -> Violation | None:
    """Return the first violation of scores, which `search` compares with the paths."""
    xp, env, columns = context.backend.xp, context.environment("selective"), result.columns
    ends, scores = EdgeEnds.of(part, env), columns["vertex_score"]
    assert part.inward is not None
    dead_end = (xp.diff(part.out.indptr) == 0) | (xp.diff(part.inward.indptr) == 0)
    mine = impossible(scores, dead_end, part.ids) or _impossible_edges(part, env, primitive, columns, ends)
    if first_of_all(context, mine):
        return mine
    run_primitive(context.comm, part, search, context.environment("selective"))
    if search.shorter:
        return shorter_paths(context, search.shorter)
    places = xp.arange(len(scores), dtype=np.int64) + part.first_position
    of_vertices = (scaled_alike(scores, part.ids, primitive, xp) * weights_of(places)).sum() / primitive.scale
    pairs = of_pairs(columns["source"], columns["destination"], part.num_vertices, part.inward is part.out, xp)
    of_edges = (columns["score"] * pairs).sum() / primitive.of_edges
    here = np.array([float(of_vertices) + float(of_edges), search.weight])
    found, expected = context.comm.allgather(here).reshape(-1, 2).sum(axis=0)
    if context.comm.rank or equal(found, expected):
        return None
    return Violation(
        -1, -1,
        f"weighed by vertex and edge the scores add up to {found:.15g}, what all paths lead over to {expected:.15g}",
    )  # fmt: skip


def _impossible_edges(
    part: Part, env: Environment, primitive: Any, columns: dict[str, Array], ends: EdgeEnds
) -> Violation | None:
    """The first of the own edges that is none of the graph, or whose score no paths can give."""
    xp, csr = env.xp, part.out
    assert csr.rows is not None
    score, given = columns["score"], {"source": ends.source, "destination": ends.destination, "row": csr.rows}
    expected = {name: column[ends.kept] for name, column in given.items()}
    if len(score) != len(expected["row"]):
        return Violation(-1, -1, f"{len(score)} edges have a score on a rank that has {len(expected['row'])}")
    wrong = {f"its {name} is not that of the graph": columns[name] != column for name, column in expected.items()}
    wrong["its score is negative or not a number"] = ~(score >= 0)
    wrong["it is a self-loop, but has a score"] = (expected["source"] == expected["destination"]) & (score != 0)
    if len(score):
        alike = like_before(csr, ends.source, primitive.by_weight, env)[ends.kept]
        alike[1:] &= score[1:] != score[:-1]
        wrong["a parallel edge has another score"] = alike
        wrong["a parallel edge is shorter, but it has a score"] = _longer(csr, ends, primitive, env) & (score != 0)
    for message, where in wrong.items():
        places = places_of(xp, where)
        if len(places):
            u, v = (int(expected[name][places[0]]) for name in ("source", "destination"))
            return Violation(u, v, f"the edge from {{vertex}} to {{other}}: {message}")
    return None


def _longer(csr: Csr, ends: EdgeEnds, primitive: Any, env: Environment) -> Array:
    """Which edges of the result are longer than one that is parallel."""
    if not primitive.by_weight:
        return env.xp.zeros(len(ends.kept), bool)[ends.kept]
    assert csr.weights is not None
    first = ~like_before(csr, ends.source, False, env)
    return (csr.weights != csr.weights[first][env.xp.cumsum(first) - 1])[ends.kept]
