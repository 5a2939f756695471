"""Choosing some candidates of groups by the sums of their biases, again until they are new: twins of redrawn.cu.

method     REPEATED or BIPARTITE (successive.py)
taken      int64, as long as `chosen`: a workspace for the places of a group that are chosen already, in ascending order

The other arguments are those of selection.py. Number w of a group is one half of the block w // 2 of the key of
(seed, what, tag) and the counter (instance, step); a draw takes one of them, a bipartite one two, of which it may leave
the second.
"""

import numpy as np

from graphdask.kernels.choice.selection import group_key
from graphdask.kernels.common.twin import twin
from graphdask.kernels.neighbors.successive import below, choose_next, keep_in_order

MACROS: list[dict[str, str]] = [{}]


@twin
def redrawn_choose(
    n, labels, rows, bounds, sums, positives, starts, counts, method, seed, what, tags, instances, step, taken, chosen,
    owner,
):  # fmt: skip
    """Choose in proportion to biases among what is left, without replacement.

    Where no more candidates have a bias above 0 than are asked for, all of these are chosen, in their order.
    """
    pair = np.empty(1, np.uint64)
    for g in range(n):
        row, out, count, made = rows[g], starts[g], counts[g], np.int64(0)
        begin = bounds[row]
        degree = bounds[row + 1] - begin
        left = below(sums, begin, degree)
        if left and positives[row] <= count:
            for p in range(degree):
                if below(sums, begin, p + 1) > below(sums, begin, p):
                    chosen[out + made] = p
                    made += 1
        elif left:
            number, places = np.int64(0), taken[out : out + count]
            of_group, instance = group_key(seed, what, tags[g]), np.uint64(instances[g])
            while made < count:
                place, number = choose_next(
                    sums, begin, degree, places, made, left, method, pair, of_group, instance, np.uint64(step), number
                )
                left -= below(sums, begin, place + 1) - below(sums, begin, place)
                chosen[out + made] = place
                keep_in_order(places, made, place)
                made += 1
        for s in range(count):
            owner[out + s] = labels[g] if s < made else -1
