"""What walk.py and walk.cu work on."""

from graphdask.kernels.common.packs import Pack


class WalkRows(Pack):
    length = "long long", "steps of a walk; `walks` has rows of length + 1"
    seed = "gd_u64", "of the random numbers"
    starts = "const index_t *", "where walkers start; ids (walk_part: of all instances from first_instance on)"
    indptr = "const long long *", "where the row of each vertex begins"
    indices = "const index_t *", "the slots that the edges lead to"
    method = "long long", "METROPOLIS, CELLS, or one of pick.py, whose tables are values to other; see walk.py"
    values = "const bias_t *", "the bias of each edge"
    greatest = "const bias_t *", "the greatest bias of each row"
    totals = "const gd_u64 *", "the sum of units of each row"
    shifts = "const int *", "of each row, whose biases are in units of 2^-shift; or empty"
    table = "const gd_u64 *", "sums of units, shares of the alias method, or cells"
    other = "const int *", "the other edge of each share"
    arcs = (
        "const arc_t *",
        (
            "None, or of each edge its entry of `indices` and its row in what the caller gave, (edges, 2); then "
            "`indices` is not read. On a GPU they are read where the macro arc_t says their type"
        ),
    )
    edges = (
        "long long *",
        (
            "None where `arcs` is, else int64, (n, length), in parts (n, budget): the row of the edge of each step, "
            "-1 of a step that goes along no edge, and over the whole graph behind the last step; in "
            "parts only of steps made"
        ),
    )


class MovingRows(WalkRows):
    restart = "gd_u64", "the probability of going back to the start, in multiples of 2^-63"
    leave = "gd_u64", "of that, or of jumping to any vertex"
    dead = "gd_u64", "of going back, where there are no edges and something is to be done"
    vertices = "long long", "of the whole graph"
    degrees = "const long long *", "per slot; for METROPOLIS"


class WholeWalks(MovingRows):
    walks = "index_t *", "(n, length + 1): the vertices visited, -1 after the last"
    lengths = "int *", "steps that were made"


class PartWalks(MovingRows):
    first_instance = "long long", "the instance of the first of `starts`"
    instance = "const long long *", "of each walker"
    step = "int *", "steps that a walker has made, in and out"
    at = "index_t *", "in, the slot where a walker stands; out, the id of the vertex it goes on from, -1 where it ended"
    budget = "long long", "steps that a walker may make in this call"
    ids = "const index_t *", "per slot"
    owned = "long long", "slots of own vertices: a walker that comes to another one stops"
    path = "index_t *", "(n, budget): the ids of the vertices that it comes to"
    made = "int *", "their number"


class StreamedWalks(MovingRows):
    """Over partitions of the vertices, some of which are on the device; neighbours are vertices, not slots. What is
    said of edges is that of partitions that are near, with `far_` that of all: those that are far are read there."""

    walks = "index_t *", "(n, length + 1): the vertices visited, -1 after the last"
    lengths = "int *", "steps made so far"
    far_indices = "const index_t *", "as `indices`"
    far_values = "const bias_t *", "as `values`"
    far_table = "const gd_u64 *", "as `table`"
    far_other = "const int *", "as `other`"
    far_arcs = "const arc_t *", "as `arcs`"
    cuts = "const long long *", "(parts + 1,): the first vertex of each partition"
    ways = (
        "const long long *",
        (
            "(3 * parts,), of each partition: what is added to a vertex where its row is looked up; what is added to "
            "what `indptr` says of its edges; and how these are read: NEAR, FAR or not at all (WAITS)"
        ),
    )
    parts = "long long", "partitions"
    whole = "long long", "whether rows are those of all vertices, and nothing is to be added to look them up"
    places = "int *", "per row of `walks`: the partition where its walker stands; `parts` where it has ended"
    reported = "gd_u64 *", "(1,): steps from vertices that are far are added"
