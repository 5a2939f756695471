"""Choosing some candidates of each of many groups: twins of selection.cu and selection.cuh.

n          groups
starts, counts
           int64: where the places of a group begin in `chosen` and `owner`, and how many candidates it gives at most
seed, what, tags, instances, step
           random numbers are those of the key of (seed, what, tag) and the counter (instance, step, number of the draw)
sums       int64: the units of each row's candidates, added up to each and with it; `bounds` has all rows
rows, positives
           int64: the row of a group; how many candidates of each row have a bias above 0
groups, at, totals
           int64, int64, uint64, each one entry longer than there are groups or rows: where the rows of a group begin,
           how many candidates there are before a row, and the units of these
"""

import numpy as np

from graphdask.kernels.choice.selection_pack import Selections
from graphdask.kernels.common.hash import GOLDEN, hashed, inlined, multiply_high
from graphdask.kernels.common.hash import key as keyed
from graphdask.kernels.common.philox import philox
from graphdask.kernels.common.tuning import FEW_CHOSEN as FEW
from graphdask.kernels.common.twin import twin

MACROS: list[dict[str, str]] = [{}]

NO_BIAS, ABOVE_BOUND, NO_VERTEX, NO_SIZE, LARGE_SUM = (np.int64(-reason) for reason in range(1, 6))
"""Failures besides those of users' functions, which are above 0."""
BLOCK = 256
"""Candidates whose units a CPU adds up, so that a draw goes by these sums first."""

_0, _1, _11, _52, _63 = np.uint64(0), np.uint64(1), np.uint64(11), np.uint64(52), np.uint64(63)
_FRACTION, _HIDDEN = np.uint64((1 << 52) - 1), np.uint64(1 << 52)


@inlined
def group_key(seed, what, tag):
    return hashed(keyed(seed, np.uint64(what), 0), keyed(seed, np.uint64(what), 1), np.uint64(tag))


@inlined
def wanted(size, asked, replace):
    """How many of some candidates are chosen at most; `asked` is -1 for all."""
    if replace:
        return asked if size > 0 else np.int64(0)
    return size if asked < 0 or asked > size else asked


@inlined
def bit_length(value):
    length = 0
    while value:
        value >>= 1
        length += 1
    return length


@inlined
def exponent_of(bits):
    return max((bits >> 52) & 2047, 1)


@inlined
def units_of_float(bits, greatest, count_bits):
    """A float above 0 in units of which the greatest of a group has so many that their sum is below 2^62."""
    if bits == 0:
        return np.int64(0)
    value = np.uint64(bits) & _FRACTION
    if bits >> 52:
        value |= _HIDDEN
    by = 8 - count_bits - (exponent_of(greatest) - exponent_of(bits))
    if by >= 0:
        return np.int64(value << np.uint64(by))
    if by < -54:
        return np.int64(1)
    value = (value + (_1 << np.uint64(-by - 1))) >> np.uint64(-by)
    return np.int64(max(value, _1))


@inlined
def fraction(number):
    """53 bits of a number as a fraction in [0, 1)."""
    return np.float64(np.int64(number >> _11)) * 1.1102230246251565e-16


@inlined
def row_length(indptr, row):
    return indptr[row + 1] - indptr[row]


@inlined
def length_of(indptr, degrees, mapped, slot):
    """How many edges the vertex of a slot has: in a partition, of which only some slots have rows, by a table."""
    return degrees[slot] if mapped else row_length(indptr, slot)


@inlined
def caller_id(names, base, vertex):
    """What the caller calls a vertex: by the table of names, or where base is 0 or more, that and its number."""
    if vertex < 0:
        return np.int64(-1)
    return names[vertex] if base < 0 else vertex + base


@inlined
def vertex_of(names, base, count, identity):
    """The number of a vertex that the caller names; -1 for -1, -2 where there is none."""
    if identity == -1:
        return np.int64(-1)
    if base >= 0:
        return identity - base if base <= identity < base + count else np.int64(-2)
    low, high = np.int64(0), np.int64(count)
    while low < high:
        middle = (low + high) >> 1
        if names[middle] < identity:
            low = middle + 1
        else:
            high = middle
    return low if low < count and names[low] == identity else np.int64(-2)


@inlined
def has_edge(indptr, indices, row, neighbour):
    """Whether a row, in ascending order, has a neighbour; row -1 has none."""
    if row < 0:
        return False
    low, high = indptr[row], indptr[row + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < neighbour:
            low = middle + 1
        else:
            high = middle
    return low < end and indices[low] == neighbour


@inlined
def _slot_of(table, begin, capacity, place):
    """Where a place stands in a table, or is to be put."""
    slot = np.int64(multiply_high(np.uint64(place) * GOLDEN, np.uint64(capacity)))
    while table[begin + slot] != -1 and table[begin + slot] != place:
        slot = slot + 1 if slot + 1 < capacity else 0
    return begin + slot


@twin
def selection_uniform(n, a: Selections):
    """Choose among candidates all alike: all of them in their order, by Floyd's algorithm, or again and again.

    Groups are of `sizes`; the first of one is called `begins`, or 0 without that. Number s of a group is one half of
    the block s // 2. Of a group that gives more than FEW, `table`, twice as long as `chosen` and -1 all over, takes the
    places chosen.
    """
    key_0, key_1 = keyed(a.seed, np.uint64(a.what), 0), keyed(a.seed, np.uint64(a.what), 1)
    for g in range(n):
        size, out, count = a.sizes[g], a.starts[g], a.counts[g]
        begin = np.int64(0) if a.begins is None else a.begins[g]
        for s in range(count):
            a.owner[out + s] = g
        if not a.replace and count == size:
            for s in range(count):
                a.chosen[out + s] = begin + s
            continue
        if count == 0:
            continue
        key, second = hashed(key_0, key_1, np.uint64(a.tags[g])), _0
        for s in range(count):
            if s & 1:
                number = second
            else:
                number, second = philox(key, np.uint64(a.instances[g]), np.uint64(a.step), np.uint64(s >> 1))
            if a.replace:
                a.chosen[out + s] = begin + np.int64(multiply_high(number, np.uint64(size)))
                continue
            last = size - count + s
            place = np.int64(multiply_high(number, np.uint64(last + 1)))
            if count > FEW:
                capacity = 2 * count
                slot = _slot_of(a.table, 2 * out, capacity, place)
                if a.table[slot] == place:
                    place = last
                    slot = _slot_of(a.table, 2 * out, capacity, place)
                a.table[slot] = place
                a.chosen[out + s] = begin + place
                continue
            place += begin
            for before in range(out, out + s):
                if a.chosen[before] == place:
                    place = begin + last
                    break
            a.chosen[out + s] = place


@twin
def selection_pick(n, a: Selections):
    """Choose in proportion to biases; without replacement, in proportion among what is left.

    Candidates of bias 0 are as if they were not there. Where no more are left than asked for, all are chosen, in their
    order.
    """
    sums = np.empty(64, np.int64)
    for g in range(n):
        size, out, count, made = a.bounds[g + 1] - a.bounds[g], a.starts[g], a.counts[g], a.done[g]
        units = a.values[a.bounds[g] - a.bounds[0] : a.bounds[g + 1] - a.bounds[0]]
        if not a.replace:
            for s in range(made):
                units[a.chosen[out + s]] = 0
        greatest, positive = np.int64(0), np.int64(0)
        for p in range(size):
            positive += units[p] > 0
            greatest = max(greatest, units[p])
        blocks = (size + BLOCK - 1) // BLOCK
        if blocks > len(sums):
            sums = np.empty(2 * blocks, np.int64)
        total, over, count_bits = _0, False, bit_length(size)
        for block in range(blocks):
            before = total
            for p in range(block * BLOCK, min(size, (block + 1) * BLOCK)):
                if a.floating:
                    units[p] = units_of_float(units[p], greatest, count_bits)
                total += np.uint64(units[p])
                if total >> _63:
                    over, total, before = True, _0, _0
            sums[block] = np.int64(total - before)
        if over:
            if a.failure[0] == 0:
                a.failure[0] = LARGE_SUM
            total, positive = _0, np.int64(0)
        if not a.replace and made == 0 and positive <= count:
            if positive:
                for p in range(size):
                    if units[p] > 0:
                        a.chosen[out + made] = p
                        made += 1
            total = _0
        key = group_key(a.seed, a.what, a.tags[g])
        while made < count and total != _0:
            first, _ = philox(key, np.uint64(a.instances[g]), np.uint64(a.step), np.uint64(made))
            digit = np.int64(multiply_high(first, total))
            block = 0
            while digit >= sums[block]:
                digit -= sums[block]
                block += 1
            p = block * BLOCK
            while digit >= units[p]:
                digit -= units[p]
                p += 1
            a.chosen[out + made] = p
            if not a.replace:
                total -= np.uint64(units[p])
                sums[block] -= units[p]
                units[p] = 0
            made += 1
        for s in range(count):
            a.owner[out + s] = a.labels[g] if s < made else -1


@twin
def selection_sums(n, bounds, values, floating, positives, failure):
    """Put sums of units in the place of biases, row by row; a sum that is too large makes the row's 0."""
    for g in range(n):
        begin, end = bounds[g], bounds[g + 1]
        greatest, positive = np.int64(0), np.int64(0)
        for p in range(begin, end):
            positive += values[p] > 0
            greatest = max(greatest, values[p])
        total, count_bits, over = _0, bit_length(end - begin), False
        for p in range(begin, end):
            total += np.uint64(units_of_float(values[p], greatest, count_bits) if floating else values[p])
            if total >> _63:
                over, total = True, _0
            values[p] = np.int64(total)
        if over:
            if failure[0] == 0:
                failure[0] = LARGE_SUM
            values[begin:end] = 0
        positives[g] = positive


@twin
def selection_summed(n, a: Selections):
    """What selection_pick chooses, of rows whose units have been added up; without replacement, FEW at most."""
    taken = np.empty(FEW, np.int64)
    for g in range(n):
        begin, end, out, count, made = a.bounds[a.rows[g]], a.bounds[a.rows[g] + 1], a.starts[g], a.counts[g], 0
        left = a.sums[end - 1] if end > begin else np.int64(0)
        if not a.replace and a.positives[a.rows[g]] <= count and left:
            before = np.int64(0)
            for p in range(begin, end):
                if a.sums[p] > before:
                    a.chosen[out + made] = p - begin
                    made += 1
                before = a.sums[p]
            left = 0
        key = group_key(a.seed, a.what, a.tags[g])
        while made < count and left:
            first, _ = philox(key, np.uint64(a.instances[g]), np.uint64(a.step), np.uint64(made))
            digit = np.int64(multiply_high(first, np.uint64(left)))
            if not a.replace:
                for s in range(made):
                    p = taken[s]
                    before = a.sums[p - 1] if p > begin else np.int64(0)
                    if digit < before:
                        break
                    digit += a.sums[p] - before
            low, high = begin, end - 1
            while low < high:
                middle = (low + high) >> 1
                if a.sums[middle] > digit:
                    high = middle
                else:
                    low = middle + 1
            a.chosen[out + made] = low - begin
            if not a.replace:
                left -= a.sums[low] - (a.sums[low - 1] if low > begin else np.int64(0))
                at = made
                while at > 0 and taken[at - 1] > low:
                    taken[at] = taken[at - 1]
                    at -= 1
                taken[at] = low
            made += 1
        for s in range(count):
            a.owner[out + s] = g if s < made else -1


@twin
def selection_layered(n, a: Selections):
    """What selection_pick chooses, of groups of rows whose units have been added up and are the same in every group,
    whole numbers; without replacement, FEW at most."""
    lows, widths = np.empty(FEW, np.uint64), np.empty(FEW, np.uint64)
    for g in range(n):
        first, end, out, count, made = a.groups[g], a.groups[g + 1], a.starts[g], a.counts[g], 0
        left, positive, over = _0, np.int64(0), False
        for i in range(first, end):
            left += a.totals[i + 1] - a.totals[i]
            positive += a.positives[a.rows[i]]
            if left >> _63:
                over, left = True, _0
        if over:
            if a.failure[0] == 0:
                a.failure[0] = LARGE_SUM
            left = _0
        if not a.replace and left and positive <= count:
            for i in range(first, end):
                before, begin = np.int64(0), a.bounds[a.rows[i]]
                for p in range(begin, a.bounds[a.rows[i] + 1]):
                    if a.sums[p] > before:
                        a.chosen[out + made] = a.at[i] - a.at[first] + p - begin
                        made += 1
                    before = a.sums[p]
            left = _0
        key = group_key(a.seed, a.what, a.tags[g])
        while made < count and left:
            number, _ = philox(key, np.uint64(a.instances[g]), np.uint64(a.step), np.uint64(made))
            digit = multiply_high(number, left)
            if not a.replace:
                for s in range(made):
                    if digit < lows[s]:
                        break
                    digit += widths[s]
            item, last = first, end - 1
            while item < last:
                middle = (item + last) >> 1
                if a.totals[middle + 1] - a.totals[first] > digit:
                    last = middle
                else:
                    item = middle + 1
            below = a.totals[item] - a.totals[first]
            begin, wanted = a.bounds[a.rows[item]], np.int64(digit - below)
            low, high = begin, a.bounds[a.rows[item] + 1] - 1
            while low < high:
                middle = (low + high) >> 1
                if a.sums[middle] > wanted:
                    high = middle
                else:
                    low = middle + 1
            a.chosen[out + made] = a.at[item] - a.at[first] + low - begin
            if not a.replace:
                before = np.uint64(a.sums[low - 1]) if low > begin else _0
                own = np.uint64(a.sums[low]) - before
                left -= own
                to = made
                while to > 0 and lows[to - 1] > below + before:
                    lows[to], widths[to] = lows[to - 1], widths[to - 1]
                    to -= 1
                lows[to], widths[to] = below + before, own
            made += 1
        for s in range(count):
            a.owner[out + s] = g if s < made else -1
