"""What steps.py and steps.cu work on."""

from graphdask.kernels.common.packs import Pack


class StepEdges(Pack):
    owners = "const gd_i64 *__restrict__", "the group of each choice"
    chosen = "const gd_i64 *__restrict__", "the edges drawn"
    begins = "const gd_i64 *__restrict__", "where the groups begin"
    vertices = "const index_t *__restrict__", "of items, entries of pools whose neighbours are chosen"
    instances = "const gd_i64 *__restrict__", "of items, entries of pools whose neighbours are chosen"
    indices = "const index_t *__restrict__", "the slots that the edges lead to"
    ids = "const index_t *__restrict__", "the id of each own vertex"
    mapped = "gd_i64", "1 if `ids` counts"
    edges = "gd_i64 *__restrict__", "where each edge stands"
    src = "index_t *__restrict__", "the vertex that each edge drawn comes from"
    dst = "index_t *__restrict__", "the vertex that each edge drawn leads to"
    of_edges = "gd_i64 *__restrict__", "None, or the number of each edge"
