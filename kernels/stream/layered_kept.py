"""Sums of the rows of some chunks of a layered edge list that stay on the device: twins of layered_kept.cu.

n        threads; a launch of kept_sum must be cooperative
tiles    of up to 32 rows each, those of the first chunk, then of the next
table    int64, shape (8, chunks), for each chunk: where its degrees begin in `words`, where its targets do, where its
         weights do in `weights`; its rows; which of them are summed, from the fifth line to the sixth - 1; where in
         `sums` the first of these goes; its first tile
words    uint32: memory of degrees, and of targets; chunks have fewer than 2^31 edges
edges    int64 per tile: how many it has
upto     int64 per tile: the sums of `edges`
weights  memory of weights, which count where `weighted`
x        real_t per position: what is summed
sums     float64 per row that is summed: the sum of x, or weight * x, over its edges
items    int64: the parts of rows of more than 256 edges, by chunk, first edge and number of edges; `partial`, float64:
         their sums; room for two for each 257 edges
goes     int64, of these rows: where in `sums` each goes; `places` and `parts`, index dtype: where its parts begin, and
         how many there are; room for one for each 257 edges
counters 64-bit integers, as in layered_sums.py: how often blocks met, the next tile, and, the last two, how many longer
         rows and parts there are; all 0 before
cleared  the counters of the next launch, which this one sets to 0
real_t   of ranks; weights are as narrow in products, and sums are float64

The order of additions in a row is that of lanes.py. A CPU has nothing to balance, and lists nothing.
"""

import numpy as np

from graphdask.kernels.pagerank.pagerank import pagerank_sum
from graphdask.kernels.stream.layered_sums import COUNTERS, MACROS

__all__ = ["COLUMN", "COUNTERS", "MACROS", "TILE", "kept_sum", "kept_tiles"]

TILE = 32
"""Rows."""
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
