"""Sums of rows in eight lanes, in an order of additions that depends on nothing but the row. See lanes.cuh.

Edges are cut into chunks of 256; eight lanes take the edges of a chunk in turn and are added as a tree. The sums of the
chunks are dealt to eight lanes in turn and added likewise. So a sum has the same bits on every device, by however many
threads, and for every division of the graph.
"""

import numpy as np

from graphdask.kernels.common.gathered import sum_gathered
from graphdask.kernels.common.prefetch import prefetch
from graphdask.kernels.common.tuning import ROW_CHUNK as CHUNK
from graphdask.kernels.common.twin import twin

AHEAD, ROWS_AHEAD = 128, 8
"""How many edges, and rows, ahead of their turn a processor is to fetch what they read, and write to sums."""
u64 = np.uint64
"""Numba asks of a signed index whether it counts from the end; of an unsigned one it does not, which saves a third."""


@twin
def tree(lane):
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))


@twin
def sum_rows(n, listed, begin, length, indices, x, goes, ordered, sums):
    """Rows `listed`, or all where that is None; without `length` a row ends where the next one begins. Where they are
    `ordered`, that of row v is written to `goes[v]`.

    It takes all rows: a call for each would count references to its arrays, which costs as much as a short row.
    """
    lane = np.zeros(8)
    apart = listed is not None and 4 * n < len(begin)  # what lies behind a row belongs to none of the next ones
    for row in range(n):
        if listed is None:
            v = row
            if ordered and v + ROWS_AHEAD < n:
                prefetch(sums, goes[v + ROWS_AHEAD])
        else:
            if apart and row + 2 * ROWS_AHEAD < n:
                prefetch(indices, begin[listed[row + 2 * ROWS_AHEAD]])
            if apart and row + ROWS_AHEAD < n:
                v = listed[row + ROWS_AHEAD]
                k = u64(begin[v])
                for e in range(min(length[v], AHEAD)):
                    prefetch(x, indices[k + u64(e)])
            v = listed[row]
        k = u64(begin[v])
        last = u64(begin[v + 1]) if length is None else k + u64(length[v])
        one_chunk = last - k <= u64(CHUNK)
        turn = 0
        if not one_chunk:
            lane[:] = 0.0
        while True:
            end = min(k + u64(CHUNK), last)
            total = sum_gathered(indices, x, k, end)
            if one_chunk:
                break
            lane[turn & 7] += total
            turn += 1
            k = end
            if k == last:
                total = tree(lane)
                break
        sums[goes[v] if ordered else v] = total
