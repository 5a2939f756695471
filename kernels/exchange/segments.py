"""CPU twins of segments.cu: which entries go to which peer, and their payloads."""

import numpy as np

from graphdask.kernels.common.tuning import BITMAP_TILE as TILE
from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.exchange.codec import _popcount

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
def _set(words, bit):
    words[bit >> 5] |= np.uint32(1) << np.uint32(bit & 31)


@twin
def segments_mark(n, numbers, shift, plan, segments, bits):
    for i in range(n):
        e = np.int64(numbers[i]) - shift
        if e < 0 or e >= plan[segments]:
            raise ValueError("an index was out of range")
        k = _last_from(plan, np.int64(0), segments, e)
        _set(bits, plan[segments + 1 + k] * TILE_BITS + e - plan[k])


@twin
def segments_find(n, numbers, mirror, plan, segments, bits):
    for i in range(n):
        for k in range(segments):
            e = plan[k] + np.searchsorted(mirror[plan[k] : plan[k + 1]], numbers[i])
            if e < plan[k + 1] and mirror[e] == numbers[i]:
                _set(bits, plan[segments + 1 + k] * TILE_BITS + e - plan[k])


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
                    _set(bits, t * TILE_BITS + e - first)
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
def segments_pack(
    n, bits, sums, plan, segments, columns, column, layout, numbers, mirror, shift, values, item, payload
):  # fmt: skip
    for t in range(n // TILE):
        k = _last_from(plan, segments + 1, segments, t)
        in_tile = (t - plan[segments + 1 + k]) * TILE_BITS
        place = sums[t] - sums[plan[segments + 1 + k]]
        aligned = column == 0 and numbers is None and layout[3 * k + 2]
        if aligned:
            begin = in_tile // 8
            end = min(begin + TILE_BITS // 8, _bitmap_bytes(plan, segments, k))
            payload[layout[3 * k + 1] + begin : layout[3 * k + 1] + end] = 0
        for bit in range(TILE_BITS):
            if not bits[t * TILE + bit // 32] >> np.uint32(bit & 31) & np.uint32(1):
                continue
            e = plan[k] + in_tile + bit
            if column == 0:
                number = in_tile + bit
                if numbers is not None:
                    number = np.int64(numbers[e]) - plan[2 * (segments + 1) + k]
                _put_id(plan, segments, layout, k, place, number, payload)
            if values is not None:
                row = plan[4 * segments + 2 + column]
                at = _column(plan, segments, layout, k, column) + place * row
                slot = e + shift
                if mirror is not None:
                    slot = np.int64(mirror[e])
                _copy(payload, at, values, slot * row, row)
            place += 1
        if column + 1 >= columns:
            bits[t * TILE : (t + 1) * TILE] = 0


@twin
def segments_few(n, given, plan, segments, columns, column, layout, numbers, shift, values, item, payload):
    for k in range(segments):
        layout[3 * k] = 0
    for i in range(n):
        e = np.int64(given[i]) - shift
        if e < 0 or e >= plan[segments]:
            raise ValueError("an index was out of range")
        layout[3 * _last_from(plan, np.int64(0), segments, e)] += 1
    _lay_out(plan, segments, columns, np.int64(-1), layout)
    before = 0
    ascending = np.sort(given[:n])
    for k in range(segments):
        for place in range(layout[3 * k]):
            e = np.int64(ascending[before + place]) - shift
            if column == 0:
                number = e - plan[k]
                if numbers is not None:
                    number = np.int64(numbers[e]) - plan[2 * (segments + 1) + k]
                _put_id(plan, segments, layout, k, place, number, payload)
            if values is not None:
                row = plan[4 * segments + 2 + column]
                at = _column(plan, segments, layout, k, column) + place * row
                _copy(payload, at, values, (e + shift) * row, row)
        before += layout[3 * k]


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
def segments_join(
    n, row, ids0, from0, end0, first0, universe0, ids1, from1, end1, first1, universe1, ids2, from2, end2, first2,
    universe2, ids3, from3, end3, first3, universe3, ids4, from4, end4, first4, universe4, ids5, from5, end5, first5,
    universe5, ids6, from6, end6, first6, universe6, slots, values,
):  # fmt: skip
    _join(0, end0, row, ids0, from0, first0, universe0, slots, values)
    _join(end0, end1, row, ids1, from1, first1, universe1, slots, values)
    _join(end1, end2, row, ids2, from2, first2, universe2, slots, values)
    _join(end2, end3, row, ids3, from3, first3, universe3, slots, values)
    _join(end3, end4, row, ids4, from4, first4, universe4, slots, values)
    _join(end4, end5, row, ids5, from5, first5, universe5, slots, values)
    _join(end5, end6, row, ids6, from6, first6, universe6, slots, values)
