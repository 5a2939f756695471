"""Colouring along an order of the vertices: twins of coloring.cu.

A vertex of d earlier neighbours has d // 64 + 1 words of bits, because the smallest colour that they leave is at most
d. Higher colours of neighbours are not marked.
"""

import numpy as np

from graphdask.kernels.coloring.coloring_pack import Coloring
from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def coloring_mark(n, head, tail, a: Coloring):
    """Mark the colours of queue[head : tail] at later neighbours, colour those that waited for no one else, queue them,
    and go on until the end of the queue. On a GPU `n` is the number of threads."""
    one, full = np.uint64(1), ~np.uint64(0)
    edges = 0
    while head < tail:
        u = a.queue[head]
        head += 1
        color = np.int64(a.color[u])
        edges += a.indptr[u + 1] - a.indptr[u]
        for e in range(a.indptr[u], a.indptr[u + 1]):
            v = a.indices[e]
            word = a.begin[v] + (color >> 6)
            if word < a.begin[v + 1]:
                a.taken[word] |= one << np.uint64(color & 63)
            a.waiting[v] -= 1
            if a.waiting[v] == 0:
                word = a.begin[v]
                while a.taken[word] == full:
                    word += 1
                found = (word - a.begin[v]) << 6
                bits = a.taken[word]
                while bits & one:
                    bits >>= one
                    found += 1
                a.color[v] = found
                a.queue[tail] = v
                tail += 1
    a.counters.queue = tail
    a.counters.edges += edges
