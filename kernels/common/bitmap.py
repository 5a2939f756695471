"""Sets of vertices as bits of 32-bit words, a bit for each slot, on a CPU: for other twins. Twin of bitmap.cuh."""

import numpy as np

from graphdask.kernels.common.twin import inlined

u64 = np.uint64
"""Of an unsigned index Numba does not ask whether it counts from the end."""


@inlined
def has_bit(bits, slot):
    slot = u64(slot)
    return (bits[slot >> u64(5)] >> np.uint32(slot & u64(31))) & np.uint32(1) != 0


@inlined
def set_bit(bits, slot):
    slot = u64(slot)
    bits[slot >> u64(5)] |= np.uint32(1) << np.uint32(slot & u64(31))
