"""Draws of neighbours, repeated until they are new, with a bit for each neighbour if chosen: twins of marked.cu.

They are those that successive_draw draws by the same method, which searches for a neighbour among those chosen. Here
one bit says whether a neighbour is chosen, however many are. On a GPU a warp takes an item, and its lanes draw at the
same time.

rooms    int64: where in `marks` the bits of an item begin, of which not all neighbours are drawn
marks    int32, all 0: a word for 32 neighbours
strided  whether the bits of neighbours that follow each other are in different words, as far as there are any: in the
         order of words in the first bits of all, and so on; else a word is full before the next one begins. Lanes set
         bits at the same time, and two of one word wait for each other

The other arguments are those of successive.py.

Source: Pandey et al., c-saw, Section IV-B (bitmaps, strided bitmaps).
"""

import numpy as np

from graphdask.kernels.common.hash import hashed, inlined, key, multiply_high
from graphdask.kernels.common.philox import DRAW_NEIGHBOR
from graphdask.kernels.common.twin import twin
from graphdask.kernels.neighbors.neighbors import entry, word_of
from graphdask.kernels.neighbors.successive import BIPARTITE, MOST_REDRAWS, below, find, find_beside

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
_ZERO, _ONE = np.uint64(0), np.uint32(1)


@inlined
def _words(degree):
    return (degree + 31) >> 5


@inlined
def _is_marked(marks, room, degree, strided, place):
    words = _words(degree)
    word, bit = (place % words, place // words) if strided else (place >> 5, place & 31)
    return (np.uint32(marks[room + word]) >> np.uint32(bit)) & _ONE != 0


@inlined
def _mark(marks, room, degree, strided, place):
    words = _words(degree)
    word, bit = (place % words, place // words) if strided else (place >> 5, place & 31)
    marks[room + word] = np.int32(np.uint32(marks[room + word]) | (_ONE << np.uint32(bit)))


@inlined
def _find_left(sums, begin, degree, marks, room, strided, number):
    """The place of a number among the biases of what is not marked."""
    for place in range(degree):
        if _is_marked(marks, room, degree, strided, place):
            continue
        width = below(sums, begin, place + 1) - below(sums, begin, place)
        if number < width:
            return place
        number -= width
    return np.int64(-1)


@twin
def marked_draw(
    n, rows, vertices, instances, tags, indptr, indices, offsets, sums, method, seed, strided, rooms, marks, src, dst,
    tag,
):  # fmt: skip
    """Draw neighbours by REPEATED or BIPARTITE, without replacement."""
    pair = np.empty(1, np.uint64)
    key_0, key_1, words = key(seed, DRAW_NEIGHBOR, 0), key(seed, DRAW_NEIGHBOR, 1), 1 + (method == BIPARTITE)
    for i in range(n):
        out, vertex, mark, begin, room = offsets[i], vertices[i], tags[i], indptr[rows[i]], rooms[i]
        count, degree = offsets[i + 1] - out, indptr[rows[i] + 1] - begin
        for e in range(out, out + count):
            src[e] = vertex
            tag[e] = mark
        if count == degree:
            for s in range(count):
                dst[out + s] = entry(indices, begin + s)
            continue
        of_item, instance = hashed(key_0, key_1, np.uint64(vertex)), np.uint64(instances[i])
        total = left = below(sums, begin, degree)
        made, number, failures = np.int64(0), np.int64(0), 0
        while made < count:
            word = word_of(pair, of_item, instance, _ZERO, number)
            if failures == MOST_REDRAWS:
                place = _find_left(sums, begin, degree, marks, room, strided, multiply_high(word, left))
            else:
                place = find(sums, begin, degree, multiply_high(word, total))
                if method == BIPARTITE and _is_marked(marks, room, degree, strided, place):
                    word = word_of(pair, of_item, instance, _ZERO, number + 1)
                    place = find_beside(sums, begin, degree, place, total, word)
            number += words
            if _is_marked(marks, room, degree, strided, place):
                failures += 1
                continue
            _mark(marks, room, degree, strided, place)
            left -= below(sums, begin, place + 1) - below(sums, begin, place)
            dst[out + made] = entry(indices, begin + place)
            made, failures = made + 1, 0
