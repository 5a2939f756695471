"""Trees over a chunk of a layered edge list on the device, and the chunks still to process: twins of layered_trees.cu.

n, first, indptr, targets, queue, hubs: as in layered_paths.py
link     index dtype per position: an earlier position of its tree, or itself
giant    a position: rows in its tree are skipped; -1: no rows are skipped
counters 64-bit integers: number of rows processed, number of edges scanned; and, cleared by the host before a chunk,
         arrivals of blocks at the barrier, number of rows, number of hubs
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

from graphdask.kernels.stream.layered import layered_hook, layered_loops

MACROS = [{"index_t": "int"}]
COUNTERS, CLEARED = 5, 2
"""Number of counters, and the first of those that are 0 before a chunk."""


BLOCK = 1 << 16
"""Number of targets that are converted to slots at a time."""


def _root(link, v):
    while link[v] != v:
        v = link[v]
    return v


def layered_join(n, first, indptr, targets, link, giant, queue, hubs, counters):
    counts = np.zeros(3, np.int64)
    layered_hook(n, first, indptr, targets, link, -1 if giant < 0 else _root(link, giant), counts)
    counters[:2] += counts[:2].astype(counters.dtype)


def layered_outside_of(n, first, link, giant, firsts, chunks, flags):
    largest = _root(link, giant)
    for v in range(first, first + n):
        if _root(link, v) != largest:
            flags[np.searchsorted(firsts[:chunks], v, side="right") - 1] = 1


def layered_roots(n, positions, link, roots):
    roots[:n] = [_root(link, v) for v in positions[:n]]


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


def layered_own(n, first, indptr, targets, loop, hubs, counters):
    layered_loops(n, first, indptr, targets, loop)
    counters[1] += counters.dtype.type(indptr[n])
