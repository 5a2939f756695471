"""Shortest paths proved in linear time, distributed.

1. The source has the distance 0 and is its own parent; a vertex has a parent if and only if it was reached; distances
   are neither negative nor NaN.
2. No edge can relax: every edge u -> v with u reached leads to a reached v with distance[v] <= distance[u] + weight. So
   no distance is too large, and the reached set is closed.
3. Every reached vertex but the source has a tight edge from its parent: distance[parent] + weight == distance. Parents
   are nearer to the source than their children, or at the same distance; in the second case a search over such edges
   of the tree, from the vertices whose parents are nearer, must arrive. So parents form a tree, every distance is the
   sum over a path, and none is too small.
"""

from __future__ import annotations

import numpy as np

from graphdask.algorithms._shortest_tree import SearchLevel, level_part, unreached, weights_of
from graphdask.algorithms.sssp import ShortestPaths
from graphdask.device.backend import Array
from graphdask.engine.loop import HUB_THREADS, RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.kernels.sssp.sssp_tree_pack import Tree
from graphdask.partition.ghosts import fetch_ghosts
from graphdask.partition.part import Part
from graphdask.verify.bfs import edge_ends, witnessed_by_all


def verify(context: RankContext, part: Part, primitive: ShortestPaths, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    xp = context.backend.xp
    distance, parent = result.columns["distance"], result.columns["parent"]
    mine = _values(context, part, primitive, distance, parent)
    if first_of_all(context, mine):
        return mine
    if distance.dtype.kind != "f":
        distance = xp.where(distance < 0, unreached(distance.dtype), distance)
    distance, parent = fetch_ghosts(context.comm, context.backend, part, [distance, parent])
    witnessed, level = xp.zeros(part.num_slots, np.uint8), xp.zeros(part.num_owned, np.int64)
    mine = _edges(context, part, distance, parent, witnessed, level)
    if first_of_all(context, mine):
        return mine
    return _tree(context, part, primitive, distance, parent, witnessed_by_all(context, part, witnessed), level)


def _values(
    context: RankContext, part: Part, primitive: ShortestPaths, distance: Array, parent: Array
) -> Violation | None:
    source = part.ids == primitive.source
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
    )
    for wrong, message in checks:
        places = context.backend.xp.flatnonzero(wrong)
        if len(places):
            return Violation(int(part.ids[places].min()), -1, message)
    return None


def _edges(
    context: RankContext, part: Part, distance: Array, parent: Array, witnessed: Array, level: Array
) -> Violation | None:
    xp, dtype = context.backend.xp, part.vertex_map.dtype
    weights, each = weights_of(part.out, xp)
    kernels = context.backend.kernels("sssp_tree", index_t=dtype, weight_t=weights.dtype, dist_t=distance.dtype)
    first_bad = xp.full(1, np.iinfo(np.int64).max, np.int64)
    shared = Tree(
        indptr=part.out.indptr, indices=part.out.indices, weights=weights, each=each, ids=part.ids, distance=distance,
        parent=parent, witnessed=witnessed, level=level, first_bad=first_bad, hubs=xp.empty(part.num_owned, dtype),
        counters=xp.zeros(2, np.int64),
    )  # fmt: skip
    kernels.sssp_check(part.num_owned, shared)
    kernels.sssp_check_hubs(HUB_THREADS, shared)
    edge = int(first_bad[0])
    if edge == np.iinfo(np.int64).max:
        return None
    u, v = edge_ends(context, part, part.out, edge)
    return Violation(u, v, "the edge from {vertex} to {other} makes a shorter path, or leaves the reached set")


def _tree(
    context: RankContext, part: Part, primitive: ShortestPaths, distance: Array, parent: Array, witnessed: Array,
    level: Array,
) -> Violation | None:  # fmt: skip
    xp, owned = context.backend.xp, part.num_owned
    environment = context.environment("selective")
    rooted = (witnessed[:owned] > 0) | (part.ids == primitive.source)
    lost = ~rooted & (distance[:owned] != unreached(distance.dtype))
    if not environment.least(int(not lost.any())):
        flat = level_part(part, environment, distance, parent, level, tree=True)
        lost &= environment.run(flat, SearchLevel(rooted)).columns["depth"] < 0
    places = xp.flatnonzero(lost)
    if not len(places):
        return None
    place = int(places[xp.argmin(part.ids[places])])
    return Violation(
        int(part.ids[place]),
        int(parent[place]),
        "vertex {vertex} has no edge from its parent {other} that explains its distance, or its parents go in a circle",
    )
