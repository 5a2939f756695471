"""What layered_sums.py and layered_sums.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("SumCounts", "arrived", "taken", "listed[4]")
"""Arrivals of blocks at the barrier; tiles that warps have taken; rows for eight threads, rows for a warp, longer rows,
and the parts of those."""


class RowSums(Pack):
    weights = "const weight_t *", "one per edge"
    weighted = "long long", "whether they are used: products use them converted to real_t"
    x = "const real_t *", "per position: the values that are summed"
    sums = "double *", "per row that is summed: the sum of x, or of weight * x, over its edges"
    items = "long long *", "what several threads sum"
    partial = "double *", "per part of a longer row: its sum; two entries per 257 edges"
    counters = COUNTS, "all are 0 before a launch"
    cleared = "unsigned long long *", "the counters of the next launch, which this launch sets to 0"


class ChunkSums(RowSums):
    """`items` has one entry per row: first edge times 512, plus the number of edges, 256 at most. Rows of 9 to 64 edges
    fill it from the beginning, rows of 65 to 256 edges from the end."""

    rows = "long long", "number of rows of the chunk"
    low = "long long", "the first row that is summed"
    high = "long long", "the one after the last"
    degrees = "const unsigned *", "per row: its number of edges"
    targets = "const index_t *", "per edge: the position of its target"
    goes = "index_t *", "the rows of `items`"
    parts = "long long *", "like `items`, of parts of longer rows, up to 256 edges each; two entries per 257 edges"
    longer = "index_t *", "the longer rows, one entry per 257 edges"
    places = "index_t *", "where the parts of each begin"
    totals = "long long *", "one entry per block: the number of edges of its rows"
