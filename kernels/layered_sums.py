"""Sums of the rows of a chunk of a layered edge list on the device: twins of layered_sums.cu.

n        rows of the chunk; in `layered_sum` eight times as many, filled up to a multiple of 32; else threads
rows     rows of the chunk
indptr, targets, weights: as in layered_paths.py; weights count where `weighted`
x        real_t per position: what is summed
sums     float64 per row: the sum of x, or weight * x, over its edges
many     index dtype: rows of more than 2,048 edges, in any order; `places`, int64: where their partial sums begin
partial  float64: the sums of 256 edges each
counters 64-bit integers: how many rows are listed, and how many partial sums they have; `layered_sum` clears both
real_t   of ranks; weights are as narrow in products, and sums are float64

The order of additions in a row is that of lanes.py. The four are launched one after the other; a CPU, which has
nothing to balance, does every row in `layered_sum`.
"""

import numpy as np

from graphdask.kernels.pagerank import pagerank_sum

MACROS = [
    {"index_t": "int", "real_t": real, "weight_t": weight}
    for real, weight in (("double", "int"), ("double", "double"), ("double", "long long"), ("double", "float"),
                         ("float", "float"), ("float", "double"))
]  # fmt: skip
COUNTERS = 2


def layered_sum(n, rows, indptr, targets, weights, weighted, x, sums, counters):
    counters[:] = 0
    if weighted:
        weights = weights.astype(np.float32 if x.dtype == np.float32 else np.float64)
    else:
        weights = np.zeros(0, np.float32)
    pagerank_sum(rows, indptr, targets, weights, weighted, x, targets[:0], 0, sums)


def layered_sum_few(n, indptr, targets, weights, weighted, x, sums, many, places, counters):
    pass


def layered_sum_many(n, indptr, targets, weights, weighted, x, many, places, partial, counters):
    pass


def layered_sum_ends(n, indptr, many, places, partial, sums, counters):
    pass
