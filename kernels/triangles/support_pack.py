"""What support.py and support.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("SupportCounts", "triangles", "candidates")
"""Triangles, candidates checked."""


class SupportRows(Pack):
    source = "const index_t *", "the slot of u for each edge u -> v from an own vertex to one before it in an order"
    indptr = "const long long *", "where the edges of each own vertex begin"
    indices = "const index_t *", "the slot of v for each edge"
    number = "const index_t *", "per slot: a number, by which the edges of a row ascend"
    ptr = "const long long *", "per slot: where its row begins; empty for vertices whose turn it is not"
    others = "const index_t *", "the slots in these rows, in any order"
    support = "unsigned *", "per edge u -> v: triangles that it is in"
    other_support = "unsigned *", "the same of the edges in `others`"
    slots = "long long", "the number of slots"
    counters = COUNTS, "what was found"
