"""What program.py and program.cu work on, and what functions of the caller are given."""

from graphdask.kernels.common.packs import Counters, Numbers, Pack

STATES, MESSAGES, AGGREGATES = 8, 4, 4
"""Fields of the state, fields of a message, and aggregates that a program has at most."""
BINS = 70
"""Words of an exact sum (exact.py)."""

COUNTS = Counters("ProgramCounts", "changed", "marked", "ghosts", "sent", "hubs", "far")
"""Vertices whose state changed, own vertices and ghosts that got a message, edges along which messages were pushed,
rows of very many edges that were deferred, and vertices listed as `far`."""
PROGRESS = Counters("ProgramProgress", "arrived", "stops", "steps", "visited", "failed", "failure", "edges",
                    "pushes", "pulls", "goes")  # fmt: skip
"""Of supersteps without the host: what blocks meet at, whether the loop ends, its supersteps, and the vertices that
sent (program_loop); the number of the first function that failed, from 1 on, and its failure (program_between); the
edges of the vertices that changed last (program_loop, program_pull); how often messages were pushed and pulled
(program_loop); whether the run goes on (program_judge)."""
SUM, COUNT, ANY, LEAST, MOST, LEAST_FLOAT, MOST_FLOAT = KINDS = Numbers(
    "AggregateKind", "SUM", "COUNT", "ANY", "LEAST", "MOST", "LEAST_FLOAT", "MOST_FLOAT"
)
"""Kinds of aggregates, for program_between: a sum of floats, a count, whether there is any, and extremes."""
KIND_BITS = 4
"""Of each of them in a word."""
BUCKET_LIMIT, BUCKET_WIDTH, BUCKET_EDGES, BUCKET_SIGN = BUCKET = Numbers(
    "BucketWord", "BUCKET_LIMIT", "BUCKET_WIDTH", "BUCKET_EDGES", "BUCKET_SIGN"
)
"""Words of a bucket: the last priority in it; its width, as a part of the distance from the best to the worst of the
vertices that were far; the edges along which its vertices have sent, -1 before the first bucket; and, for the twin, 1
if the least state is the best one and -1 if the greatest is."""
ALL, MARKED, CHANGED = 0, 1, 2
"""Of a list the length is that of the launch, or the count `marked` or `changed` if that is less."""


class Vertices(Pack):
    names = "const long long *", "the caller's names of vertices: an id for each"
    base = "long long", "if it is 0 or more, it plus their numbers instead"
    ids = "const index_t *", "per slot: the number of the vertex, where functions ask for it"
    out_degree = "const long long *", "per slot, where functions ask for it"
    in_degree = "const long long *", "per slot, where functions ask for it"
    superstep = "long long", "the number of the superstep, from 0 on"
    integers = "const long long *", "per aggregate: its value of the superstep before, if it is an integer"
    floats = "const double *", "the same, if it is a float"
    state0 = "state0_t *", "per slot: the first field of the state"
    state1 = "state1_t *", "per slot: the second one; and so on"
    state2 = "state2_t *", "per slot"
    state3 = "state3_t *", "per slot"
    state4 = "state4_t *", "per slot"
    state5 = "state5_t *", "per slot"
    state6 = "state6_t *", "per slot"
    state7 = "state7_t *", "per slot"
    vertex_column0 = "const vertex_column0_t *", "per slot: the first column of the vertices that functions read"
    vertex_column1 = "const vertex_column1_t *", "per slot: the second one; and so on"
    vertex_column2 = "const vertex_column2_t *", "per slot"
    vertex_column3 = "const vertex_column3_t *", "per slot"
    failure = "int *", "the first failure of a function of the caller"
    failure0 = "int *", "that of the function of the first aggregate"
    failure1 = "int *", "and so on"
    failure2 = "int *", "of the third"
    failure3 = "int *", "of the fourth"


class Program(Vertices):
    listed = "const index_t *", "own vertices to work on, if there is a list"
    limit = "long long", "how long that is: ALL, MARKED or CHANGED"
    first = "long long", "the own vertex of the first row: of all rows 0, of a part of them more"
    indptr = "const long long *", "where each row begins"
    indices = "const index_t *", "the slots that its edges lead to, or come from"
    weights = "const weight_t *", "of the edges"
    edge_column0 = "const edge_column0_t *", "of the edges: the first column that functions read"
    edge_column1 = "const edge_column1_t *", "of the edges: the second one; and so on"
    edge_column2 = "const edge_column2_t *", "of the edges"
    edge_column3 = "const edge_column3_t *", "of the edges"
    active = "const unsigned *", "a bit for each slot: whether the vertex sends"
    everywhere = "long long", "whether all slots send, and `active` is not read"
    value0 = "message0_t *", "per slot: the first field of the message that it sends, where edges do not differ"
    value1 = "message1_t *", "per slot: the second one; and so on"
    value2 = "message2_t *", "per slot"
    value3 = "message3_t *", "per slot"
    x = "double *", "a second place for the first field, in an order in which sums are made of them; or nothing"
    place = "const index_t *", "where in x each own vertex stands"
    gathered = "double *", "the sum that comes to each own vertex, in the same order; for the twin program_rounds"
    sends = "unsigned *", "a bit for each slot: whether it sends such a message"
    message0 = "message0_t *", "per slot: the first field of the messages that came, combined"
    message1 = "message1_t *", "per slot: the second one; and so on"
    message2 = "message2_t *", "per slot"
    message3 = "message3_t *", "per slot"
    counts_messages = "long long", "whether `received` is how many messages came; else it says only that some did"
    received = "int *", "per slot: how many messages came"
    merges = "long long", "whether messages came before, to be combined with"
    origin = "long long *", "per own vertex: the vertex from which the message came that was chosen"
    extent = "long long *", "the least and the greatest of the values sent, as integers in the same order; or nothing"
    marks = "unsigned *", "a bit for each slot: whether a message came"
    marked = "index_t *", "own vertices that are marked"
    ghosts = "index_t *", "ghosts that are marked"
    owned = "long long", "how many of the slots are own vertices"
    slots_of_all = "long long", "how many slots there are, with those of ghosts"
    changed = "index_t *", "own vertices whose state changed"
    everyone = "long long", "whether states are computed of vertices without messages too"
    row_ends = "const long long *", "where the row of the edges of each own vertex begins along which it sends"
    other_ends = "const long long *", "the same of the edges of the other direction, where it sends along them too"
    hubs = "index_t *", "rows of very many edges"
    sums = "long long *", "per aggregate BINS words: what this rank adds to it"
    waits = "unsigned *", "a bit for each own vertex that is beyond the bucket; nothing where all that changed send"
    far = "index_t *", "these vertices, and some that were; only in the twin"
    bounds = "long long *", "the best and the worst priority of these vertices, as integers in the same order"
    bucket = "double *", "words of BUCKET: which vertices send, where the best go first"
    counters = COUNTS, "lengths of the lists, and edges"
    progress = PROGRESS, "of supersteps without the host"
    failure_to_send = "int *", "the first failure of `send`, where a launch sends and computes states"
    failure_to_apply = "int *", "the same of `apply`"
    failure_of_until = "int *", "the failure of `until`, which the host then calls; in loops without the host"
    slots = "const index_t *", "own vertices to which other ranks sent messages, which may stand there several times"
    given0 = "const message0_t *", "the first field of these messages"
    counted = "const int *", "how many messages each of them stands for"
    dense = "long long", "edges of changed vertices from which on program_loop leaves them to program_pull; 0: never"
    placed0 = "state0_t *", "per place: the first field of the state, where `send` reads it and `active` has the vertex"
    placed1 = "state1_t *", "per place: the second one; and so on"
    placed2 = "state2_t *", "per place"
    placed3 = "state3_t *", "per place"
    placed4 = "state4_t *", "per place"
    placed5 = "state5_t *", "per place"
    placed6 = "state6_t *", "per place"
    placed7 = "state7_t *", "per place"
    placed_value = "message0_t *", "per place: the message, where edges do not differ"
    placed_ids = "const index_t *", "per place: as `ids`; and the same of the degrees"
    placed_out_degree = "const long long *", "per place"
    placed_in_degree = "const long long *", "per place"
    slices = "const long long *", "where each slice of 32 lanes begins (kernels/pagerank/slices.py), and one more"
    items = "long long", "the number of chunks, or of rows, in these slices"
    targets = "const index_t *", "per chunk: the vertex of its row, or -1 - the number of its part; per row: its vertex"
    parts = "message0_t *", "per part of a row of several chunks: the messages, combined"
    part_counts = "int *", "per part: how many messages came"
    first_part = "const long long *", "per row of several chunks, and one more: its parts"
    unit = "double", "what a weight of 1 stands for, where weights are codes (kernels/pagerank/codes.cuh)"
