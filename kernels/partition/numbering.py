"""Numbering the ids of edges on a CPU: which ids there are, their numbers, and degrees.

There is no CUDA kernel of it: ids are numbered on the host, before edges go to a device.
"""

import numpy as np

from graphdask.kernels.common.hash import mix
from graphdask.kernels.common.twin import twin


@twin
def numbering_mark(n, ends, low, present):
    """Set present[end - low] for each of the n ends."""
    for i in range(n):
        present[ends[i] - low] = 1


@twin
def numbering_replace(n, ends, low, number_of, out):
    """Put the numbers of n ends into `out`, which may be the memory of `ends`."""
    for i in range(n):
        out[i] = number_of[ends[i] - low]


@twin
def numbering_degrees(n, src, dst, degree):
    """Add 1 to the degree of both ends of each of the n edges."""
    for i in range(n):
        degree[src[i]] += 1
        degree[dst[i]] += 1


@twin
def numbering_find(n, done, ends, seed, slots, found, count, out):
    """Number ids as they first come, from end `done` on, of n; return how many ends are done, and ids are known.

    The first `count` of `found` are known ids. `slots` is a table by open addressing of a power of two entries: 1 more
    than the number of an id, or 0. It stops before a new id where half of the table is filled.
    """
    mask = np.uint64(len(slots) - 1)
    for i in range(done, n):
        value = np.int64(ends[i])
        at = mix(np.uint64(value) ^ seed) & mask
        while slots[at] and found[slots[at] - 1] != value:
            at = (at + np.uint64(1)) & mask
        if not slots[at]:
            if 2 * count >= len(slots):
                return i, count
            found[count] = value
            count += 1
            slots[at] = count
        out[i] = slots[at] - 1
    return n, count


@twin
def numbering_enter(n, found, seed, slots):
    """Enter the first n of the known ids into a table without entries, as `numbering_find` has them."""
    mask = np.uint64(len(slots) - 1)
    for i in range(n):
        at = mix(np.uint64(found[i]) ^ seed) & mask
        while slots[at]:
            at = (at + np.uint64(1)) & mask
        slots[at] = i + 1
