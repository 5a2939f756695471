"""What walk_ends.py and walk_ends.cu work on."""

from graphdask.kernels.common.packs import Pack


class EndingWalks(Pack):
    instance = "const long long *__restrict__", "of each walker, int64: its number"
    step = "int *__restrict__", "steps that it has made, int32, in and out; -1 less it where it has ended"
    at = "index_t *__restrict__", "in, the slot where a walker stands"
    budget = "long long", "steps that a walker may make in this call"
    each = "long long", "walkers of a source"
    seed = "gd_u64", "uint64, of the random numbers"
    stop = "gd_u64", "the probability of ending before a step, in multiples of 2^-63"
    starts = "const index_t *__restrict__", "ids of the sources, to which walkers go back from vertices without edges"
    homes = "const index_t *__restrict__", "their slots, -1 where others own them"
    indptr = "const long long *__restrict__", "where the row of each vertex begins"
    indices = "const index_t *__restrict__", "the slots that the edges lead to"
    ids = "const index_t *__restrict__", "per slot"
    owned = "long long", "slots of own vertices: a walker that comes to another one stops"
