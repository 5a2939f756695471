"""A BFS result proved in linear time, distributed.

A search stops at a level: the deepest target's, if all targets are reached, or the depth limit, or none.

1. Sources have depth 0 and are their own parents; no other vertex has depth 0; a vertex has a parent if and only if it
   was reached; none is deeper than the level at which the search stops.
2. Every edge u -> v with u reached above that level leads to a reached v with depth[v] <= depth[u] + 1. So no depth is
   too large, and every vertex up to that level is reached.
3. Every reached vertex but the sources has its parent one level nearer and an edge from it. So no depth is too small,
   and the parents form trees.

So the result is that of a search to this level. If a target is not reached, none was within the limit.
"""

from __future__ import annotations

import numpy as np

from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.targets import stopped_at
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.ghosts import fetch_ghosts
from graphdask.partition.part import Part
from graphdask.verify.path_edges import check_edges, first_wrong, witnessed_by_all
from graphdask.verify.table import verifies


@verifies(BreadthFirstSearch)
def verify(context: RankContext, part: Part, primitive: BreadthFirstSearch, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    xp, depth, parent = context.backend.xp, result.columns["depth"], result.columns["parent"]
    source = xp.zeros(part.num_owned, bool)
    source[context.backend.from_host(primitive.own_sources(part, context.environment("selective")))] = True
    until = stopped_at(context.comm, context.backend, part, depth, primitive.targets, primitive.depth_limit)
    mine = first_wrong(context, part, (
        (source & ((depth != 0) | (parent != part.ids)), "source {vertex} must have depth 0 and be its own parent"),
        (~source & (depth == 0), "vertex {vertex} has depth 0 but is no source"),
        ((depth < 0) != (parent < 0), "vertex {vertex} has a depth and no parent, or a parent and no depth"),
        ((depth < -1) | (parent < -1), "vertex {vertex} has a depth or a parent below -1"),
        (depth > until, "vertex {vertex} is deeper than the level at which the search stops"),
    ))  # fmt: skip
    if first_of_all(context, mine):
        return mine
    distance = xp.where(depth < 0, depth.dtype.type(np.iinfo(depth.dtype).max), depth)
    distance, parent = fetch_ghosts(context.comm, context.backend, part, [distance, parent])
    witnessed, level = xp.zeros(part.num_slots, np.uint8), xp.zeros(part.num_owned, np.int64)
    message = "the edge from {vertex} to {other} skips a level or leaves the reached set"
    for csr in primitive.scanned(part):
        lengths = xp.ones(1, depth.dtype), 0
        mine = mine or check_edges(context, part, csr, lengths, distance, parent, witnessed, level, message, until)
    if first_of_all(context, mine):
        return mine
    lost = (depth > 0) & (witnessed_by_all(context, part, witnessed)[: part.num_owned] == 0)
    message = "vertex {vertex} has no edge from its parent {other}, or the parent is not one level nearer"
    return first_wrong(context, part, [(lost, message)], parent)
