"""What dynamic.py and dynamic.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters(
    "DynamicCounts", "low", "high", "edges", "largest", "first", "spread", "unsent", "mark_low", "mark_high",
    "mark_edges", "mass", "goes", "pieces",
)  # fmt: skip
"""Counters of an iteration, of which the host may add others behind.

low         vertices listed as low; high: as high
edges       their edges
largest     bits of the largest |change|
first       vertices worked on for the first time
spread      what |changes| spread over out-neighbours but for damping; in fixed point, rounded up
untold      the part of that of vertices that have not marked theirs
mark_low    vertices listed to mark their out-neighbours, low ones; mark_high: high ones
mark_edges  their edges
mass        the sum of new ranks times MASS
goes        by dynamic_judge 0 if all are ranked well enough, else more than any number of vertices
pieces      parts of rows that dynamic_mark_high leaves to dynamic_mark_pieces
"""
LISTED = Counters("ListCounts", "low", "high", "edges")
"""Vertices listed as low and as high, their edges: the counters of a list, wherever they stand."""


class Flagged(Pack):
    flags = "unsigned char *", "per slot: 1 where the vertex is to be listed"
    becomes = "long long", "what these flags become"
    length = "const long long *", "per own vertex: the length of its row"
    most = "long long", "edges up to which a row is low"
    low = "index_t *", "own vertices of at most `most` edges"
    high = "index_t *", "own vertices of more"
    counters = LISTED, "the lengths of these lists"


class DynamicRanks(Pack):
    count = "const unsigned long long *", "how many are listed, which the host need not know"
    listed = "const index_t *", "own vertices to be worked on, in no order"
    sums = "const double *", "per own vertex: what its row gathers"
    inverse = "const double *", "per own vertex: 1 / out-degree"
    loop = "const unsigned char *", "per own vertex: whether its row holds the self-loop"
    base = "double", "what every vertex gets"
    factor = "double", "what ranks, contributions and sums are multiplied by before they are changed"
    damping = "double", "the share of rank that follows edges"
    closed = "long long", "1 to take a self-loop as solved for"
    prunes = "long long", "1 to take out of the affected who changes little"
    prune = "double", "the relative change up to which a vertex is taken out"
    expands = "long long", "1 to mark who changes much"
    frontier = "double", "the relative change above which a vertex is marked"
    scale = "double", "of the fixed point of the changes"
    becomes = "long long", "what marks become"
    length = "const long long *", "per own vertex: its row is indices[begin[v]] to indices[begin[v] + length[v] - 1]"
    most = "long long", "edges up to which a row is low"
    rank = "double *", "per own vertex"
    x = "double *", "per slot: contributions rank / out-degree, the self-loop that every vertex has counted"
    affected = "unsigned char *", "per slot: whether it is to be updated"
    expand = "unsigned char *", "per own vertex: whether its neighbours are to be marked"
    visited = "unsigned char *", "per own vertex: whether it was ever updated"
    low = "index_t *", "lists of own vertices of at most `most` edges and of more"
    high = "index_t *", "lists of own vertices of at most `most` edges and of more"
    counters = COUNTS, "those of this iteration"
