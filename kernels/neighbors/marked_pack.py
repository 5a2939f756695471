"""What marked.py and marked.cu work on."""

from graphdask.kernels.neighbors.neighbors_pack import ItemRows


class MarkedDraws(ItemRows):
    sums = "const gd_i64 *__restrict__", "the sum of each row"
    method = "gd_i64", "how neighbours are drawn again"
    seed = "gd_u64", "of the random numbers"
    strided = "gd_i64", "whether the bits of neighbours that follow each other are in different words"
    scratch_at = "const gd_i64 *__restrict__", "where in `marks` the bits of an item begin"
    marks = "int *", "all 0: a word for 32 neighbours"
    src = "index_t *__restrict__", "the vertex that each edge drawn comes from"
    dst = "index_t *__restrict__", "the vertex that each edge drawn leads to"
    tag = "gd_i64 *__restrict__", "the mark of each edge drawn"
