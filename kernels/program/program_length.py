"""How long a list is whose length the kernels before have counted. Twin of program_length.cuh."""

from graphdask.kernels.common.twin import inlined
from graphdask.kernels.program.program_pack import CHANGED, MARKED, Program


@inlined
def length(n, a: Program):
    count = n
    if a.limit == MARKED:
        count = a.counters.marked
    elif a.limit == CHANGED:
        count = a.counters.changed
    return count if count < n else n
