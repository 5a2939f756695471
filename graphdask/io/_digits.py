"""Compiled formatting of integers as lines of text, two digits at a time from a table, without the GIL."""

from __future__ import annotations

import numpy as np
from numba import njit

from graphdask.kernels.common.compiling import listen_to_numba

listen_to_numba()

PAIRS = np.frombuffer("".join(f"{k:02d}" for k in range(100)).encode(), np.uint8)
WIDEST = 20
"""Characters of the longest int64, with its sign."""


def widest(values: np.ndarray) -> int:
    """Characters of the longest of the values."""
    if not len(values):
        return 1
    return max(len(str(int(values.min()))), len(str(int(values.max()))))


@njit(nogil=True, cache=True)
def _put(out, pos, value):
    """Write a number from `pos` on; return where it ends."""
    rest = np.uint64(value)
    if value < 0:
        out[pos] = 45
        pos += 1
        rest = np.uint64(0) - rest
    digits = 1
    bound = np.uint64(10)
    while digits < 19 and rest >= bound:
        digits += 1
        bound *= np.uint64(10)
    if digits == 19 and rest >= bound:
        digits = 20
    end = pos + digits
    at = end
    while rest > np.uint64(0xFFFFFFFF):
        pair = rest % np.uint64(100)
        rest //= np.uint64(100)
        at -= 2
        out[at] = PAIRS[2 * pair]
        out[at + 1] = PAIRS[2 * pair + np.uint64(1)]
    small = np.uint32(rest)
    while small >= np.uint32(100):
        pair32 = small % np.uint32(100)
        small //= np.uint32(100)
        at -= 2
        out[at] = PAIRS[np.uint32(2) * pair32]
        out[at + 1] = PAIRS[np.uint32(2) * pair32 + np.uint32(1)]
    if at - pos >= 2:
        out[pos] = PAIRS[np.uint32(2) * small]
        out[pos + 1] = PAIRS[np.uint32(2) * small + np.uint32(1)]
    elif at - pos == 1:
        out[pos] = np.uint8(48) + np.uint8(small)
    return end


@njit(nogil=True, cache=True)
def put_pairs(src, dst, delimiter, out):
    """Write `src delimiter dst` and a line end for each edge into `out`, uint8; return the bytes written."""
    pos = 0
    for i in range(len(src)):
        pos = _put(out, pos, src[i])
        out[pos] = delimiter
        pos = _put(out, pos + 1, dst[i])
        out[pos] = 10
        pos += 1
    return pos


@njit(nogil=True, cache=True)
def put_triples(src, dst, weights, delimiter, out):
    """The same with a third column of integers."""
    pos = 0
    for i in range(len(src)):
        pos = _put(out, pos, src[i])
        out[pos] = delimiter
        pos = _put(out, pos + 1, dst[i])
        out[pos] = delimiter
        pos = _put(out, pos + 1, weights[i])
        out[pos] = 10
        pos += 1
    return pos
