"""Traversal sampling: twins of neighbors.cu.

An *item* of the frontier is a vertex that an instance expands. Items stand in the order of their instances.

rows      where the item's row of neighbours is, index dtype
vertices  its vertex number, index dtype: it and the instance decide what is drawn
instances its instance, int64
tags      int64, what every edge drawn for the item is marked with
indptr, indices   rows of neighbours; where `indices` is None, places stand for them
offsets   int64: where the edges of each item begin among those drawn, and their number
sums      int64: the biases of each row, summed up to each edge and with it; None where all are 1
src, dst, tag     of the edges drawn: vertex number of the item, neighbour as `indices` has it, mark of the item

The 64-bit numbers of an item are those of Philox with a key of (seed, vertex), a permutation of the vertex for every
seed, and the counter (instance, step, block): step 0 says which neighbours, step 1 how many. A vertex is expanded once
in an instance, so no number is used twice.

Without replacement, all alike: Floyd's algorithm, the order of his steps. By bias: one draw after the other among what
is left. Where more neighbours are asked for than there are, all of them in the order of the row.
"""

import numpy as np

from graphdask.kernels.hash import GOLDEN, hashed, inlined, key, multiply_high
from graphdask.kernels.philox import DRAW_NEIGHBOR, DRAW_ONE_PASS, philox
from graphdask.kernels.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
FEW = 32
REDRAWS = 8
"""After so many in vain, a draw goes through what is left."""
MOST_REDRAWS = 1 << 16
"""The same, of the methods that redraw until they find something."""
REPEATED, UPDATED, BIPARTITE = 1, 2, 3
_ONE, _ZERO = np.uint64(1), np.uint64(0)
_MANTISSA = np.uint64((1 << 52) - 1)
_IMPLICIT = np.uint64(1 << 52)


@inlined
def _key_of(seed, vertex):
    return hashed(key(seed, DRAW_NEIGHBOR, 0), key(seed, DRAW_NEIGHBOR, 1), np.uint64(vertex))


@inlined
def _word(pair, key, instance, step, number):
    """64-bit number `number` of an item; the numbers are taken in order, and `pair` keeps the second of two."""
    if number & 1:
        return pair[0]
    first, pair[0] = philox(key, instance, step, np.uint64(number >> 1))
    return first


@inlined
def _entry(indices, place):
    """The neighbour at a place; without neighbours, the place."""
    return place if indices is None else indices[place]


@inlined
def _slot(vertex, begin, end):
    return begin + np.int64(multiply_high(np.uint64(vertex) * GOLDEN, np.uint64(end - begin)))


@twin
def neighbors_counts(n, rows, vertices, instances, indptr, fanout, replace, burn, seed, counts):
    """How many neighbours an item gets: `fanout`, all if it is -1, or as often as numbers are below `burn`."""
    pair = np.empty(1, np.uint64)
    for i in range(n):
        degree = indptr[rows[i] + 1] - indptr[rows[i]]
        count = degree
        if burn != _ZERO:
            of_item, count = _key_of(seed, vertices[i]), 0
            while count < degree and _word(pair, of_item, np.uint64(instances[i]), _ONE, count) < burn:
                count += 1
        elif fanout >= 0:
            count = fanout if replace and degree else min(fanout, degree)
        counts[i] = count


@twin
def neighbors_uniform(
    n, rows, vertices, instances, tags, indptr, indices, offsets, replace, seed, src, dst, tag
):  # fmt: skip
    """Draw neighbours, all alike."""
    chosen, pair, table = np.empty(FEW, np.int64), np.empty(1, np.uint64), np.empty(0, np.int64)
    key_0, key_1 = key(seed, DRAW_NEIGHBOR, 0), key(seed, DRAW_NEIGHBOR, 1)
    for i in range(n):
        out, vertex, row, mark = offsets[i], vertices[i], rows[i], tags[i]
        count, begin = offsets[i + 1] - out, indptr[row]
        degree = indptr[row + 1] - begin
        for e in range(out, out + count):
            src[e] = vertex
            tag[e] = mark
        if not replace and count == degree:
            for s in range(count):
                dst[out + s] = _entry(indices, begin + s)
            continue
        of_item, instance = hashed(key_0, key_1, np.uint64(vertex)), np.uint64(instances[i])
        if replace:
            for s in range(count):
                place = multiply_high(_word(pair, of_item, instance, _ZERO, s), np.uint64(degree))
                dst[out + s] = _entry(indices, begin + np.int64(place))
        elif count <= FEW:
            for s in range(count):
                last = degree - count + s
                place = np.int64(multiply_high(_word(pair, of_item, instance, _ZERO, s), np.uint64(last + 1)))
                for before in range(s):
                    if chosen[before] == place:
                        place = last
                        break
                chosen[s] = place
                dst[out + s] = _entry(indices, begin + place)
        else:
            if len(table) < 2 * count:
                table = np.empty(2 * count, np.int64)
            room = 2 * count
            table[:room] = -1
            for s in range(count):
                last = degree - count + s
                place = np.int64(multiply_high(_word(pair, of_item, instance, _ZERO, s), np.uint64(last + 1)))
                slot = _slot(place, 0, room)
                while table[slot] != -1 and table[slot] != place:
                    slot = slot + 1 if slot + 1 < room else 0
                if table[slot] == place:
                    place = last
                    slot = _slot(place, 0, room)
                    while table[slot] != -1:
                        slot = slot + 1 if slot + 1 < room else 0
                table[slot] = place
                dst[out + s] = _entry(indices, begin + place)


@twin
def neighbors_uniform_long(
    n, rows, vertices, instances, tags, indptr, indices, offsets, seed, origin, drawn, table, src, dst, tag
):
    """The items of which more than FEW neighbours are drawn; `neighbors_uniform` has done it on a CPU."""


@twin
def neighbors_enter(n, vertices, instances, first, regions, visited, keys, earliest, fresh):
    """Put vertices in a table, in the part of their instance, which begins at twice `regions`.

    `visited`: they were expanded already; else they are candidates for it. On a CPU that knows at once which are fresh:
    not visited, and here for the first time.
    """
    for i in range(n):
        mine, vertex = instances[i] - first, vertices[i]
        begin, end = 2 * regions[mine], 2 * regions[mine + 1]
        slot = _slot(vertex, begin, end)
        while keys[slot] != -1 and keys[slot] != vertex:
            slot = slot + 1 if slot + 1 < end else begin
        if not visited:
            fresh[i] = keys[slot] == -1
        keys[slot] = vertex


@twin
def neighbors_fresh(n, vertices, instances, first, regions, keys, earliest, fresh):
    """Which candidates are fresh; `neighbors_enter` has said it on a CPU."""


@twin
def neighbors_place(n, hop, first, shifts, src, dst, instances, out_src, out_dst, out_hop, out_instance):
    """Put the edges of a hop where they belong among those of all hops; `shifts`: by how much, for each instance."""
    for i in range(n):
        place = i + shifts[instances[i] - first]
        out_src[place] = src[i]
        out_dst[place] = dst[i]
        out_hop[place] = hop
        out_instance[place] = instances[i]


@inlined
def _bits(value):
    """The length of a number that is not negative."""
    bits = 0
    while value:
        value >>= np.uint64(1)
        bits += 1
    return bits


@inlined
def _scaled(bits, floating, shift):
    if bits == 0:
        return _ZERO
    value, by = np.uint64(bits), -shift
    if floating:
        exponent = (bits >> 52) & 2047
        value = np.uint64(bits) & _MANTISSA
        if exponent:
            value |= _IMPLICIT
        by += max(exponent, 1)
    if by >= 0:
        return value << np.uint64(by)
    scaled = _ZERO if by <= -64 else value >> np.uint64(-by)
    return max(scaled, _ONE)


@twin
def neighbors_sums(n, indptr, floating, sums):
    """Make integer sums of the biases of every row, in place, below 2^62.

    `sums` comes with the biases, none of them negative: whole numbers, or the bits of float64. A row's greatest bias
    decides by how much it is scaled, if whole numbers have to be at all; what comes below 1 becomes 1.
    """
    for row in range(n):
        begin, end = indptr[row], indptr[row + 1]
        greatest = np.int64(0)
        for e in range(begin, end):
            greatest = max(greatest, sums[e])
        room = 62 - _bits(np.uint64(end - begin))
        if floating:
            shift = max((greatest >> 52) & 2047, 1) + 53 - room
        else:
            shift = max(_bits(np.uint64(greatest)) - room, 0)
        total = _ZERO
        for e in range(begin, end):
            total += _scaled(sums[e], floating, shift)
            sums[e] = np.int64(total)


@inlined
def _below(sums, begin, place):
    """The sum of the biases before a place of a row."""
    if sums is None:
        return np.uint64(place)
    return np.uint64(sums[begin + place - 1]) if place else _ZERO


@inlined
def _find(sums, begin, degree, number):
    """The place whose bias takes in a number."""
    if sums is None:
        return np.int64(number)
    low, high, number = np.int64(0), degree - 1, np.int64(number)
    while low < high:
        middle = (low + high) >> 1
        if sums[begin + middle] <= number:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _among(chosen, count, place):
    for i in range(count):
        if chosen[i] == place:
            return True
    return False


@inlined
def _find_left(sums, begin, degree, chosen, count, number):
    """The place of a number among the biases that are left: those chosen are skipped in the order of the row."""
    after = np.int64(-1)
    while True:
        place = degree
        for i in range(count):
            if after < chosen[i] < place:
                place = chosen[i]
        if place == degree or number < _below(sums, begin, place):
            return _find(sums, begin, degree, number)
        number += _below(sums, begin, place + 1) - _below(sums, begin, place)
        after = place


@inlined
def _choose(sums, begin, degree, chosen, count, left, method, pair, of_item, instance, number):
    """The next place, and how many numbers have been taken."""
    redraws = REDRAWS
    if method == UPDATED or (method == 0 and degree <= FEW):
        redraws = 0
    elif method:
        redraws = MOST_REDRAWS
    total = _below(sums, begin, degree)
    for _ in range(redraws):
        drawn = multiply_high(_word(pair, of_item, instance, _ZERO, number), total)
        number += 1
        place = _find(sums, begin, degree, drawn)
        if not _among(chosen, count, place):
            return place, number
        if method != BIPARTITE:
            continue
        low = _below(sums, begin, place)
        width = _below(sums, begin, place + 1) - low
        drawn = multiply_high(_word(pair, of_item, instance, _ZERO, number), total - width)
        number += 1
        if drawn >= low:
            drawn += width
        place = _find(sums, begin, degree, drawn)
        if not _among(chosen, count, place):
            return place, number
    drawn = multiply_high(_word(pair, of_item, instance, _ZERO, number), left)
    return _find_left(sums, begin, degree, chosen, count, drawn), number + 1


@twin
def neighbors_biased(
    n, rows, vertices, instances, tags, indptr, indices, offsets, sums, replace, method, seed, rooms, trees, src, dst,
    tag,
):  # fmt: skip
    """Draw neighbours in proportion to their biases, or by one of the methods for them.

    method: 0, or REPEATED, UPDATED, BIPARTITE. Of an item that gets more than FEW and not all, `rooms` says where in
    `trees` there are as many words as it has neighbours.
    """
    chosen, pair = np.empty(FEW, np.int64), np.empty(1, np.uint64)
    key_0, key_1 = key(seed, DRAW_NEIGHBOR, 0), key(seed, DRAW_NEIGHBOR, 1)
    for i in range(n):
        out, vertex, row, mark = offsets[i], vertices[i], rows[i], tags[i]
        count, begin = offsets[i + 1] - out, indptr[row]
        degree = indptr[row + 1] - begin
        for e in range(out, out + count):
            src[e] = vertex
            tag[e] = mark
        if not replace and count == degree:
            for s in range(count):
                dst[out + s] = indices[begin + s]
            continue
        of_item, instance = hashed(key_0, key_1, np.uint64(vertex)), np.uint64(instances[i])
        left = _below(sums, begin, degree)
        if replace:
            for s in range(count):
                drawn = multiply_high(_word(pair, of_item, instance, _ZERO, s), left)
                dst[out + s] = indices[begin + _find(sums, begin, degree, drawn)]
        elif count <= FEW:
            number = 0
            for s in range(count):
                place, number = _choose(sums, begin, degree, chosen, s, left, method, pair, of_item, instance, number)
                chosen[s] = place
                left -= _below(sums, begin, place + 1) - _below(sums, begin, place)
                dst[out + s] = indices[begin + place]
        else:
            at = rooms[i] - 1
            for p in range(1, degree + 1):
                trees[at + p] = np.int64(_below(sums, begin, p) - _below(sums, begin, p - (p & -p)))
            for s in range(count):
                drawn = np.int64(multiply_high(_word(pair, of_item, instance, _ZERO, s), left))
                place, step = np.int64(0), np.int64(1) << (_bits(np.uint64(degree)) - 1)
                while step:
                    if place + step <= degree and trees[at + place + step] <= drawn:
                        place += step
                        drawn -= trees[at + place]
                    step >>= 1
                width = _below(sums, begin, place + 1) - _below(sums, begin, place)
                p = place + 1
                while p <= degree:
                    trees[at + p] -= np.int64(width)
                    p += p & -p
                left -= width
                dst[out + s] = indices[begin + place]


@twin
def neighbors_below(n, vertices, indptr, ends, once, seed, least, counts):
    """How many edges of each row have a key of no more than `least`.

    The key of an edge is drawn for its vertex and its place in the row. `once`: of edges that are stored at both ends,
    `ends` being the numbers of these, one counts.
    """
    key_0, key_1 = key(seed, DRAW_ONE_PASS, 0), key(seed, DRAW_ONE_PASS, 1)
    for row in range(n):
        begin, count = indptr[row], 0
        of_row = hashed(key_0, key_1, np.uint64(vertices[row]))
        for e in range(begin, indptr[row + 1]):
            word, _ = philox(of_row, np.uint64(e - begin), _ZERO, _ZERO)
            count += word <= least and (not once or vertices[row] <= ends[e])
        counts[row] = count


@twin
def neighbors_listed(n, vertices, indptr, ends, once, seed, least, offsets, src, edges, keys):
    """The same edges and their keys, in the order of the rows, from `offsets` on."""
    key_0, key_1 = key(seed, DRAW_ONE_PASS, 0), key(seed, DRAW_ONE_PASS, 1)
    for row in range(n):
        begin, out = indptr[row], offsets[row]
        if out == offsets[row + 1]:
            continue
        of_row = hashed(key_0, key_1, np.uint64(vertices[row]))
        for e in range(begin, indptr[row + 1]):
            word, _ = philox(of_row, np.uint64(e - begin), _ZERO, _ZERO)
            if word <= least and (not once or vertices[row] <= ends[e]):
                src[out] = vertices[row]
                edges[out] = e
                keys[out] = word
                out += 1
