"""What twins of several programs have in common: rows that are fetched ahead, and whether all bits are set. It stands
apart from what is compiled for each program again. On a GPU nothing has to be fetched."""

from graphdask.kernels.common.bitmap import has_bit, u64
from graphdask.kernels.common.prefetch import prefetch
from graphdask.kernels.common.twin import inlined
from graphdask.kernels.program.program_pack import Program

SOON, NEXT, LINE = 16, 6, 16
"""How many vertices ahead their rows' places are fetched, and their edges; edges in a line of a cache."""


@inlined
def fetch_changed(i, count, a: Program):
    """Have the processor fetch rows of vertices that have changed, and are listed a little further on."""
    if i + u64(SOON) < count:
        prefetch(a.indptr, u64(a.changed[i + u64(SOON)]))
    if i + u64(NEXT) < count:
        first = a.indptr[u64(a.changed[i + u64(NEXT)])]
        prefetch(a.indices, first)
        prefetch(a.indices, first + LINE)


@inlined
def fetch_listed(i, count, a: Program):
    """Have the processor fetch rows of vertices that are listed a little further on, if there is a list."""
    if a.listed is not None:
        if i + SOON < count:
            prefetch(a.indptr, a.listed[i + SOON] - a.first)
        if i + NEXT < count:
            first = a.indptr[a.listed[i + NEXT] - a.first]
            prefetch(a.indices, first)
            prefetch(a.indices, first + LINE)


@inlined
def has_all(bits, n):
    """Whether the first n bits are set."""
    found = True
    for word in range(u64(n) >> u64(5)):
        found &= bits[word] == 0xFFFFFFFF
    for v in range(u64(n) & ~u64(31), u64(n)):
        found &= has_bit(bits, v)
    return found
