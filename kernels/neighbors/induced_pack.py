"""What induced.py and induced.cu work on."""

from graphdask.kernels.common.packs import Pack


class InducedEdges(Pack):
    rows = "const index_t *__restrict__", "where the item's row is"
    vertices = "const index_t *__restrict__", "its vertex number"
    instances = "const long long *__restrict__", "its instance"
    tags = "const long long *__restrict__", "what every edge of the item is marked with"
    indptr = "const long long *__restrict__", "where the row of each vertex begins"
    indices = "const index_t *__restrict__", "the slots that the edges lead to"
    ids = "const index_t *__restrict__", "per slot"
    members = "const index_t *__restrict__", "the vertices of each instance, ascending"
    bounds = "const long long *__restrict__", "where those of each instance begin"
    offsets = "const long long *__restrict__", "where the edges of each item begin among those listed"
    src = "index_t *__restrict__", "the vertex that each edge drawn comes from"
    dst = "index_t *__restrict__", "the vertex that each edge drawn leads to"
    tag = "long long *__restrict__", "the mark of each edge listed"
    places = "long long *__restrict__", "None, or: where each of them stands in `indices`"
