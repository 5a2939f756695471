"""What the kernels that draw neighbours of the items of a frontier work on."""

from graphdask.kernels.common.packs import Pack


class ItemRows(Pack):
    rows = "const index_t *__restrict__", "where the row of each item is"
    vertices = "const index_t *__restrict__", "the vertex number of each item: it and the instance decide what is drawn"
    instances = "const gd_i64 *__restrict__", "the instance of each item"
    tags = "const gd_i64 *__restrict__", "what the edges of each item are marked with"
    indptr = "const gd_i64 *__restrict__", "where the row of each vertex begins"
    indices = "const index_t *__restrict__", "the slots that the edges lead to; where it is None, places stand for them"
    offsets = "const gd_i64 *__restrict__", "where the edges of each item begin among those drawn, and their number"


class ItemDraws(ItemRows):
    replace = "gd_i64", "1 to draw with replacement"
    seed = "gd_u64", "of the random numbers"
    src = "index_t *__restrict__", "the vertex number of the item of each edge drawn"
    dst = "index_t *__restrict__", "the neighbour that each edge drawn leads to, as `indices` has it"
    tag = "gd_i64 *__restrict__", "the mark of each edge drawn"
