"""What truss.py and truss.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("TrussCounts", "listed")
"""Pairs in the queue."""


class TrussArcs(Pack):
    keys = "const long long *", "per arc, ascending: its vertex * n + the number of the neighbour"
    indptr = "const long long *", "where the arcs of each vertex begin"
    slot = "const index_t *", "per arc: the neighbour as a vertex"
    lower = "const unsigned char *", "per arc: 1 if the neighbour is before the vertex in an order, else 0"
    number = "const index_t *", "per vertex: its number"
    removed = "long long *", "per arc: the round in which the pair went, 0 if it is left"
    support = "long long *", "per arc to a lower neighbour: the triangles of the pair that are left"
    queue = "long long *", "arcs to lower neighbours of the pairs that go, round after round"
    first = "long long", "where those of this round begin"
    n = "long long", "the number of vertices"
    now = "long long", "the number of the round, from 1 on"
    least = "long long", "triangles of a pair that stays, at least"
    counters = COUNTS, "what was found"
