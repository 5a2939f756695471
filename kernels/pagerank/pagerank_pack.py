"""What pagerank.py and pagerank.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

COUNTS = Counters("RankCounts", "dangling", "change", "largest", "goes")
"""Counters of an iteration; adding integers gives the same in every order.

dangling   rank on vertices without out-edges, in fixed point
change     sum of |change|, in fixed point
largest    bits of the largest |change|
goes       of one partition on a GPU: 0 if this is the last iteration, else all ones; pagerank_judge sets it
"""
LOOPS = Counters("LoopCounts", "hubs", "edges")
"""Deferred rows, edges scanned."""


class RankRows(Pack):
    chunks = "const long long *", "each: its first edge times 512, plus the number of its edges, 256 at most"
    targets = "const index_t *", "per chunk: the row whose sum it gives, or -1 - k for the k-th partial sum"
    indices = "const index_t *", "the slots that the edges lead to"
    weights = "const weight_t *", "of each edge"
    weighted = "long long", "1 if edges have weights"
    x = "real_t *", "contributions rank / out-weight, in the order of `place`"
    hot = "long long", "how many of x, from the first, every block keeps in shared memory, which the launch provides"
    ranges = "long long", "how many ranges of x have such a part"
    width = "long long", "how far apart these begin"
    sums = "double *", "per row: what it gathers, the sum of x[j], or weight * x[j], over its stored edges"
    partial = "double *", "sums of chunks, of row i (of `rows`) those from first_chunk[i] to first_chunk[i + 1]"
    goes = "const unsigned long long *", "None, or one number: 0 where nothing is to be summed"
    inverse = "const double *", "per own vertex: 1 / out-weight; 0 without out-edges"
    teleport = "const double *", "per own vertex: its share of what teleports"
    personalized = "long long", "1 if `teleport` counts"
    extra = "const unsigned char *", "per own vertex: whether it has a self-loop that counts"
    has_extra = "long long", "1 if `extra` counts"
    place = "const index_t *", "per slot: where its contribution stands in x"
    slot = "const index_t *", "the slot of each own vertex in that order"
    damping = "double", "the share of rank that follows edges"
    base = "double", "what every vertex gets"
    dangling_scale = "double", "of the fixed point of the rank without out-edges"
    change_scale = "double", "of the fixed point of the changes"
    sends = "long long", "1 if there are other partitions"
    rank = "real_t *", "per own vertex"
    reported = "real_t *", "per slot: the same contributions, which travel between partitions"
    counters = COUNTS, "those of this update"
    cleared = "unsigned long long *", "the counters of the next update, which this one sets to 0"


class SelfLoops(Pack):
    indptr = "const long long *", "where the row of each own vertex begins"
    indices = "const index_t *", "the slots that the edges lead to"
    loop = "unsigned char *", "per own vertex: becomes 1 if its row has a self-loop"
    hubs = "index_t *", "deferred rows"
    counters = LOOPS, "their number, and what was done"
