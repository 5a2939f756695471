"""A push of breadth-first search as two kernels, an advance and a filter: twins of bfs_unfused.cu.

led       two entries for each edge of the frontier: the slot that it leads to, and the id of the vertex that it is of
counters  as in bfs.py; beside those, where there is no bfs_levels,
          LED        edges in `led`, of either direction (2)
Together they do what bfs_push does, which keeps nothing of an edge. The other arguments are its own.
"""

import numpy as np

from graphdask.kernels.bfs.bfs import CYCLE, EDGES, GHOSTS, HERE, NEXT, _has
from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
LED = CYCLE


@twin
def bfs_advance(n, frontier, indptr, indices, ids, turn, led, hubs, counters):
    """Write down all edges of the frontier; n is not below its length."""
    at = counters[LED + turn]
    before = at
    for i in range(counters[HERE]):
        u = frontier[i]
        for e in range(indptr[u], indptr[u + 1]):
            led[2 * at] = indices[e]
            led[2 * at + 1] = ids[u]
            at += 1
    counters[LED + turn] = at
    counters[EDGES] += at - before


@twin
def bfs_advance_hubs(n, indptr, indices, ids, turn, led, hubs, counters):
    pass


@twin
def bfs_filter(n, turn, led, seen, parent, owned, slots, own_queue, ghost_queue, counters):
    """Give the smallest id to each vertex that no level before has reached, and queue it once."""
    own, ghost, none = counters[NEXT], counters[GHOSTS], np.iinfo(parent.dtype).max
    for i in range(counters[LED + turn]):
        v, by = led[2 * i], led[2 * i + 1]
        if _has(seen, v):
            continue
        before = parent[v]
        if by < before:
            parent[v] = by
            if before == none:
                if v < owned:
                    own_queue[own] = v
                    own += 1
                else:
                    ghost_queue[ghost] = v
                    ghost += 1
    counters[NEXT], counters[GHOSTS] = own, ghost
