"""A round of peeling pairs of neighbours that are in too few triangles.

Each pair is two arcs, one of each end. That of the higher end counts the triangles of the pair and stands in the queue
when they are too few. On a rank that has the whole graph, `truss_mark` notes the round at both arcs of the pairs that
go, and the rows of their lower ends. `truss_peel` takes the triangles of the pairs that go off the pairs that stay, and
lists those of which too few are left. The rows of the lower ends are own ones, or copies from their owners. Of a pair
whose higher end belongs to another rank, it writes down the ends; `truss_lose` takes off there what others have found.
A triangle that loses several pairs at once is taken off by that which is opposite to the largest number.
"""

import numpy as np

from graphdask.kernels.common.twin import inlined, twin
from graphdask.kernels.subgraphs.truss_pack import TrussArcs

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@inlined
def _place(keys, low, end, key):
    """The place of a key in an ascending row, -1 if it is not there."""
    high = end
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < end and keys[low] == key else -1


@twin
def truss_mark(n, a: TrussArcs):
    for i in range(n):
        arc = a.queue[a.first + i]
        low = np.int64(a.slot[arc])
        key = low * a.n + a.number[a.keys[arc] // a.n]
        a.removed[arc] = a.now
        a.removed[_place(a.keys, a.indptr[low], a.indptr[low + 1], key)] = a.now
        a.row[i] = low


@twin
def truss_peel(n, a: TrussArcs):
    listed, sent = a.counters.listed, a.counters.sent
    for i in range(n):
        arc = a.queue[a.first + i]
        high, low = a.keys[arc] // a.n, np.int64(a.slot[arc])
        number_high, number_low = a.number[high], a.number[low]
        begin, end = a.indptr[high], a.indptr[high + 1]
        for at in range(a.ptr[a.row[i]], a.ptr[a.row[i] + 1]):
            went, number = a.went[at], a.third[at]
            if went != 0 and (went != a.now or number_high > number):
                continue
            across = _place(a.keys, begin, end, high * a.n + number)
            if across < 0:
                continue
            gone = a.removed[across]
            if gone != 0 and (gone != a.now or number_low > number):
                continue
            third = np.int64(a.slot[across])
            for turn in range(2):
                place = np.int64(-1)
                if turn == 0:
                    left, higher, holder, other = gone == 0, third, number, number_high
                    if a.lower[across]:
                        place = across
                else:
                    left, higher, holder, other = went == 0, third, number, number_low
                    if a.below[at]:
                        higher, holder, other = low, number_low, number
                        if a.whole:
                            place = at
                if not left:
                    continue
                if place < 0 and higher >= a.owned:
                    a.holder[sent], a.other[sent] = holder, other
                    sent += 1
                    continue
                if place < 0:
                    place = _place(a.keys, a.indptr[higher], a.indptr[higher + 1], higher * a.n + other)
                if a.support[place] == a.least:
                    a.queue[listed] = place
                    listed += 1
                a.support[place] -= 1
    a.counters.listed, a.counters.sent = listed, sent


@twin
def truss_lose(n, a: TrussArcs):
    listed = a.counters.listed
    for i in range(n):
        place = a.lost[i]
        if a.support[place] == a.least:
            a.queue[listed] = place
            listed += 1
        a.support[place] -= 1
    a.counters.listed = listed
