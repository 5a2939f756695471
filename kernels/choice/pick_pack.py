"""Tables by which pick.py and pick.cu draw edges (graphdask/sample/biases.py)."""

from graphdask.kernels.common.packs import Pack


class Picks(Pack):
    indptr = "const long long *", "where the row of each vertex begins"
    values = "const bias_t *", "the bias of each edge"
    greatest = "const bias_t *", "the greatest bias of each row"
    totals = "const gd_u64 *", "the sum of units of each row"
    shifts = "const int *", "of each row, whose biases are in units of 2^-shift; or empty"
    table = "const gd_u64 *", "sums of units, or shares of the alias method"
    other = "const int *", "the other edge of each share"
