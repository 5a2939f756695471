"""What neighborhoods.py and neighborhoods.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

DONE = Counters("DoneInstances", "instances", "vertices", "edges", "needed")
"""Instances that are done, the vertices and the edges that they have here, and the edges that the next instance needs
at least, if the buffers cannot hold it."""


class NeighborhoodDraws(Pack):
    seeds = "const index_t *__restrict__", "the seeds of each instance, which differ"
    seed_bounds = "const gd_i64 *__restrict__", "where those of each instance begin, and their number"
    indptr = "const gd_i64 *__restrict__", "where the row of each vertex begins"
    indices = "const index_t *__restrict__", "the vertices that the edges lead to"
    sums = "const gd_i64 *__restrict__", "the biases of each row, summed up to each edge and with it"
    fanouts = "const gd_i64 *__restrict__", "neighbours of a vertex at each hop"
    hops = "gd_i64", "their number"
    replace = "gd_i64", "1 to draw with replacement"
    method = "gd_i64", "how neighbours are drawn again (successive.py)"
    seed = "gd_u64", "of the random numbers"
    capacity = "gd_i64", "edges that `row`, `col` and `edge` can hold; `nodes` holds so many vertices and all seeds"
    nodes = "index_t *__restrict__", "the vertices of all instances"
    row = "gd_i64 *__restrict__", "the number of the source of each edge"
    col = "gd_i64 *__restrict__", "the number of the target of each edge"
    edge = "gd_i64 *__restrict__", "the place of each edge"
    node_sizes = "gd_i64 *__restrict__", "(n, hops + 1): seeds, and vertices that each hop reaches first"
    edge_sizes = "gd_i64 *__restrict__", "(n, hops): edges of each hop"
    reported = DONE, "how far the kernel has come; where it begins, the number of instances that are done"
    # the others are for a GPU, and need no values before unless one is named
    each = "gd_i64", "slots of `entries` for every seed"
    vertices = "index_t *", "per vertex of `nodes`: its number"
    owners = "int *", "per vertex of `nodes`: its instance"
    sources = "int *", "per edge: the place of its source"
    drawn = "gd_i64 *", "per edge: its place in `indices`"
    slots = "index_t *", "per edge: the slot of its target"
    entries = "index_t *", "a table of two words for each slot, full of -1 before"
    node_starts = "gd_i64 *", "hops + 1 for each instance and one more"
    edge_starts = "gd_i64 *", "hops for each instance and one more"
    shifts = "gd_i64 *", "3 (hops + 1) for each instance"
    state = "gd_i64 *", "1, which is 0 before, and one more for each block"


class NumberedVertices(Pack):
    seeds = "const index_t *", "the seeds of each instance"
    seed_bounds = "const gd_i64 *", "where those of each instance begin, and their number"
    edge_bounds = "const gd_i64 *", "where the edges of each instance begin, and their number"
    src = "const index_t *", "the source of each edge"
    dst = "const index_t *", "the target of each edge"
    nodes = "index_t *", "a place for each seed, and new_vertices places for each edge: the vertices of all instances"
    node_offsets = "gd_i64 *", "[i + 1]: where the vertices of instance i end"
    seeds_of = "gd_i64 *", "how many vertices of each instance are seeds"
    row = "gd_i64 *", "the number of the source of each edge"
    col = "gd_i64 *", "the number of the target of each edge"
