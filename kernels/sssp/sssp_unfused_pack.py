"""What sssp_unfused.py and sssp_unfused.cu work on."""

from graphdask.kernels.common.buckets_pack import COUNTS
from graphdask.kernels.sssp.sssp_pack import WeightedRows


class Stepping(WeightedRows):
    labels = "label_t *", "per slot: its label (sssp.py)"
    stamp = "int *", "for an own vertex always the step, for a ghost the superstep `mark`"
    limit = "const dist_t *", "where the current bucket ends; shape (1,)"
    after = "dist_t *", "the limit after the split, which `limit` is not yet; shape (1,)"
    owned = "long long", "the number of own vertices"
    led = "index_t *", "slot that each edge of the near vertices leads to"
    offered = "label_t *", "the label that it would get"
    near = "index_t *", "the near vertices of the next step, whose number `step` is"
    far = "index_t *", "those after the split whose number `split` is"
    ghost_queue = "index_t *", "ghosts of a distance below the limit whose label fell, for their owners"
    hubs = "index_t *", "deferred rows"
    counters = COUNTS, "see sssp_unfused.py"
    least = "double *", "the smallest distance that went to, or stayed in, `far`, after split i in place i modulo 3"
