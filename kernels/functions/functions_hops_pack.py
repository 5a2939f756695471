"""What functions_hops.py and functions_hops.cu work on."""

from graphdask.kernels.functions.functions_pack import FunctionRows
from graphdask.kernels.neighbors.hops_pack import HopDraws


class AskedRows(FunctionRows):
    positives = "const gd_i64 *__restrict__", "how many biases of each row are above 0"
    replace = "gd_i64", "1 to draw with replacement"
    gave_up = (
        "int *",
        (
            "(1,): 1 where trials were not enough in a row of more than LOOKED_AT edges, or are of a row with places "
            "of more than 32 bits; then what was drawn is of no use"
        ),
    )


class FunctionHops(AskedRows, HopDraws):
    revisit = "gd_i64", "whether a vertex comes into the pool of an instance again and again"


class FunctionPools(AskedRows):
    depth = "gd_i64", "steps in all"
    bounds = "const gd_i64 *__restrict__", "where the pool of each instance begins"
    seeds = "const index_t *__restrict__", "the first seed of each instance"
    fixed = "gd_i64", "whether these depend on the vertex alone"
    kept = "gd_i64 *", "where a GPU keeps biases that are `fixed`"
    sizes = "gd_i64 *__restrict__", "how many vertices each pool has"
    pools = "index_t *", "the vertices of all pools"
    before = "index_t *", "those from which they were reached, -1 at first"
    src = "index_t *__restrict__", "(n, depth): the vertex that is chosen"
    dst = "index_t *__restrict__", "(n, depth): where its edge leads"
    hops = "int *__restrict__", "(n, depth): the step"
    instances = "gd_i64 *__restrict__", "(n, depth): the instance"
    lacking = "int *", "whether there was no edge in some step"
    failure_of_pool = "int *", "of a bias of a vertex, as in selection.py"
