"""What sssp.py, sssp.cu and sssp_team.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters(
    "PathCounts", "edges", "acted", "step", "split", "arrived", "ghosts[2]", "near[3]", "far[3]", "hubs[3]", "led"
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


class WeightedRows(Pack):
    indptr = "const long long *", "where the row of each own vertex begins"
    indices = "const index_t *", "the slots that the edges lead to"
    weights = "const weight_t *", "of each edge, or a single one for all"
    each = "long long", "-1 for a weight of each edge, 0 for a single one: edge e weighs weights[e & each]"
    ids = "const index_t *", "the id of each own vertex"


class Relaxing(WeightedRows):
    labels = "label_t *", "per slot: its label (sssp.py)"
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
    parent = (
        "index_t *",
        (
            "per slot: the smallest id of those that lead to its label, for a CPU that has the whole graph; else None, "
            "where sssp_parents finds them"
        ),
    )
    level = "long long *", "with `parent`: 1 where an edge between vertices adds nothing to a distance, of use to none"
    counters = COUNTS, "see above"
    least = "double *", "the smallest distance that went to, or stayed in, `far`, after split i in place i modulo 3"


class TeamRelaxing(Relaxing):
    bounds = "unsigned char *", "per slot: a bound of its distance, 255 at first (sssp.cuh)"
    votes = "unsigned long long *", "four rows of TEAM_WORDS zeros"


class TeamBuckets(Pack):
    enough = "long long", "near vertices from which a rank sends what it knows before it goes on"
    looked_before = "long long", "edges looked at in the bucket before this one, by all"
    looked_here = "long long", "edges looked at in this one so far"
    widens = "long long", "1 to let the width of a bucket follow from what the last one was worth"
    widened = "double", "how many times as wide as `delta` the bucket is"
    delta = "double", "the width of the first bucket"
    farthest = "double", "where the last bucket ends"
