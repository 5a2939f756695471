"""What reached.py and reached.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

REACHED = Counters("Reached", "own", "remote")
"""Pairs that were found."""


class ReachedPairs(Pack):
    indptr = "const long long *__restrict__", "where the row of each own vertex begins"
    indices = "const index_t *__restrict__", "slots that edges lead to"
    owned = "long long", "own vertices, whose slots are the first ones"
    slots = "long long", "the number of slots"
    marks = "unsigned *", "a bit for each slot in a source: whether the pair was found"
    stride = "long long", "words of `marks` from a source to the next"
    pairs = "const long long *__restrict__", "per item, distinct: source * owned + own vertex"
    items = "long long", "their number"
    begins = "long long *", "per item: where its row begins"
    ends = "long long *", "per item: how many entries that has; then their sums up to the item"
    own = "long long *", "out: pairs that were not found before, source * owned + own vertex, in any order"
    remote = "long long *", "out: those of vertices of other ranks, source * slots + slot"
    counters = REACHED, "how many there are in either"
