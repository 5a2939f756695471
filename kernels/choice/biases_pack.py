"""What biases.py and biases.cu work on."""

from graphdask.kernels.common.packs import Pack


class BiasSums(Pack):
    count = "long long", "the number of rows that have edges"
    rows = "const index_t *", "the rows that have edges, `count` of them"
    starts = "const long long *", "the first edge of each, and the end of the last, which is `edges`"
    firsts = "const index_t *", "per tile of BIAS_TILE edges: the place among `rows` of the row of its first edge"
    edges = "long long", "the number of edges"
    values = "const bias_t *", "per edge"
    shifts = "const int *", "per row of the graph: units of its biases are 2^-shift (see pick.py), where `shifted`"
    shifted = "long long", "1 if `shifts` counts"
    totals = "const gd_u64 *", "per row of the graph: sums of units"
    lacks = "long long", "whether what is summed is not an edge's units"
    sums = "gd_u64 *", "per row of the graph: totals, as they are found; 0 before"
    tile_sums = "gd_u64 *", "per tile: the sum of its edges"
    tile_lasts = "gd_u64 *", "per tile: the sum of its last row, as far as it is there"
    carries = "const gd_u64 *", "per tile: the sum of the edges of its first row that stand before it"
    sparse = "long long", "1 to write one of SPARSE sums"
    prefix = "gd_u64 *", "per edge: inclusive sums of units, anew in each row"
    lacking = "const gd_u64 *", "per edge: likewise of what edges lack"
    share = "gd_u64 *", "per edge, other int32 per edge: the alias table"
    other = "int *", "per edge: the other edge of its share"
