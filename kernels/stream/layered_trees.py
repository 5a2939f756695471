"""Trees over a chunk of a layered edge list on the device, and the chunks still to process: twins of layered_trees.cu.

link     index dtype per position: an earlier position of its tree, or itself
giant    a position: rows in its tree are skipped; -1: no rows are skipped
queue    index dtype, one entry per row of the chunk
firsts   int64 per chunk: the position of its first row, for `chunks` consecutive chunks
flags    64-bit integers per chunk: set to 1 if the chunk is still to be processed, because one of its rows is marked or
         is outside the tree of `giant`
marks    uint64: eight marks, of 8 bits each, of consecutive positions; n counts these words
loop     uint8 per position: whether it has an edge to itself

`layered_slots` converts n positions in `targets` to slots of a part. The own vertices of this part are the `rows`
positions from `first` on: these and the ones whose places they take change places. `layered_cyclic` converts them to
slots of a part whose slots begin at `first` and continue with position 0 after the last of all `vertices`.

A launch of `layered_join` must be cooperative.
"""

import numpy as np

from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.stream.active_rows import u64
from graphdask.kernels.stream.chunk_pack import ChunkRows

MACROS = [{"index_t": "int"}]
BLOCK = 1 << 16
"""Number of targets that are converted to slots at a time."""


@within
def _root(link, u):
    above = link[u64(u)]
    while above != u:
        next = link[u64(above)]
        link[u64(u)] = next
        u, above = next, link[u64(next)]
    return u


@twin
def layered_join(n, link, giant, queue, a: ChunkRows):
    """Join the trees at both ends of each edge; skip rows in the tree of `giant`."""
    largest = _root(link, giant) if giant >= 0 else giant
    for row in range(n):
        u = _root(link, link[u64(a.first + row)])
        if u == largest:
            continue
        a.counters.worked += 1
        a.counters.looked += a.indptr[row + 1] - a.indptr[row]
        for e in range(u64(a.indptr[row]), u64(a.indptr[row + 1])):
            v = link[u64(a.targets[e])]
            if v == u:
                continue
            v = _root(link, v)
            if u < v:
                link[u64(v)] = u
            elif v < u:
                link[u64(u)] = v
                u = v


@twin
def layered_outside_of(n, first, link, giant, firsts, chunks, flags):
    largest = _root(link, giant)
    for chunk in range(chunks):
        begin = max(first, firsts[chunk]) if chunk else first
        end = min(first + n, firsts[chunk + 1]) if chunk + 1 < chunks else first + n
        for v in range(begin, end):
            if _root(link, v) != largest:
                flags[chunk] = 1
                break


@twin
def layered_roots(n, positions, link, roots):
    for i in range(n):
        roots[i] = _root(link, positions[i])


def layered_active(n, marks, firsts, chunks, flags):
    places = np.flatnonzero(marks[:n].view(np.uint8))
    flags[np.searchsorted(firsts[:chunks], places, side="right") - 1] = 1


def layered_slots(n, targets, first, rows):
    moved = min(first, rows)
    for begin in range(0, n, BLOCK):
        some = targets[begin : min(begin + BLOCK, n)]
        own, before = (some >= first) & (some < first + rows), some < moved
        np.subtract(some, np.int32(first), out=some, where=own)
        np.add(some, np.int32(max(first, rows)), out=some, where=before)


def layered_cyclic(n, targets, first, vertices):
    some = targets[:n]
    some -= np.int32(first)
    np.add(some, np.int32(vertices), out=some, where=some < 0)


@twin
def layered_own(n, loop, a: ChunkRows):
    for row in range(n):
        for e in range(a.indptr[row], a.indptr[row + 1]):
            if a.targets[e] == a.first + row:
                loop[a.first + row] = 1
    a.counters.looked += a.indptr[n] - a.indptr[0]
