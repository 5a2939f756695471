"""What communities.py and communities.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("MoveCounts", "moved", "deferred", "chunks", "tables", "inside")
"""Vertices that moved; deferred rows, their chunks, and the places of tables; weights within communities."""


class Moves(Pack):
    indptr = "const long long *", "where the row of each own vertex begins"
    indices = "const index_t *", "their neighbours as slots"
    weights = "const long long *", "whole weights of the edges, 0 or more"
    degree = "const long long *", "sum of the weights of each own vertex"
    rows = "const long long *", "own vertices that may move"
    label = "long long *", "per slot: its community"
    own = "const long long *", "per own vertex: the community of its own number"
    sums = "const long long *", "per community: sum of the degrees of its vertices"
    change = "long long *", "per community: what its sum changes by; may be `sums`"
    refining = "long long", "1 if only neighbours of the same `outer` that do not leave count"
    outer = "const long long *", "per slot: the community that is refined"
    leaving = "const unsigned char *", "per slot: 1 if the vertex may move in this round"
    here = "double *", "for each of `rows`: the gain of its community"
    best = "double *", "for each of `rows`: the largest gain of another community"
    choice = "long long *", "for each of `rows`: the smallest such community; NONE if there is no other one"
    keys = "long long *", "communities at the places of tables; -1 where a place is free"
    total = "long long *", "weights that lead to a community, at its place"
    bits = "unsigned long long *", "for each of `rows`: the largest gain as an integer of the same order"
    long_rows = "long long *", "deferred rows, as places in `rows`"
    start = "long long *", "where the table of each deferred row of several chunks begins"
    met = "long long *", "from half of that on: the places of the table that are taken"
    met_count = "long long *", "how many of them there are"
    first_chunk = "long long *", "the first chunk of each deferred row"
    chunks = "long long *", "of each chunk, which deferred row it is of"
    changed = "unsigned char *", "per slot: 1 if the vertex moved"
    row_of = "const index_t *", "the own vertex of each edge"
    active = "unsigned char *", "per own vertex: 1 if a neighbour moved"
    counters = COUNTS, "what was done"
