"""The most frequent label among the neighbours of each row, the smallest of several: twins of label_propagation.cu.

A row has out-edges (indptr, indices) and, with `both`, in-edges (in_indptr, in_indices). Short rows are sorted, or
compared within a warp; the labels of others are counted in hash tables. A GPU has the tables of long rows of several
chunks, twice as long as the rows, one after the other for the rows first to last - 1 of `long_rows`, and those of other
rows in shared memory; a CPU uses one table after another. Tables are left free: keys -1, counts 0.

`n` is 32 for each short or middle row, and for each long row in `labels_settle`: a warp works on one. It is 256 for
each chunk of a long row: a block works on one.
"""

import numpy as np

from graphdask.kernels.common.tuning import LABEL_CHUNK, LABEL_MIDDLE, SHORT
from graphdask.kernels.common.twin import by_python, inlined, twin
from graphdask.kernels.label_propagation.label_propagation_pack import Labels

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def labels_due(n, indptr, indices, a: Labels):
    """Mark the rows of which a neighbour's label changed, over the edges of one direction."""
    for u in range(n):
        if a.due[u]:
            continue
        for e in range(indptr[u], indptr[u + 1]):
            if a.moved[indices[e]]:
                a.due[u] = 1
                break


@twin
def labels_mark(n, indptr, indices, a: Labels):
    """Mark the neighbours, in one direction, of the vertices changed[:n], on a rank that has all vertices."""
    for i in range(n):
        u = a.changed[i]
        for e in range(indptr[u], indptr[u + 1]):
            a.due[indices[e]] = 1


@twin
def labels_of_short(n, a: Labels):
    held = np.empty(SHORT, a.label.dtype)
    for r in range(n // 32):
        u = a.short_rows[r]
        if not a.due[u]:
            continue
        degree = 0
        for way in range(2 if a.both else 1):
            heads, tails = (a.in_indptr, a.in_indices) if way else (a.indptr, a.indices)
            for e in range(heads[u], heads[u + 1]):
                value = a.label[tails[e]]
                place = degree
                while place > 0 and held[place - 1] > value:
                    held[place] = held[place - 1]
                    place -= 1
                held[place] = value
                degree += 1
        best = run = 0
        for i in range(degree):
            run = run + 1 if i > 0 and held[i] == held[i - 1] else 1
            if run > best:
                best = run
                a.fresh[u] = held[i]


@inlined
def _most_frequent(u, size, keys, counts, a: Labels):
    """The most frequent label of a row, by a table of so many places, which is free before and after."""
    best, found = np.uint32(0), a.label[0]
    for way in range(2 if a.both else 1):
        heads, tails = (a.in_indptr, a.in_indices) if way else (a.indptr, a.indices)
        for e in range(heads[u], heads[u + 1]):
            value = a.label[tails[e]]
            mixed = np.uint64((value ^ (value >> 31)) * 2654435761) & np.uint64(0xFFFFFFFF)
            place = np.int64((mixed * np.uint64(size)) >> np.uint64(32))
            while keys[place] != value and keys[place] != -1:
                place += 1
                if place == size:
                    place = 0
            keys[place] = value
            count = counts[place] + np.uint32(1)
            counts[place] = count
            if count > best or (count == best and value < found):
                best, found = count, value
    for place in range(size):
        keys[place] = -1
        counts[place] = 0
    return found


@twin
def labels_of_middle(n, a: Labels):
    keys, counts = np.full(2 * LABEL_MIDDLE, -1, a.label.dtype), np.zeros(2 * LABEL_MIDDLE, np.uint32)
    for r in range(n // 32):
        u = a.middle_rows[r]
        if not a.due[u]:
            continue
        degree = a.indptr[u + 1] - a.indptr[u]
        if a.both:
            degree += a.in_indptr[u + 1] - a.in_indptr[u]
        a.fresh[u] = _most_frequent(u, 2 * degree, keys, counts, a)


@twin
def labels_count(n, first, last, a: Labels):
    """Count the labels of each long row that is due, and keep the most frequent one, on a GPU of rows of one chunk."""
    keys, counts = np.full(2 * LABEL_CHUNK, -1, a.label.dtype), np.zeros(2 * LABEL_CHUNK, np.uint32)
    for r in range(first, last):
        u = a.long_rows[r]
        if not a.due[u]:
            continue
        if a.chunks[r + 1] - a.chunks[r] > 1:
            a.fresh[u] = _most_frequent(u, a.start[r + 1] - a.start[r], a.keys, a.counts, a)
        else:
            degree = a.indptr[u + 1] - a.indptr[u]
            if a.both:
                degree += a.in_indptr[u + 1] - a.in_indptr[u]
            a.fresh[u] = _most_frequent(u, 2 * degree, keys, counts, a)


@by_python
def labels_pick(n, first, last, a: Labels):
    """Find the most frequent label of each part of a table, and leave it free; a CPU has done so."""


@by_python
def labels_settle(n, a: Labels):
    """Take the most frequent label of the parts of each row's table; a CPU has done so."""


@twin
def labels_change(n, a: Labels):
    """Take over the labels found; mark and list the vertices whose labels changed, and count the edges of due rows."""
    tail, edges = a.counters.changed, 0
    for v in range(n):
        if a.due[v]:
            edges += a.indptr[v + 1] - a.indptr[v]
            if a.both:
                edges += a.in_indptr[v + 1] - a.in_indptr[v]
        a.moved[v] = a.fresh[v] != a.label[v]
        if a.moved[v]:
            a.label[v] = a.fresh[v]
            a.changed[tail] = v
            tail += 1
    a.counters.changed = tail
    a.counters.edges += edges
