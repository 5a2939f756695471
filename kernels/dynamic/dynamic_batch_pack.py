"""What dynamic_batch.py and dynamic_batch.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters(
    "BatchCounts", "outward", "needed", "out_deleted", "in_deleted", "out_claimed", "in_claimed", "leading", "trailing",
    "pieces", "taken", "arrived",
)  # fmt: skip
"""Counters of a batch.

outward      sorted entries of out-edges
needed       sorted entries of both directions
out_deleted  deletions of out-edges; in_deleted: of in-edges
out_claimed  entries of the pool of out-edges, free from `used` on, claimed by rows that outgrew their allocation,
             whether they fit or not; in_claimed: of the pool of in-edges
leading      rows listed from the start of `listed`
trailing     rows listed from its end
pieces       pieces of the longest rows
taken        entries of the workspace that these rows need
arrived      blocks that came to a barrier
"""


class BatchEntries(Pack):
    edges = "const unsigned long long *", "per edge: (source * num_vertices + destination) * 2"
    num_vertices = "long long", "the number of vertices"
    slots = "const index_t *", "of each id; this rank owns those below `owned`"
    owned = "long long", "the number of own vertices"
    capacity = "long long", "the number of ids"
    directed = "long long", "1 if edges have a direction"
    weighted = "long long", "1 if edges have weights"
    out_begin = "const long long *", "where each row of out-edges begins in the pool"
    out_length = "const long long *", "its length"
    out_indices = "const index_t *", "the slots that out-edges lead to"
    in_begin = "const long long *", "where each row of in-edges begins in the pool"
    in_length = "const long long *", "its length"
    in_indices = "const index_t *", "the slots that in-edges come from"
    names = "const index_t *", "the number of each vertex"
    found = "unsigned char *", "per edge: whether the row of its source holds it; 0 where another rank has that row"
    again = "long long *", "per entry, where the graph is weighted: where in the pool the weight is to be set, or -1"
    keys = "unsigned long long *", "per entry, those of sources first"
    row = "index_t *", "per sorted entry: its row, a local number, and the slot of its column"
    slot = "index_t *", "per sorted entry: its row, a local number, and the slot of its column"
    place = "long long *", "per sorted entry: how many of its row are less"
    steps = "long long *", "a 0, and per sorted entry 1 where it is inserted, 2^32 where it is deleted"
    counters = COUNTS, "0 before"
    sums = "long long *", "steps, summed up"
    most = "long long", "entries of a row up to which a warp takes it"
    out_capacity = "const long long *", "what each row of out-edges has been allocated"
    out_used = "long long", "how much of the pool is allocated"
    in_capacity = "const long long *", "what each row of in-edges has been allocated"
    in_used = "long long", "how much of the pool is allocated"
    hub = "long long", "entries of a row above which it is cut into pieces"
    most_made = "long long", "entries that pieces may have together"
    pieces = "long long *", "four numbers for every PIECE entries of the rows of more than `hub` entries"
    listed = "long long *", "the first entries of rows"
    plan = "long long *", "three arrays in one"
    order = "long long *", "per sorted entry: which one of the batch it is, but for those of NOTHING"
    bounds = "const long long *", "slots from bounds[k] to bounds[k + 1] - 1 are of rank (rank + k) % size"
    size = "long long", "the number of ranks"
    rank = "long long", "this one"
    keeps_sent = "long long", "1 if `sent` is used"
    held = "unsigned char *", "whether a rank needs to know of a row, as from now on those of its columns do"
    sent = "double *", "per own vertex, if `keeps_sent`: the value last sent to other ranks; -1 makes it be sent again"
