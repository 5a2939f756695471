"""What core_number.py and core_number.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("PeelingCounts", "queue", "ghosts", "hubs", "edges", "done")
"""Vertices in the queue, ghosts that lost neighbours, deferred rows, edges visited, how much of the queue is done."""


class Peeling(Pack):
    indptr = "const long long *", "where the row of each own vertex begins"
    indices = "const index_t *", "their neighbours, sorted within a row"
    degree = "index_t *", "neighbours left of each own vertex; of one in the queue at most the level, and stale"
    level = "long long", "the degree up to which a vertex is removed"
    owned = "long long", "the number of own vertices"
    queue = "index_t *", "own vertices in the order in which they are removed"
    lost = "index_t *", "per slot: neighbours that a ghost has lost since its owner was last notified"
    ghost_queue = "index_t *", "ghosts that have lost neighbours"
    hubs = "index_t *", "rows of very many edges"
    counters = COUNTS, "lengths of the lists, and what was done"
