"""What forest.py and forest.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("ForestCounts", "hubs", "edges", "listed", "live", "deep", "joined")
"""Counters of a forest.

hubs        deferred rows
edges       edges of the rows that were visited
listed      edges that belong on the list; more than its capacity if some found no place on it
live        edges of the list that join two trees
deep        1 if a slot may not point to its root yet
joined      edges of the forest
"""


class Growing(Pack):
    indptr = "const long long *", "where the row of each own vertex begins"
    indices = "const index_t *", "the slots that the edges lead to"
    rows = "const int *", "per edge: its row in what the caller gave; None if `wide_rows` are given"
    wide_rows = "const long long *", "these rows in 64 bits"
    ints = "const int *", "the weight of each edge; of the four kinds of weights one is given, or none"
    longs = "const long long *", "weights as 64-bit integers"
    floats = "const float *", "weights as 32-bit floats"
    doubles = "const double *", "weights as 64-bit floats"
    owned = "long long", "the number of own vertices"
    root = "index_t *", "per slot: the root of its tree, between forest_hook or forest_join and forest_flatten a parent"
    best = "long long *", "per slot: which edge its tree takes (forest.py)"
    least = "long long *", "per slot: the least weight of the edges that leave its tree; None if `best` alone decides"
    low = "long long", "the least key of edges that are listed"
    high = "long long", "the greatest key of edges that are listed"
    capacity = "long long", "the length of the list"
    one = "index_t *", "per listed edge: the root of an end; equal to `other` if the edge joins no trees any more"
    other = "index_t *", "the root of its other end"
    source = "index_t *", "the own vertex in whose row it stands"
    place = "long long *", "its place among all edges"
    keys = "long long *", "its weight as an integer of the same order; None without weights"
    forest_source = "index_t *", "`source` of each edge of the forest"
    forest_place = "long long *", "`place` of each edge of the forest"
    hubs = "index_t *", "deferred rows"
    counters = COUNTS, "lengths of lists, and what was found"
