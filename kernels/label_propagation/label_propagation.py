"""The most frequent label among the neighbours of each row, the smallest of several: twins of label_propagation.cu.

A row has out-edges (indptr, indices) and, with `both`, in-edges (in_indptr, in_indices). Rows of up to 32 neighbours
are sorted, or compared within a warp; those of longer rows are counted in a hash table of twice their length each,
which are laid out one after the other for the rows first to last - 1 of `rows`.

n        32 for each short row, 256 for each chunk or long row: a warp, or a block, works on one
start    int64, shape (long rows + 1,): where the table of a row begins, in all tables laid end to end
chunks   int64, shape (long rows + 1,): chunks of CHUNK neighbours, and where those of a row begin
keys     index dtype: a label, -1 where the table is free; counts, uint32: how often it occurs
fresh    index dtype per own vertex: the label found
"""

import numpy as np

from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
SHORT = 32
CHUNK = 1024


@twin
def labels_of_short(n, rows, indptr, indices, in_indptr, in_indices, both, label, fresh):
    held = np.empty(SHORT, label.dtype)
    for r in range(n // 32):
        u = rows[r]
        degree = 0
        for way in range(2 if both else 1):
            heads, tails = (in_indptr, in_indices) if way else (indptr, indices)
            for e in range(heads[u], heads[u + 1]):
                value = label[tails[e]]
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
                fresh[u] = held[i]


@twin
def labels_count(
    n, first, last, rows, start, chunks, indptr, indices, in_indptr, in_indices, both, label, keys, counts
):
    for r in range(first, last):
        u = rows[r]
        base, size = start[r] - start[first], start[r + 1] - start[r]
        for way in range(2 if both else 1):
            heads, tails = (in_indptr, in_indices) if way else (indptr, indices)
            for e in range(heads[u], heads[u + 1]):
                value = label[tails[e]]
                mixed = np.uint64((value ^ (value >> 31)) * 2654435761) & np.uint64(0xFFFFFFFF)
                place = base + np.int64((mixed * np.uint64(size)) >> np.uint64(32))
                while keys[place] != value and keys[place] != -1:
                    place += 1
                    if place == base + size:
                        place = base
                keys[place] = value
                counts[place] += 1


@twin
def labels_pick(n, first, last, rows, start, keys, counts, fresh):
    """The most frequent label of each long row; leaves the tables free."""
    for r in range(first, last):
        best = np.int64(0)
        found = np.int64(-1)
        for place in range(start[r] - start[first], start[r + 1] - start[first]):
            count = np.int64(counts[place])
            if count > best or (count == best and count > 0 and keys[place] < found):
                best = count
                found = np.int64(keys[place])
            keys[place] = -1
            counts[place] = 0
        fresh[rows[r]] = found


@twin
def labels_change(n, fresh, label, changed, counters):
    """Take over the labels found; list the vertices whose labels changed."""
    tail = counters[0]
    for v in range(n):
        if fresh[v] != label[v]:
            label[v] = fresh[v]
            changed[tail] = v
            tail += 1
    counters[0] = tail
