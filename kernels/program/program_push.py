"""Messages of a vertex program along the edges of the vertices that send: twins of program_push.cu."""

import numpy as np

from graphdask.kernels.common.bitmap import has_bit, set_bit, u64
from graphdask.kernels.common.twin import twin
from graphdask.kernels.program.program_default import MACROS, message, push, take
from graphdask.kernels.program.program_length import length
from graphdask.kernels.program.program_pack import Program

__all__ = ["MACROS"]

# The functions of the caller stand here.


@twin
def program_push(n, a: Program):
    """Send messages along the edges of each row, combine them where they arrive, and list the vertices that got one."""
    marked, ghosts, edges = a.counters.marked, a.counters.ghosts, 0
    for i in range(length(n, a)):
        u = u64(i + a.first if a.listed is None else a.listed[i])
        row = u - u64(a.first)
        begin, end = u64(a.indptr[row]), u64(a.indptr[row + u64(1)])
        edges += np.int64(end - begin)
        for e in range(begin, end):
            v = u64(a.indices[e])
            given, sent = message(u, v, e, a)
            if given and push(v, sent, a) and not has_bit(a.marks, v):
                set_bit(a.marks, v)
                a.received[v] = max(a.received[v], 1)
                if v < u64(a.owned):
                    a.marked[marked] = v
                    marked += 1
                else:
                    a.ghosts[ghosts] = v
                    ghosts += 1
    a.counters.marked, a.counters.ghosts = marked, ghosts
    a.counters.sent += edges


@twin
def program_take(n, a: Program):
    """Combine messages of other ranks with those that are there."""
    for i in range(n):
        v = a.slots[i]
        take(i, v, a)
        a.received[v] += a.counted[i]
        if not has_bit(a.marks, v):
            set_bit(a.marks, v)
            a.marked[a.counters.marked] = v
            a.counters.marked += 1
