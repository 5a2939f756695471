"""What a search by buckets of distances works on, whatever it does with an edge: queues and their lengths."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters(
    "BucketCounts", "edges", "acted", "step", "split", "arrived", "ghosts[2]", "near[3]", "far[3]", "hubs[3]", "led"
)
"""Counters of a search, in the memory of one copy to the host.

edges       scanned edges, ever
acted       vertices whose edges were relaxed, ever
step        the number of the next step; split: that of the splits
arrived     of the barrier
ghosts      length of the ghost queue, in superstep `mark` in place `mark` modulo 2
near        length of `near`, in step i in place i modulo 3
far         length of `far`, after split i in place i modulo 3
hubs        length of `hubs`, in step i in place i modulo 3
led         edges that sssp_lead has stored
"""


class BucketSearch(Pack):
    stamp = "int *", "per slot: the step in which an own vertex was last queued, the superstep in which a ghost was"
    limit = "dist_t *", "where the current bucket ends; shape (1,)"
    owned = "long long", "the number of own vertices"
    even_near = "index_t *", "own vertices whose edges are to be relaxed in even steps"
    odd_near = "index_t *", "own vertices whose edges are to be relaxed in odd steps"
    even_far = (
        "index_t *",
        "slots first reached at or above the limit, each at most once: after even numbers of splits",
    )
    odd_far = "index_t *", "these slots after odd numbers of splits"
    ghost_queue = "index_t *", "ghosts of a distance below the limit whose label fell, for their owners"
    hubs = "index_t *", "deferred rows"
    counters = COUNTS, "see above"
    least = "double *", "the smallest distance that went to, or stayed in, `far`, after split i in place i modulo 3"
