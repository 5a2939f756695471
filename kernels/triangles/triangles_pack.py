"""What triangles.py and triangles.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("TriangleCounts", "triangles", "candidates", "added")
"""Triangles, candidates checked, all that was added to `links`."""


class TriangleRows(Pack):
    owned = "long long", "own vertices, which are slots 0 to owned - 1"
    slot_of = "const index_t *", "the slot of each number; a vertex that is higher in the order has a higher number"
    indptr = "const long long *", "where the edges of an own vertex to higher ones begin"
    indices = "const index_t *", "the numbers of the higher vertices, ascending within a row"
    ties = "const unsigned char *", "in how many directions the two are joined, 1 or 2"
    source = "const index_t *", "the slot of the lower end u of each edge of the rows whose turn it is"
    ptr = "const long long *", "where the edges of a slot begin there; none for vertices whose turn it is not"
    others = "const index_t *", "the numbers of their higher ends, ascending within a row"
    other_ties = "const unsigned char *", "in how many directions they are joined"
    ends = "unsigned long long *", "per own vertex: edges of those rows to it, then where the next one is listed"
    edge = "long long *", "the edges to own vertices, listed by vertex"
    edge_ptr = "const long long *", "where those to an own vertex begin"
    jobs = "const index_t *", "the own vertex of each job"
    job_ptr = "const long long *", "the first job of an own vertex"
    of_warps = "long long", "jobs that a warp does by itself, which are the first ones"
    share = "long long", "edges to the vertex that a job takes at most"
    links = "unsigned long long *", "per slot: ties between the other two corners, summed over its triangles"
    counters = COUNTS, "what was found"
