"""Shortest paths, once the distances are known: twins of sssp_tree.cu.

distance     int32, int64 or float64 per slot, final; the largest integer or infinity where not reached
weights      one for each edge (each = -1), or a single one for all (each = 0): edge e weighs weights[e & each]
parent       index dtype per slot: the smallest id of those at the other end of a tight edge and nearer to the source;
             the largest integer while there is none. A vertex that was not reached, but has an edge from one that was
             (the sum was too large), gets a parent too
level        int64 per own vertex: its tight edges to other vertices at its own distance (in `sssp_check`, to those only
             whose parent it is)
place        int64 per own vertex: where its next such edge goes in `out`
witnessed    uint8 per slot: a tight edge from its parent, which is nearer to the source, was met
first_bad    int64: the first edge that can be relaxed
counters     int64: hubs, edges scanned, and in `sssp_parents` the ghost queue's length
"""

from graphdask.kernels.common.twin import twin
from graphdask.kernels.sssp.paths import MACROS, plus, unreached

__all__ = ["MACROS"]


@twin
def sssp_parents(
    n, indptr, indices, weights, each, ids, distance, owned, parent, ghost_queue, level, hubs, counters
):  # fmt: skip
    none, no_id, ghosts = unreached(distance), unreached(parent), counters[2]
    for u in range(n):
        du, id = distance[u], ids[u]
        if du == none:
            continue
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            dv = distance[v]
            if dv == plus(du, weights[e & each]) or dv == none:
                if dv == du:
                    level[u] += v != u
                elif id < parent[v]:
                    if v >= owned and parent[v] == no_id:
                        ghost_queue[ghosts] = v
                        ghosts += 1
                    parent[v] = id
    counters[1] += indptr[n] - indptr[0]
    counters[2] = ghosts


@twin
def sssp_parents_hubs(
    n, indptr, indices, weights, each, ids, distance, owned, parent, ghost_queue, level, hubs, counters
):  # fmt: skip
    pass


@twin
def sssp_level(n, indptr, indices, weights, each, ids, distance, parent, any, place, out, hubs, counters):
    none = unreached(distance)
    for u in range(n):
        du = distance[u]
        if du == none:
            continue
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if v != u and distance[v] == du and plus(du, weights[e & each]) == du and (any or parent[v] == ids[u]):
                out[place[u]] = v
                place[u] += 1


@twin
def sssp_level_hubs(n, indptr, indices, weights, each, ids, distance, parent, any, place, out, hubs, counters):
    pass


@twin
def sssp_check(
    n, indptr, indices, weights, each, ids, distance, parent, witnessed, level, first_bad, hubs, counters
):  # fmt: skip
    none = unreached(distance)
    for u in range(n):
        du = distance[u]
        if du == none:
            continue
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            dv = distance[v]
            d = plus(du, weights[e & each])
            if dv == none or (dv > d and d >= du):
                first_bad[0] = min(first_bad[0], e)
            elif dv == d and v != u and parent[v] == ids[u]:
                if du < dv:
                    witnessed[v] = 1
                else:
                    level[u] += 1


@twin
def sssp_check_hubs(
    n, indptr, indices, weights, each, ids, distance, parent, witnessed, level, first_bad, hubs, counters
):  # fmt: skip
    pass
