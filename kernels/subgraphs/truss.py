"""A round of peeling pairs of neighbours that are in too few triangles, on a rank that has the whole graph.

Each pair is two arcs, one of each end. That to the lower end counts the triangles of the pair and stands in the queue
when they are too few. `truss_mark` notes the round at both arcs of the pairs that go; `truss_peel` then takes off their
triangles from the pairs that stay, and lists those of which too few are left. A triangle that loses several pairs at
once is taken off by that which is opposite to the largest number.
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
        a.removed[arc] = a.now
        v = np.int64(a.slot[arc])
        key = v * a.n + a.number[a.keys[arc] // a.n]
        a.removed[_place(a.keys, a.indptr[v], a.indptr[v + 1], key)] = a.now


@twin
def truss_peel(n, a: TrussArcs):
    listed = a.counters.listed
    for i in range(n):
        arc = a.queue[a.first + i]
        high, low = a.keys[arc] // a.n, a.slot[arc]
        number_high, number_low = a.number[high], a.number[low]
        begin, end = a.indptr[high], a.indptr[high + 1]
        for other in range(a.indptr[low], a.indptr[low + 1]):
            went = a.removed[other]
            if went != 0 and went != a.now:
                continue
            third = np.int64(a.slot[other])
            number = a.number[third]
            if went == a.now and number_high > number:
                continue
            across = _place(a.keys, begin, end, high * a.n + number)
            if across < 0:
                continue
            gone = a.removed[across]
            if gone != 0 and (gone != a.now or number_low > number):
                continue
            for turn in range(2):
                if turn == 0:
                    left, place, far = gone == 0, across, number_high
                else:
                    left, place, far = went == 0, other, number_low
                if not left:
                    continue
                if not a.lower[place]:
                    place = _place(a.keys, a.indptr[third], a.indptr[third + 1], third * a.n + far)
                if a.support[place] == a.least:
                    a.queue[listed] = place
                    listed += 1
                a.support[place] -= 1
    a.counters.listed = listed
