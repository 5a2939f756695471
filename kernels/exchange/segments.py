"""CPU twins of segments.cu: which entries go to which peer, and their payloads."""

import numpy as np

from graphdask.kernels.common.bitmap import set_bit
from graphdask.kernels.common.tuning import BITMAP_TILE as TILE
from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.exchange.codec import _popcount
from graphdask.kernels.exchange.segments_pack import FewParts, Joined, SegmentParts

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]

TILE_BITS = 32 * TILE


@twin
def _last_from(plan, begin, segments, at):
    k = 0
    while k + 1 < segments and plan[begin + k + 1] <= at:
        k += 1
    return k


@twin
def _width(plan, segments, k):
    return 4 if plan[3 * segments + 2 + k] <= 1 << 31 else 8


@twin
def _bitmap_bytes(plan, segments, k):
    return (plan[3 * segments + 2 + k] + 31) // 32 * 4


@twin
def _head(plan, segments, k, count, bitmap):
    nbytes = _bitmap_bytes(plan, segments, k) if bitmap else count * _width(plan, segments, k)
    return (nbytes + 7) & ~7


@twin
def _column(plan, segments, layout, k, column):
    at = layout[3 * k + 1] + _head(plan, segments, k, layout[3 * k], layout[3 * k + 2])
    for c in range(column):
        at += (layout[3 * k] * plan[4 * segments + 2 + c] + 7) & ~7
    return at


@twin
def _lay_out(plan, segments, columns, saves, layout):
    offset = 0
    for k in range(segments):
        count = layout[3 * k]
        shorter = _bitmap_bytes(plan, segments, k) - count * _width(plan, segments, k)
        bitmap = saves >= 0 and count > 0 and (-shorter > saves if columns else shorter <= saves)
        layout[3 * k + 1] = offset
        layout[3 * k + 2] = bitmap
        offset += (_column(plan, segments, layout, k, columns) - offset + 255) & ~255


@twin
def _counted(n, counters, place):
    return n if counters is None else min(n, counters[place])


@twin
def segments_mark(n, counters, place, numbers, shift, plan, segments, bits):
    for i in range(_counted(n, counters, place)):
        e = np.int64(numbers[i]) - shift
        if e < 0 or e >= plan[segments]:
            raise ValueError("an index was out of range")
        k = _last_from(plan, np.int64(0), segments, e)
        set_bit(bits, plan[segments + 1 + k] * TILE_BITS + e - plan[k])


@twin
def segments_find(n, counters, place, numbers, mirror, plan, segments, bits):
    for i in range(_counted(n, counters, place)):
        for k in range(segments):
            e = plan[k] + np.searchsorted(mirror[plan[k] : plan[k + 1]], numbers[i])
            if e < plan[k + 1] and mirror[e] == numbers[i]:
                set_bit(bits, plan[segments + 1 + k] * TILE_BITS + e - plan[k])


@twin
def segments_note(n, counters, place, numbers, universe, clears, marks):
    for i in range(_counted(n, counters, place)):
        v = np.int64(numbers[i])
        if v >= 0 and v < universe:
            if clears:
                marks[v >> 5] = 0
            else:
                set_bit(marks, v)
        elif not clears:
            raise ValueError("an index was out of range")


@twin
def segments_count(n, mirror, marks, bits, sums, ticket, plan, segments, columns, saves, layout):
    tiles = n // TILE
    before = 0
    for t in range(tiles):
        k = _last_from(plan, segments + 1, segments, t)
        if mirror is not None:
            first = plan[k] + (t - plan[segments + 1 + k]) * TILE_BITS
            bits[t * TILE : (t + 1) * TILE] = 0
            for e in range(first, min(first + TILE_BITS, plan[k + 1])):
                number = np.int64(mirror[e])
                if marks[number >> 5] >> np.uint32(number & 31) & np.uint32(1):
                    set_bit(bits, t * TILE_BITS + e - first)
        sums[t] = before
        for w in range(t * TILE, (t + 1) * TILE):
            before += _popcount(bits[w])
    sums[tiles] = before
    ticket[0] = 0
    for k in range(segments):
        layout[3 * k] = sums[plan[segments + 2 + k]] - sums[plan[segments + 1 + k]]
    _lay_out(plan, segments, columns, saves, layout)


@twin
def segments_clear(n, plan, segments, layout, payload):
    for k in range(segments):
        if layout[3 * k + 2]:
            payload[layout[3 * k + 1] : layout[3 * k + 1] + _bitmap_bytes(plan, segments, k)] = 0


@twin
def _put_id(plan, segments, layout, k, place, number, payload):
    at = layout[3 * k + 1]
    if layout[3 * k + 2]:
        payload[at + number // 8] |= np.uint8(1) << np.uint8(number & 7)
    elif _width(plan, segments, k) == 8:
        payload[at + 8 * place : at + 8 * place + 8].view(np.int64)[0] = number
    else:
        payload[at + 4 * place : at + 4 * place + 4].view(np.int32)[0] = number


@within
def _copy(payload, at, values, begin, count):
    """Without an assignment to a slice, for which Numba compiles much."""
    to, of = payload[at : at + count], values[begin : begin + count]
    for i in range(count):
        to[i] = of[i]


@twin
def segments_pack(n, a: SegmentParts):
    for t in range(n // TILE):
        k = _last_from(a.plan, a.segments + 1, a.segments, t)
        in_tile = (t - a.plan[a.segments + 1 + k]) * TILE_BITS
        place = a.sums[t] - a.sums[a.plan[a.segments + 1 + k]]
        aligned = a.column == 0 and a.numbers is None and a.layout[3 * k + 2]
        if aligned:
            begin = in_tile // 8
            end = min(begin + TILE_BITS // 8, _bitmap_bytes(a.plan, a.segments, k))
            a.payload[a.layout[3 * k + 1] + begin : a.layout[3 * k + 1] + end] = 0
        for bit in range(TILE_BITS):
            if not a.bits[t * TILE + bit // 32] >> np.uint32(bit & 31) & np.uint32(1):
                continue
            e = a.plan[k] + in_tile + bit
            if a.column == 0:
                number = in_tile + bit
                if a.numbers is not None:
                    number = np.int64(a.numbers[e]) - a.plan[2 * (a.segments + 1) + k]
                _put_id(a.plan, a.segments, a.layout, k, place, number, a.payload)
            if a.values is not None:
                row = a.plan[4 * a.segments + 2 + a.column]
                at = _column(a.plan, a.segments, a.layout, k, a.column) + place * row
                slot = e + a.shift
                if a.mirror is not None:
                    slot = np.int64(a.mirror[e])
                _copy(a.payload, at, a.values, slot * row, row)
            place += 1
        if a.column + 1 >= a.columns:
            a.bits[t * TILE : (t + 1) * TILE] = 0


@twin
def segments_few(n, given, a: FewParts):
    if a.counters is not None:
        if a.counters[a.place] > n:
            a.layout[0] = -1
            return
        n = a.counters[a.place]
    for k in range(a.segments):
        a.layout[3 * k] = 0
    for i in range(n):
        e = np.int64(given[i]) - a.shift
        if e < 0 or e >= a.plan[a.segments]:
            raise ValueError("an index was out of range")
        a.layout[3 * _last_from(a.plan, np.int64(0), a.segments, e)] += 1
    _lay_out(a.plan, a.segments, a.columns, np.int64(-1), a.layout)
    before = 0
    ascending = np.sort(given[:n])
    for k in range(a.segments):
        for rank in range(a.layout[3 * k]):
            e = np.int64(ascending[before + rank]) - a.shift
            if a.column == 0:
                number = e - a.plan[k]
                if a.numbers is not None:
                    number = np.int64(a.numbers[e]) - a.plan[2 * (a.segments + 1) + k]
                _put_id(a.plan, a.segments, a.layout, k, rank, number, a.payload)
            if a.values is not None:
                row = a.plan[4 * a.segments + 2 + a.column]
                at = _column(a.plan, a.segments, a.layout, k, a.column) + rank * row
                _copy(a.payload, at, a.values, (e + a.shift) * row, row)
        before += a.layout[3 * k]


@twin
def segments_gather(n, mirror, plan, segments, columns, column, offsets, values, item, payload):
    row = plan[4 * segments + 2 + column]
    for e in range(n):
        k = _last_from(plan, np.int64(0), segments, e)
        at = offsets[k * columns + column] + (e - plan[k]) * row
        slot = np.int64(mirror[e])
        _copy(payload, at, values, slot * row, row)


@twin
def _join(begin, end, row, ids, given, first, universe, slots, values):
    for i in range(begin, end):
        if ids is not None:
            v = np.int64(ids[i - begin])
            if v < 0 or v >= universe:
                raise ValueError("an index was out of range")
            slots[i] = first + v
        if given is not None:
            _copy(values, i * row, given, (i - begin) * row, row)


@twin
def segments_join(n, a: Joined):
    _join(0, a.end0, a.row, a.ids0, a.from0, a.first0, a.universe0, a.slots, a.values)
    _join(a.end0, a.end1, a.row, a.ids1, a.from1, a.first1, a.universe1, a.slots, a.values)
    _join(a.end1, a.end2, a.row, a.ids2, a.from2, a.first2, a.universe2, a.slots, a.values)
    _join(a.end2, a.end3, a.row, a.ids3, a.from3, a.first3, a.universe3, a.slots, a.values)
    _join(a.end3, a.end4, a.row, a.ids4, a.from4, a.first4, a.universe4, a.slots, a.values)
    _join(a.end4, a.end5, a.row, a.ids5, a.from5, a.first5, a.universe5, a.slots, a.values)
    _join(a.end5, a.end6, a.row, a.ids6, a.from6, a.first6, a.universe6, a.slots, a.values)
