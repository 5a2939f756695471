"""What coloring.py and coloring.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("ColoringCounts", "queue", "edges", "hubs[2]", "arrived[4]")
"""Slots in the queue, edges visited, deferred rows of a round and of the next, and state of kernels/common/grid.cuh."""


class Coloring(Pack):
    indptr = "const long long *", "where the later neighbours of each slot begin"
    indices = "const index_t *", "own vertices, one for each edge to a later neighbour"
    color = "index_t *", "per slot: its colour, -1 if it has none yet"
    waiting = "index_t *", "per own vertex: edges to earlier neighbours whose colour is not marked yet"
    begin = "const long long *", "where the words of each own vertex begin, and their end"
    taken = "unsigned long long *", "a bit for each colour that earlier neighbours have, 64 in a word"
    queue = "index_t *", "slots that have colours, in the order in which they got them"
    hubs = "index_t *", "rows of very many edges"
    deferring = "long long", "1 if there may be such rows"
    counters = COUNTS, "lengths of the lists, and what was done"
