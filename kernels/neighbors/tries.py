"""Counts the work of drawing neighbours again until they are new (a host algorithm; there is no CUDA kernel of it).

The draws are those of successive_draw by the same method, and the arguments are the same.
"""

import numpy as np

from graphdask.kernels.common.hash import hashed, key, multiply_high
from graphdask.kernels.common.philox import DRAW_NEIGHBOR
from graphdask.kernels.common.twin import twin
from graphdask.kernels.neighbors.neighbors import word_of
from graphdask.kernels.neighbors.successive import BIPARTITE, MOST_REDRAWS, below, find, find_beside

_ZERO = np.uint64(0)


@twin
def tries_count(n, rows, vertices, instances, indptr, offsets, sums, method, seed, counted):
    """Add four numbers to `counted`, int64, for the rows that are not taken whole.

    They are the neighbours drawn, the tries, the earlier draws that a search among them compares, and the bits of a
    bitmap that are read.
    """
    pair = np.empty(1, np.uint64)
    key_0, key_1, words = key(seed, DRAW_NEIGHBOR, 0), key(seed, DRAW_NEIGHBOR, 1), 1 + (method == BIPARTITE)
    for i in range(n):
        begin, count = indptr[rows[i]], offsets[i + 1] - offsets[i]
        degree = indptr[rows[i] + 1] - begin
        if count in (0, degree):
            continue
        of_item, instance = hashed(key_0, key_1, np.uint64(vertices[i])), np.uint64(instances[i])
        order, total = np.full(degree, -1, np.int64), below(sums, begin, degree)
        made, number, failures = np.int64(0), np.int64(0), 0
        while made < count:
            place = find(sums, begin, degree, multiply_high(word_of(pair, of_item, instance, _ZERO, number), total))
            counted[1] += 1
            counted[2] += order[place] + 1 if order[place] >= 0 else made
            counted[3] += 1
            if method == BIPARTITE and order[place] >= 0:
                word = word_of(pair, of_item, instance, _ZERO, number + 1)
                place = find_beside(sums, begin, degree, place, total, word)
                counted[2] += order[place] + 1 if order[place] >= 0 else made
                counted[3] += 1
            number += words
            if order[place] < 0:
                order[place] = made
                made, failures = made + 1, 0
                continue
            failures += 1
            if failures == MOST_REDRAWS:  # then among what is left
                left = total
                for p in range(degree):
                    left -= below(sums, begin, p + 1) - below(sums, begin, p) if order[p] >= 0 else _ZERO
                drawn, place = multiply_high(word_of(pair, of_item, instance, _ZERO, number), left), np.int64(0)
                while True:
                    width = below(sums, begin, place + 1) - below(sums, begin, place)
                    if order[place] < 0 and drawn < width:
                        break
                    drawn -= width if order[place] < 0 else _ZERO
                    place += 1
                number += words
                order[place] = made
                made, failures = made + 1, 0
        counted[0] += count
