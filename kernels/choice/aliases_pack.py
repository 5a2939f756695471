"""What aliases.py and aliases.cu work on."""

from graphdask.kernels.common.packs import Pack


class AliasDraws(Pack):
    rows = "const index_t *__restrict__", "those of the items"
    indptr = "const gd_i64 *__restrict__", "where the row of each vertex begins"
    totals = "const gd_u64 *__restrict__", "the sum of units of each row"
    share = "const gd_u64 *__restrict__", "of each edge (pick.py)"
    other = "const int *__restrict__", "the other edge of each share"
    starts = "const gd_i64 *__restrict__", "where what each item draws begins"
    counts = "const gd_i64 *__restrict__", "how many each item draws"
    seed = "gd_u64", "of the random numbers"
    what = "gd_i64", "what is drawn, of the key"
    tags = "const gd_i64 *__restrict__", "what the key of each item is made of"
    instances = "const gd_i64 *__restrict__", "the instance of each item"
    step = "gd_i64", "the step, of the numbers"
    chosen = "gd_i64 *__restrict__", "the edges drawn"
    owner = "gd_i64 *__restrict__", "the item that each draw is of"
