"""What label_propagation.py and label_propagation.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("LabelCounts", "changed", "hubs", "edges")
"""Changed labels, deferred rows, edges of the rows that are due."""


class Labels(Pack):
    indptr = "const long long *", "where the out-edges of each own vertex begin"
    indices = "const index_t *", "the slots that they lead to"
    in_indptr = "const long long *", "where the in-edges of each own vertex begin"
    in_indices = "const index_t *", "the slots that they come from"
    both = "long long", "1 if in-edges count, 0 if not"
    label = "index_t *", "per slot: its label"
    fresh = "index_t *", "per own vertex: the label found"
    moved = "unsigned char *", "per slot: 1 if its label changed in the last iteration"
    due = "unsigned char *", "per own vertex: 1 if the label of a neighbour did; others keep theirs"
    hubs = "index_t *", "rows of very many edges"
    changed = "index_t *", "own vertices whose label changed"
    short_rows = "const index_t *", "own vertices of 1 to 32 neighbours"
    middle_rows = "const index_t *", "own vertices of up to MIDDLE neighbours"
    long_rows = "const index_t *", "own vertices of more neighbours, first those of more than one chunk"
    start = "const long long *", "where the table of each long row of several chunks begins, and their end"
    chunks = "const long long *", "how many chunks of CHUNK neighbours the long rows before each have, and all"
    best_label = "index_t *", "per chunk of such rows: the most frequent label of a part of the row's table"
    best_count = "unsigned *", "how often it occurs"
    keys = "index_t *", "the label at each place of the tables; -1 where it is free"
    counts = "unsigned *", "how often the label occurs"
    counters = COUNTS, "the length of the list"
