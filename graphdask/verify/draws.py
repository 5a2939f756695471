"""The hash of the generators in plain Python and in array code: what the checks compute edges with, not the kernels."""

from __future__ import annotations

import numpy as np

from graphdask.device.backend import Array

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
COUNTER_FACTOR = 0x9FB21C651E98DF25


def mix(x: int) -> int:
    x = (x ^ (x >> 30)) * FACTORS[0] & MASK
    x = (x ^ (x >> 27)) * FACTORS[1] & MASK
    return x ^ (x >> 31)


def keys(seed: int, what: int) -> tuple[int, int]:
    """The two keys of one use of a seed."""
    mixed = mix((seed + GOLDEN) & MASK)
    first, second = (mix((mixed + number * GOLDEN) & MASK) for number in (2 * what, 2 * what + 1))
    return first, second


def hash_of(pair: tuple[int, int], number: int) -> int:
    """Hash a number."""
    x = number ^ pair[0]
    x = (x ^ (x >> 30)) * FACTORS[0] & MASK
    x = (x ^ (x >> 27) ^ pair[1]) * FACTORS[1] & MASK
    return x ^ (x >> 31)


def hashed(pair: tuple[int, int], numbers: Array) -> Array:
    """Hash each of an array of uint64 with the hash for numbers that follow each other."""
    x = numbers ^ np.uint64(pair[0])
    x = (x ^ _rotated(x, 49) ^ _rotated(x, 24)) * np.uint64(COUNTER_FACTOR)
    x = (x ^ (x >> np.uint64(28)) ^ np.uint64(pair[1])) * np.uint64(COUNTER_FACTOR)
    return x ^ (x >> np.uint64(28))


def _rotated(x: Array, right: int) -> Array:
    return x >> np.uint64(right) | x << np.uint64(64 - right)


def digit(x: Array, modulus: int) -> Array:
    """floor(x / 2**64 * modulus) of an array of uint64, in products of 32-bit halves."""
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    x_high, x_low = x >> shift, x & low
    m_high, m_low = np.uint64(modulus >> 32), np.uint64(modulus & 0xFFFFFFFF)
    middle = x_high * m_low + (x_low * m_low >> shift)
    carry = x_low * m_high + (middle & low)
    return x_high * m_high + (middle >> shift) + (carry >> shift)
