"""Exact sums of numbers in words of 32 bits, for other twins: the order in which numbers are added does not matter.

A sum is BINS words (program_pack.py). Word i of a sum of floats counts multiples of 2 ** (32 i - 1074), of a sum of
integers of 2 ** (32 i). A number is added to two or three of them, so that 2 ** 31 numbers fit. The last two words
count infinite numbers above and below 0. Twin of exact.cuh.

Source: Kulisch and Miranker, The arithmetic of the digital computer, SIAM Review 28 (1986), the long accumulator.
"""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.program.program_pack import BINS

_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


@twin
def add_integer(sums, k, x):
    """Add an integer to the sum number k."""
    place = k * BINS
    sums[place] += np.int64(np.uint64(x) & _LOW)
    sums[place + 1] += x >> 32


@twin
def add_float(sums, k, x):
    """Add a float, which is not NaN, to the sum number k."""
    if x == 0:
        return
    place = k * BINS
    bits = np.float64(x).view(np.int64)
    exponent = (bits >> 52) & 2047
    if exponent == 2047:
        sums[place + (BINS - 2 if x > 0 else BINS - 1)] += 1
        return
    mantissa = np.uint64(bits & ((1 << 52) - 1))
    if exponent > 0:
        mantissa |= np.uint64(1 << 52)
        exponent -= 1
    place += exponent >> 5
    shift = np.uint64(exponent & 31)
    low = (mantissa & _LOW) << shift  # below 2 ** 63
    high = (mantissa >> _32) << shift  # below 2 ** 52
    words = np.int64(low & _LOW), np.int64((low >> _32) + (high & _LOW)), np.int64(high >> _32)
    sign = -1 if x < 0 else 1
    sums[place] += sign * words[0]
    sums[place + 1] += sign * words[1]
    sums[place + 2] += sign * words[2]


@twin
def take_least(sums, k, x):
    """Keep the smaller one of x and the number k, which is at the beginning of its words."""
    if x < sums[k * BINS]:
        sums[k * BINS] = x


@twin
def ordered(x):
    """An integer for each float that is not NaN, in the same order."""
    bits = np.float64(x + 0.0).view(np.int64)
    return bits if bits >= 0 else bits ^ np.int64(0x7FFFFFFFFFFFFFFF)
