"""A push of breadth-first search as two kernels, an advance and a filter: twins of bfs_unfused.cu.

led   two entries for each edge of the frontier: the slot that it leads to, and the id of the vertex that it is of
Together they do what bfs_push does, which stores nothing of an edge. The other arguments are those of bfs_push.
"""

import numpy as np

from graphdask.kernels.bfs.bfs import MACROS
from graphdask.kernels.bfs.bfs_pack import Search
from graphdask.kernels.common.bitmap import has_bit
from graphdask.kernels.common.twin import twin

__all__ = ["MACROS", "bfs_advance", "bfs_filter"]


@twin
def bfs_advance(n, frontier, a: Search):
    """Write down all edges of the frontier; n is not below its length."""
    at = a.counters.led
    before = at
    for i in range(a.counters.here):
        u = frontier[i]
        for e in range(a.indptr[u], a.indptr[u + 1]):
            a.led[2 * at], a.led[2 * at + 1] = a.indices[e], a.ids[u]
            at += 1
    a.counters.led = at
    a.counters.edges += at - before


@twin
def bfs_filter(n, a: Search):
    """Give the smallest id to each vertex that no level before has reached, and queue it once."""
    own, ghost, none = a.counters.next, a.counters.ghosts, np.iinfo(a.parent.dtype).max
    for i in range(a.counters.led):
        v, by = a.led[2 * i], a.led[2 * i + 1]
        if has_bit(a.seen, v):
            continue
        before = a.parent[v]
        if by < before:
            a.parent[v] = by
            if before == none:
                if v < a.owned:
                    a.own_queue[own] = v
                    own += 1
                else:
                    a.ghost_queue[ghost] = v
                    ghost += 1
    a.counters.next, a.counters.ghosts = own, ghost
