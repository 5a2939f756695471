"""Vertices within some hops of sources proved in n log n, distributed.

1. No pair of source and vertex stands twice. At hop 0 are the sources, and nothing else.
2. Every neighbour of a vertex at a hop before the last one is there, at most one hop later. So no vertex is farther
   than its hop says, and none within the last hop lacks.
3. A vertex at another hop than 0 has a neighbour one hop before it. So none is nearer than its hop says.

A rank sends the neighbours of its pairs to their owners, each with the least hop that follows for it.
"""

from __future__ import annotations

import numpy as np

from graphdask.device.backend import Array
from graphdask.device.counting import any_set
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.sample.sampler import owners, routed
from graphdask.subgraphs.hops import Hops
from graphdask.subgraphs.rows import places_in
from graphdask.subgraphs.selected import own_rows
from graphdask.verify.table import verifies


@verifies(Hops)
def verify(context: RankContext, part: Part, primitive: Hops, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    env, xp, owned = context.environment("selective"), context.backend.xp, max(part.num_owned, 1)
    vertex, hop, instance = (result.columns[name] for name in ("vertex", "hop", "instance"))
    wrong = (vertex < 0) | (vertex >= part.num_vertices) | (instance < 0) | (instance >= primitive.instances)
    wrong |= (hop < 0) | (hop > primitive.hops)
    mine = _first(wrong, vertex, "{vertex} is no vertex, or of no source or hop")
    if first_of_all(context, mine):
        return mine
    rows, own = own_rows(part, env, part.vertex_map.to_position(env.backend, vertex))
    if len(own) < len(vertex):
        mine = Violation(-1, -1, "a vertex is listed by a rank that does not own it")
    if first_of_all(context, mine):
        return mine
    pairs = instance * part.num_owned + rows
    order = xp.argsort(pairs, kind="stable")
    pairs, hop, vertex = pairs[order], hop[order], vertex[order]
    again = xp.zeros(len(pairs), bool)
    again[1:] = pairs[1:] == pairs[:-1]
    mine = _first(again, vertex, "{vertex} is listed twice for a source")
    first = primitive.started(part, env)
    here = pairs[hop == 0]
    if mine is None and (len(here) != len(first) or any_set(here != first)):
        mine = Violation(-1, -1, "the vertices at hop 0 are not the sources")
    if first_of_all(context, mine):
        return mine
    nearest = xp.full(len(pairs), np.iinfo(np.int32).max, np.int64)
    last = np.array([int(hop.max()) if len(hop) else 0], np.int64)
    for step in range(min(int(context.comm.allreduce(last, "max")[0]) + 1, primitive.hops)):
        instances, positions, _ = primitive.neighbours(part, env, pairs[hop == step])
        sent, cuts = routed(env, owners(env, part, positions), {"instance": instances, "vertex": positions})
        came = {
            name: xp.concatenate(
                context.comm.alltoallv([xp.ascontiguousarray(column[cuts[q] : cuts[q + 1]]) for q in range(env.size)])
            )
            for name, column in sent.items()
        }
        reached = came["vertex"] - part.vertex_map.dtype.type(part.first_position)
        wanted = came["instance"] * owned + reached
        places, there = places_in(xp, pairs, wanted)
        late = there & (hop[places] > step + 1) if len(pairs) else there
        mine = mine or _first(~there, part.ids[reached], "{vertex} lacks, a neighbour of a vertex of an earlier hop")
        mine = mine or _first(late, part.ids[reached], "{vertex} has a neighbour more than one hop before it")
        nearest[places[there]] = xp.minimum(nearest[places[there]], step + 1)
    unfounded = (hop > 0) & (nearest != hop)
    return mine or _first(unfounded, vertex, "{vertex} has no neighbour one hop before it")


def _first(wrong: Array, vertex: Array, message: str) -> Violation | None:
    """The violation of the first entry that is `wrong`."""
    places = wrong.nonzero()[0] if len(wrong) else wrong
    return Violation(int(vertex[places[0]]), -1, message) if len(places) else None
