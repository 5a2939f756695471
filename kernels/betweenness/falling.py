"""Distances from up to 64 sources at once that fall along edges until none can fall: twins of falling.cu.

A source is a lane: bit b of a mask, column b of a table. Tables are row-major, `lanes` columns.

rows         distinct own vertices
first        the vertex of the first row
indptr, indices, weights  rows of edges; weights are not negative
now          uint64 mask per own vertex: lanes in which its edges are relaxed
distance     int64 or float64 table over slots; the largest integer or infinity where not reached
active       uint64 mask per slot: lanes in which a distance has fallen; marked, never cleared
counters     int64: deferred rows, edges scanned

The CUDA kernels defer rows of many edges to another launch. Distances only fall, so their order does not matter: once
nothing is active any more, they are those of shortest paths.
"""

import numpy as np

from graphdask.kernels.betweenness.weighted_paths import MACROS, _lanes_of
from graphdask.kernels.common.twin import twin
from graphdask.kernels.sssp.paths import plus, unreached

__all__ = ["MACROS", "falling_relax", "falling_take"]


@twin
def falling_relax(n, rows, now, first, indptr, indices, weights, lanes, distance, active, hubs, counters):
    """Offer over the edges of rows what is known of them."""
    lane_of, none, edges = np.empty(64, np.int64), unreached(distance), 0
    for i in range(n):
        u = rows[i]
        count = _lanes_of(now[u], lanes, lane_of)
        edges += indptr[u - first + 1] - indptr[u - first]
        for e in range(indptr[u - first], indptr[u - first + 1]):
            v, w = indices[e], weights[e]
            fell = np.uint64(0)
            for c in range(count):
                b = lane_of[c]
                du = distance[u, b]
                d = plus(du, w)
                if du <= d < distance[v, b] and d < none:
                    distance[v, b] = d
                    fell |= np.uint64(1) << np.uint64(b)
            if fell:
                active[v] |= fell
    counters[1] += edges


@twin
def falling_take(n, slots, values, lanes, distance, active):
    """Take in what other ranks offer to distinct own vertices."""
    for i in range(n):
        v = slots[i]
        for b in range(lanes):
            if values[i, b] < distance[v, b]:
                distance[v, b] = values[i, b]
                active[v] |= np.uint64(1) << np.uint64(b)
