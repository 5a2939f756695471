"""Numbers of counters, and what draws of whole numbers are made of: words, and weights as whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

BITS = 62
"""Of a sum of weights as whole numbers."""


def raw_words(seed: int, purpose: np.uint64, high: tuple[int, int], first: int, count: int) -> np.ndarray:
    """64-bit numbers `first` to `first` + `count` - 1 of Philox 4x64 with the key (seed, purpose).

    Number q is word q % 4 of the block with the counter (1 + q // 4, 0, *high).
    """
    skipped = first % 4
    counter = np.array([first // 4, 0, *high], np.uint64)
    generator = np.random.Philox(key=np.array([seed, purpose], np.uint64), counter=counter)
    return generator.random_raw(skipped + count)[skipped:]


def scaled(words: np.ndarray, totals: Any) -> np.ndarray:
    """int64: the integer part of words / 2^64 * totals, for uint64 words and totals below 2^63."""
    low, half, totals = np.uint64(0xFFFFFFFF), np.uint64(32), np.asarray(totals).astype(np.uint64)
    a_high, a_low, b_high, b_low = words >> half, words & low, totals >> half, totals & low
    middle = a_high * b_low + (a_low * b_low >> half)
    other = a_low * b_high + (middle & low)
    return (a_high * b_high + (middle >> half) + (other >> half)).astype(np.int64)


def units(values: np.ndarray) -> np.ndarray:
    """Whole numbers in proportion to weights, whose sum has at most 62 bits; what is above 0 stays so."""
    if values.dtype.kind in "bui" and float(values.max(initial=0)) * max(len(values), 1) < 2.0**BITS:
        return values.astype(np.int64)
    values = values.astype(np.float64)
    _, exponent = np.frexp(values.max(initial=0))
    shift = BITS - 1 - int(exponent) - len(values).bit_length()
    return np.where(values > 0, np.maximum(np.rint(np.ldexp(values, shift)), 1), 0).astype(np.int64)
