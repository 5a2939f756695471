"""The hash of a pair is as good as random where the generator reads it, by tests that catch a weaker one.

The same tests, with more numbers and seeds, and dieharder's, passed when the hash was chosen. The tests are after
G. Marsaglia (birthday spacings, overlapping tuples) and P. L'Ecuyer, R. Simard, "TestU01", ACM TOMS 33 (2007).
"""

import numpy as np
import pytest
from scipy import stats

from graphdask.kernels.common import hash as twins

LIKELY = 1e-6
COUNT = 1 << 18
BASES = [4, 1 << 20, 500_000_000, (1 << 31) - COUNT]
"""First vertices of the sequences of slots."""


def keyed(seed):
    return np.uint64(twins.key(np.uint64(seed), twins.DRAW_TARGET, 0))


def of_pairs(seed, v, k):
    return twins.hashed_pair.py_func(keyed(seed), np.asarray(v, np.uint64), np.asarray(k, np.uint64))


def of_slots(seed, base, degree, count=COUNT):
    slot = np.arange(count, dtype=np.uint64)
    return of_pairs(seed, np.uint64(base) + slot // np.uint64(degree), slot % np.uint64(degree))


def bits(numbers, low, count):
    return ((numbers >> np.uint64(low)) & np.uint64((1 << count) - 1)).astype(np.int64)


def p_value(cells, number):
    observed = np.bincount(cells, minlength=number)
    return stats.chisquare(observed).pvalue


def spacings(numbers, low):
    """How many spacings of 4096 birthdays of 32 bits are equal, summed: Poisson of mean 4 for each 4096."""
    days = np.sort(bits(numbers, low, 32).reshape(-1, 4096), axis=1)
    gaps = np.sort(np.diff(days, axis=1, append=days[:, :1] + (1 << 32)), axis=1)
    return int((np.diff(gaps, axis=1) == 0).sum()), 4 * len(days)


def assert_likely(p_values):
    p_values = np.asarray(p_values)
    assert (p_values > LIKELY).all(), p_values.min()
    assert (p_values < 1 - LIKELY).all(), p_values.max()


@pytest.mark.parametrize("degree", [1, 4, 7, 128])
@pytest.mark.parametrize("base", BASES)
def test_consecutive_slots_are_independent(base, degree):
    numbers = of_slots(1, base, degree)
    found = []
    for lag in (1, degree + 1, 32):
        left, right = numbers[:-lag], numbers[lag:]
        for low in range(0, 60, 6):
            found.append(p_value(bits(left, low, 6) << 6 | bits(right, low, 6), 1 << 12))
            found.append(p_value(bits(left ^ right, min(low, 52), 12), 1 << 12))
            found.append(p_value(bits(left - right, min(low, 52), 12), 1 << 12))
    assert_likely(found)


@pytest.mark.parametrize("degree", [1, 4, 128])
@pytest.mark.parametrize("base", BASES)
def test_birthday_spacings(base, degree):
    numbers = of_slots(2, base, degree)
    for low in (0, 16, 32):
        equal, mean = spacings(numbers, low)
        assert_likely([stats.poisson.cdf(equal, mean), stats.poisson.sf(equal - 1, mean)])


def test_the_same_tests_catch_one_multiplication_less():
    """Without the last multiplication consecutive numbers differ by few values."""
    slot = np.arange(COUNT, dtype=np.uint64) + np.uint64(500_000_000)
    weak = slot * np.uint64(0x9E3779B1)
    weak = (weak ^ (weak >> np.uint64(32)) ^ np.uint64(12345)) * np.uint64(0xDABA0B6EB09322E3)
    weak ^= weak >> np.uint64(32)
    assert p_value(bits(weak[1:] - weak[:-1], 52, 12), 1 << 12) < 1e-12


@pytest.mark.parametrize("flip", ["vertex", "edge", "seed"])
def test_every_bit_turns_half_of_the_bits(flip):
    """Strict avalanche: 2 * 64 * width counts within six standard deviations."""
    rng = np.random.default_rng(3)
    v, k = rng.integers(0, 1 << 31, 1 << 14), rng.integers(0, 4, 1 << 14)
    v[::2] = np.arange(1 << 13) + 1000
    before = of_pairs(5, v, k)
    for bit in range({"vertex": 31, "edge": 8, "seed": 64}[flip]):
        after = of_pairs(
            5 ^ (1 << bit) if flip == "seed" else 5,
            v ^ (1 << bit) if flip == "vertex" else v,
            k ^ (1 << bit) if flip == "edge" else k,
        )
        turned = np.unpackbits((before ^ after).view(np.uint8).reshape(-1, 8), axis=1).sum(axis=0)
        assert np.abs(turned - len(v) / 2).max() < 6 * np.sqrt(len(v) / 4)


@pytest.mark.parametrize("other", [0, 3, 1 << 32 | 1, 1 << 63 | 1, 2**64 - 2])
def test_nearby_seeds_are_independent(other):
    found = []
    for base in BASES:
        for shift in (0, 1):
            left, right = of_slots(1, base, 4), of_slots(other, base + shift, 4)
            for low in range(0, 60, 6):
                found.append(p_value(bits(left, low, 6) << 6 | bits(right, low, 6), 1 << 12))
                found.append(p_value(bits(left ^ right, min(low, 52), 12), 1 << 12))
    assert_likely(found)


def digits(numbers, v, degree):
    """u, k and the coin (32 bits) of each hash, as the generator takes them."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    v = np.asarray(v, np.uint64)
    product = (numbers >> half) * v + (((numbers & low) * v) >> half)
    rest = (product & low) * np.uint64(degree)
    return product >> half, rest >> half, rest & low


@pytest.mark.parametrize("degree", [1, 4, 7])
@pytest.mark.parametrize("base", [1 << 24, 500_000_000, (1 << 31) - COUNT])
def test_index_edge_and_coin_are_independent(base, degree):
    count = 4 * COUNT
    slot = np.arange(count, dtype=np.uint64)
    v = np.uint64(base) + slot // np.uint64(degree)
    u, k, coin = digits(of_slots(6, base, degree, count), v, degree)
    share, last = (u * np.uint64(16) // v).astype(np.int64), (u & np.uint64(1)).astype(np.int64)
    cells = ((share * 2 + last) * degree + k.astype(np.int64)) * 8 + bits(coin, 29, 3)
    assert_likely([p_value(cells, 16 * 2 * degree * 8)])


@pytest.mark.parametrize("degree", [1, 4, 7])
def test_one_step_is_independent_of_the_next(degree):
    base, count = 1_000_000_000, 4 * COUNT
    slot = np.arange(count, dtype=np.uint64)
    v = np.uint64(base) + slot // np.uint64(degree)
    u, k, coin = digits(of_slots(7, base, degree, count), v, degree)
    far = u > np.uint64(1000)
    next_u, _, next_coin = digits(of_pairs(7, u, k), u, degree)
    cells = (u * np.uint64(8) // v).astype(np.int64)
    for more, width in ((coin >> np.uint64(29), 8), (next_u * np.uint64(8) // u, 8), (next_coin >> np.uint64(30), 4)):
        cells = cells * width + more.astype(np.int64)
    assert_likely([p_value(cells[far], 8 * 8 * 8 * 4)])
