"""Where random walks of random lengths end: twins of walk_ends.cu.

at        index dtype: in, the slot where a walker stands; out, the id of the vertex it goes on from, or ended at

Of the block of a step the first word says which edge, the second one whether the walk ends before it.
"""

import numpy as np

from graphdask.kernels.common.hash import key as keyed
from graphdask.kernels.common.hash import multiply_high
from graphdask.kernels.common.philox import DRAW_END, philox
from graphdask.kernels.common.tuning import GROUP
from graphdask.kernels.common.twin import twin
from graphdask.kernels.walks.walk_ends_pack import EndingWalks

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
_0, _1 = np.uint64(0), np.uint64(1)


@twin
def walk_ends(n, a: EndingWalks):
    """Let each walker go until it ends, leaves the partition, or has made `budget` steps."""
    key = keyed(a.seed, DRAW_END, 0)
    going, here = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    row, degree, word = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64), np.empty(GROUP, np.uint64)
    for base in range(0, n, GROUP):
        alive = min(GROUP, n - base)
        for j in range(alive):
            going[j] = base + j
            here[j] = a.at[base + j]
        for turn in range(a.budget + 1):
            left = 0  # those that have left, have ended, or are to wait are put down; the others close ranks
            for j in range(alive):
                i, v = going[j], here[j]
                if turn < a.budget and 0 <= v < a.owned:
                    first, second = philox(key, np.uint64(a.instance[i]), np.uint64(a.step[i]), _0)
                    if second >> _1 >= a.stop:
                        a.step[i] += 1
                        going[left], here[left], word[left] = i, v, first
                        left += 1
                        continue
                    a.step[i] = -1 - a.step[i]
                a.at[i] = a.starts[a.instance[i] // a.each] if v < 0 else a.ids[v]
            alive = left
            if alive == 0:
                break
            # one kind of reads at a time: they do not wait for each other
            for j in range(alive):
                row[j] = a.indptr[here[j]]
                degree[j] = a.indptr[here[j] + 1] - row[j]
            for j in range(alive):
                if degree[j]:
                    here[j] = a.indices[row[j] + np.int64(multiply_high(word[j], np.uint64(degree[j])))]
                else:
                    here[j] = a.homes[a.instance[going[j]] // a.each]
