"""Triangles over rows of higher neighbours: twin of triangles.cu."""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.triangles.triangles_pack import TriangleRows

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def triangles_tally(n, a: TriangleRows):
    for e in range(n):
        v = a.slot_of[a.others[e]]
        if v < a.owned and e + 1 < a.ptr[a.source[e] + 1] and a.indptr[v] < a.indptr[v + 1]:
            a.ends[v] += 1


@twin
def triangles_list(n, a: TriangleRows):
    for e in range(n):
        v = a.slot_of[a.others[e]]
        if v < a.owned and e + 1 < a.ptr[a.source[e] + 1] and a.indptr[v] < a.indptr[v + 1]:
            a.edge[a.ends[v]] = e
            a.ends[v] += 1


@twin
def triangles_count(n, a: TriangleRows):
    numbers = len(a.slot_of)
    mark = np.zeros(numbers, np.uint8)  # the ties of the present v, by number
    at_w = np.zeros(numbers, np.int64)
    longest = np.int64(0)
    for u in range(len(a.ptr) - 1):
        longest = max(longest, a.ptr[u + 1] - a.ptr[u])
    hits = np.empty(longest + 1, np.int64)
    triangles = candidates = added = 0
    for j in range(n):
        v = a.jobs[j]
        for i in range(a.indptr[v], a.indptr[v + 1]):
            mark[a.indices[i]] = 1 if a.ties is None else a.ties[i]
        first = a.edge_ptr[v] + (j - a.job_ptr[v]) * a.share
        at_v = 0
        for k in range(first, min(first + a.share, a.edge_ptr[v + 1])):
            e = a.edge[k]
            u = a.source[e]
            end = a.ptr[u + 1]
            candidates += end - e - 1
            found = 0
            for x in range(e + 1, end):  # no branch that the processor would guess wrong
                hits[found] = x
                found += mark[a.others[x]] != 0
            tie = 1 if a.ties is None else a.other_ties[e]
            at_u = 0
            for h in range(found):
                w = a.others[hits[h]]
                at_u += mark[w]
                at_v += 1 if a.ties is None else a.other_ties[hits[h]]
                at_w[w] += tie
            a.links[u] += at_u
            triangles += found
            added += at_u
        a.links[v] += at_v
        added += at_v
        for i in range(a.indptr[v], a.indptr[v + 1]):
            w = a.indices[i]
            a.links[a.slot_of[w]] += at_w[w]
            added += at_w[w]
            mark[w] = at_w[w] = 0
    a.counters.triangles += triangles
    a.counters.candidates += candidates
    a.counters.added += added
