"""What second_order.py and second_order.cu work on."""

from graphdask.kernels.walks.walk_pack import WalkRows


class FactorRows(WalkRows):
    back = "gd_u64", "the factor of the predecessor over the greatest, in multiples of 2^-63"
    common = "gd_u64", "of its neighbours"
    distant = "gd_u64", "of others"
    undirected = "long long", "whether u is a neighbour of v where v is one of u"


class WholeSecondWalks(FactorRows):
    walks = "index_t *", "(n, length + 1): the vertices visited, -1 after the last"
    lengths = "int *", "steps that were made"


class PartSecondWalks(FactorRows):
    instance = "const long long *", "of each walker"
    step = "int *", "steps that a walker has made, in and out"
    draw = "int *", "in and out: the next draw of a walker"
    at = "const index_t *", "the slot where a walker stands"
    previous = "index_t *", "in and out: the id of the predecessor, -1 at the start"
    previous_slot = "const index_t *", "its slot if it is a vertex of this rank, else -1"
    here = "index_t *", "in and out: the id of the vertex where a walker is that asks"
    candidate = (
        "index_t *",
        (
            "in and out: the id of the vertex that a walker asks about: whether it is a neighbour of `previous`; -1 "
            "for a walker that asks nothing. A question is at the candidate, if the graph is undirected, else at the "
            "predecessor"
        ),
    )
    budget = "long long", "steps that a walker may make in this call"
    ids = "const index_t *", "per slot"
    owned = "long long", "slots of own vertices: a walker that comes to another one stops"
    path = "index_t *", "(n, budget): the ids of the vertices that it comes to"
    made = "int *", "their number"
    target = "index_t *", "the id of the vertex to whose owner a walker or its question goes, -1 where it ended"
    taken = "long long *", "None, or in and out, if rows of edges are asked for: the row of the edge to `candidate`"
