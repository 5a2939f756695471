"""Messages of a vertex program along the edges of the vertices that send: twins of program_push.cu."""

from graphdask.kernels.common.bitmap import has_bit, set_bit
from graphdask.kernels.common.twin import twin
from graphdask.kernels.program.program_default import MACROS, message, push, take
from graphdask.kernels.program.program_length import length
from graphdask.kernels.program.program_pack import Program

__all__ = ["MACROS"]

# The functions of the caller stand here.


@twin
def program_push(n, a: Program):
    """Send messages along the edges of each row, combine them where they arrive, and list the vertices that got one."""
    for i in range(length(n, a)):
        u = i + a.first if a.listed is None else a.listed[i]
        row = u - a.first
        a.counters.sent += a.indptr[row + 1] - a.indptr[row]
        for e in range(a.indptr[row], a.indptr[row + 1]):
            v = a.indices[e]
            given, sent = message(u, v, e, a)
            if given:
                push(v, sent, a)
                a.received[v] += 1
                if not has_bit(a.marks, v):
                    set_bit(a.marks, v)
                    if v < a.owned:
                        a.marked[a.counters.marked] = v
                        a.counters.marked += 1
                    else:
                        a.ghosts[a.counters.ghosts] = v
                        a.counters.ghosts += 1


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
