"""Triangles over rows of higher neighbours: twin of triangles.cu.

source   index dtype per edge u -> v from a vertex to a higher one: the slot of u
indptr   where the edges of a slot begin; indices holds the slots of v, ascending within a row
ties     uint8 per edge: in how many directions u and v are joined, 1 or 2
ptr      where the higher neighbours of v begin in `others`, per slot; empty for vertices whose turn it is not
links    int64 per slot: ties between the other two corners, summed over the triangles of a vertex
counters int64: triangles, candidates checked, all that was added to links
"""

import numpy as np

from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def triangles_count(n, source, indptr, indices, ties, ptr, others, other_ties, links, counters):
    mark = np.zeros(len(links), np.uint8)  # the ties of the current row, by slot
    longest = np.int64(0)
    for v in range(len(ptr) - 1):
        longest = max(longest, ptr[v + 1] - ptr[v])
    hits = np.empty(longest + 1, np.int64)
    triangles = candidates = added = 0
    row = -1
    for e in range(n):
        v = indices[e]
        begin, end = ptr[v], ptr[v + 1]
        if begin == end:
            continue
        u = source[e]
        if u != row:
            if row >= 0:
                for i in range(indptr[row], indptr[row + 1]):
                    mark[indices[i]] = 0
            for i in range(indptr[u], indptr[u + 1]):
                mark[indices[i]] = ties[i]
            row = u
        candidates += end - begin
        found = 0
        for j in range(begin, end):  # no branch that the processor would guess wrong
            hits[found] = j
            found += mark[others[j]] != 0
        at_u = at_v = 0
        for k in range(found):
            w = others[hits[k]]
            at_u += other_ties[hits[k]]
            at_v += mark[w]
            links[w] += ties[e]
        links[u] += at_u
        links[v] += at_v
        triangles += found
        added += at_u + at_v + found * ties[e]
    counters[0] += triangles
    counters[1] += candidates
    counters[2] += added
