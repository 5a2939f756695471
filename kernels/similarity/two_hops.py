"""Pairs of vertices that share a neighbour, source by source (Gustavson): twin of two_hops.cu.

Paths u, w, v from a source u are counted in an array by v. A vertex that is met for the first time enters a list,
without a branch, and then becomes a bit of a word; the words that are not 0 are bits of a summary, from which the
vertices are taken in ascending order. Of a source of which only the best pairs are listed, these are selected first.

Sources: Gustavson, Two fast algorithms for sparse matrices (1978); Hoare, Algorithm 65: FIND (1961).
"""

import numpy as np
from numba import types
from numba.extending import overload

from graphdask.kernels.common.lowest_bit import lowest_bit
from graphdask.kernels.common.twin import inlined, twin
from graphdask.kernels.similarity.two_hops_pack import COSINE, JACCARD, OVERLAP, UNIT, TwoHopRows

MACROS = [
    {"index_t": "int", "count_t": "unsigned", "worth_t": "long long"},
    {"index_t": "int", "count_t": "unsigned", "worth_t": "double"},
    {"index_t": "int", "count_t": "unsigned long long", "worth_t": "long long"},
    {"index_t": "long long", "count_t": "unsigned long long", "worth_t": "long long"},
    {"index_t": "long long", "count_t": "unsigned long long", "worth_t": "double"},
]

u64 = np.uint64
"""Of an unsigned index Numba does not ask whether it counts from the end."""
PATH, END = u64(4), u64(1)
"""What a path counts, and what it counts more if its middle is one of its ends; two paths to a vertex have such a
middle at most."""
SCALE = float(1 << UNIT)


@inlined
def _score(measure, common, both, a, b):
    if measure == JACCARD:
        return common / max(a + b - both, 1)
    if measure == OVERLAP:
        return common / max(min(a, b), 1)
    if measure == COSINE:
        return min(common / np.sqrt(max(np.float64(a) * b, 1.0)), 1.0)  # above 1 by rounding only
    return (2 * common) / max(a + b, 1)


@inlined
def _first_above(entries, begin, end, u):
    """Where the numbers above u begin in an ascending row."""
    while begin < end:
        middle = (begin + end) >> 1
        if entries[u64(middle)] > u:
            end = middle
        else:
            begin = middle + 1
    return begin


@inlined
def _add_row(w, begin, end, u, entries, count, touched, found):
    """Count the paths u, w, v for the v of a row, list those that are new, and return how many are listed then."""
    add = PATH + END if w == u else PATH
    for j in range(begin, end):
        v = u64(entries[u64(j)])
        there = count[v]
        touched[u64(found)] = v
        found += there == 0
        count[v] = there + add
    return found


def _worth(value, other):
    """What a path is worth, of the values of its middle for its two ends."""


@overload(_worth, inline="always")
def _typed_worth(value, other):
    if isinstance(value, types.Float):
        return lambda value, other: np.int64(np.rint(value * other * SCALE))
    return lambda value, other: min(value, other)


@inlined
def _weigh_row(u, w, begin, end, entries, value, values, sums, own):
    """Add up what the paths u, w, v for the v of a row are worth."""
    for j in range(begin, end):
        v = u64(entries[u64(j)])
        worth = _worth(value, values[u64(j)])
        sums[v] += worth
        if w == u or v == u64(w):
            own[v] += worth


@inlined
def _pair(v, measure, mine, count, size, sums, own):
    """The neighbours that u and v share, without the two, and the score."""
    there = u64(count[v])
    both = np.int64(there >> u64(2))
    common = both - np.int64(there & u64(3))
    if sums is None:
        return common, _score(measure, common, both, mine, size[v])
    return common, _score(measure, sums[v] - own[v], sums[v], mine, size[v])


@inlined
def _forget(v, count, sums, own):
    count[v] = 0
    if sums is not None:
        sums[v] = 0
        own[v] = 0


@inlined
def _better(score, v, other_score, other):
    return score > other_score or (score == other_score and v < other)


@twin
def _select(found, keep, ranked, touched):
    """Let the `keep` best of the vertices stand first, in any order: those of higher scores, then of lower numbers."""
    low, high = 0, found - 1
    while low < high:
        middle = (low + high) >> 1
        score, vertex = ranked[middle], touched[middle]
        i, j = low, high
        while i <= j:
            while _better(ranked[i], touched[i], score, vertex):
                i += 1
            while _better(score, vertex, ranked[j], touched[j]):
                j -= 1
            if i <= j:
                ranked[i], ranked[j] = ranked[j], ranked[i]
                touched[i], touched[j] = touched[j], touched[i]
                i += 1
                j -= 1
        if keep - 1 <= j:
            high = j
        elif keep - 1 >= i:
            low = i
        else:
            return


@twin
def two_hops_list(n, a: TwoHopRows):
    pairs = a.counters.pairs
    words = u64(len(a.summary))
    for i in range(n):
        u = a.source[i]
        size = a.size[u]
        found = 0
        for e in range(a.begin[i], a.begin[i + 1]):
            begin, end, w = a.first[e], a.last[e], a.middle[e]
            if a.onward:
                begin = _first_above(a.entries, begin, end, u)
            found = _add_row(w, begin, end, u, a.entries, a.count, a.touched, found)
            if a.looped[e] and w != u and not (a.onward and w < u):
                a.count[u64(w)] += END
            if a.sums is not None:
                _weigh_row(u, w, begin, end, a.entries, a.value[e], a.values, a.sums, a.own)
        if a.keep and found > a.keep:
            for k in range(found):
                v = u64(a.touched[k])
                common, score = _pair(v, a.measure, size, a.count, a.size, a.sums, a.own)
                a.ranked[k] = score if common and v != u64(u) else -1.0
            _select(found, a.keep, a.ranked, a.touched)
            for k in range(a.keep, found):
                _forget(u64(a.touched[u64(k)]), a.count, a.sums, a.own)
            found = a.keep
        for k in range(found):
            v = u64(a.touched[u64(k)])
            word = v >> u64(6)
            a.bits[word] |= u64(1) << (v & u64(63))
            a.summary[word >> u64(6)] |= u64(1) << (word & u64(63))
        for s in range(words if found else u64(0)):
            above = a.summary[u64(s)]
            a.summary[u64(s)] = 0
            while above:
                word = (u64(s) << u64(6)) + lowest_bit(above)
                above &= above - u64(1)
                inside = a.bits[word]
                a.bits[word] = 0
                while inside:
                    v = (word << u64(6)) + lowest_bit(inside)
                    inside &= inside - u64(1)
                    common, score = _pair(v, a.measure, size, a.count, a.size, a.sums, a.own)
                    _forget(v, a.count, a.sums, a.own)
                    if common == 0 or v == u64(u):
                        continue
                    if score < a.least or (score == a.least and (u, np.int64(v)) > (a.least_first, a.least_second)):
                        continue
                    a.out_first[pairs] = u
                    a.out_second[pairs] = v
                    a.out_score[pairs] = score
                    a.out_common[pairs] = common
                    pairs += 1
    a.counters.pairs = pairs


@twin
def two_hops_add(n, u, a: TwoHopRows):  # in CUDA a block takes an edge
    for e in range(n):
        begin, end, w = a.first[e], a.last[e], a.middle[e]
        if a.onward:
            begin = _first_above(a.entries, begin, end, u)
        add = PATH + END if w == u else PATH
        for j in range(begin, end):
            a.count[u64(a.entries[u64(j)])] += add
        if a.looped[e] and w != u and not (a.onward and w < u):
            a.count[u64(w)] += END
        if a.sums is not None:
            _weigh_row(u, w, begin, end, a.entries, a.value[e], a.values, a.sums, a.own)
