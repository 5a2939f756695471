"""Traversal sampling by bias, one draw after the other among what is left: twins of successive.cu.

sums   int64: the biases of each row, summed up to each edge and with it; None where all are 1

Sums are of whole numbers, as graphdask.sample.biases makes them. The other arguments are those of neighbors.py, and so
are the numbers that are drawn. A draw takes one of them; a bipartite one two, of which it may leave the second.
"""

import numpy as np

from graphdask.kernels.common.hash import hashed, inlined, key, multiply_high
from graphdask.kernels.common.philox import DRAW_NEIGHBOR
from graphdask.kernels.common.twin import twin
from graphdask.kernels.neighbors.neighbors import FEW, entry, word_of
from graphdask.kernels.neighbors.successive_pack import SuccessiveDraws

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
REDRAWS = 8
"""After so many in vain, a draw goes through what is left."""
MOST_REDRAWS = 128
"""The same, of the methods that redraw until they find something."""
REPEATED, UPDATED, BIPARTITE = 1, 2, 3
BITMAP, STRIDED = 8, 16
"""Added to methods that redraw: on a GPU up to FEW neighbours that are chosen are seen by 64 bits in a register; a CPU
searches."""
METHOD = 7
"""The bits of a method's number without these."""
_ZERO = np.uint64(0)


@inlined
def _bits(value):
    """The length of a number that is not negative."""
    bits = 0
    while value:
        value >>= np.uint64(1)
        bits += 1
    return bits


@inlined
def below(sums, begin, place):
    """The sum of the biases before a place of a row."""
    if sums is None:
        return np.uint64(place)
    return np.uint64(sums[begin + place - 1]) if place else _ZERO


@inlined
def find(sums, begin, degree, number):
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
def find_beside(sums, begin, degree, place, total, word):
    """A place of the two regions on either side of one, in proportion to the biases there."""
    low = below(sums, begin, place)
    width = below(sums, begin, place + 1) - low
    number = multiply_high(word, total - width)
    return find(sums, begin, degree, number + width if number >= low else number)


@inlined
def _among(chosen, count, place):
    found = False
    for i in range(count):
        found |= chosen[i] == place
    return found


@inlined
def _find_left(sums, begin, degree, chosen, count, number):
    """The place of a number among the biases that are left: those chosen, in ascending order, are skipped."""
    for i in range(count):
        low = below(sums, begin, chosen[i])
        if number < low:
            break
        number += below(sums, begin, chosen[i] + 1) - low
    return find(sums, begin, degree, number)


@inlined
def choose_next(sums, begin, degree, chosen, count, left, method, pair, of_item, instance, step, number):
    """The next place, and how many numbers have been taken."""
    redraws = REDRAWS
    if method == UPDATED or (method == 0 and degree <= FEW):
        redraws = 0
    elif method:
        redraws = MOST_REDRAWS
    total = below(sums, begin, degree)
    words = 1 + (method == BIPARTITE)
    for _ in range(redraws):
        place = find(sums, begin, degree, multiply_high(word_of(pair, of_item, instance, step, number), total))
        if method == BIPARTITE and _among(chosen, count, place):
            word = word_of(pair, of_item, instance, step, number + 1)
            place = find_beside(sums, begin, degree, place, total, word)
        number += words
        if not _among(chosen, count, place):
            return place, number
    drawn = multiply_high(word_of(pair, of_item, instance, step, number), left)
    return _find_left(sums, begin, degree, chosen, count, drawn), number + words


@inlined
def keep_in_order(chosen, count, place):
    """Put a place among those chosen, which ascend."""
    at = count
    while at > 0 and chosen[at - 1] > place:
        chosen[at] = chosen[at - 1]
        at -= 1
    chosen[at] = place


@twin
def successive_draw(n, a: SuccessiveDraws):
    """Draw neighbours in proportion to their biases, or by one of the methods for them.

    method: 0, or REPEATED, UPDATED, BIPARTITE, with BITMAP or STRIDED. Of an item that gets more than FEW and not all,
    `scratch_at` says where in `trees` there are as many words as it has neighbours: for a tree of what is left, or, of
    methods that redraw, for what is chosen.
    """
    chosen, pair, method = np.empty(FEW, np.int64), np.empty(1, np.uint64), a.method & METHOD
    key_0, key_1 = key(a.seed, DRAW_NEIGHBOR, 0), key(a.seed, DRAW_NEIGHBOR, 1)
    for i in range(n):
        out, vertex, row, mark = a.offsets[i], a.vertices[i], a.rows[i], a.tags[i]
        count, begin = a.offsets[i + 1] - out, a.indptr[row]
        degree = a.indptr[row + 1] - begin
        for e in range(out, out + count):
            a.src[e] = vertex
            a.tag[e] = mark
        if not a.replace and count == degree:
            for s in range(count):
                a.dst[out + s] = entry(a.indices, begin + s)
            continue
        of_item, instance = hashed(key_0, key_1, np.uint64(vertex)), np.uint64(a.instances[i])
        left = below(a.sums, begin, degree)
        if a.replace:
            for s in range(count):
                drawn = multiply_high(word_of(pair, of_item, instance, _ZERO, s), left)
                a.dst[out + s] = entry(a.indices, begin + find(a.sums, begin, degree, drawn))
        elif count <= FEW or method in (REPEATED, BIPARTITE):
            number, taken = (
                np.int64(0),
                chosen if count <= FEW else a.trees[a.scratch_at[i] : a.scratch_at[i] + count],
            )
            for s in range(count):
                place, number = choose_next(
                    a.sums, begin, degree, taken, s, left, method, pair, of_item, instance, _ZERO, number
                )
                left -= below(a.sums, begin, place + 1) - below(a.sums, begin, place)
                a.dst[out + s] = entry(a.indices, begin + place)
                keep_in_order(taken, s, place)
        else:
            at = a.scratch_at[i] - 1
            for p in range(1, degree + 1):
                a.trees[at + p] = np.int64(below(a.sums, begin, p) - below(a.sums, begin, p - (p & -p)))
            for s in range(count):
                drawn = np.int64(multiply_high(word_of(pair, of_item, instance, _ZERO, s), left))
                place, step = np.int64(0), np.int64(1) << (_bits(np.uint64(degree)) - 1)
                while step:
                    if place + step <= degree and a.trees[at + place + step] <= drawn:
                        place += step
                        drawn -= a.trees[at + place]
                    step >>= 1
                width = below(a.sums, begin, place + 1) - below(a.sums, begin, place)
                p = place + 1
                while p <= degree:
                    a.trees[at + p] -= np.int64(width)
                    p += p & -p
                left -= width
                a.dst[out + s] = entry(a.indices, begin + place)
