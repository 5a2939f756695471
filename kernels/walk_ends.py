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

from graphdask.kernels.hash import key as keyed
from graphdask.kernels.hash import multiply_high
from graphdask.kernels.philox import DRAW_END, philox
from graphdask.kernels.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
_0, _1 = np.uint64(0), np.uint64(1)


@twin
def walk_ends(n, instance, step, at, budget, each, seed, stop, starts, homes, indptr, indices, ids, owned):
    """Let each walker go until it ends, leaves the partition, or has made `budget` steps."""
    key = keyed(seed, DRAW_END, 0)
    for i in range(n):
        walker, v, s = np.uint64(instance[i]), np.int64(at[i]), np.int64(step[i])
        source = instance[i] // each
        for _ in range(budget):
            first, second = philox(key, walker, np.uint64(s), _0)
            if second >> _1 < stop:
                s = -1 - s
                break
            begin = indptr[v]
            degree = indptr[v + 1] - begin
            if degree:
                v = np.int64(indices[begin + np.int64(multiply_high(first, np.uint64(degree)))])
            else:
                v = np.int64(homes[source])
            s += 1
            if v < 0 or v >= owned:
                break
        at[i] = starts[source] if v < 0 else ids[v]
        step[i] = s
