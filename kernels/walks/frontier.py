"""Frontier sampling, also known as the multi-dimensional random walk: twins of frontier.cu.

n         instances
totals    int64: sum of the degrees of each pool (frontier_choose)
place     int32: the place in its pool of the vertex that an instance goes on from
offset    int64: which of its edges is sampled, counted from its first; -1 where no vertex of the pool has any

One number below the sum of the degrees names an edge of a vertex of the pool.
"""

import numpy as np

from graphdask.kernels.common.hash import inlined, multiply_high
from graphdask.kernels.common.hash import key as keyed
from graphdask.kernels.common.philox import DRAW_FRONTIER, philox
from graphdask.kernels.common.twin import twin
from graphdask.kernels.walks.frontier_pack import FrontierDraws

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]

_0 = np.uint64(0)


@inlined
def chosen(key, instance, step, degrees, total):
    """A place in a pool, and one of the edges of the vertex there."""
    first, _ = philox(key, np.uint64(instance), np.uint64(step), _0)
    left = np.int64(multiply_high(first, np.uint64(total)))
    place = 0
    while left >= degrees[place]:
        left -= degrees[place]
        place += 1
    return place, left


@twin
def frontier(n, a: FrontierDraws):
    """Make steps begin + 1 to end over the whole graph."""
    key = keyed(a.seed, DRAW_FRONTIER, 0)
    for i in range(n):
        if a.begin == 0:
            for place in range(a.size):
                v = a.starts[i, place]
                a.pool[i, place] = v
                a.degrees[i, place] = a.indptr[v + 1] - a.indptr[v]
            a.lengths[i] = a.length
        total = a.degrees[i].sum()
        for step in range(a.begin + 1, a.end + 1):
            if total == 0:
                a.lengths[i] = min(a.lengths[i], step - 1)
                a.src[i, step - 1 : a.end] = -1
                a.dst[i, step - 1 : a.end] = -1
                break
            place, offset = chosen(key, a.first + i, step, a.degrees[i], total)
            u = a.pool[i, place]
            v = a.indices[a.indptr[u] + offset]
            if a.places is not None:
                a.places[i, step - 1] = a.indptr[u] + offset
            a.src[i, step - 1], a.dst[i, step - 1] = u, v
            degree = a.indptr[v + 1] - a.indptr[v]
            total += degree - a.degrees[i, place]
            a.pool[i, place], a.degrees[i, place] = v, degree


@twin
def frontier_choose(n, first, size, step, seed, degrees, totals, place, offset):
    """Of each instance the place in its pool, and the edge of the vertex there, of one step."""
    key = keyed(seed, DRAW_FRONTIER, 0)
    for i in range(n):
        place[i], offset[i] = 0, -1
        if totals[i]:
            place[i], offset[i] = chosen(key, first + i, step, degrees[i], totals[i])
