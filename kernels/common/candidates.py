"""The vertices that a frontier may reach next, in searches from several sources at once: twins of candidates.cu."""

import numpy as np

from graphdask.kernels.common.candidates_pack import CandidateLists
from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": i, "mask_t": m} for i in ("int", "long long") for m in ("unsigned char", "unsigned long long")]

_0 = np.uint64(0)


@twin
def candidates_list(n, rows, a: CandidateLists):
    """List, once each, the out-neighbours of rows of the frontier that a lane of the row has not reached."""
    count, others, edges = a.counters.own, a.counters.ghosts, 0
    for i in range(n):
        lanes = np.uint64(a.frontier[rows[i]])
        first, last = a.indptr[rows[i]], a.indptr[rows[i] + 1]
        edges += last - first
        for e in range(first, last):
            v = a.indices[e]
            bit = np.uint32(1) << np.uint32(v & 31)
            if lanes & ~np.uint64(a.seen[v]) != _0 and a.chosen[v >> 5] & bit == np.uint32(0):
                a.chosen[v >> 5] |= bit
                if v < a.owned:
                    a.own[count] = v
                    count += 1
                else:
                    a.ghosts[others] = v
                    others += 1
    a.counters.own, a.counters.ghosts = count, others
    a.counters.edges += edges


@twin
def candidates_take(n, slots, a: CandidateLists):
    """List those own vertices among the slots that are not candidates yet."""
    count = a.counters.own
    for i in range(n):
        v = slots[i]
        bit = np.uint32(1) << np.uint32(v & 31)
        if v < a.owned and a.chosen[v >> 5] & bit == np.uint32(0):
            a.chosen[v >> 5] |= bit
            a.own[count] = v
            count += 1
    a.counters.own = count


@twin
def candidates_forget(n, candidates, chosen):
    """Take the candidates out of the bitmap."""
    for i in range(n):
        chosen[candidates[i] >> 5] = np.uint32(0)
