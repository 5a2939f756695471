"""What frontier.py and frontier.cu work on."""

from graphdask.kernels.common.packs import Pack


class FrontierDraws(Pack):
    first = "long long", "the number of the first of them"
    size = "long long", "vertices in the pool of an instance"
    begin = "long long", "steps that are made already"
    end = "long long", "the step to stop after"
    length = "long long", "columns of src and dst"
    seed = "gd_u64", "of the random numbers"
    starts = "const index_t *", "dtype, (n, size): the pools before the first step"
    indptr = "const long long *", "where the row of each vertex begins"
    indices = "const index_t *", "the slots that the edges lead to"
    pool = "index_t *", "dtype, (n, size): what they are now; degrees, int64, (n, size), theirs"
    degrees = "long long *", "the degree of each vertex"
    src = "index_t *", "dtype, (n, length): the edges sampled, -1 after the last"
    dst = "index_t *", "dtype, (n, length): the edges sampled, -1 after the last"
    lengths = "int *", "how many they are"
    places = "long long *", "None, or int64, (n, length), filled with -1 before: where each edge stands in `indices`"
