"""Sums of the rows of a chunk of a layered edge list on the device: twin of layered_sums.cu.

n        number of threads; a launch must be cooperative
rows     number of rows of the chunk
low, high: the rows that are summed, from `low` to `high` - 1
degrees  uint32 per row: its number of edges
targets, weights: as in layered_paths.py; weights are used if `weighted`
x        real_t per position: the values that are summed
sums     float64 per row that is summed: the sum of x, or of weight * x, over its edges
items    int64, with a capacity of one entry per row: first edge times 512, plus the number of edges, 256 at most. Rows
         of 9 to 64 edges fill it from the beginning, rows of 65 to 256 edges from the end. `goes`, index dtype: these
         rows
parts    int64 per part of a longer row, up to 256 edges each: the same numbers. `partial`, float64: the sums of the
         parts. Both have a capacity of two entries per 257 edges
longer   index dtype: the longer rows; `places`, index dtype: where their parts begin. Both have a capacity of one entry
         per 257 edges
totals   int64, one entry per block: the number of edges of its rows
counters 64-bit integers: arrivals of blocks at the barrier, and the number of items of each kind; all are 0 before the
         launch
cleared  the counters of the next launch, which this launch sets to 0
real_t   the type of ranks. Products use weights converted to it; sums are float64

The order of additions in a row is that of lanes.py. The CPU twin has no load to balance, so it lists nothing.
"""

import numpy as np

from graphdask.kernels.pagerank.pagerank import pagerank_sum

MACROS = [
    {"index_t": "int", "real_t": real, "weight_t": weight}
    for real, weight in (("double", "int"), ("double", "double"), ("double", "long long"), ("double", "float"),
                         ("float", "float"), ("float", "double"))
]  # fmt: skip
COUNTERS = 5
BLOCKS = 4
"""Blocks of a launch per multiprocessor."""
LONG = 257
"""Smallest number of edges of a row that has parts."""


def layered_sum(
    n, rows, low, high, degrees, targets, weights, weighted, x, sums, items, goes, parts, partial, longer, places,
    totals, counters, cleared,
):  # fmt: skip
    cleared[:] = 0
    if weighted:
        weights = weights.astype(np.float32 if x.dtype == np.float32 else np.float64)
    else:
        weights = np.zeros(0, np.float32)
    indptr = np.concatenate([[0], np.cumsum(degrees[:high], dtype=np.int64)])
    pagerank_sum(high - low, indptr[low:], targets, weights, weighted, x, targets[:0], 0, sums)
