"""How long a list is whose length the kernels before have counted. Twin of program_length.cuh."""

from graphdask.kernels.common.twin import twin
from graphdask.kernels.program.program_pack import CHANGED, MARKED, Program


@twin
def length(n, a: Program):
    if a.limit == MARKED:
        return min(n, a.counters.marked)
    if a.limit == CHANGED:
        return min(n, a.counters.changed)
    return n
