"""What hops.py and hops.cu work on, and functions_hops.py and functions_hops.cu."""

from graphdask.kernels.common.packs import Pack


class HopDraws(Pack):
    seeds = "const index_t *__restrict__", "vertices that instances begin with, each once in its instance"
    bounds = (
        "const gd_i64 *__restrict__",
        "where those of each instance begin, and their number; None where every instance has one",
    )
    fanouts = (
        "gd_u64",
        (
            "neighbours of a vertex at each hop, up to 255 and eight bits each, the first the lowest; without "
            "replacement up to FEW"
        ),
    )
    hops = "gd_i64", "their number"
    together = (
        "gd_i64",
        (
            "instances that follow each other and are drawn together, a power of two up to 32: their edges are side by "
            "side, those of the first hop before those of the next, from the place on where the first instance's begin"
        ),
    )
    places = "gd_i64", "vertices that an instance expands at most"
    slots = "gd_i64", "of a hash table of these vertices: twice as many, or 0 for one hop"
    most = "gd_i64", "edges that an instance has at most; `src` and `dst` have so many places for each instance"
    src = "index_t *__restrict__", "the vertex that each edge drawn comes from"
    dst = "index_t *__restrict__", "the vertex that each edge drawn leads to, or its place in the rows (NeighborHops)"
    upto = "int *__restrict__", "(instances, hops): how many edges an instance has up to each hop"
    starts = "int *__restrict__", "(instances, hops): where those of each hop begin in `src` and `dst`"
    counts = "gd_i64 *__restrict__", "how many edges each instance has"


class NeighborHops(HopDraws):
    indptr = "const gd_i64 *__restrict__", "where the row of each vertex begins"
    indices = "const index_t *__restrict__", "the vertices that the edges lead to"
    sums = "const gd_i64 *__restrict__", "the biases of each row, summed up to each edge and with it"
    replace = "gd_i64", "1 to draw with replacement"
    method = "gd_i64", "as in successive.py; -1 where neighbours are all alike, drawn as neighbors.py says"
    seed = "gd_u64", "of the random numbers"
    placed = "gd_i64", "1 to put into `dst` the place of each edge in `indices`, 0 for the vertex there"


class PlacedHops(Pack):
    hops = "gd_i64", "as in HopDraws"
    together = "gd_i64", "as in HopDraws"
    most = "gd_i64", "as in HopDraws"
    src = "const index_t *__restrict__", "as in HopDraws"
    dst = "const index_t *__restrict__", "as in HopDraws"
    indices = "const index_t *__restrict__", "as in NeighborHops, where `dst` holds places; else None"
    kept = "const gd_i64 *__restrict__", "where each edge was before some were left out; None where none were"
    rows = "const int *__restrict__", "the row of each edge in what the caller gave; None where they have 64 bits"
    long_rows = "const gd_i64 *__restrict__", "the same of 64 bits; else None"
    upto = "const int *__restrict__", "as in HopDraws"
    starts = "const int *__restrict__", "as in HopDraws"
    ends = "const gd_i64 *__restrict__", "how many edges each instance has with those before it"
    out_src = "index_t *__restrict__", "the vertex that each edge comes from"
    out_dst = "index_t *__restrict__", "the vertex that each edge leads to"
    out_hop = "int *__restrict__", "the hop of each edge"
    out_instance = "gd_i64 *__restrict__", "the instance of each edge"
    out_edge = "gd_i64 *__restrict__", "the row of each edge, where `dst` holds places; else None"
