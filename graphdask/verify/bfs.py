"""A BFS result proved in linear time, distributed.

1. The source has depth 0 and is its own parent; no other vertex has depth 0; a vertex has a parent if and only if it
   was reached.
2. Every edge u -> v with u reached leads to a reached v with depth[v] <= depth[u] + 1. So no depth is too large.
3. Every reached vertex but the source has its parent one level nearer and an edge from it. So no depth is too small,
   and the parents form a tree.
"""

from __future__ import annotations

import numpy as np

from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.device.backend import Array
from graphdask.engine.loop import HUB_THREADS, RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.build import local_at_owner, to_cyclic_positions
from graphdask.partition.ghosts import fetch_ghosts
from graphdask.partition.part import Csr, Part


def verify(context: RankContext, part: Part, primitive: BreadthFirstSearch, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    mine = _roots(context, part, primitive, result)
    if first_of_all(context, mine):
        return mine
    depth, parent = fetch_ghosts(
        context.comm, context.backend, part, [result.columns["depth"], result.columns["parent"]]
    )
    witnessed = context.backend.xp.zeros(part.num_slots, np.uint8)
    for csr in part.directions if primitive.either_way else [part.out]:
        mine = mine or _edges(context, part, csr, depth, parent, witnessed)
    if first_of_all(context, mine):
        return mine
    return _parents(context, part, result, witnessed)


def _roots(context: RankContext, part: Part, primitive: BreadthFirstSearch, result: RankResult) -> Violation | None:
    xp = context.backend.xp
    depth, parent = result.columns["depth"], result.columns["parent"]
    source = xp.zeros(part.num_owned, bool)
    source[context.backend.from_host(primitive.own_sources(part, context.environment("selective")))] = True
    checks = (
        (source & ((depth != 0) | (parent != part.ids)), "source {vertex} must have depth 0 and be its own parent"),
        (~source & (depth == 0), "vertex {vertex} has depth 0 but is no source"),
        ((depth < 0) != (parent < 0), "vertex {vertex} has a depth and no parent, or a parent and no depth"),
        ((depth < -1) | (parent < -1), "vertex {vertex} has a depth or a parent below -1"),
    )
    for wrong, message in checks:
        places = xp.flatnonzero(wrong)
        if len(places):
            return Violation(int(part.ids[places].min()), -1, message)
    return None


def _edges(
    context: RankContext, part: Part, csr: Csr, depth: Array, parent: Array, witnessed: Array
) -> Violation | None:
    backend, xp = context.backend, context.backend.xp
    kernels = backend.kernels("bfs", index_t=part.vertex_map.dtype)
    first_bad = xp.full(1, np.iinfo(np.int64).max, np.int64)
    hubs, counters = xp.empty(part.num_owned, part.vertex_map.dtype), xp.zeros(2, np.int64)
    shared = (csr.indptr, csr.indices, part.ids, depth, parent, witnessed, first_bad, hubs, counters)
    kernels.bfs_check(part.num_owned, *shared)
    kernels.bfs_check_hubs(HUB_THREADS, *shared)
    edge = int(first_bad[0])
    if edge == np.iinfo(np.int64).max:
        return None
    u, v = edge_ends(context, part, csr, edge)
    return Violation(u, v, "the edge from {vertex} to {other} skips a level or leaves the reached set")


def edge_ends(context: RankContext, part: Part, csr: Csr, edge: int) -> tuple[int, int]:
    """Vertex numbers of the ends of the stored edge number `edge`."""
    backend = context.backend
    row = int(backend.xp.searchsorted(csr.indptr, backend.xp.asarray([edge]), side="right")[0]) - 1
    cyclic = int(to_cyclic_positions(part, csr.indices[edge : edge + 1])[0])
    position = backend.xp.asarray([(cyclic + part.first_position) % part.num_vertices], part.vertex_map.dtype)
    return int(part.ids[row]), int(part.vertex_map.to_id(backend, position)[0])


def witnessed_by_all(context: RankContext, part: Part, witnessed: Array) -> Array:
    """Mark the own vertices too of which another rank has marked a ghost; every rank must call it."""
    comm, xp = context.comm, context.backend.xp
    bounds, dtype = part.slot_bounds, part.vertex_map.dtype
    slots = xp.flatnonzero(witnessed[part.num_owned :]).astype(dtype) + dtype.type(part.num_owned)
    sends = [slots[:0]] * comm.size
    for step in range(1, comm.size):
        mine = slots[(slots >= int(bounds[step])) & (slots < int(bounds[step + 1]))]
        sends[(part.rank + step) % comm.size] = local_at_owner(part, mine, step)
    for arrived in comm.alltoallv(sends):
        witnessed[arrived] = 1
    return witnessed


def _parents(context: RankContext, part: Part, result: RankResult, witnessed: Array) -> Violation | None:
    xp, depth = context.backend.xp, result.columns["depth"]
    witnessed = witnessed_by_all(context, part, witnessed)
    places = xp.flatnonzero((depth > 0) & (witnessed[: part.num_owned] == 0))
    if not len(places):
        return None
    place = int(places[xp.argmin(part.ids[places])])
    return Violation(
        int(part.ids[place]),
        int(result.columns["parent"][place]),
        "vertex {vertex} has no edge from its parent {other}, or the parent is not one level nearer",
    )
