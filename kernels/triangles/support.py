"""Triangles through each edge, over rows of vertices that are before their own one in an order: twin of support.cu."""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.triangles.support_pack import SupportRows

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def support_count(n, a: SupportRows):
    mark = np.zeros(a.slots, np.int64)  # by slot: 1 + the place of the edge in the current row, 0 if there is none
    longest = np.int64(0)
    for v in range(a.slots):
        longest = max(longest, a.ptr[v + 1] - a.ptr[v])
    hits = np.empty(longest + 1, np.int64)
    triangles = candidates = 0
    row = -1
    for e in range(n):
        v = a.indices[e]
        begin, end = a.ptr[v], a.ptr[v + 1]
        if begin == end:
            continue
        u = a.source[e]
        if u != row:
            if row >= 0:
                for i in range(a.indptr[row], a.indptr[row + 1]):
                    mark[a.indices[i]] = 0
            for i in range(a.indptr[u], a.indptr[u + 1]):
                mark[a.indices[i]] = i + 1
            row = u
        candidates += end - begin
        found = 0
        for j in range(begin, end):  # no branch that the processor would guess wrong
            hits[found] = j
            found += mark[a.others[j]] != 0
        for k in range(found):
            j = hits[k]
            a.other_support[j] += np.uint32(1)
            a.support[mark[a.others[j]] - 1] += np.uint32(1)
        a.support[e] += np.uint32(found)
        triangles += found
    a.counters.triangles += triangles
    a.counters.candidates += candidates
