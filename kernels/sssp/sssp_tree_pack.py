"""What sssp_tree.py and sssp_tree.cu work on."""

from graphdask.kernels.common.packs import Counters
from graphdask.kernels.sssp.sssp_pack import WeightedRows

COUNTS = Counters("TreeCounts", "hubs", "edges", "ghosts")
"""Deferred rows, edges scanned, the ghost queue's length."""


class Tree(WeightedRows):
    distance = "const dist_t *", "per slot, final; the largest integer or infinity where it is not reached"
    tags = "unsigned char *", "per slot: a byte that equal distances share (sssp_tags), or null"
    owned = "long long", "the number of own vertices"
    parent = (
        "index_t *",
        "per slot: the smallest id at the other end of a tight edge and nearer to the source",
    )
    ghost_queue = "index_t *", "ghosts that have a parent"
    level = "unsigned long long *", "per own vertex: its tight edges to others at its own distance (sssp_tree.py)"
    any = "long long", "1 to list all such edges, 0 to list those of the parent only"
    place = "unsigned long long *", "per own vertex: where its next such edge goes"
    out = "index_t *", "such edges"
    witnessed = "unsigned char *", "per slot: a tight edge from its parent, which is nearer to the source, was met"
    until = "const dist_t *", "distances up to which the search went; shape (1,)"
    first_bad = "unsigned long long *", "the first edge that can be relaxed"
    hubs = "index_t *", "deferred rows"
    counters = COUNTS, "lengths of lists, and what was done"
