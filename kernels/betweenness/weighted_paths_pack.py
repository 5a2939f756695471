"""What weighted_paths.py and weighted_paths.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("PathCounts", "hubs", "edges", "beyond", "shorter", "ready", "lanes")
"""Deferred rows; edges scanned; in `paths_pending` edges from a reached vertex to one that is not, and edges that would
make a distance smaller; in `paths_release` vertices that are ready, and the lanes of all of them."""


class Paths(Pack):
    first = "long long", "the vertex of the first row"
    indptr = "const long long *", "where the rows begin; without self-loops and without parallel edges"
    indices = "const index_t *", "the slots of the neighbours"
    weights = "const weight_t *", "of each edge"
    distance = "const dist_t *", "table over slots, final; the largest integer or infinity where it is not reached"
    lanes = "long long", "columns of a table"
    pending = "int *", "table over own vertices: tight edges in whose other end has not been counted yet"
    ready = "unsigned long long *", "per own vertex: lanes in which the last of these was counted just now"
    paths = "const double *", "table over slots: numbers of shortest paths, or what successors give (weighted_paths.py)"
    here = "const unsigned long long *", "for values of edges: per own vertex of the rows, its lanes"
    over = "double *", "value of each edge of the rows; None, or null, where none are wanted"
    hubs = "index_t *", "deferred rows"
    counters = COUNTS, "lengths of lists, and what was done"
