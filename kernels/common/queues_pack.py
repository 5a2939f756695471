"""What queues.py and queues.cu work on."""

from graphdask.kernels.common.packs import Pack


class QueueEntries(Pack):
    queue = "const long long *", "as long as there are walkers"
    path = "const int *", "positions that each made, (n, budget)"
    budget = "long long", "columns of `path`"
    made = "const int *", "steps that each made"
    target = "const int *", "where each is to go on, -1 where its walk has ended"
    table = "const int *", "the position of each vertex"
    differ = "long long", "1 if positions are not numbers"
    cuts = "const long long *", "the first position of each partition"
    parts = "long long", "the number of partitions"
    walks = "int *", "all walks, (walkers, width)"
    width = "long long", "columns of `walks`"
    lengths = "int *", "steps that each has made"
    at = "int *", "where each walker waits"
    places = "int *", "for each walker: its partition; `parts` where its walk has ended"
    tally = "long long *", "shape (2 * parts + 1,), zeros at first: walkers in each partition, steps of all"
