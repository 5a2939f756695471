"""The changes that a batch of edges makes in the rows of one rank, computed on that rank: twins of dynamic_batch.cu.

An edge of the batch has two entries, one in the row of its source and one in that of its destination, which is a row
of in-edges if the graph is directed. All entries are looked up. Those that change their row are sorted by row and then
by column, and looked up once more for their places. Then every row is assigned the place to which it goes. n is the
number of entries.

edges          uint64 per edge: (source * num_vertices + destination) * 2, and 1 where it is to be there afterwards
slots          index dtype: of each id; this rank owns those below `owned`
found          uint8 per edge: whether the row of its source holds it; 0 where another rank has that row
again          int64 per entry, where the graph is weighted: where in the pool the weight is to be set, or -1
keys           uint64 per entry, those of sources first: row * capacity + column, rows of in-edges after all of
               out-edges; NOTHING where nothing is to be done: the entry is as it should be, or another rank's, or the
               second one of a self-loop without a direction
out_, in_      the rows of both directions, and names, as in dynamic.py; twice the same where the graph is undirected
place          int64 per sorted entry: how many of its row are less
row, slot      index dtype per sorted entry: its row, a local number, and the slot of its column
bounds         int64, shape (size + 1,): slots from bounds[k] to bounds[k + 1] - 1 are of rank (rank + k) % size
held           uint8, shape (size, owned): whether a rank needs to know of a row, as from now on those of its columns do
said           float64 per own vertex, used if `says`: the value last sent to other ranks; -1 makes it be sent again
steps          int64, a 0 and then per sorted entry 1 where it is inserted, being absent, 2**32 where it is deleted,
               being there; `sums` are their running sums, so that one scan counts both
listed         int64: the first entries of rows; those of `most` edges at most, before and after, fill it from its
               start, the others from its end
plan           int64, three arrays in one: of the first entry of each row that changes where its entries end, where the
               row is to begin, and its local number; the end is 0 of entries that are not the first of a row
pieces         int64, four each, for every PIECE entries of the rows of more than `hub` entries, before or after, that
               stay where they are and fit the workspace of `room` entries: the row's first entry, the first entry of
               the piece, where the new row is put together, and its new length
order          int64 per sorted entry: which one of the batch it is, but for those of NOTHING
counters       uint64, 0 before: how many of the sorted entries are of out-edges, and of both directions; deletions of
               each direction; entries of each one's pool, free from `used` on, claimed by rows that outgrew their
               allocation, whether they fit or not; rows listed from the start, and from the end; pieces, and the
               entries of the workspace that their rows need; and blocks that came to a barrier
"""

import numpy as np

from graphdask.kernels.common.prefetch import prefetch
from graphdask.kernels.common.tuning import ROW_PIECE as PIECE
from graphdask.kernels.common.twin import twin, within

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
NOTHING = np.uint64(2**64 - 1)
CLAIMED, FRONT, BACK = 4, 6, 7
"""Places among the counters, of which there are eleven."""
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
def dynamic_batch_look(
    n, edges, num_vertices, slots, owned, capacity, directed, weighted, out_begin, out_length, out_indices, in_begin,
    in_length, in_indices, names, found, again, keys,
):  # fmt: skip
    half = n // 2
    for i in range(n):
        if i + 2 * AHEAD < n:
            local = np.int64(slots[_ends(edges, i + 2 * AHEAD, half, num_vertices)[0]])
            if local < owned:
                if directed and i + 2 * AHEAD >= half:
                    prefetch(in_begin, local)
                    prefetch(in_length, local)
                else:
                    prefetch(out_begin, local)
                    prefetch(out_length, local)
            local = np.int64(slots[_ends(edges, i + AHEAD, half, num_vertices)[0]])
            if local < owned:
                if directed and i + AHEAD >= half:
                    _fetch(in_indices, in_begin[local], in_length[local])
                else:
                    _fetch(out_indices, out_begin[local], out_length[local])
        backward = i >= half
        edge = i - half if backward else i
        own, column = _ends(edges, i, half, num_vertices)
        local = np.int64(slots[own])
        inserts = (edges[edge] & np.uint64(1)) != 0
        there, key, where = False, NOTHING, np.int64(-1)
        if local < owned and not (backward and not directed and own == column):
            row = np.uint64(local)
            if backward and directed:
                begin, length = in_begin[local], in_length[local]
                low = _place(in_indices, names, begin, length, column)
                there = low < length and names[in_indices[begin + low]] == column
                row += np.uint64(owned)
            else:
                begin, length = out_begin[local], out_length[local]
                low = _place(out_indices, names, begin, length, column)
                there = low < length and names[out_indices[begin + low]] == column
            if there != inserts:
                key = row * np.uint64(capacity) + np.uint64(column)
            elif there:
                where = begin + low
        if not backward:
            found[edge] = there
        if weighted:
            again[i] = where
        keys[i] = key


@twin
def dynamic_batch_place(
    n, keys, owned, capacity, out_begin, out_length, out_indices, in_begin, in_length, in_indices, names, slots, row,
    slot, place, steps, counters,
):  # fmt: skip
    steps[0] = 0
    outward, needed = 0, 0
    for i in range(n):
        if keys[i] == NOTHING:
            row[i], slot[i], place[i], steps[i + 1] = 0, slots[0], 0, 0
            continue
        if i + AHEAD < n and keys[i + AHEAD] != NOTHING:
            local = np.int64(keys[i + AHEAD] // np.uint64(capacity))
            if local < owned:
                _fetch(out_indices, out_begin[local], out_length[local])
            else:
                _fetch(in_indices, in_begin[local - owned], in_length[local - owned])
        of = keys[i] // np.uint64(capacity)
        wanted = np.int64(keys[i] - of * np.uint64(capacity))
        local = np.int64(of)
        if local < owned:
            outward += 1
            begin, length = out_begin[local], out_length[local]
            low = _place(out_indices, names, begin, length, wanted)
            there = low < length and names[out_indices[begin + low]] == wanted
        else:
            local -= owned
            begin, length = in_begin[local], in_length[local]
            low = _place(in_indices, names, begin, length, wanted)
            there = low < length and names[in_indices[begin + low]] == wanted
        needed += 1
        row[i], slot[i], place[i] = local, slots[wanted], low
        steps[i + 1] = np.int64(2**32) if there else np.int64(1)
    counters[0], counters[1] = outward, needed


@twin
def dynamic_batch_note(n, counters, row, slot, bounds, size, rank, owned, says, held, said):
    for i in range(np.int64(counters[0])):
        step = 0
        while slot[i] >= bounds[step + 1]:
            step += 1
        held[(rank + step) % size, row[i]] = 1
        if says:
            said[row[i]] = -1.0


@twin
def dynamic_batch_plan(
    n, keys, owned, capacity, sums, most, out_begin, out_length, out_room, out_used, in_begin, in_length, in_room,
    in_used, hub, room, pieces, listed, plan, counters,
):  # fmt: skip
    outward, needed = np.int64(counters[0]), np.int64(counters[1])
    counters[2] = np.uint64(sums[outward] >> 32)
    counters[3] = np.uint64((sums[needed] - sums[outward]) >> 32)
    claimed = np.zeros(2, np.int64)
    front, back, number, taken, i = 0, 0, 0, 0, 0
    for i in range(needed, n):
        plan[i] = 0
    i = 0
    while i < needed:
        of = keys[i] // np.uint64(capacity)
        bound = (of + np.uint64(1)) * np.uint64(capacity)
        end = i + 1
        plan[i] = 0
        while end < needed and keys[end] < bound:
            plan[end] = 0
            end += 1
        local = np.int64(of)
        inward = local >= owned
        if inward:
            local -= owned
            begin, length, has, used = in_begin[local], in_length[local], in_room[local], in_used
        else:
            begin, length, has, used = out_begin[local], out_length[local], out_room[local], out_used
        step = sums[end] - sums[i]
        after = length + (step & 0xFFFFFFFF) - (step >> 32)
        size, moves = max(length, after), after > has
        if moves:
            begin = used + claimed[int(inward)]
            claimed[int(inward)] += after + after // 4 + 2
        plan[i], plan[n + i], plan[2 * n + i] = end, begin, local
        if size > hub and not moves:
            taken += size
        if size > hub and not moves and taken <= room:
            for first in range(0, size, PIECE):
                pieces[4 * number], pieces[4 * number + 1] = i, first
                pieces[4 * number + 2], pieces[4 * number + 3] = taken - size, after
                number += 1
        elif size <= most:
            listed[front] = i
            front += 1
        else:
            back += 1
            listed[n - back] = i
        i = end
    counters[4], counters[5], counters[6], counters[7] = claimed[0], claimed[1], front, back
    counters[8], counters[9] = number, taken


@twin
def dynamic_batch_prepare(
    n, edges, num_vertices, slots, owned, capacity, directed, weighted, out_begin, out_length, out_indices, in_begin,
    in_length, in_indices, names, found, again, keys, order, row, slot, place, sums, bounds, size, rank, says, held,
    said, most, out_room, out_used, in_room, in_used, hub, room, pieces, listed, plan, counters,
):  # fmt: skip
    """All of the above, and what stands between them. Arrays may be longer than the batch."""
    dynamic_batch_look(
        n, edges, num_vertices, slots, owned, capacity, directed, weighted, out_begin, out_length, out_indices,
        in_begin, in_length, in_indices, names, found, again, keys,
    )  # fmt: skip
    order[:n] = np.argsort(keys[:n], kind="mergesort")
    keys[:n] = keys[:n][order[:n]]
    dynamic_batch_place(
        n, keys, owned, capacity, out_begin, out_length, out_indices, in_begin, in_length, in_indices, names, slots,
        row, slot, place, sums, counters,
    )  # fmt: skip
    sums[: n + 1] = np.cumsum(sums[: n + 1])
    if size > 1:
        dynamic_batch_note(n, counters, row, slot, bounds, size, rank, owned, says, held, said)
    dynamic_batch_plan(
        n, keys, owned, capacity, sums, most, out_begin, out_length, out_room, out_used, in_begin, in_length, in_room,
        in_used, hub, room, pieces, listed, plan, counters,
    )  # fmt: skip
