"""Where random walks of random lengths end: twins of walk_ends.cu.

instance  of each walker, int64: its number
step      steps that it has made, int32, in and out; -1 less it where it has ended
at        index dtype: in, the slot where a walker stands; out, the id of the vertex it goes on from, or ended at
budget    steps that a walker may make in this call
each      walkers of a source
seed      uint64, of the random numbers
stop      uint64: the probability of ending before a step, in multiples of 2^-63
starts    index dtype: ids of the sources, to which walkers go back from vertices without edges
homes     index dtype: their slots, -1 where others own them
ids       index dtype per slot
owned     slots of own vertices: a walker that comes to another one stops

Of the block of a step the first word says which edge, the second one whether the walk ends before it.
"""

import numpy as np

from graphdask.kernels.common.hash import key as keyed
from graphdask.kernels.common.hash import multiply_high
from graphdask.kernels.common.philox import DRAW_END, philox
from graphdask.kernels.common.tuning import GROUP
from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
_0, _1 = np.uint64(0), np.uint64(1)


@twin
def walk_ends(n, instance, step, at, budget, each, seed, stop, starts, homes, indptr, indices, ids, owned):
    """Let each walker go until it ends, leaves the partition, or has made `budget` steps."""
    key = keyed(seed, DRAW_END, 0)
    going, here = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    row, degree, word = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64), np.empty(GROUP, np.uint64)
    for base in range(0, n, GROUP):
        alive = min(GROUP, n - base)
        for j in range(alive):
            going[j] = base + j
            here[j] = at[base + j]
        for turn in range(budget + 1):
            left = 0  # those that have left, have ended, or are to wait are put down; the others close ranks
            for j in range(alive):
                i, v = going[j], here[j]
                if turn < budget and 0 <= v < owned:
                    first, second = philox(key, np.uint64(instance[i]), np.uint64(step[i]), _0)
                    if second >> _1 >= stop:
                        step[i] += 1
                        going[left], here[left], word[left] = i, v, first
                        left += 1
                        continue
                    step[i] = -1 - step[i]
                at[i] = starts[instance[i] // each] if v < 0 else ids[v]
            alive = left
            if alive == 0:
                break
            # one kind of reads at a time: they do not wait for each other
            for j in range(alive):
                row[j] = indptr[here[j]]
                degree[j] = indptr[here[j] + 1] - row[j]
            for j in range(alive):
                if degree[j]:
                    here[j] = indices[row[j] + np.int64(multiply_high(word[j], np.uint64(degree[j])))]
                else:
                    here[j] = homes[instance[going[j]] // each]
