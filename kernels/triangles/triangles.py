"""Triangles over rows of higher neighbours: twin of triangles.cu."""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.triangles.triangles_pack import TriangleRows

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def triangles_count(n, a: TriangleRows):
    mark = np.zeros(len(a.links), np.uint8)  # the ties of the current row, by slot
    longest = np.int64(0)
    for v in range(len(a.ptr) - 1):
        longest = max(longest, a.ptr[v + 1] - a.ptr[v])
    hits = np.empty(longest + 1, np.int64)
    triangles = candidates = added = 0
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
                mark[a.indices[i]] = a.ties[i]
            row = u
        candidates += end - begin
        found = 0
        for j in range(begin, end):  # no branch that the processor would guess wrong
            hits[found] = j
            found += mark[a.others[j]] != 0
        at_u = at_v = 0
        for k in range(found):
            w = a.others[hits[k]]
            at_u += a.other_ties[hits[k]]
            at_v += mark[w]
            a.links[w] += a.ties[e]
        a.links[u] += at_u
        a.links[v] += at_v
        triangles += found
        added += at_u + at_v + found * a.ties[e]
    a.counters.triangles += triangles
    a.counters.candidates += candidates
    a.counters.added += added
