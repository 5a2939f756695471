"""Shortest paths proved in linear time, distributed.

A search stops at a distance: the farthest target's, if all targets are reached, or the cutoff, or none.

1. Sources have the distance 0 and are their own parents; a vertex has a parent if and only if it was reached; distances
   are neither negative nor NaN, nor above that at which the search stops.
2. No edge can relax: every edge u -> v with u reached, and distance[u] + weight not above that, leads to a reached v
   with distance[v] <= distance[u] + weight. So no distance is too large, and every vertex up to there is reached.
3. Every reached vertex but the sources has a tight edge from its parent: distance[parent] + weight == distance. Parents
   are nearer to the source than their children, or at the same distance; in the second case a search over such edges
   of the tree, from the vertices whose parents are nearer, must arrive. So parents form trees, every distance is the
   sum over a path, and none is too small.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms.bfs import SearchFrom
from graphdask.algorithms.shortest_tree import level_part, unreached, weights_of
from graphdask.algorithms.sssp import ShortestPaths
from graphdask.device.backend import Array
from graphdask.device.counting import any_set
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.targets import stopped_at
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.ghosts import fetch_ghosts
from graphdask.partition.part import Part
from graphdask.partition.queries import own_places
from graphdask.verify.path_edges import check_edges, first_wrong, witnessed_by_all
from graphdask.verify.table import verifies


@verifies(ShortestPaths)
def verify(context: RankContext, part: Part, primitive: ShortestPaths, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    xp = context.backend.xp
    distance, parent = result.columns["distance"], result.columns["parent"]
    until = stopped_at(context.comm, context.backend, part, distance, primitive.targets, primitive.cutoff)
    source = xp.zeros(part.num_owned, bool)
    source[context.backend.from_host(own_places(part, primitive.sources))] = True
    mine = _values(context, part, source, distance, parent, until)
    if first_of_all(context, mine):
        return mine
    if distance.dtype.kind != "f":
        distance = xp.where(distance < 0, unreached(distance.dtype), distance)
    distance, parent = fetch_ghosts(context.comm, context.backend, part, [distance, parent])
    witnessed, level = xp.zeros(part.num_slots, np.uint8), xp.zeros(part.num_owned, np.int64)
    message = "the edge from {vertex} to {other} makes a shorter path, or leaves the reached set"
    lengths = weights_of(part.out, xp)
    mine = check_edges(context, part, part.out, lengths, distance, parent, witnessed, level, message, until)
    if first_of_all(context, mine):
        return mine
    return _tree(context, part, source, distance, parent, witnessed_by_all(context, part, witnessed), level)


def _values(
    context: RankContext, part: Part, source: Array, distance: Array, parent: Array, until: Any
) -> Violation | None:
    floats = distance.dtype.kind == "f"
    reached = distance < np.inf if floats else distance != -1
    none = ~(distance >= 0) if floats else distance < -1
    checks = (
        (none | (parent < -1), "vertex {vertex} has a distance that is negative or NaN, or a parent below -1"),
        (
            source & ((distance != 0) | (parent != part.ids)),
            "source {vertex} must have distance 0 and be its own parent",
        ),
        (reached != (parent >= 0), "vertex {vertex} has a distance and no parent, or a parent and no distance"),
        (reached & (distance > until), "vertex {vertex} is farther than the distance at which the search stops"),
    )
    return first_wrong(context, part, checks)


def _tree(
    context: RankContext, part: Part, source: Array, distance: Array, parent: Array, witnessed: Array,
    level: Array,
) -> Violation | None:  # fmt: skip
    owned, environment = part.num_owned, context.environment("selective")
    rooted = (witnessed[:owned] > 0) | source
    lost = ~rooted & (distance[:owned] != unreached(distance.dtype))
    if not environment.least(int(not any_set(lost))):
        flat = level_part(part, environment, distance, parent, level, tree=True)
        roots = context.backend.xp.flatnonzero(rooted).astype(part.vertex_map.dtype)
        lost &= environment.run(flat, SearchFrom(roots)).columns["depth"] < 0
    message = (
        "vertex {vertex} has no edge from its parent {other} that explains its distance, or its parents go in a circle"
    )
    return first_wrong(context, part, [(lost, message)], parent)
