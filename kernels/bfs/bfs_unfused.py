"""A push of breadth-first search as two kernels, an advance and a filter: twins of bfs_unfused.cu.

led       two entries for each edge of the frontier: the slot that it leads to, and the id of the vertex that it is of
counters  as in bfs.py; beside those, where there is no bfs_levels,
          LED        edges in `led`, of either direction (2)
Together they do what bfs_push does, which stores nothing of an edge. The other arguments are those of bfs_push.
"""

import numpy as np

from graphdask.kernels.bfs.bfs import CYCLE, EDGES, GHOSTS, HERE, NEXT
from graphdask.kernels.bfs.bfs_pack import Search
from graphdask.kernels.common.bitmap import has_bit
from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
LED = CYCLE


@twin
def bfs_advance(n, frontier, turn, led, a: Search):
    """Write down all edges of the frontier; n is not below its length."""
    at = a.counters[LED + turn]
    before = at
    for i in range(a.counters[HERE]):
        u = frontier[i]
        for e in range(a.indptr[u], a.indptr[u + 1]):
            led[2 * at] = a.indices[e]
            led[2 * at + 1] = a.ids[u]
            at += 1
    a.counters[LED + turn] = at
    a.counters[EDGES] += at - before


@twin
def bfs_filter(n, turn, led, a: Search):
    """Give the smallest id to each vertex that no level before has reached, and queue it once."""
    own, ghost, none = a.counters[NEXT], a.counters[GHOSTS], np.iinfo(a.parent.dtype).max
    for i in range(a.counters[LED + turn]):
        v, by = led[2 * i], led[2 * i + 1]
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
    a.counters[NEXT], a.counters[GHOSTS] = own, ghost
