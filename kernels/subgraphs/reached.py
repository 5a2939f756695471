"""Pairs of a source and a vertex that searches reach for the first time: twins of reached.cu.

`reached_rows` finds the rows of a frontier, `reached_visit` visits the neighbours, and `reached_take` adds pairs that
others found, once each. n is the number of tiles of `reached_visit`.
"""

from graphdask.kernels.common.bitmap import has_bit, set_bit
from graphdask.kernels.common.flat import flat_item
from graphdask.kernels.common.tuning import FLAT_TILE
from graphdask.kernels.common.twin import twin
from graphdask.kernels.subgraphs.reached_pack import ReachedPairs

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def reached_rows(n, a: ReachedPairs):
    for i in range(n):
        row = a.pairs[i] % a.owned
        a.begins[i] = a.indptr[row]
        a.ends[i] = a.indptr[row + 1] - a.indptr[row]


@twin
def reached_visit(n, a: ReachedPairs):
    own, remote = a.counters.own, a.counters.remote
    entry, last = 0, min(a.ends[a.items - 1], n * FLAT_TILE)
    item = flat_item(a.ends, a.items, entry)
    while entry < last:
        source = a.pairs[item] // a.owned
        of_source, place = source * a.stride * 32, a.begins[item] + entry - (a.ends[item - 1] if item else 0)
        for k in range(place, place + min(last, a.ends[item]) - entry):
            slot = a.indices[k]
            if has_bit(a.marks, of_source + slot):
                continue
            set_bit(a.marks, of_source + slot)
            if slot < a.owned:
                a.own[own] = source * a.owned + slot
                own += 1
            else:
                a.remote[remote] = source * a.slots + slot
                remote += 1
        entry = a.ends[item]
        item += 1
    a.counters.own, a.counters.remote = own, remote


@twin
def reached_take(n, a: ReachedPairs):
    own = a.counters.own
    for i in range(n):
        source = a.pairs[i] // a.owned
        bit = source * a.stride * 32 + a.pairs[i] - source * a.owned
        if not has_bit(a.marks, bit):
            set_bit(a.marks, bit)
            a.own[own] = a.pairs[i]
            own += 1
    a.counters.own = own
