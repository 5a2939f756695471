"""Rows of a chunk that wait to be processed, for twins that go on until there are none."""

import numpy as np

from graphdask.kernels.common.twin import within
from graphdask.kernels.stream.chunk_pack import ActiveRows
from graphdask.kernels.stream.layered_paths_pack import ChunkLabels

u64 = np.uint64
"""Numba tests whether a signed index counts from the end; it does not test an unsigned one."""


@within
def begin_row(row, a: ActiveRows):
    """Clear the mark of a row, and count it and its edges; return its position."""
    u = a.first + row
    a.active[u] = False
    a.counters.worked += 1
    a.counters.looked += a.indptr[row + 1] - a.indptr[row]
    return u


@within
def wake(n, v, a: ActiveRows):
    """Mark a position as active; return whether it is a row of the chunk."""
    a.active[v] = True
    return a.first <= v < a.first + n


@within
def queue_active(n, a: ChunkLabels):
    """Queue the active rows; return how many there are."""
    waiting = 0
    for row in range(n):
        if a.active[a.first + row]:
            a.queue[waiting] = row
            waiting += 1
    return waiting


@within
def activate(n, v, tail, a: ChunkLabels):
    """Mark a position as active. If it is a row of the chunk, queue it, and return 1, else 0."""
    a.active[v] = True
    row = np.int64(v) - a.first
    if row < 0 or row >= n:
        return 0
    a.queue[tail if tail < n else tail - n] = row
    return 1
