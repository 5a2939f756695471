"""What functions.py and functions.cu work on, and what functions of the caller are given."""

from graphdask.kernels.common.packs import Pack


class Names(Pack):
    names = "const gd_i64 *__restrict__", "the caller's names of vertices: an id for each"
    base = "gd_i64", "if it is 0 or more, it plus their numbers instead"
    vertex_column0 = "const vertex_column0_t *__restrict__", "per vertex: the first column that functions read"
    vertex_column1 = "const vertex_column1_t *__restrict__", "per vertex: the second one; and so on"
    vertex_column2 = "const vertex_column2_t *__restrict__", "per vertex"
    vertex_column3 = "const vertex_column3_t *__restrict__", "per vertex"


class FunctionGraph(Names):
    indptr = "const gd_i64 *__restrict__", "where each row begins"
    indices = "const index_t *__restrict__", "the slots that the edges lead to"
    weights = "const weight_t *__restrict__", "of each edge; where there are none, any array"
    edge_column0 = "const edge_column0_t *__restrict__", "of each edge: the first column that functions read"
    edge_column1 = "const edge_column1_t *__restrict__", "of each edge: the second one; and so on"
    edge_column2 = "const edge_column2_t *__restrict__", "of each edge"
    edge_column3 = "const edge_column3_t *__restrict__", "of each edge"
    ids = "const index_t *__restrict__", "the vertex of each slot, if `mapped`"
    degrees = "const gd_i64 *__restrict__", "the length of the row of each slot, if `mapped`"
    mapped = "gd_i64", "whether this is a partition; else slots are vertices"
    near_indptr = "const gd_i64 *__restrict__", "rows of vertices that items were reached from"
    near_indices = "const index_t *__restrict__", "the vertices that they hold; of a whole graph that itself"
    failure_of_update = "int *", "a failure of the function `update`, as in selection.py"


class FunctionVertices(Names):
    vertices = "const index_t *__restrict__", "of each item"
    degrees = "const gd_i64 *__restrict__", "of each item"
    instances = "const gd_i64 *__restrict__", "of each item"
    places = "const gd_i64 *__restrict__", "of each item in the pool of its instance"
    depth = "gd_i64", "steps before this one"
    values = "bias_t *__restrict__", "the bias of each item"
    replace = "gd_i64", "1 to choose with replacement"
    most = "gd_i64", "what neighbor_size may return at most"
    seed = "gd_u64", "of the random numbers"
    counts = "gd_i64 *__restrict__", "how many edges of each item are chosen at most"
    failure = "int *", "as in selection.py"


class FunctionItems(FunctionGraph):
    rows = "const index_t *__restrict__", "the row of each item"
    vertices = "const index_t *__restrict__", "the vertex of each item"
    previous = "const index_t *__restrict__", "that from which it was reached, -1 where there is none"
    near = "const index_t *__restrict__", "the row of that in `near_indptr`"
    instances = "const gd_i64 *__restrict__", "the instance of each item"
    places = "const gd_i64 *__restrict__", "the place of each item in the pool of its instance"
    seeds = "const index_t *__restrict__", "the first vertex of the instance"
    depth = "gd_i64", "steps before this one"
    failure = "int *", "of a bias, as in selection.py"
    at = "const gd_i64 *__restrict__", "`at[i] - at[0]` is the place in `values` of the first edge of item i"
    values = "bias_t *__restrict__", "the bias of each edge"
    replace = "gd_i64", "1 to choose with replacement"
    seed = "gd_u64", "of the random numbers"
    starts = "const gd_i64 *__restrict__", "where what each item chooses begins"
    counts = "gd_i64 *__restrict__", "how many edges each item chooses"
    chosen = "gd_i64 *", "the place in its row of each edge chosen"
    owner = "gd_i64 *__restrict__", "the item of each edge chosen, -1 where there is none"
    longs = "gd_i64 *", "a workspace for items with long rows (reservoir.py)"
    keys = "double *__restrict__", "a workspace for as many keys as edges are chosen"
    lacking = "int *", "whether some item had fewer edges than are chosen of it"
    bound = "bias_t", "what no bias exceeds"
    trials = "gd_i64", "how often a draw is tried"
    done = "gd_i64 *__restrict__", "how many draws of each item were kept within their trials"
    label = "gd_i64", "what the first item is called in `owner`; the others follow"
    of_items = "const gd_i64 *__restrict__", "the item of each edge"
    edges = "const gd_i64 *__restrict__", "the place of each edge in `indices`"
    numbers = "const gd_i64 *__restrict__", "the number of each edge among those chosen together"
    num_vertices = "gd_i64", "of the graph"
    put = "index_t *__restrict__", "what update returned of each edge"


class FunctionRows(FunctionGraph):
    how = "gd_i64", "how edges are drawn: all alike, by sums, by rejection, by an alias table, or by a reservoir"
    sums = (
        "const gd_i64 *__restrict__",
        (
            "the units of the biases of each row (selection.py), added up to each edge and with it; or the shares of "
            "an alias table (biases.py), uint64"
        ),
    )
    totals = "const gd_u64 *__restrict__", "of an alias table"
    other = "const int *__restrict__", "of an alias table"
    floating = "gd_i64", "whether biases are floats"
    bound = "bias_t", "what no bias exceeds"
    trials = "gd_i64", "how often a draw is tried"
    seed = "gd_u64", "of the random numbers"
    num_vertices = "gd_i64", "of the graph"
    failure = "int *", "of a bias, as in selection.py"
