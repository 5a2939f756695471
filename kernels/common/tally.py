"""How often each number stands in an array, without more memory than the counts.

`counts` is int64 and holds what was counted before; every one of the n numbers is an index of it.
"""

from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def tally_count(n, numbers, counts):
    for i in range(n):
        counts[numbers[i]] += 1
