"""Sums of the rows of a chunk of a layered edge list on the device: twin of layered_sums.cu.

n        threads; a launch must be cooperative
rows     rows of the chunk
low, high: which of them are summed, from `low` to `high` - 1
degrees  uint32 per row: how many edges it has
targets, weights: as in layered_paths.py; weights count where `weighted`
x        real_t per position: what is summed
sums     float64 per row that is summed: the sum of x, or weight * x, over its edges
items    int64, room for each row: first edge times 512, plus the number of edges, 256 at most; of rows of 9 to 64 edges
         from the front on, and of those of 65 to 256 from the end; `goes`, index dtype: which rows these are
parts    int64, the same of longer rows, 256 edges each; `partial`, float64: their sums; room for two for each 257 edges
longer   index dtype: these rows; `places`, index dtype: where their parts begin; room for one for each 257 edges
totals   int64, room for each block: the edges of its rows
counters 64-bit integers: how often blocks met, and how many there are of each kind; all 0 before
cleared  the counters of the next launch, which this one sets to 0
real_t   of ranks; weights are as narrow in products, and sums are float64

The order of additions in a row is that of lanes.py. A CPU has nothing to balance, and lists nothing.
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
"""Of a launch, for each processor."""
LONG = 257
"""Edges of a row that has parts, at least."""


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
