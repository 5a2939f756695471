"""How many entries of a mask are set.

On a GPU a kernel of graphdask counts them. CuPy compiles its own sum of truth values, and `all` and `any` of them, for
about three seconds each, when a process on a new host calls it first.
"""

from __future__ import annotations

import numpy as np

from graphdask.device.backend import BLOCK, Array, cuda_backends

AT_ONCE = 32
"""Entries of a thread, about."""


def count_set(mask: Array) -> int:
    """Return how many entries of a 1-D array are set.

    Parameters
    ----------
    mask : array of bool, or of uint8 that are 0 or 1
        Of NumPy, or of the device of a backend.
    """
    if isinstance(mask, np.ndarray):
        return int(np.count_nonzero(mask))
    backend = cuda_backends.get(mask.device.id)
    if backend is None or mask.strides != (1,):
        return int(mask.sum())
    found = backend.xp.zeros(1, np.int64)
    backend.kernels("counting").counting_set(-(-len(mask) // AT_ONCE) + BLOCK, len(mask), mask, found)
    return int(backend.to_host(found)[0])


def all_set(mask: Array) -> bool:
    """Return whether all entries of a 1-D array of bool are set."""
    return count_set(mask) == len(mask)


def any_set(mask: Array) -> bool:
    """Return whether an entry of a 1-D array of bool is set."""
    return count_set(mask) > 0
