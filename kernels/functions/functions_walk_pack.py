"""What functions_walk.py and functions_walk.cu work on."""

from graphdask.kernels.functions.functions_pack import FunctionRows


class FunctionWalks(FunctionRows):
    undirected = "gd_i64", "whether each of two neighbours is in the row of the other"
    depth = "gd_i64", "steps that a walk has at most"
    seeds = "const index_t *__restrict__", "where the walks start"
    here = "index_t *__restrict__", "where they stand, -1 if they have ended; before the first step it is not read"
    before = "index_t *__restrict__", "the predecessor; before the first step it is not read"
    dst = "index_t *__restrict__", "(n, depth): the vertices that edges lead to"
    put = "index_t *__restrict__", "(n, depth): what `update` made of them, if there is one"
    lengths = "int *__restrict__", "edges so far; before the first step it is not read"
    reported = "gd_u64 *", "(1,): the edges of all walks are added"
