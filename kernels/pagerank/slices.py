"""Sums over rows whose edges stand in the order in which warps read them: twins of slices.cu.

items    int64 each: a chunk, or a row of up to 8 edges: its first edge times 512, plus the number of its edges, the
         longest first; `count` of them
lanes    threads of an item: 8 of a chunk, 1 of a row
first    int64 per slice and one more: the entries of a slice, which are those of the items of 32 lanes one after the
         other; of lane i they are first + i, first + i + 32, ...: of a chunk each eighth edge, of a row all edges.
         Every slice has as many as its longest item needs
n        32 for each slice
place    index dtype: where in x what an edge points at stands
goes     index dtype per row: where its sum goes. Sums of rows without edges are not written
partial  float64: sums of chunks of longer rows, which pagerank_sum_partials of pagerank.py adds up
"""

import numpy as np

from graphdask.kernels.common.lanes import tree
from graphdask.kernels.common.tuning import ROW_SPAN as SPAN
from graphdask.kernels.common.twin import twin
from graphdask.kernels.pagerank.slices_pack import SliceRows

MACROS = [
    {"index_t": index, "real_t": real, "weight_t": weight}
    for index in ("int", "long long")
    for real, weights in (("float", ()), ("double", ("double",)))
    for weight in ("unsigned char", "unsigned short", "float", *weights)
]


@twin
def _sum_of(begin, end, step, lanes, indices, weights, weighted, unit, x, lane):
    """Of the entries from `begin`, `step` apart, and of as many lanes beside it."""
    lane[:] = 0.0
    turn = 0
    for k in range(begin, end, step):
        for i in range(lanes):
            at = indices[k + i]
            if at >= 0:
                value = np.float64(x[at])
                lane[turn & 7] += np.float64(weights[k + i]) * unit * value if weighted else value
            turn += 1
    return tree(lane)


@twin
def slices_sum_chunks(n, a: SliceRows):
    if a.wanted is not None and not a.wanted[0]:
        return
    lane = np.zeros(8)
    for c in range(a.count):
        begin, end = a.first[c // 4] + c % 4 * 8, a.first[c // 4 + 1]
        total = _sum_of(begin, end, 32, 8, a.indices, a.weights, a.weighted, a.unit, a.x, lane)
        if a.targets[c] < 0:
            a.partial[-1 - a.targets[c]] = total
        else:
            a.sums[a.targets[c]] = total


@twin
def slices_sum_rows(n, first, count, goes, indices, weights, weighted, unit, x, sums, wanted):
    if wanted is not None and not wanted[0]:
        return
    lane = np.zeros(8)
    for row in range(count):
        begin, end = first[row // 32] + row % 32, first[row // 32 + 1]
        sums[goes[row]] = _sum_of(begin, end, 32, 1, indices, weights, weighted, unit, x, lane)


@twin
def slices_place(n, items, lanes, count, first, indices, place, out):
    for t in range(n):
        number, k = t // lanes, t % lanes
        item = items[number] if number < count else 0
        for to in range(first[t // 32] + t % 32, first[t // 32 + 1], 32):
            out[to] = place[indices[item // SPAN + k]] if k < item % SPAN else -1
            k += lanes
