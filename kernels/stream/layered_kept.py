"""Sums of the rows of some chunks of a layered edge list that stay on the device: twins of layered_kept.cu.

n        number of threads; a launch of kept_sum must be cooperative
tiles    number of tiles. A tile has up to 32 rows; those of the first chunk come first, then those of the next
table    int64, shape (8, chunks), for each chunk: where its degrees and where its targets begin in `words`; where its
         weights begin in `weights`; its number of rows; the rows that are summed, from the fifth line to the
         sixth - 1; where the sum of the first of these is stored in `sums`; its first tile
words    uint32: buffer of degrees and of targets; chunks have fewer than 2^31 edges
edges    int64 per tile: its number of edges
upto     int64 per tile: the inclusive prefix sums of `edges`
weights  buffer of weights, which are used if `weighted`
x        real_t per position: the values that are summed
sums     float64 per row that is summed: the sum of x, or of weight * x, over its edges
items    int64: the parts of rows of more than 256 edges, by chunk, first edge and number of edges. `partial`, float64:
         their sums. Both hold up to two entries per 257 edges
goes     int64 per row of more than 256 edges: where its sum is stored in `sums`. `places` and `parts`, index dtype:
         where its parts begin, and how many there are. All three hold up to one entry per 257 edges
counters 64-bit integers, as in layered_sums.py: arrivals of blocks at the barrier, the next tile, and, as the last two,
         the number of longer rows and of their parts; all are 0 before the launch
cleared  the counters of the next launch, which this launch sets to 0
real_t   the type of ranks. Products use weights converted to it; sums are float64

The order of additions in a row is that of lanes.py. The CPU twin has no load to balance, so it lists nothing.
"""

import numpy as np

from graphdask.kernels.pagerank.pagerank import pagerank_sum
from graphdask.kernels.stream.layered_sums import COUNTERS, MACROS

__all__ = ["COLUMN", "COUNTERS", "MACROS", "TILE", "kept_sum", "kept_tiles"]

TILE = 32
"""Rows of a tile."""
COLUMN = 8
"""Words of `table` for each chunk."""


def kept_tiles(n, tiles, table, chunks, words, edges):
    for degrees, _, _, rows, *_, first in table.T.tolist():
        for tile, begin in enumerate(range(0, rows, TILE), first):
            edges[tile] = words[degrees + begin : degrees + min(begin + TILE, rows)].sum(dtype=np.int64)


def kept_sum(
    n, tiles, table, chunks, upto, words, weights, weighted, x, sums, items, partial, goes, places, parts, counters,
    cleared,
):  # fmt: skip
    cleared[:] = 0
    for degrees, targets, heavy, _, low, high, to, _ in table.T.tolist():
        indptr = np.concatenate([[0], np.cumsum(words[degrees : degrees + high], dtype=np.int64)])
        mine, own = words[targets : targets + indptr[-1]].view(np.int32), np.zeros(0, np.float32)
        if weighted:
            own = weights[heavy : heavy + indptr[-1]].astype(np.float32 if x.dtype == np.float32 else np.float64)
        pagerank_sum(high - low, indptr[low:], mine, own, weighted, x, mine[:0], 0, sums[to : to + high - low])
