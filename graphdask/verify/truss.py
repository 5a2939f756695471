"""A k-truss proved by counting triangles once, distributed, in another order of the vertices than that of the run.

1. Both ends of a pair of neighbours agree in which round it went.
2. A pair that is left is in k - 2 triangles or more of pairs that are left.
3. A pair that went is in fewer than k - 2 triangles of pairs that went in the same round, later, or never. So no larger
   truss exists: of the pairs of such a truss, take one that went first. All triangles that it has in that truss are of
   pairs that went with it, later, or never, and there are k - 2 of them.
4. The edges of the result are those of the graph whose pairs are left, each as often as it is there, with its weight.
"""

from __future__ import annotations

import numpy as np

from graphdask.device.counting import any_set
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.subgraphs.arcs import Arcs
from graphdask.subgraphs.truss import Truss
from graphdask.verify.subgraphs import first_edge, missing
from graphdask.verify.table import verifies


@verifies(Truss)
def verify(context: RankContext, part: Part, primitive: Truss, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    env, xp = context.environment("selective"), context.backend.xp
    arcs, removed = Arcs.of(part, env, again=True), result.columns["removed"]
    mine = None
    if len(removed) != len(arcs.keys) or any_set(removed < 0):
        mine = Violation(-1, -1, "rounds are not given for each pair of neighbours")
    if first_of_all(context, mine):
        return mine
    arcs.removed = removed
    everywhere = xp.arange(len(removed))
    here, there = arcs.ends(part, everywhere)
    places, came = arcs.at_owners(part, env, there, here, removed)
    mine = first_edge(
        removed[places] != came, here[places], there[places], "the ends of {vertex} and {other} disagree about it"
    )
    if first_of_all(context, mine):
        return mine
    support = xp.zeros(len(removed), np.int64)
    never = np.iinfo(np.int64).max
    for arc, w, place, went in arcs.triangles(part, env, xp.flatnonzero(arcs.lower), lambda some: arcs.lower[some]):
        rounds = [xp.where(each == 0, never, each) for each in (removed[arc], removed[place], went)]
        last = xp.minimum(xp.minimum(rounds[0], rounds[1]), rounds[2])
        counted = rounds[2] == last
        other, _ = arcs.at_owners(part, env, arcs.ends(part, arc)[1][counted], w[counted])
        for some in (arc[rounds[0] == last], place[rounds[1] == last], other):
            changed, counts = xp.unique(some, return_counts=True)
            support[changed] += counts
    few, many = support < primitive.k - 2, support >= primitive.k - 2
    mine = first_edge(
        arcs.lower & (removed == 0) & few, here, there, "the pair {vertex}, {other} is left with too few triangles"
    ) or first_edge(
        arcs.lower & (removed > 0) & many, here, there, "the pair {vertex}, {other} went while it had enough triangles"
    )
    return mine or _other_edges(context, part, primitive, result, arcs)


def _other_edges(
    context: RankContext, part: Part, primitive: Truss, result: RankResult, arcs: Arcs
) -> Violation | None:
    """The first edge of the result that is none of those whose pair is left, or that lacks; no messages are sent."""
    env = context.environment("selective")
    src, dst, instance = (result.columns[name] for name in ("src", "dst", "instance"))
    wrong = (src < 0) | (src >= dst) | (dst >= part.num_vertices) | (instance != 0)
    found = first_edge(wrong, src, dst, "the edge from {vertex} to {other} is none, or turned round")
    found = found or missing(context, part, result)
    if found:
        return found
    rows = part.vertex_map.to_position(env.backend, src) - src.dtype.type(part.first_position)
    places = env.xp.searchsorted(arcs.keys, rows.astype(np.int64) * arcs.n + dst)
    found = first_edge(arcs.removed[places] != 0, src, dst, "the edge from {vertex} to {other} went, but is there")
    count = len(primitive.chosen(part, env, arcs))
    lost = f"{len(src)} edges are there, and {count} are left"
    return found or (Violation(-1, -1, lost) if count != len(src) else None)
