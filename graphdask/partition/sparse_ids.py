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
from graphdask.display.phases import in_blocks, phase
from graphdask.display.tuning import DISPLAY

FIRST, LARGER = 1 << 16, 2
"""Entries of the first table, and how many times as many the next one has."""


def number_sparse(src: np.ndarray, dst: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct ids in ascending order, int64, and the rank of each end among them, int32.

    Both ends together are fewer than 2**31.
    """
    kernels = get_backend("cpu").kernels("numbering")
    seed = np.uint64(int.from_bytes(os.urandom(8), "little"))
    slots, found, count = reserved(FIRST, np.int32), reserved(len(src) + len(dst), np.int64), 0  # as it is filled
    numbers: list[np.ndarray] = []
    with phase("ids") as report:
        for ends in (src, dst):
            out, done = reserved(len(ends), np.int32), 0
            while True:
                stop = min(done + DISPLAY.items, len(ends))
                done, count = kernels.numbering_find(stop, done, ends, seed, slots, found, count, out)
                report(0.35 * (len(numbers) + done / len(ends)))
                if done == len(ends):
                    break
                if done == stop:
                    continue
                size = LARGER * len(slots)
                del slots
                slots = reserved(size, np.int32)
                kernels.numbering_enter(count, found, seed, slots)
            numbers.append(out)
        del slots
        order = np.argsort(found[:count])
        table = found[order]
        del found
        rank = np.empty(count, np.int32)
        rank[order] = np.arange(count, dtype=np.int32)
        del order
        for number, out in enumerate(numbers):
            for some in in_blocks(report, len(out), 0.8 + 0.1 * number, 0.9 + 0.1 * number):
                kernels.numbering_replace(len(out[some]), out[some], 0, rank, out[some])
    return table, numbers[0], numbers[1]
