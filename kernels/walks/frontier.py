"""Frontier sampling, also known as the multi-dimensional random walk: twins of frontier.cu.

n         instances
first     the number of the first of them
size      vertices in the pool of an instance
begin     steps that are made already
end       the step to stop after
length    columns of src and dst
starts    index dtype, (n, size): the pools before the first step
pool      index dtype, (n, size): what they are now; degrees, int64, (n, size), theirs
src, dst  index dtype, (n, length): the edges sampled, -1 after the last
lengths   int32: how many they are
places    None, or int64, (n, length), filled with -1 before: where each edge stands in `indices`
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
def frontier(
    n, first, size, begin, end, length, seed, starts, indptr, indices, pool, degrees, src, dst, lengths, places
):  # fmt: skip
    """Make steps begin + 1 to end over the whole graph."""
    key = keyed(seed, DRAW_FRONTIER, 0)
    for i in range(n):
        if begin == 0:
            for place in range(size):
                v = starts[i, place]
                pool[i, place] = v
                degrees[i, place] = indptr[v + 1] - indptr[v]
            lengths[i] = length
        total = degrees[i].sum()
        for step in range(begin + 1, end + 1):
            if total == 0:
                lengths[i] = min(lengths[i], step - 1)
                src[i, step - 1 : end] = -1
                dst[i, step - 1 : end] = -1
                break
            place, offset = chosen(key, first + i, step, degrees[i], total)
            u = pool[i, place]
            v = indices[indptr[u] + offset]
            if places is not None:
                places[i, step - 1] = indptr[u] + offset
            src[i, step - 1], dst[i, step - 1] = u, v
            degree = indptr[v + 1] - indptr[v]
            total += degree - degrees[i, place]
            pool[i, place], degrees[i, place] = v, degree


@twin
def frontier_choose(n, first, size, step, seed, degrees, totals, place, offset):
    """Of each instance the place in its pool, and the edge of the vertex there, of one step."""
    key = keyed(seed, DRAW_FRONTIER, 0)
    for i in range(n):
        place[i], offset[i] = 0, -1
        if totals[i]:
            place[i], offset[i] = chosen(key, first + i, step, degrees[i], totals[i])
