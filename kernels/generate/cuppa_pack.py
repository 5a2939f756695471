"""What cuppa.py and cuppa.cu work on."""

from graphdask.kernels.common.packs import Pack


class CopyTargets(Pack):
    degree = "long long", "edges of each vertex"
    threshold = "gd_u64", "the probability of an edge to be no copy, times 2^63"
    seed = "gd_u64", "of the random numbers"
    attempts = "long long", "draws of an edge before the first free target is taken"
    out = "index_t *", "the targets, -1 before"
    state = "gd_count *", "see cuppa.py"
    log = "gd_count *", "see cuppa.py"
