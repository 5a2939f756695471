"""Tables of the biases of edges: twins of biases.cu.

greatest bias_t per row of the graph; 0 before
shifts   int32 per row of the graph: units of its biases are 2^-shift (see pick.py), where `shifted`; else they are 1
lacks    whether what is summed is not an edge's units, but what its degree * units lacks to its row's total
tile_*   uint64 per tile: the sum of its edges, and of those of its last row
carries  uint64 per tile: the sum of the edges of its first row that stand before it; not read where there are none
prefix   uint64 per edge: inclusive sums of units, anew in each row; where `sparse`, those of edges 31, 63, 95, ...

A place of the alias table is of each edge of a row, and worth the row's total T; an edge is worth degree * units. What
an edge is worth more or less than T, heavy edges hand over to light ones, both in ascending order: the first heavy edge
fills up light ones one after the other, until with the last of them its own worth has fallen below T; then it is filled
up itself, by the next heavy edge, which goes on with the next light one, if that has not brought it below T too. In the
place of an edge, digits below `share` of T are its own, all others those of the edge `other`, counted from the row's
first. So an edge is drawn with probability units / T exactly.

In terms of prefix sums: with L and H what light edges lack and heavy ones have too much, a light edge is filled up by
the first heavy one whose H is not below the L before it; and a heavy one keeps T less what the first L above its H is
above it.

On a GPU, tables are made of tiles and searches in prefix sums. A CPU goes over the rows: it needs no tiles, and for
alias tables no prefix sums.
"""

import numpy as np

from graphdask.kernels.choice.biases_pack import BiasSums
from graphdask.kernels.choice.pick import shift_of, units
from graphdask.kernels.common.tuning import SPARSE
from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int", "bias_t": bias} for bias in ("int", "long long", "float", "double")]
MACROS += [{"index_t": "long long", "bias_t": bias} for bias in ("int", "long long", "double")]

_0 = np.uint64(0)


@twin
def biases_greatest(n, count, rows, starts, firsts, edges, values, greatest):
    for place in range(count):
        most = greatest[rows[place]]
        for e in range(starts[place], starts[place + 1]):
            if values[e] > most:
                most = values[e]
        greatest[rows[place]] = most


@twin
def biases_sum(n, a: BiasSums):
    if a.lacks:
        return
    for place in range(a.count):
        row, total = a.rows[place], _0
        shift = shift_of(a.shifts, row) if a.shifted else 0
        for e in range(a.starts[place], a.starts[place + 1]):
            total += units(a.values[e], shift)
        a.sums[row] = total


@twin
def biases_prefix(n, a: BiasSums):
    if a.lacks:
        return
    for place in range(a.count):
        row, total = a.rows[place], _0
        shift = shift_of(a.shifts, row) if a.shifted else 0
        for e in range(a.starts[place], a.starts[place + 1]):
            total += units(a.values[e], shift)
            if not a.sparse:
                a.prefix[e] = total
            elif e % SPARSE == SPARSE - 1:
                a.prefix[e // SPARSE] = total


@twin
def _next_heavy(values, shift, begin, end, degree, mean, e):
    while e < end and degree * units(values[e], shift) <= mean:
        e += 1
    return e


@twin
def biases_alias(n, a: BiasSums):
    for place in range(a.count):
        row, begin, end = a.rows[place], a.starts[place], a.starts[place + 1]
        shift, mean, degree = shift_of(a.shifts, row) if a.shifted else 0, a.totals[row], np.uint64(end - begin)
        heavy = _next_heavy(a.values, shift, begin, end, degree, mean, begin)
        left = degree * units(a.values[heavy], shift) if heavy < end else mean
        for e in range(begin, end):
            worth = degree * units(a.values[e], shift)
            if worth >= mean:
                # a heavy edge that has been filled up has its entry; any other gets one here, which may yet change
                if e >= heavy or worth == mean:
                    a.share[e], a.other[e] = mean, e - begin
                continue
            a.share[e], a.other[e] = worth, heavy - begin
            left -= mean - worth
            while left < mean:
                following = _next_heavy(a.values, shift, begin, end, degree, mean, heavy + 1)
                a.share[heavy], a.other[heavy] = left, following - begin
                left = degree * units(a.values[following], shift) - (mean - left)
                heavy = following
