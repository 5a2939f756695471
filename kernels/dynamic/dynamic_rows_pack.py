"""What dynamic_rows.py and dynamic_rows.cu work on."""

from graphdask.kernels.common.packs import Pack
from graphdask.kernels.dynamic.dynamic_batch_pack import COUNTS


class ChangedRows(Pack):
    counters = COUNTS, "those of the batch"
    pieces = "const long long *", "see dynamic_batch.py"
    listed = "const long long *", "see dynamic_batch.py"
    plan = "const long long *", "see dynamic_batch.py"
    place = "const long long *", "see dynamic_batch.py"
    sums = "const long long *", "steps, summed up (dynamic_batch.py)"
    values = "const entry_t *", "what is inserted for each entry: slots, or weights"
    out_used = "long long", "how much of the pool of out-edges is allocated"
    out_size = "long long", "its length"
    in_used = "long long", "how much of the pool of in-edges is allocated"
    in_size = "long long", "its length"
    out_begin = "long long *", "where each row of out-edges begins in the pool"
    out_length = "long long *", "its length"
    out_capacity = "long long *", "what it has been allocated"
    out_pool = "entry_t *", "entries of out-edges"
    in_begin = "long long *", "where each row of in-edges begins in the pool"
    in_length = "long long *", "its length"
    in_capacity = "long long *", "what it has been allocated"
    in_pool = "entry_t *", "entries of in-edges"
    made = "entry_t *", "pieces that are put together elsewhere"
    commits = "long long", "whether the rows' lengths, beginnings, and allocations are written"
