"""Messages of a vertex program along the edges of the vertices that send: twins of program_push.cu.

Where a field of the state keeps the least message, a row is scanned twice. The first scan lists, without a branch, the
edges whose messages are less than what is there, the second one sends along these: most messages are not, and a
processor cannot predict which.
"""

import numpy as np

from graphdask.kernels.common.bitmap import has_bit, set_bit, u64
from graphdask.kernels.common.twin import inlined, twin
from graphdask.kernels.program.program_ahead import fetch_listed
from graphdask.kernels.program.program_default import KEEPS, MACROS, lowers, message, push, take
from graphdask.kernels.program.program_length import length
from graphdask.kernels.program.program_pack import Program

__all__ = ["MACROS"]

# The functions of the caller stand here.


FEW = 1024
"""Edges that are scanned before the messages that lower what vertices keep are sent along them."""


@inlined
def _mark(v, marked, ghosts, a: Program):
    """List a vertex that got its first message; return how many own vertices and ghosts there are then."""
    set_bit(a.marks, v)
    a.received[v] = max(a.received[v], 1)
    if v < u64(a.owned):
        a.marked[marked] = v
        return marked + 1, ghosts
    a.ghosts[ghosts] = v
    return marked, ghosts + 1


@twin
def program_push(n, a: Program):
    """Send messages along the edges of each row, combine them where they arrive, and list the vertices that got one."""
    marked, ghosts, edges = a.counters.marked, a.counters.ghosts, 0
    slots, offered = np.empty(FEW, a.indices.dtype), np.empty(FEW, a.message0.dtype)
    count = length(n, a)
    for i in range(count):
        fetch_listed(i, count, a)
        u = u64(i + a.first if a.listed is None else a.listed[i])
        row = u - u64(a.first)
        begin, end = u64(a.indptr[row]), u64(a.indptr[row + u64(1)])
        edges += np.int64(end - begin)
        if KEEPS:
            while begin < end:
                stop, some = min(begin + u64(FEW), end), u64(0)
                for e in range(begin, stop):
                    v = u64(a.indices[e])
                    given, sent = message(u, v, e, a)
                    slots[some], offered[some] = v, sent[0]
                    some += u64(given & lowers(v, sent, a))
                begin = stop
                for k in range(some):
                    v = u64(slots[k])
                    if push(v, (offered[k],), a) and not has_bit(a.marks, v):
                        marked, ghosts = _mark(v, marked, ghosts, a)
        else:
            for e in range(begin, end):
                v = u64(a.indices[e])
                given, sent = message(u, v, e, a)
                if given and push(v, sent, a) and not has_bit(a.marks, v):
                    marked, ghosts = _mark(v, marked, ghosts, a)
    a.counters.marked, a.counters.ghosts = marked, ghosts
    a.counters.sent += edges


@twin
def program_take(n, a: Program):
    """Combine messages of other ranks with those that are there; a broadcast brings those for ghosts too."""
    for i in range(n):
        v = a.slots[i]
        if v >= a.owned:
            continue
        take(i, v, a)
        a.received[v] += a.counted[i]
        if not has_bit(a.marks, v):
            set_bit(a.marks, v)
            a.marked[a.counters.marked] = v
            a.counters.marked += 1
