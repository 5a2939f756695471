"""What triangles.py and triangles.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("TriangleCounts", "triangles", "candidates", "added")
"""Triangles, candidates checked, all that was added to `links`."""


class TriangleRows(Pack):
    source = "const index_t *", "the slot of u for each edge u -> v from a vertex to a higher one"
    indptr = "const long long *", "where the edges of a slot begin"
    indices = "const index_t *", "the slot of v for each edge, ascending within a row"
    ties = "const unsigned char *", "in how many directions u and v are joined, 1 or 2"
    ptr = "const long long *", "per slot: where its higher neighbours begin; none for vertices whose turn it is not"
    others = "const index_t *", "the higher neighbours"
    other_ties = "const unsigned char *", "in how many directions they are joined"
    links = "unsigned long long *", "per slot: ties between the other two corners, summed over its triangles"
    counters = COUNTS, "what was found"
