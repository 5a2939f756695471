"""What truss.py and truss.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("TrussCounts", "listed", "sent")
"""Pairs in the queue; records in `holder` and `other`."""


class TrussArcs(Pack):
    keys = "const long long *", "per arc, ascending: its own vertex * n + the number of the neighbour"
    indptr = "const long long *", "where the arcs of each own vertex begin"
    slot = "const index_t *", "per arc: the slot of the neighbour"
    lower = "const unsigned char *", "per arc: 1 if the neighbour is before the vertex in an order, else 0"
    number = "const index_t *", "per slot: the number of the vertex"
    removed = "long long *", "per arc: the round in which the pair went, 0 if it is left"
    support = "long long *", "per arc to a lower neighbour: the triangles of the pair that are left"
    queue = "long long *", "arcs to lower neighbours of the pairs that go, round after round"
    first = "long long", "where those of this call begin"
    whole = "long long", "1 if rows are the own arcs, in their order, else 0"
    row = "long long *", "per pair of the call: the row of its lower end"
    ptr = "const long long *", "where rows begin"
    third = "const index_t *", "per neighbour in a row: its number"
    went = "const long long *", "per neighbour in a row: the round in which this pair went, 0 if it is left"
    below = "const unsigned char *", "per neighbour in a row: 1 if it is before the lower end in the order, else 0"
    holder = "index_t *", "pairs of which a triangle is taken off elsewhere: the number of the higher end"
    other = "index_t *", "and that of the lower one"
    lost = "const long long *", "arcs of whose pairs others have taken a triangle off"
    owned = "long long", "own vertices"
    n = "long long", "vertices"
    now = "long long", "the number of the round, from 1 on"
    least = "long long", "triangles of a pair that stays, at least"
    counters = COUNTS, "what was found"
