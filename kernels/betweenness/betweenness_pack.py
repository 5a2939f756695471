"""What betweenness.py and betweenness.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("LevelCounts", "found", "left", "hubs", "edges", "out_edges", "chunks", "lanes")
"""Counters of a level.

found       vertices reached
left        rows that are not reached in all lanes
hubs        rows of more than `hub` edges
edges       edges: those scanned, and all of rows reached
out_edges   edges out of the vertices reached
chunks      chunks of hub / 2 edges
lanes       mask of the lanes of the vertices reached
"""


class Lanes(Pack):
    indptr = "const long long *", "where the row of each vertex begins; rows are in the order of ids"
    indices = "const index_t *", "the slots of the neighbours"
    out_indptr = "const long long *", "where the row of out-edges of each vertex begins"
    bits = "const unsigned int *", "a bit per slot: whether the vertex is in the frontier, in any lane"
    frontier = "const mask_t *", "per slot: lanes in which the vertex is in the frontier"
    alive = "unsigned long long", "mask of the lanes whose search goes on"
    seen = "mask_t *", "per slot: lanes that have reached the vertex"
    queue = "index_t *", "vertices that are reached"
    left = "index_t *", "rows that are not reached in all lanes"
    hub = "long long", "edges of a row above which it is deferred"
    hubs = "index_t *", "deferred rows"
    value = "const double *", "table over slots, a column for each lane of `shown`: what it gives its neighbours"
    shown = "unsigned long long", "mask of the lanes that have a column"
    lanes = "long long", "columns of `out`"
    out = "double *", "table of the sums"
    sigma = "const double *", "for values of edges: table over own vertices, numbers of shortest paths"
    here = "const mask_t *", "for values of edges: per own vertex of the rows, its lanes"
    edges = "double *", "value of each edge of the rows; None, or null, where none are wanted"
    chunks = "index_t *", "of each chunk of a long row, the place of the row in the list and the chunk's number"
    partial = "double *", "the sums of each chunk"
    counters = COUNTS, "those of this level"
