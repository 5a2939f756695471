"""What strong.py and strong.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("ColourCounts", "queue", "followed", "ghosts", "hubs", "edges")
"""Own vertices in the queue, how many of them are followed, ghosts in theirs, deferred rows, edges scanned."""


class Colours(Pack):
    indptr = "const long long *", "where the row of each vertex begins"
    indices = "const index_t *", "the slots that the edges lead to"
    ids = "const index_t *", "the id of each own vertex"
    owned = "long long", "the number of own vertices"
    colour = "index_t *", "per slot: the smallest number that has reached the vertex, -1 where it is done"
    count = "index_t *", "per slot: edges from vertices that are not done (strong.py)"
    label = "index_t *", "per own vertex: the smallest id of its component, -1 while it is not done"
    queue = "index_t *", "own vertices, appended to"
    ghost_queue = "index_t *", "ghosts, for their owners"
    hubs = "index_t *", "deferred rows"
    counters = COUNTS, "lengths of the lists, and what was done"
    stamp = "int *", "per slot: the level in which the vertex was last put into a queue"
    level = "long long", "the number of the level"
    base = "long long", "the level since which a ghost is listed once"
