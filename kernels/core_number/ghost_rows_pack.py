"""What ghost_rows.py and ghost_rows.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("GhostRowCounts", "hubs", "edges")
"""Deferred rows, edges visited."""


class GhostRows(Pack):
    indptr = "const long long *", "where the row of each own vertex begins"
    indices = "const index_t *", "their neighbours, sorted within a row"
    owned = "long long", "the number of own vertices, which is the slot of the first ghost"
    ends = "long long *", "per ghost, how many own neighbours it has; then where the next one of them is written"
    rows = "index_t *", "own neighbours, each once, of one ghost after the other"
    hubs = "index_t *", "rows of very many edges"
    counters = COUNTS, "lengths of the lists, and what was done"
