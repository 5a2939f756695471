"""What redrawn.py and redrawn.cu work on."""

from graphdask.kernels.common.packs import Pack


class Redrawn(Pack):
    labels = "const gd_i64 *__restrict__", "what each group is called in `owner`"
    rows = "const gd_i64 *__restrict__", "the rows to work on"
    bounds = "const gd_i64 *__restrict__", "where the candidates of each group begin"
    sums = "const gd_i64 *__restrict__", "the sum of each row"
    positives = "const gd_i64 *__restrict__", "of each group, candidates of a bias above 0"
    starts = "const gd_i64 *__restrict__", "where what each item draws begins"
    counts = "const gd_i64 *__restrict__", "how many each item draws"
    method = "gd_i64", "REPEATED or BIPARTITE (successive.py)"
    seed = "gd_u64", "of the random numbers"
    what = "gd_i64", "what is drawn, of the key"
    tags = "const gd_i64 *__restrict__", "what the key of each group is made of"
    instances = "const gd_i64 *__restrict__", "the instance of each item"
    step = "gd_i64", "the step, of the numbers"
    taken = "gd_i64 *", "as long as `chosen`"
    chosen = "gd_i64 *__restrict__", "the edges drawn"
    owner = "gd_i64 *__restrict__", "the item that each draw is of"
