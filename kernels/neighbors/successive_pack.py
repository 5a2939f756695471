"""What successive.py and successive.cu work on."""

from graphdask.kernels.neighbors.neighbors_pack import ItemDraws


class SuccessiveDraws(ItemDraws):
    sums = "const gd_i64 *__restrict__", "the biases of each row, summed up to each edge and with it"
    method = "gd_i64", "how neighbours are drawn again (successive.py)"
    scratch_at = "const gd_i64 *__restrict__", "where the workspace of each item begins"
    trees = "gd_i64 *", "workspace"
