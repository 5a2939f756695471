"""What components.py and components.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

OUTSIDE = Counters("OutsideCounts", "rows")
"""Rows that are listed."""
COUNTS = Counters("HookCounts", "hubs", "edges")
"""Deferred rows, edges scanned."""
MET = Counters("MeetCounts", "pairs")
"""Pairs of labels that are listed."""


class Outside(Pack):
    link = "const index_t *", "per slot: the root of its tree"
    root = "long long", "the root of the tree whose rows are left out"
    indptr = "const long long *", "where the row of each own vertex begins"
    other_indptr = "const long long *", "where its row of the other direction begins"
    rows = "index_t *", "own vertices with edges that are in other trees"
    counters = OUTSIDE, "the length of this list"


class Trees(Pack):
    indptr = "const long long *", "where the row of each own vertex begins"
    indices = "const index_t *", "the slots that the edges lead to"
    link = "index_t *", "a tree of slots (components.py)"
    hubs = "index_t *", "deferred rows"
    counters = COUNTS, "lengths of lists, and what was done"


class Meetings(Pack):
    owned = "long long", "the number of own vertices; ghosts are the slots from there on"
    link = "const index_t *", "per slot: the root of its tree"
    label = "const index_t *", "per root slot: the smallest id of the tree's own vertices"
    reported = "const index_t *", "per ghost: the label that its owner sent"
    bounds = "const long long *", "ghosts of the owner `step` ranks on begin at slot bounds[step]"
    giants = "const index_t *", "by step: the label of the owner's giant"
    found = "int *", "by step: 1 if an edge joins the giants of this rank and of the owner"
    here = "index_t *", "of each pair: the label of this rank"
    there = "index_t *", "of each pair: the label that the owner sent"
    counters = MET, "the length of these lists"
