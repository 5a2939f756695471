"""What reservoir.py and reservoir.cu work on."""

from graphdask.kernels.neighbors.neighbors_pack import ItemRows


class Reservoirs(ItemRows):
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
