"""What deep.py works on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("DeepCounts", "levels", "listed", "edges", "out_edges", "lanes")
"""Counters of a search through many levels.

levels      levels found
listed      entries of the queue
edges       edges scanned
out_edges   edges out of the vertices of the last level
lanes       mask of the lanes of these
"""


class Deep(Pack):
    indptr = "const long long *", "where the row of out-edges of each vertex begins"
    indices = "const index_t *", "the neighbours, of each row in the order of ids"
    in_indptr = "const long long *", "where the row of in-edges of each vertex begins"
    in_indices = "const index_t *", "the neighbours, of each row in the order of ids"
    frontier = "mask_t *", "per vertex: lanes in which it is in the frontier"
    seen = "mask_t *", "per vertex: lanes that have reached it"
    found = "mask_t *", "per vertex: lanes that reach it in the next level; 0 before and after"
    bits = "unsigned int *", "a bit per vertex: whether it is in the frontier, in any lane"
    queue = "index_t *", "vertices, level after level"
    masks = "mask_t *", "their lanes"
    bounds = "index_t *", "where each level begins in the queue, and where the last one ends"
    sigma = "double *", "table: numbers of shortest paths"
    given = "double *", "table: sums over successors; of the frontier, what its vertices give"
    above = "const double *", "table: what the level above gives, a column for each of its lanes"
    value = "double *", "table: what the lowest level gives, a column for each of its lanes"
    score = "double *", "per vertex: its dependencies, added up"
    counters = COUNTS, "those of this call"
