"""What slices.py and slices.cu work on."""

from graphdask.kernels.common.packs import Pack


class SliceRows(Pack):
    first = "const long long *", "per slice and one more"
    count = "long long", "the number of items"
    targets = "const index_t *", "per chunk, as in pagerank.py; so are `sums`, and the order of additions"
    indices = "const index_t *", "per entry, into x; -1 where an item has no more edges"
    weights = "const weight_t *", "per entry, of unit `unit` (codes.py); counts where `weighted`"
    weighted = "long long", "1 if edges have weights"
    unit = "double", "what a weight of 1 stands for (codes.py)"
    x = "const real_t *", "contributions"
    hot = "long long", "how many of x, from the first, every block keeps in shared memory, which the launch provides"
    sums = "double *", "the sum of each row"
    partial = "double *", "sums of chunks of longer rows"
    wanted = "const unsigned long long *", "None, or one number: 0 where nothing is to be summed"
