"""Sums of the rows of a chunk of a layered edge list on the device: twin of layered_sums.cu.

n is the number of threads; a launch must be cooperative. real_t is the type of ranks; sums are float64.

The order of additions in a row is that of lanes.py. The CPU twin has no load to balance, so it lists nothing.
"""

import numpy as np

from graphdask.kernels.common.twin import by_python
from graphdask.kernels.pagerank.pagerank import pagerank_sum
from graphdask.kernels.stream.layered_sums_pack import ChunkSums

MACROS = [
    {"index_t": "int", "real_t": real, "weight_t": weight}
    for real, weight in (("double", "int"), ("double", "double"), ("double", "long long"), ("double", "float"),
                         ("float", "float"), ("float", "double"))
]  # fmt: skip
BLOCKS = 4
"""Blocks of a launch per multiprocessor."""
LONG = 257
"""Smallest number of edges of a row that has parts."""
UNWEIGHTED = np.zeros(0, np.float32)


@by_python
def layered_sum(n, a: ChunkSums):
    a.cleared[:] = 0
    weights = a.weights.astype(np.float32 if a.x.dtype == np.float32 else np.float64) if a.weighted else UNWEIGHTED
    indptr = np.concatenate([[0], np.cumsum(a.degrees[: a.high], dtype=np.int64)])
    pagerank_sum(a.high - a.low, indptr[a.low :], a.targets, weights, a.weighted, a.x, a.targets[:0], 0, a.sums)
