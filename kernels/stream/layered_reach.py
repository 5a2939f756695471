"""A search along edges of the length 1 that stand at both ends, a chunk at a time, as a CPU does it; see layered.py.

number   int32 per position: its vertex number, or empty where positions are vertex numbers
state    uint8 per position: twice a distance below FAR, and 1 more where the row is not active; else 255
label    as in layered.py; of an active row whose distance is in `state`, what is left there from before. While rows of
         a chunk are worked off, the complement of one with the position of the vertex before, in place of its number

A row that is worked off finds the vertex before it itself: the first end that is one nearer, as ends stand in the order
of their numbers. So of what is offered to an active row only what is nearer matters, which a small table says; labels
are written in the order of rows. What comes to be at such a distance later offers itself.
"""

import numpy as np

from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.stream.layered_counters import LOOKED, WORKED

u64 = np.uint64
FAR = 127
"""From here on distances do not stand in `state`."""


@twin
def layered_reach(n, first, indptr, number, targets, active, state, label, queue, counters):
    """Go on along the edges of active rows, until no row of the chunk is active."""
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
    """The first edge to who is nearer, active or not, or `end`."""
    while e < end and state[u64(targets[e])] | np.uint8(1) != nearer:
        e += u64(1)
    return e


@within
def _named(label, number):
    """A label with the number of the vertex before, of the complement of one with its position."""
    above = ~label & 0xFFFFFFFF
    return ~label >> 32 << 32 | (np.int64(number[u64(above)]) if len(number) else above)
