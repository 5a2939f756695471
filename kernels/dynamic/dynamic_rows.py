"""Rewriting the rows that a batch changes: twins of dynamic_rows.cu.

The entries of the batch that change something are sorted by row and column; dynamic_batch.py says what `place`, `sums`,
`listed` and `plan` hold, and that n entries were given. If rows have outgrown their allocation and what
they claimed does not fit the pool of `size` entries, the rows of that direction stay unchanged.

commits        whether the rows' lengths, beginnings, and allocations are written: with the last one of the pools

Rows of few entries are listed from the start of `listed`, and a warp takes one; a block takes one of those listed from
its end. The entries of a row move within it: first those behind deleted entries move towards its start, then those
behind insertions towards its end. They move a piece at a time, which is read as a whole before any of it is written.

Of the longest rows a block takes a piece: they are put together in `made`, and then copied to where they were.

where          int64 per entry of a batch, half of them of sources: where in the pool its weight is set, or -1
order          int64 per sorted entry: which one of the batch it is; `values` are its weights then
begin, length  of dynamic_rows_move: int64 per row: where it is, and its entries; it goes to where `target` says
"""

import numpy as np

from graphdask.kernels.common.prefetch import prefetch
from graphdask.kernels.common.tuning import ROW_PIECE as PIECE
from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.dynamic.dynamic_rows_pack import ChangedRows

AHEAD = 8
"""Rows that a twin has on their way."""
MACROS = [{"entry_t": kind} for kind in ("int", "long long", "float", "double")]


@twin
def dynamic_rows_weigh(n, where, directed, order, weights, values, out_pool, in_pool):
    for i in range(n):
        values[i] = weights[order[i] % (n // 2)]
        if where[i] >= 0:
            if directed and i >= n // 2:
                in_pool[where[i]] = weights[i % (n // 2)]
            else:
                out_pool[where[i]] = weights[i % (n // 2)]


@within
def _merge(pool, begin, size, first, end, place, sums, values, made, at):
    """Write to made[at] and after what a row of `size` entries is to be: what entries `first` to `end` - 1 say."""
    j = 0
    for i in range(first, end):
        while j < place[i]:
            made[at] = pool[begin + j]
            at += 1
            j += 1
        if (sums[i + 1] - sums[i]) & 1:
            made[at] = values[i]
            at += 1
        else:
            j += 1
    while j < size:
        made[at] = pool[begin + j]
        at += 1
        j += 1


@within
def _rewrite(pool, begin, goes, size, first, end, place, sums, values):
    """Make a row of `size` entries what the entries of the batch from `first` to `end` - 1 say."""
    before, step = sums[first], sums[end] - sums[first]
    inserted, deleted = step & 0xFFFFFFFF, step >> 32
    if goes != begin:
        _merge(pool, begin, size, first, end, place, sums, values, pool, goes)
        return
    if deleted:
        at, j = -1, 0
        for i in range(first, end):
            if (sums[i + 1] - sums[i]) & 1 == 0:
                if at < 0:
                    at = place[i]
                else:
                    while j < place[i]:
                        pool[begin + at] = pool[begin + j]
                        at += 1
                        j += 1
                j = place[i] + 1
        while j < size:
            pool[begin + at] = pool[begin + j]
            at += 1
            j += 1
    if inserted:
        j, shift = size - deleted, inserted
        for i in range(end - 1, first - 1, -1):
            if (sums[i + 1] - sums[i]) & 1:
                stays = place[i] - ((sums[i] - before) >> 32)
                while j > stays:
                    j -= 1
                    pool[begin + j + shift] = pool[begin + j]
                shift -= 1
                pool[begin + stays + shift] = values[i]


@twin
def _change(start, stop, n, a: ChangedRows):
    outward = int(a.counters.outward)
    out_fits, in_fits = (
        a.out_used + int(a.counters.out_claimed) <= a.out_size,
        a.in_used + int(a.counters.in_claimed) <= a.in_size,
    )
    for k in range(start, stop):
        if k + AHEAD < stop:  # where most is done, from the back
            i = a.listed[k + AHEAD]
            v = a.plan[2 * n + i]
            if i < outward:
                prefetch(a.out_pool, a.out_begin[v] + a.out_length[v])
                prefetch(a.out_pool, a.out_begin[v] + a.out_length[v] // 2)
            else:
                prefetch(a.in_pool, a.in_begin[v] + a.in_length[v])
                prefetch(a.in_pool, a.in_begin[v] + a.in_length[v] // 2)
        i = a.listed[k]
        end, goes, v = a.plan[i], a.plan[n + i], a.plan[2 * n + i]
        step = a.sums[end] - a.sums[i]
        if i < outward and out_fits:
            after = a.out_length[v] + (step & 0xFFFFFFFF) - (step >> 32)
            _rewrite(a.out_pool, a.out_begin[v], goes, a.out_length[v], i, end, a.place, a.sums, a.values)
            if a.commits:
                a.out_length[v] = after
                if goes != a.out_begin[v]:
                    a.out_begin[v], a.out_capacity[v] = goes, after + after // 4 + 2
        elif i >= outward and in_fits:
            after = a.in_length[v] + (step & 0xFFFFFFFF) - (step >> 32)
            _rewrite(a.in_pool, a.in_begin[v], goes, a.in_length[v], i, end, a.place, a.sums, a.values)
            if a.commits:
                a.in_length[v] = after
                if goes != a.in_begin[v]:
                    a.in_begin[v], a.in_capacity[v] = goes, after + after // 4 + 2


@twin
def dynamic_rows_change(n, a: ChangedRows):
    """A row of pieces is put together with the first of them."""
    for k in range(int(a.counters.pieces)):
        i, goes = a.pieces[4 * k], a.pieces[4 * k + 2]
        if a.pieces[4 * k + 1]:
            continue
        v = a.plan[2 * n + i]
        if i < int(a.counters.outward):
            _merge(a.out_pool, a.out_begin[v], a.out_length[v], i, a.plan[i], a.place, a.sums, a.values, a.made, goes)
        else:
            _merge(a.in_pool, a.in_begin[v], a.in_length[v], i, a.plan[i], a.place, a.sums, a.values, a.made, goes)
    for part in range(2):
        start, stop = (n - np.int64(a.counters.trailing), n) if part else (0, np.int64(a.counters.leading))
        _change(start, stop, n, a)


@twin
def dynamic_rows_settle(n, a: ChangedRows):
    out_fits, in_fits = (
        a.out_used + int(a.counters.out_claimed) <= a.out_size,
        a.in_used + int(a.counters.in_claimed) <= a.in_size,
    )
    for k in range(int(a.counters.pieces)):
        i, start, goes, after = a.pieces[4 * k], a.pieces[4 * k + 1], a.pieces[4 * k + 2], a.pieces[4 * k + 3]
        v = a.plan[2 * n + i]
        outward = i < int(a.counters.outward)
        if (outward and not out_fits) or (not outward and not in_fits):
            continue
        for j in range(start, min(start + PIECE, after)):
            if outward:
                a.out_pool[a.out_begin[v] + j] = a.made[goes + j]
            else:
                a.in_pool[a.in_begin[v] + j] = a.made[goes + j]
        if a.commits and outward:
            a.out_length[v] = after
        elif a.commits:
            a.in_length[v] = after


@twin
def dynamic_rows_move(n, begin, length, target, pool, out):
    for v in range(n):
        for k in range(length[v]):
            out[target[v] + k] = pool[begin[v] + k]
