"""Distances from up to 64 sources at once that fall along edges until none can fall: twins of lane_distances.cu.

A source is a lane: bit b of a mask, column b of a table. Tables are row-major, `lanes` columns.

`rows` are distinct own vertices.

The CUDA kernels defer rows of many edges to another launch. Distances only fall, so their order does not matter: once
nothing is active any more, they are those of shortest paths.
"""

import numpy as np

from graphdask.kernels.betweenness.lane_distances_pack import LaneRows
from graphdask.kernels.betweenness.weighted_paths import MACROS, _lanes_of
from graphdask.kernels.common.twin import twin
from graphdask.kernels.sssp.paths import plus, unreached

__all__ = ["MACROS", "lane_distances_arrive", "lane_distances_relax"]


@twin
def lane_distances_relax(n, rows, a: LaneRows):
    """Offer over the edges of rows what is known of them."""
    lane_of, none, edges = np.empty(64, np.int64), unreached(a.distance), 0
    for i in range(n):
        u = rows[i]
        count = _lanes_of(a.now[u], a.lanes, lane_of)
        edges += a.indptr[u - a.first + 1] - a.indptr[u - a.first]
        for e in range(a.indptr[u - a.first], a.indptr[u - a.first + 1]):
            v, w = a.indices[e], a.weights[e]
            fell = np.uint64(0)
            for c in range(count):
                b = lane_of[c]
                du = a.distance[u, b]
                d = plus(du, w)
                if du <= d < a.distance[v, b] and d < none:
                    a.distance[v, b] = d
                    fell |= np.uint64(1) << np.uint64(b)
            if fell:
                a.active[v] |= fell
    a.counters.edges += edges


@twin
def lane_distances_arrive(n, slots, values, lanes, distance, active):
    """Take in what other ranks offer to distinct own vertices."""
    for i in range(n):
        v = slots[i]
        for b in range(lanes):
            if values[i, b] < distance[v, b]:
                distance[v, b] = values[i, b]
                active[v] |= np.uint64(1) << np.uint64(b)
