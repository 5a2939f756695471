"""The most frequent label among the neighbours of each row, the smallest of several: twins of label_propagation.cu.

A row has out-edges (indptr, indices) and, with `both`, in-edges (in_indptr, in_indices). Rows of up to 32 neighbours
are sorted, or compared within a warp; those of longer rows are counted in a hash table of twice their length each,
which are laid out one after the other for the rows first to last - 1 of `rows`.

`n` is 32 for each short row, 256 for each chunk or long row: a warp, or a block, works on one.
"""

import numpy as np

from graphdask.kernels.common.tuning import SHORT
from graphdask.kernels.common.twin import twin
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


@twin
def labels_count(n, first, last, a: Labels):
    """Count the labels of each long row that is due, and, on a CPU, keep the most frequent one."""
    for r in range(first, last):
        u = a.long_rows[r]
        if not a.due[u]:
            continue
        base, size = a.start[r] - a.start[first], a.start[r + 1] - a.start[r]
        best, found = np.uint32(0), a.label[0]
        for way in range(2 if a.both else 1):
            heads, tails = (a.in_indptr, a.in_indices) if way else (a.indptr, a.indices)
            for e in range(heads[u], heads[u + 1]):
                value = a.label[tails[e]]
                mixed = np.uint64((value ^ (value >> 31)) * 2654435761) & np.uint64(0xFFFFFFFF)
                place = base + np.int64((mixed * np.uint64(size)) >> np.uint64(32))
                while a.keys[place] != value and a.keys[place] != -1:
                    place += 1
                    if place == base + size:
                        place = base
                a.keys[place] = value
                count = a.counts[place] + np.uint32(1)
                a.counts[place] = count
                if count > best or (count == best and value < found):
                    best, found = count, value
        a.fresh[u] = found


@twin
def labels_pick(n, first, last, a: Labels):
    """Leave the tables of the long rows that are due free; a GPU picks the most frequent label of each."""
    for r in range(first, last):
        if a.due[a.long_rows[r]]:
            begin, end = a.start[r] - a.start[first], a.start[r + 1] - a.start[first]
            a.keys[begin:end] = -1
            a.counts[begin:end] = 0


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
