"""What reservoir.py and reservoir.cu work on."""

from graphdask.kernels.common.packs import Pack


class Reservoirs(Pack):
    rows = "const index_t *__restrict__", "the rows to work on"
    vertices = "const index_t *__restrict__", "the number of each item"
    instances = "const gd_i64 *__restrict__", "the instance of each item"
    tags = "const gd_i64 *__restrict__", "what the edges of each item are marked with"
    indptr = "const gd_i64 *__restrict__", "where the row of each vertex begins"
    indices = "const index_t *__restrict__", "the slots that the edges lead to"
    offsets = "const gd_i64 *__restrict__", "where the edges of each item begin among those kept"
    seed = "gd_u64", "of the random numbers"
    longs = "gd_i64 *", "n + 1 words, the first one 0: items with long rows"
    src = "index_t *__restrict__", "the vertex that each edge drawn comes from"
    dst = "index_t *__restrict__", "the vertex that each edge drawn leads to"
    tag = "gd_i64 *", "the mark of each edge kept"
    sums = "const gd_i64 *__restrict__", "sums of the biases of each row, above 0"
    values = "const double *__restrict__", "the bias of each edge"
    starts = "const gd_i64 *__restrict__", "where the edges of each item begin among those kept by key"
    counts = "const gd_i64 *__restrict__", "how many edges are kept of each item"
    keys = "double *__restrict__", "their keys"
    places = "gd_i64 *__restrict__", "their places in the row, -1 where there are fewer"
