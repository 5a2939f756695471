"""How long a list is whose length the kernels before have counted, and its order. Twin of program_length.cuh, in which
the order of a list is left as it is."""

from graphdask.kernels.common.bitmap import u64
from graphdask.kernels.common.twin import inlined
from graphdask.kernels.program.program_pack import CHANGED, MARKED, Program

MANY = 16
"""One of so many vertices got a message: they are visited in ascending order."""


@inlined
def ascending(a: Program):
    """List the own vertices with messages again, in the order in which their rows lie; return how many there are."""
    marked = u64(0)
    for word in range(u64(a.owned + 31) >> u64(5)):
        bits, v = u64(a.marks[word]), word << u64(5)
        while bits:
            if bits & u64(1) and v < u64(a.owned):
                a.marked[marked] = v
                marked += u64(1)
            bits >>= u64(1)
            v += u64(1)
    return marked


@inlined
def length(n, a: Program):
    count = n
    if a.limit == MARKED:
        count = a.counters.marked
    elif a.limit == CHANGED:
        count = a.counters.changed
    return count if count < n else n
