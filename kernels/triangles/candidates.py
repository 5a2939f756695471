"""The vertices that a frontier may reach next, in searches from several sources at once: twins of candidates.cu.

front   mask per slot: lanes in which the vertex is in the frontier (kernels/betweenness/betweenness.py)
seen    mask per slot: lanes that have reached it
chosen  bitmap over slots: who is a candidate, all zero before
counters int64: own candidates, rows of very many edges, edges, candidates that are ghosts
"""

import numpy as np

from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": i, "mask_t": m} for i in ("int", "long long") for m in ("unsigned char", "unsigned long long")]

_0 = np.uint64(0)


@twin
def candidates_list(n, rows, indptr, indices, front, seen, owned, slots, chosen, candidates, ghosts, hubs, counters):
    """List, once each, the out-neighbours of rows of the frontier that a lane of the row has not reached."""
    count, others, edges = counters[0], counters[3], 0
    for i in range(n):
        lanes = np.uint64(front[rows[i]])
        first, last = indptr[rows[i]], indptr[rows[i] + 1]
        edges += last - first
        for e in range(first, last):
            v = indices[e]
            bit = np.uint32(1) << np.uint32(v & 31)
            if lanes & ~np.uint64(seen[v]) != _0 and chosen[v >> 5] & bit == np.uint32(0):
                chosen[v >> 5] |= bit
                if v < owned:
                    candidates[count] = v
                    count += 1
                else:
                    ghosts[others] = v
                    others += 1
    counters[0], counters[3] = count, others
    counters[2] += edges


@twin
def candidates_list_hubs(
    n, rows, indptr, indices, front, seen, owned, slots, chosen, candidates, ghosts, hubs, counters
):
    pass


@twin
def candidates_take(n, slots, owned, chosen, candidates, counters):
    """List those own vertices among the slots that are not candidates yet."""
    count = counters[0]
    for i in range(n):
        v = slots[i]
        bit = np.uint32(1) << np.uint32(v & 31)
        if v < owned and chosen[v >> 5] & bit == np.uint32(0):
            chosen[v >> 5] |= bit
            candidates[count] = v
            count += 1
    counters[0] = count


@twin
def candidates_forget(n, candidates, chosen):
    """Take the candidates out of the bitmap."""
    for i in range(n):
        chosen[candidates[i] >> 5] = np.uint32(0)
