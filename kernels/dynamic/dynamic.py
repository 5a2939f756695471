"""Rows that change, and PageRank over a frontier of affected vertices: twins of dynamic.cu.

begin, length  int64 per own vertex: its row is indices[begin[v]] to indices[begin[v] + length[v] - 1], slots of
               vertices, own ones first, in ascending order of their ids
names          index dtype: the id of each slot
listed         index dtype: own vertices to be worked on, in no order; of dynamic_update it may be None for the first n
pieces         int64: parts of rows, PIECE edges each, first edge times 2 * PIECE plus the number of edges; `number`,
               uint64: how many
flags          uint8 per slot; those of other ranks' vertices are sent to their owners
low, high      index dtype: lists of own vertices of at most `most` edges and of more; of dynamic_update those whose
               out-neighbours are to be marked, `length` being that of their out-edges
count          64-bit integer: how many are listed, which the host need not know: n is the most; or more than n, for all

Edges of a row are added in the order that lanes.py states, so that a sum depends on nothing but the row. On a GPU a
warp takes 32 low rows, of 256 edges at most, and a warp or a block a high one.
"""

import numpy as np

from graphdask.kernels.common.lanes import sum_rows
from graphdask.kernels.common.tuning import MASS
from graphdask.kernels.common.tuning import ROW_PIECE as PIECE
from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.dynamic.dynamic_pack import DynamicRanks, Flagged

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@within
def _listed(n, count):
    return min(n, np.int64(count[0]))


@within
def _place(indices, names, first, length, wanted):
    """How many of a row have lower ids, and whether it holds this one."""
    low, high = 0, length
    while low < high:
        middle = (low + high) >> 1
        if names[indices[first + middle]] < wanted:
            low = middle + 1
        else:
            high = middle
    return low, low < length and names[indices[first + low]] == wanted


@twin
def dynamic_find(n, row, column, begin, length, indices, names, place, found):
    """Per id how many of the row have lower ones, and whether the row holds it."""
    for i in range(n):
        place[i], found[i] = _place(indices, names, begin[row[i]], length[row[i]], column[i])


@twin
def dynamic_degrees(n, rows, ids, begin, length, indices, names, inverse, loop):
    """Of rows whether they hold the vertex itself, and 1 / their length, where one that does not is given it."""
    for i in range(n):
        v = rows[i]
        _, found = _place(indices, names, begin[v], length[v], ids[v])
        loop[v] = found
        inverse[v] = 1.0 / (length[v] + (0 if found else 1))


@twin
def dynamic_begin(n, before, inverse, rank, x):
    for v in range(n):
        rank[v] = before[v]
        x[v] = before[v] * inverse[v]


@twin
def dynamic_flag(n, rows, first, second):
    """Set both flags of these rows."""
    for i in range(n):
        first[rows[i]] = 1
        second[rows[i]] = 1


@twin
def dynamic_split(n, a: Flagged):
    """List the own vertices whose flag is 1, and then `becomes`, by whether their rows have at most `most` edges."""
    lows, highs, edges = 0, 0, 0
    for v in range(n):
        if a.flags[v] == 1:
            a.flags[v] = a.becomes
            if a.length[v] <= a.most:
                a.low[lows] = v
                lows += 1
            else:
                a.high[highs] = v
                highs += 1
            edges += a.length[v]
    a.counters.low += np.uint64(lows)
    a.counters.high += np.uint64(highs)
    a.counters.edges += np.uint64(edges)


@twin
def dynamic_sum(n, count, listed, begin, length, indices, x, sums):
    sum_rows(_listed(n, count), listed, begin, length, indices, x, listed, 0, sums)


@twin
def dynamic_sum_high(n, count, listed, begin, length, indices, x, sums):
    dynamic_sum(n, count, listed, begin, length, indices, x, sums)


@twin
def dynamic_update(n, a: DynamicRanks):
    largest, first, spread, unsent = 0.0, 0, np.uint64(0), np.uint64(0)
    lows, highs, edges, mass = a.counters.mark_low, a.counters.mark_high, np.uint64(0), np.uint64(0)
    for i in range(_listed(n, a.count)):
        v = i if a.listed is None else a.listed[i]
        old, gathered, mine = a.rank[v] * a.factor, a.sums[v] * a.factor, a.x[v] * a.factor
        if a.closed:
            if a.loop[v]:
                gathered -= mine
            new = (a.base + a.damping * gathered) / (1.0 - a.damping * a.inverse[v])
        else:
            if not a.loop[v]:
                gathered += mine
            new = a.base + a.damping * gathered
        a.rank[v] = new
        a.x[v] = new * a.inverse[v]
        moved = abs(new - old)
        largest = max(largest, moved)
        relative = moved / max(new, old)
        if a.prunes and relative <= a.prune:
            a.affected[v] = 0
        goes = np.uint64(np.ceil((moved * (1.0 - a.inverse[v]) if a.closed else moved) * a.scale))
        spread += goes
        mass += np.uint64(np.rint(new * MASS))
        if a.expands and a.expand[v] == 0:
            if relative > a.frontier:
                a.expand[v] = a.becomes
                edges += np.uint64(a.length[v])
                if a.length[v] <= a.most:
                    a.low[lows] = v
                    lows += np.uint64(1)
                else:
                    a.high[highs] = v
                    highs += np.uint64(1)
            else:
                unsent += goes
        if not a.visited[v]:
            a.visited[v] = 1
            first += 1
    bits = np.float64(largest).view(np.uint64)
    a.counters.largest = max(a.counters.largest, bits)
    a.counters.first += np.uint64(first)
    a.counters.spread += spread
    a.counters.unsent += unsent
    a.counters.mark_low = lows
    a.counters.mark_high = highs
    a.counters.mark_edges += edges
    a.counters.mass += mass


@twin
def dynamic_judge(n, goal, by_error, a: DynamicRanks):
    """Whether all vertices are to be ranked once more, by the largest change or by the error of rank_error.py."""
    now = np.uint64(a.counters.largest).view(np.float64)
    if by_error:
        left = a.damping * (np.float64(a.counters.unsent) / a.scale)
        sent = a.damping * (np.float64(a.counters.spread - a.counters.unsent) / a.scale)
        now = (left + sent) / (1.0 - a.damping)
    a.counters.goes = np.uint64(0) if now <= goal else ~np.uint64(0)


@twin
def dynamic_mark(n, count, listed, begin, length, indices, flags):
    for i in range(_listed(n, count)):
        v = listed[i]
        for e in range(begin[v], begin[v] + length[v]):
            flags[indices[e]] = 1


@twin
def dynamic_mark_high(n, count, listed, begin, length, indices, flags, pieces, number):
    """Of rows with more than PIECE edges a GPU leaves what follows to the next kernel."""
    dynamic_mark(n, count, listed, begin, length, indices, flags)


@twin
def dynamic_mark_pieces(n, number, pieces, indices, flags):
    for i in range(_listed(n, number)):
        first = pieces[i] // (2 * PIECE)
        for e in range(first, first + pieces[i] % (2 * PIECE)):
            flags[indices[e]] = 1
