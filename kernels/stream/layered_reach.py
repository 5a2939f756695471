"""A search on a CPU along edges of length 1 that both ends store, a chunk at a time.

number   int32 per position: its vertex number; empty if positions are vertex numbers
near     uint8 per position: twice a distance below FAR, plus 1 if the row is not active; else 255
labels   packed. An active row whose distance is in `near` still has an old label. While the rows of a chunk are
         processed, it may be the complement of a label with the position of the predecessor in place of its number

A row that is processed finds its predecessor itself: the first target that is one nearer, because targets are in the
order of their numbers. So an offer to an active row matters only if it is nearer, which a small table shows. Labels are
written in the order of rows. A row that gets such a distance later offers itself.
"""

import numpy as np

from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.stream.active_rows import activate, begin_row, queue_active, u64
from graphdask.kernels.stream.layered_paths_pack import ChunkLabels

FAR = 127
"""Distances from this one on are not stored in `near`."""


@twin
def layered_reach(n, number, a: ChunkLabels):
    """Continue the search along the edges of active rows until no row of the chunk is active."""
    head, waiting = 0, queue_active(n, a)
    some = waiting > 0
    while waiting:
        row = np.int64(a.queue[head])
        head = head + 1 if head + 1 < n else 0
        waiting -= 1
        u, begin, end = begin_row(row, a), u64(a.indptr[row]), u64(a.indptr[row + 1])
        d = np.int64(a.near[u] >> 1)
        if d >= FAR:
            d = a.labels[u] >> 32
        if d < FAR:
            a.near[u] = 2 * d + 1
            e = _first_nearer(a.targets, begin, end, a.near, np.uint8(2 * d - 1)) if d else end
            if e < end:
                a.labels[u] = ~(d << 32 | np.int64(a.targets[e]))
        far, id = d + 1, np.int64(number[u64(u)]) if len(number) else u
        worse = np.uint8(2 * far + 1 if far < FAR else 255)
        for e in range(begin, end):
            v = u64(a.targets[e])
            if a.near[v] < worse:
                continue
            if far < FAR and a.near[v] > worse:
                a.near[v] = 2 * far
            else:
                new, old = far << 32 | id, a.labels[v]
                if old < 0:
                    old = _named(old, number)
                if new < old:
                    a.labels[v] = new
                if new >> 32 >= old >> 32:
                    continue
            if not a.active[v]:
                waiting += activate(n, v, head + waiting, a)
    if some:
        for u in range(a.first, a.first + n):
            if a.labels[u] < 0:
                a.labels[u] = _named(a.labels[u], number)


@within
def _first_nearer(targets, e, end, state, nearer):
    """Return the first edge to a nearer vertex, active or not, or `end` if there is none."""
    while e < end and state[u64(targets[e])] | np.uint8(1) != nearer:
        e += u64(1)
    return e


@within
def _named(label, number):
    """Convert the complement of a label with the position of the predecessor to a label with its number."""
    above = ~label & 0xFFFFFFFF
    return ~label >> 32 << 32 | (np.int64(number[u64(above)]) if len(number) else above)
