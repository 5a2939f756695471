"""What two_hops.py and two_hops.cu work on."""

from graphdask.kernels.common.packs import Counters, Numbers, Pack

COUNTS = Counters("TwoHopCounts", "pairs")
"""Pairs that are listed, those of earlier launches included."""
SMALL = 2048
"""Slots of the table that a block has in shared memory, where there are no weights (two_hops.cu)."""
UNIT = 62
"""Two values of float64 are worth their product times 2**UNIT, rounded; two whole values are worth the lesser one."""
JACCARD, OVERLAP, COSINE, SORENSEN = MEASURES = Numbers("Measures", "JACCARD", "OVERLAP", "COSINE", "SORENSEN")


class TwoHopRows(Pack):
    source = "const index_t *", "the number of each source u"
    begin = "const long long *", "where the edges u -> w of each source begin; one more entry for their end"
    middle = "const index_t *", "the number of w for each edge"
    looped = "const unsigned char *", "for each edge: 1 if w is its own neighbour, else 0"
    first = "const long long *", "for each edge: where the row of w begins in `entries`: the v with an edge v -> w"
    last = "const long long *", "where it ends"
    entries = "const index_t *", "numbers of vertices, ascending in a row"
    size = "const long long *", "by number: how many neighbours a vertex has; with values, their sum or sum of squares"
    value = "const worth_t *", "for each edge u -> w, the value of w for u; null without weights"
    values = "const worth_t *", "for each entry v of the row of w, the value of w for v"
    count = "count_t *", "by number: 4 for each path to the vertex, and 1 if w is one of its ends; 0 between sources"
    sums = "long long *", "by number: what the paths to v are worth together; 0 between sources; null without weights"
    own = "long long *", "the same of the paths whose w is u or v"
    touched = "index_t *", "twin: the vertices that paths lead to, one entry more than there are vertices"
    ranked = "double *", "twin: their scores, if `keep` is not 0"
    bits = "unsigned long long *", "twin: the same vertices as bits of words; 0 between sources"
    summary = "unsigned long long *", "twin: the words that are not 0, as bits"
    begins = (
        "const long long *",
        "GPU: where the table of each source begins; 2**k slots, or none if SMALL serve",
    )
    table = "index_t *", "GPU: the vertex in each slot, and -1 between launches"
    tallies = "count_t *", "GPU: as `count`, for each slot; 0 between launches"
    table_sums = "long long *", "GPU: as `sums`, for each slot"
    table_own = "long long *", "GPU: as `own`, for each slot"
    out_first = "index_t *", "the source of each listed pair"
    out_second = "index_t *", "its other vertex"
    out_score = "double *", "its score"
    out_common = "long long *", "the neighbours that the two share, without the two themselves"
    onward = "long long", "1 to list only v > u, else 0"
    measure = "long long", "one of Measures"
    keep = "long long", "list at most so many pairs of each source, the best ones; 0 for all"
    least = "double", "list only pairs that are not worse than this score and these two vertices"
    least_first = "long long", "of two pairs of the same score, the one with the smaller u is better"
    least_second = "long long", "and then the one with the smaller v"
    counters = COUNTS, "what was found"
