"""What successive.py and successive.cu work on."""

from graphdask.kernels.common.packs import Pack


class SuccessiveDraws(Pack):
    rows = "const index_t *__restrict__", "the rows to work on"
    vertices = "const index_t *__restrict__", "the number of each item"
    instances = "const gd_i64 *__restrict__", "the instance of each item"
    tags = "const gd_i64 *__restrict__", "what the edges of each item are marked with"
    indptr = "const gd_i64 *__restrict__", "where the row of each vertex begins"
    indices = "const index_t *__restrict__", "the slots that the edges lead to"
    offsets = "const gd_i64 *__restrict__", "where the edges of each item begin among those drawn"
    sums = "const gd_i64 *__restrict__", "the biases of each row, summed up to each edge and with it"
    replace = "gd_i64", "1 to draw with replacement"
    method = "gd_i64", "how neighbours are drawn again (successive.py)"
    seed = "gd_u64", "of the random numbers"
    rooms = "const gd_i64 *__restrict__", "where the workspace of each item begins"
    trees = "gd_i64 *", "workspace"
    src = "index_t *__restrict__", "the vertex that each edge drawn comes from"
    dst = "index_t *__restrict__", "the vertex that each edge drawn leads to"
    tag = "gd_i64 *__restrict__", "the mark of each edge drawn"
