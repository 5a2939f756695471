"""Choosing some candidates of groups by the sums of their biases, again until they are new: twins of redrawn.cu.

taken      int64, as long as `chosen`: a workspace for the places of a group that are chosen already, in ascending order

The other arguments are those of selection.py. Number w of a group is one half of the block w // 2 of the key of
(seed, what, tag) and the counter (instance, step); a draw takes one of them, a bipartite one two, of which it may leave
the second.
"""

import numpy as np

from graphdask.kernels.choice.selection import group_key
from graphdask.kernels.common.twin import twin
from graphdask.kernels.neighbors.redrawn_pack import Redrawn
from graphdask.kernels.neighbors.successive import below, choose_next, keep_in_order

MACROS: list[dict[str, str]] = [{}]


@twin
def redrawn_choose(n, a: Redrawn):
    """Choose in proportion to biases among what is left, without replacement.

    Where no more candidates have a bias above 0 than are asked for, all of these are chosen, in their order.
    """
    pair = np.empty(1, np.uint64)
    for g in range(n):
        row, out, count, made = a.rows[g], a.starts[g], a.counts[g], np.int64(0)
        begin = a.bounds[row]
        degree = a.bounds[row + 1] - begin
        left = below(a.sums, begin, degree)
        if left and a.positives[row] <= count:
            for p in range(degree):
                if below(a.sums, begin, p + 1) > below(a.sums, begin, p):
                    a.chosen[out + made] = p
                    made += 1
        elif left:
            number, places = np.int64(0), a.taken[out : out + count]
            of_group, instance = group_key(a.seed, a.what, a.tags[g]), np.uint64(a.instances[g])
            while made < count:
                place, number = choose_next(
                    a.sums,
                    begin,
                    degree,
                    places,
                    made,
                    left,
                    a.method,
                    pair,
                    of_group,
                    instance,
                    np.uint64(a.step),
                    number,
                )
                left -= below(a.sums, begin, place + 1) - below(a.sums, begin, place)
                a.chosen[out + made] = place
                keep_in_order(places, made, place)
                made += 1
        for s in range(count):
            a.owner[out + s] = a.labels[g] if s < made else -1
