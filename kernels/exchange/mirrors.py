"""Which own vertices a mirror holds, on a CPU; a GPU codes them in its own launches (graphdask.comm.segments)."""

import numpy as np

from graphdask.kernels.common.twin import twin

u64 = np.uint64


@twin
def mirrors_find(n, mirror, count, own, marks, place):
    """List in `place` where the mirror, n own vertices, has one of the `count` in `own`, and return how many there are.

    `marks` is uint8 per own vertex, 0 before and afterwards; `place` has length n.
    """
    for i in range(count):
        marks[u64(own[i])] = 1
    found = 0
    for i in range(n):
        place[found] = i
        found += np.int64(marks[u64(mirror[i])])
    for i in range(count):
        marks[u64(own[i])] = 0
    return found
