"""Biased-random partitioning, one pass over the vertices (a host algorithm; there is no CUDA kernel of it).

A vertex goes to partition p with probability proportional to (1 + its neighbours already in p) times the number of
vertices that p can still take. So neighbours gather without any partition overflowing. The draw depends on (seed,
vertex) alone.
"""

import numpy as np

from graphdask.kernels.common.permute import _round_value
from graphdask.kernels.common.twin import twin


@twin
def biased_random_owners(n, indptr, indices, owners, size, capacity, seed):
    load = np.zeros(size, np.int64)
    bias = np.zeros(size, np.float64)
    for v in range(n):
        bias[:] = 1.0
        for e in range(indptr[v], indptr[v + 1]):
            owner = owners[indices[e]]
            if owner >= 0:
                bias[owner] += 1.0
        total = 0.0
        for p in range(size):
            bias[p] *= capacity - load[p]
            total += bias[p]
        draw = total * (np.float64(_round_value(np.uint64(v), seed, 7) >> np.uint64(11)) / 9007199254740992.0)
        chosen = -1
        for p in range(size):
            if load[p] < capacity:
                chosen = p
                draw -= bias[p]
                if draw < 0.0:
                    break
        owners[v] = chosen
        load[chosen] += 1
