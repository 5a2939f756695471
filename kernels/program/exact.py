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
def clear(sums, k, least):
    """Make the sum number k that of no numbers, or the number k larger than any if `least` is not 0."""
    for i in range(k * BINS, (k + 1) * BINS):
        sums[i] = 0
    if least:
        sums[k * BINS] = 0x7FFFFFFFFFFFFFFF


@twin
def take_least(sums, k, x):
    """Keep the smaller one of x and the number k, which is at the beginning of its words."""
    if x < sums[k * BINS]:
        sums[k * BINS] = x


@twin
def exact_value(sums, k):
    """The float nearest to the sum of floats number k, of two that are as near the even one."""
    place = k * BINS
    above, below = sums[place + BINS - 2] != 0, sums[place + BINS - 1] != 0
    if above or below:
        return np.nan if above and below else np.inf if above else -np.inf
    carry = np.int64(0)
    for i in range(BINS - 2):
        carry = (carry + sums[place + i]) >> 32
    sign = np.int64(-1 if carry < 0 else 1)
    carry, top, rest = np.int64(0), -1, False
    one = two = three = first = second = third = np.uint64(0)  # digits: the last three, and three from the top
    below = False  # whether there is a digit below these three
    for i in range(BINS):
        word = carry + (sign * sums[place + i] if i < BINS - 2 else np.int64(0))
        carry = word >> 32
        rest = rest or three != 0
        one, two, three = np.uint64(word & 0xFFFFFFFF), one, two
        if one != 0:
            top, first, second, third, below = i, one, two, three, rest
    if top < 0:
        return 0.0
    length = 0  # of the highest digit, in bits
    while length < 32 and first >> np.uint64(length) != 0:
        length += 1
    least = 32 * top + length - 53  # the bit of the sum that is the last one of 53
    if least <= 0:
        bits = first if top == 0 else first << _32 | second  # a float counts the same multiples
    else:
        shift, lower = np.uint64(least & 31), third
        if least >> 5 == top - 1:
            mantissa = (second | first << _32) >> shift
            if shift > 0:
                lower, below = second, below or third != 0
        else:
            mantissa = (third | second << _32) >> shift | first << (np.uint64(64) - shift)
        place = np.uint64((least - 1) & 31)
        half = lower >> place & np.uint64(1)
        rest = below or lower & ((np.uint64(1) << place) - np.uint64(1)) != 0
        bits = (np.uint64(least) << np.uint64(52)) + mantissa
        if half != 0 and (rest or mantissa & np.uint64(1) != 0):
            bits += np.uint64(1)
        if least > 2046 or bits >> np.uint64(52) > np.uint64(2046):
            bits = np.uint64(2047) << np.uint64(52)
    value = np.int64(bits).view(np.float64)
    return -value if sign < 0 else value
