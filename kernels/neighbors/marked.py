"""Draws of neighbours, repeated until they are new, with a bit for each neighbour if chosen: twins of marked.cu.

They are those that successive_draw draws by the same method, which searches for a neighbour among those chosen. Here
one bit says whether a neighbour is chosen, however many are. On a GPU a warp takes an item, and its lanes draw at the
same time.

scratch_at  int64: where in `marks` the bits of an item begin, of which not all neighbours are drawn
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
from graphdask.kernels.neighbors.marked_pack import MarkedDraws
from graphdask.kernels.neighbors.neighbors import entry, word_of
from graphdask.kernels.neighbors.successive import BIPARTITE, MOST_REDRAWS, below, find, find_beside

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
_ZERO, _ONE = np.uint64(0), np.uint32(1)


@inlined
def _words(degree):
    return (degree + 31) >> 5


@inlined
def _is_marked(marks, begin_word, degree, strided, place):
    words = _words(degree)
    word, bit = (place % words, place // words) if strided else (place >> 5, place & 31)
    return (np.uint32(marks[begin_word + word]) >> np.uint32(bit)) & _ONE != 0


@inlined
def _mark(marks, begin_word, degree, strided, place):
    words = _words(degree)
    word, bit = (place % words, place // words) if strided else (place >> 5, place & 31)
    marks[begin_word + word] = np.int32(np.uint32(marks[begin_word + word]) | (_ONE << np.uint32(bit)))


@inlined
def _find_left(sums, begin, degree, marks, begin_word, strided, number):
    """The place of a number among the biases of what is not marked."""
    for place in range(degree):
        if _is_marked(marks, begin_word, degree, strided, place):
            continue
        width = below(sums, begin, place + 1) - below(sums, begin, place)
        if number < width:
            return place
        number -= width
    return np.int64(-1)


@twin
def marked_draw(n, a: MarkedDraws):
    """Draw neighbours by REPEATED or BIPARTITE, without replacement."""
    pair = np.empty(1, np.uint64)
    key_0, key_1, words = key(a.seed, DRAW_NEIGHBOR, 0), key(a.seed, DRAW_NEIGHBOR, 1), 1 + (a.method == BIPARTITE)
    for i in range(n):
        out, vertex, mark, begin, begin_word = (
            a.offsets[i],
            a.vertices[i],
            a.tags[i],
            a.indptr[a.rows[i]],
            a.scratch_at[i],
        )
        count, degree = a.offsets[i + 1] - out, a.indptr[a.rows[i] + 1] - begin
        for e in range(out, out + count):
            a.src[e] = vertex
            a.tag[e] = mark
        if count == degree:
            for s in range(count):
                a.dst[out + s] = entry(a.indices, begin + s)
            continue
        of_item, instance = hashed(key_0, key_1, np.uint64(vertex)), np.uint64(a.instances[i])
        total = left = below(a.sums, begin, degree)
        made, number, failures = np.int64(0), np.int64(0), 0
        while made < count:
            word = word_of(pair, of_item, instance, _ZERO, number)
            if failures == MOST_REDRAWS:
                place = _find_left(a.sums, begin, degree, a.marks, begin_word, a.strided, multiply_high(word, left))
            else:
                place = find(a.sums, begin, degree, multiply_high(word, total))
                if a.method == BIPARTITE and _is_marked(a.marks, begin_word, degree, a.strided, place):
                    word = word_of(pair, of_item, instance, _ZERO, number + 1)
                    place = find_beside(a.sums, begin, degree, place, total, word)
            number += words
            if _is_marked(a.marks, begin_word, degree, a.strided, place):
                failures += 1
                continue
            _mark(a.marks, begin_word, degree, a.strided, place)
            left -= below(a.sums, begin, place + 1) - below(a.sums, begin, place)
            a.dst[out + made] = entry(a.indices, begin + place)
            made, failures = made + 1, 0
