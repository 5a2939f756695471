"""A search on a CPU along edges of length 1 that both ends store, a chunk at a time; see layered.py.

number   int32 per position: its vertex number; empty if positions are vertex numbers
state    uint8 per position: twice a distance below FAR, plus 1 if the row is not active; else 255
label    as in layered.py. An active row whose distance is in `state` still has an old label. While the rows of a chunk
         are processed, it may be the complement of a label with the position of the predecessor in place of its number

A row that is processed finds its predecessor itself: the first target that is one nearer, because targets are in the
order of their numbers. So an offer to an active row matters only if it is nearer, which a small table shows. Labels are
written in the order of rows. A row that gets such a distance later offers itself.
"""

import numpy as np

from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.stream.layered_counters import LOOKED, WORKED

u64 = np.uint64
FAR = 127
"""Distances from this one on are not stored in `state`."""


@twin
def layered_reach(n, first, indptr, number, targets, active, state, label, queue, counters):
    """Continue the search along the edges of active rows until no row of the chunk is active."""
    size, head, waiting = n, 0, 0
    for row in range(n):
        if active[first + row]:
            queue[waiting] = row
            waiting += 1
    some = waiting > 0
    while waiting:
        row = np.int64(queue[head])
        head = head + 1 if head + 1 < size else 0
        waiting -= 1
        u, begin, end = first + row, u64(indptr[row]), u64(indptr[row + 1])
        active[u] = False
        counters[WORKED] += 1
        counters[LOOKED] += np.int64(end - begin)
        d = np.int64(state[u] >> 1)
        if d >= FAR:
            d = label[u] >> 32
        if d < FAR:
            state[u] = 2 * d + 1
            e = _first_nearer(targets, begin, end, state, np.uint8(2 * d - 1)) if d else end
            if e < end:
                label[u] = ~(d << 32 | np.int64(targets[e]))
        far, id = d + 1, np.int64(number[u64(u)]) if len(number) else u
        worse = np.uint8(2 * far + 1 if far < FAR else 255)
        for e in range(begin, end):
            v = u64(targets[e])
            if state[v] < worse:
                continue
            if far < FAR and state[v] > worse:
                state[v] = 2 * far
            else:
                new, old = far << 32 | id, label[v]
                if old < 0:
                    old = _named(old, number)
                if new < old:
                    label[v] = new
                if new >> 32 >= old >> 32:
                    continue
            if not active[v]:
                active[v] = True
                place = np.int64(v) - first
                if 0 <= place < n:
                    tail = head + waiting
                    queue[tail if tail < size else tail - size] = place
                    waiting += 1
    if some:
        for u in range(first, first + n):
            if label[u] < 0:
                label[u] = _named(label[u], number)


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
