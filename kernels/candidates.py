"""The vertices that a front may reach next, in searches from several sources at once: twins of candidates.cu.

front   mask per slot: in which lanes it is in the front (kernels/betweenness.py)
seen    mask per own vertex: lanes that have reached it
"""

import numpy as np

from graphdask.kernels.twin import twin

MACROS = [{"index_t": i, "mask_t": m} for i in ("int", "long long") for m in ("unsigned char", "unsigned long long")]

_0 = np.uint64(0)


@twin
def candidates_list(n, rows, indptr, indices, front, seen, chosen, candidates, hubs, counters):
    """List, once each, the out-neighbours of rows of the front that a lane of theirs has not reached.

    `chosen` is a bitmap over own vertices, all zero before. counters: candidates, rows of very many edges, edges.
    """
    count, edges = counters[0], 0
    for i in range(n):
        lanes = np.uint64(front[rows[i]])
        first, last = indptr[rows[i]], indptr[rows[i] + 1]
        edges += last - first
        for e in range(first, last):
            v = indices[e]
            bit = np.uint32(1) << np.uint32(v & 31)
            if lanes & ~np.uint64(seen[v]) != _0 and chosen[v >> 5] & bit == np.uint32(0):
                chosen[v >> 5] |= bit
                candidates[count] = v
                count += 1
    counters[0] = count
    counters[2] += edges


@twin
def candidates_list_hubs(n, rows, indptr, indices, front, seen, chosen, candidates, hubs, counters):
    pass


@twin
def candidates_forget(n, candidates, chosen):
    """Take the candidates out of the bitmap."""
    for i in range(n):
        chosen[candidates[i] >> 5] = np.uint32(0)
