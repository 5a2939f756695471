"""What lane_distances.py and lane_distances.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("FallingCounts", "hubs", "edges")
"""Deferred rows, edges scanned."""


class LaneRows(Pack):
    now = "const unsigned long long *", "mask per own vertex: lanes in which its edges are relaxed"
    first = "long long", "the vertex of the first row"
    indptr = "const long long *", "where the rows begin"
    indices = "const index_t *", "the slots that the edges lead to"
    weights = "const weight_t *", "of each edge, not negative"
    lanes = "long long", "columns of `distance`"
    distance = "dist_t *", "table over slots; the largest integer or infinity where not reached"
    active = "unsigned long long *", "mask per slot: lanes in which a distance has fallen; marked, never cleared"
    hubs = "index_t *", "deferred rows"
    counters = COUNTS, "their number, and what was done"
