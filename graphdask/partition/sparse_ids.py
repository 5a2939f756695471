"""Numbers of ids that lie too far apart for a table of all between them: a hash table finds the distinct ones, and only
those are sorted.

The numbers do not depend on the seed of the hash, which is drawn anew, so that no file can be made for which many ids
share a place.
"""

from __future__ import annotations

import os

import numpy as np

from graphdask.device.backend import get_backend
from graphdask.device.host_memory import reserved
from graphdask.display.phases import phase

FIRST, LARGER = 1 << 16, 2
"""Entries of the first table, and how many times as many the next one has."""


def number_sparse(src: np.ndarray, dst: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct ids in ascending order, int64, and the rank of each end among them, int32.

    Both ends together are fewer than 2**31.
    """
    kernels = get_backend("cpu").kernels("numbering")
    seed = np.uint64(int.from_bytes(os.urandom(8), "little"))
    slots, found, count = reserved(FIRST, np.int32), reserved(len(src) + len(dst), np.int64), 0  # as it is filled
    numbers = []
    with phase("ids") as report:
        for ends in (src, dst):
            out, done = reserved(len(ends), np.int32), 0
            while True:
                done, count = kernels.numbering_find(len(ends), done, ends, seed, slots, found, count, out)
                if done == len(ends):
                    break
                size = LARGER * len(slots)
                del slots
                slots = reserved(size, np.int32)
                kernels.numbering_enter(count, found, seed, slots)
            numbers.append(out)
            report(0.35 * len(numbers))
        del slots
        order = np.argsort(found[:count])
        table = found[order]
        del found
        rank = np.empty(count, np.int32)
        rank[order] = np.arange(count, dtype=np.int32)
        del order
        for out in numbers:
            kernels.numbering_replace(len(out), out, 0, rank, out)
    return table, numbers[0], numbers[1]
