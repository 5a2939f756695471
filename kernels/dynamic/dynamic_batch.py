"""The changes that a batch of edges makes in the rows of one rank, computed on that rank: twins of dynamic_batch.cu.

An edge of the batch has two entries, one in the row of its source and one in that of its destination, which is a row
of in-edges if the graph is directed. All entries are looked up. Those that change their row are sorted by row and then
by column, and looked up once more for their places. Then every row is assigned the place to which it goes. n is the
number of entries.

edges          uint64 per edge: (source * num_vertices + destination) * 2, and 1 where it is to be there afterwards
keys           uint64 per entry, those of sources first: row * capacity + column, rows of in-edges after all of
               out-edges; NOTHING where nothing is to be done: the entry is as it should be, or another rank's, or the
               second one of a self-loop without a direction
out_, in_      the rows of both directions, and names, as in dynamic.py; twice the same where the graph is undirected
steps          int64, a 0 and then per sorted entry 1 where it is inserted, being absent, 2**32 where it is deleted,
               being there; `sums` are their running sums, so that one scan counts both
listed         int64: the first entries of rows; those of `most` edges at most, before and after, fill it from its
               start, the others from its end
plan           int64, three arrays in one: of the first entry of each row that changes where its entries end, where the
               row is to begin, and its local number; the end is 0 of entries that are not the first of a row
pieces         int64, four each, for every PIECE entries of the rows of more than `hub` entries, before or after, that
               stay where they are and fit the workspace, `most_made` entries: the row's first entry, the first entry of
               the piece, where the new row is put together, and its new length
"""

import numpy as np

from graphdask.kernels.common.prefetch import prefetch
from graphdask.kernels.common.tuning import ROW_PIECE as PIECE
from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.dynamic.dynamic_batch_pack import BatchEntries

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
NOTHING = np.uint64(2**64 - 1)
AHEAD = 8
"""Entries whose rows a twin has on their way."""


@within
def _fetch(indices, first, length):
    """What a search in a row reads first."""
    prefetch(indices, first + length // 2)
    prefetch(indices, first + length // 4)
    prefetch(indices, first + 3 * length // 4)


@within
def _place(indices, names, first, length, wanted):
    low, high = 0, length
    while low < high:
        middle = (low + high) >> 1
        if names[indices[first + middle]] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@within
def _ends(edges, i, half, num_vertices):
    """The vertex whose row entry i is in, and that of its column."""
    edge = edges[i % half] >> np.uint64(1)
    source = np.int64(edge // np.uint64(num_vertices))
    destination = np.int64(edge - np.uint64(source) * np.uint64(num_vertices))
    return (source, destination) if i < half else (destination, source)


@twin
def dynamic_batch_look(n, a: BatchEntries):
    half = n // 2
    for i in range(n):
        if i + 2 * AHEAD < n:
            local = np.int64(a.slots[_ends(a.edges, i + 2 * AHEAD, half, a.num_vertices)[0]])
            if local < a.owned:
                if a.directed and i + 2 * AHEAD >= half:
                    prefetch(a.in_begin, local)
                    prefetch(a.in_length, local)
                else:
                    prefetch(a.out_begin, local)
                    prefetch(a.out_length, local)
            local = np.int64(a.slots[_ends(a.edges, i + AHEAD, half, a.num_vertices)[0]])
            if local < a.owned:
                if a.directed and i + AHEAD >= half:
                    _fetch(a.in_indices, a.in_begin[local], a.in_length[local])
                else:
                    _fetch(a.out_indices, a.out_begin[local], a.out_length[local])
        backward = i >= half
        edge = i - half if backward else i
        own, column = _ends(a.edges, i, half, a.num_vertices)
        local = np.int64(a.slots[own])
        inserts = (a.edges[edge] & np.uint64(1)) != 0
        there, key, where = False, NOTHING, np.int64(-1)
        if local < a.owned and not (backward and not a.directed and own == column):
            row = np.uint64(local)
            if backward and a.directed:
                begin, length = a.in_begin[local], a.in_length[local]
                low = _place(a.in_indices, a.names, begin, length, column)
                there = low < length and a.names[a.in_indices[begin + low]] == column
                row += np.uint64(a.owned)
            else:
                begin, length = a.out_begin[local], a.out_length[local]
                low = _place(a.out_indices, a.names, begin, length, column)
                there = low < length and a.names[a.out_indices[begin + low]] == column
            if there != inserts:
                key = row * np.uint64(a.capacity) + np.uint64(column)
            elif there:
                where = begin + low
        if not backward:
            a.found[edge] = there
        if a.weighted:
            a.again[i] = where
        a.keys[i] = key


@twin
def dynamic_batch_place(n, a: BatchEntries):
    a.steps[0] = 0
    outward, needed = 0, 0
    for i in range(n):
        if a.keys[i] == NOTHING:
            a.row[i], a.slot[i], a.place[i], a.steps[i + 1] = 0, a.slots[0], 0, 0
            continue
        if i + AHEAD < n and a.keys[i + AHEAD] != NOTHING:
            local = np.int64(a.keys[i + AHEAD] // np.uint64(a.capacity))
            if local < a.owned:
                _fetch(a.out_indices, a.out_begin[local], a.out_length[local])
            else:
                _fetch(a.in_indices, a.in_begin[local - a.owned], a.in_length[local - a.owned])
        of = a.keys[i] // np.uint64(a.capacity)
        wanted = np.int64(a.keys[i] - of * np.uint64(a.capacity))
        local = np.int64(of)
        if local < a.owned:
            outward += 1
            begin, length = a.out_begin[local], a.out_length[local]
            low = _place(a.out_indices, a.names, begin, length, wanted)
            there = low < length and a.names[a.out_indices[begin + low]] == wanted
        else:
            local -= a.owned
            begin, length = a.in_begin[local], a.in_length[local]
            low = _place(a.in_indices, a.names, begin, length, wanted)
            there = low < length and a.names[a.in_indices[begin + low]] == wanted
        needed += 1
        a.row[i], a.slot[i], a.place[i] = local, a.slots[wanted], low
        a.steps[i + 1] = np.int64(2**32) if there else np.int64(1)
    a.counters.outward, a.counters.needed = outward, needed


@twin
def dynamic_batch_note(n, a: BatchEntries):
    for i in range(np.int64(a.counters.outward)):
        step = 0
        while a.slot[i] >= a.bounds[step + 1]:
            step += 1
        a.held[(a.rank + step) % a.size, a.row[i]] = 1
        if a.keeps_sent:
            a.sent[a.row[i]] = -1.0


@twin
def dynamic_batch_plan(n, a: BatchEntries):
    outward, needed = np.int64(a.counters.outward), np.int64(a.counters.needed)
    a.counters.out_deleted = np.uint64(a.sums[outward] >> 32)
    a.counters.in_deleted = np.uint64((a.sums[needed] - a.sums[outward]) >> 32)
    claimed = np.zeros(2, np.int64)
    leading, trailing, number, taken, i = 0, 0, 0, 0, 0
    for i in range(needed, n):
        a.plan[i] = 0
    i = 0
    while i < needed:
        of = a.keys[i] // np.uint64(a.capacity)
        bound = (of + np.uint64(1)) * np.uint64(a.capacity)
        end = i + 1
        a.plan[i] = 0
        while end < needed and a.keys[end] < bound:
            a.plan[end] = 0
            end += 1
        local = np.int64(of)
        inward = local >= a.owned
        if inward:
            local -= a.owned
            begin, length, has, used = a.in_begin[local], a.in_length[local], a.in_capacity[local], a.in_used
        else:
            begin, length, has, used = a.out_begin[local], a.out_length[local], a.out_capacity[local], a.out_used
        step = a.sums[end] - a.sums[i]
        after = length + (step & 0xFFFFFFFF) - (step >> 32)
        size, moves = max(length, after), after > has
        if moves:
            begin = used + claimed[int(inward)]
            claimed[int(inward)] += after + after // 4 + 2
        a.plan[i], a.plan[n + i], a.plan[2 * n + i] = end, begin, local
        if size > a.hub and not moves:
            taken += size
        if size > a.hub and not moves and taken <= a.most_made:
            for first in range(0, size, PIECE):
                a.pieces[4 * number], a.pieces[4 * number + 1] = i, first
                a.pieces[4 * number + 2], a.pieces[4 * number + 3] = taken - size, after
                number += 1
        elif size <= a.most:
            a.listed[leading] = i
            leading += 1
        else:
            trailing += 1
            a.listed[n - trailing] = i
        i = end
    a.counters.out_claimed, a.counters.in_claimed = claimed[0], claimed[1]
    a.counters.leading, a.counters.trailing, a.counters.pieces, a.counters.taken = leading, trailing, number, taken


@twin
def dynamic_batch_prepare(n, a: BatchEntries):
    """All of the above, and what stands between them. Arrays may be longer than the batch."""
    dynamic_batch_look(n, a)
    a.order[:n] = np.argsort(a.keys[:n], kind="mergesort")
    a.keys[:n] = a.keys[:n][a.order[:n]]
    dynamic_batch_place(n, a)
    a.sums[: n + 1] = np.cumsum(a.sums[: n + 1])
    if a.size > 1:
        dynamic_batch_note(n, a)
    dynamic_batch_plan(n, a)
