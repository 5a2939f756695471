"""R-MAT edges follow the Kronecker product of their quadrants, exactly where that can be counted."""

from fractions import Fraction
from functools import reduce
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from graphdask.device.backend import get_backend
from graphdask.generate.rmat import RMat, edges
from graphdask.kernels.common import hash as twins

CPU = get_backend("cpu")
LIKELY = 1e-5
"""Seeds are fixed, so a test passes or fails for good; a right generator had this chance to fail once."""

QUADRANTS = [(0.57, 0.19, 0.19), (0.45, 0.15, 0.15), (0.25, 0.25, 0.25), (0.7, 0.2, 0.1), (0.0, 0.5, 0.2)]


def made(graph):
    src, dst = graph.block(CPU, 0, 1)
    return src.astype(np.int64), dst.astype(np.int64)


def kronecker(a, b, c, levels):
    """Probability of each cell of the adjacency matrix."""
    return reduce(np.kron, [np.array([[a, b], [c, 1 - a - b - c]])] * levels)


def assert_counts_agree(observed, expected):
    """Chi-square test; impossible outcomes do not occur, and those expected less than 10 times count as one."""
    observed, expected = np.ravel(observed), np.ravel(expected)
    possible = expected > 1e-9
    assert not observed[~possible].any()
    observed, expected = observed[possible], expected[possible]
    rare = expected < 10
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    expected = expected * (observed.sum() / expected.sum())
    if len(expected) > 1:
        assert LIKELY < stats.chisquare(observed, expected).pvalue < 1 - LIKELY


@pytest.mark.parametrize("levels", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("abc", [*QUADRANTS, (1.0, 0.0, 0.0), (0.9, 0.05, 0.04)], ids=str)
def test_the_table_divides_all_values_of_a_draw_as_the_probabilities_say(abc, levels):
    a, b, c = (Fraction(str(p)) for p in abc)
    quadrants = ((a, b), (c, 1 - a - b - c))
    table = RMat(2 * levels, 1, 0, *abc).table
    counts = [0] * 4**levels
    for cell, entry in enumerate(table.tolist()):
        threshold, alias = divmod(entry, 4**levels)
        counts[cell] += threshold
        counts[alias] += 4 ** (16 - levels) - threshold
    assert sum(counts) == 2**32
    for path, count in enumerate(counts):
        row, column = divmod(path, 2**levels)
        right = Fraction(2**32)
        for level in range(levels):
            right *= quadrants[row >> level & 1][column >> level & 1]
        assert abs(count - right) < levels
        assert right or not count


@pytest.mark.parametrize("scale", [1, 3, 5, 6])
@pytest.mark.parametrize("abc", QUADRANTS, ids=str)
def test_cells_are_as_likely_as_the_kronecker_product_says(abc, scale):
    src, dst = made(RMat(scale, 400_000 >> scale, 1, *abc, permute=False))
    observed = np.bincount(src << scale | dst, minlength=4**scale)
    assert_counts_agree(observed, len(src) * kronecker(*abc, scale))


@pytest.mark.parametrize("scale", [13, 25])
def test_quadrants_of_any_two_levels_are_independent(scale):
    abc = (0.45, 0.15, 0.15)
    src, dst = (column.astype(np.int64) for column in edges(CPU, RMat(scale, 40, 2, *abc, False), 7, 300_007))
    chosen = [2 * (src >> level & 1) + (dst >> level & 1) for level in range(scale)]
    likely = kronecker(*abc, 1).ravel()
    for one, other in combinations(chosen, 2):
        assert_counts_agree(np.bincount(4 * one + other, minlength=16), len(src) * np.outer(likely, likely))


@pytest.mark.parametrize("abc", [(0.57, 0.19, 0.19), (0.45, 0.3, 0.05)], ids=str)
@pytest.mark.parametrize("permute", [False, True])
def test_degrees_follow_the_binomial_mixture(abc, permute):
    scale, factor = 13, 8
    src, dst = made(RMat(scale, factor, 3, *abc, permute))
    m = len(src)
    ones = np.arange(scale + 1)
    share = stats.binom.pmf(ones, scale, 0.5)
    for column, first in ((src, abc[0] + abc[1]), (dst, abc[0] + abc[2])):
        likely = first ** (scale - ones) * (1 - first) ** ones
        degrees = np.arange(m + 1)[:4000]
        expected = 2**scale * (stats.binom.pmf(degrees[:, None], m, likely) @ share)
        observed = np.bincount(np.bincount(column, minlength=2**scale), minlength=4000)
        assert len(observed) == 4000 or observed[4000:].sum() < 20
        assert_counts_agree(observed[:4000], expected)


def test_the_images_of_ids_that_differ_in_every_bit_are_independent_over_seeds():
    images = np.zeros((8, 8), np.int64)
    for seed in range(6000):
        (src,), (dst,) = (column[:1].tolist() for column in RMat(10, 1, seed, 0.0, 1.0, 0.0).block(CPU, 0, 1024))
        images[src >> 7, dst >> 7] += 1
    expected = np.full((8, 8), 128 * 128 / (1024 * 1023))
    expected[np.diag_indices(8)] = 128 * 127 / (1024 * 1023)
    assert_counts_agree(images, 6000 * expected)


@pytest.mark.parametrize("seeds", [(0, 1), (7, 8), (2**63, 2**63 + 1), (5, 2**32 + 5)], ids=str)
def test_nearby_seeds_give_unrelated_graphs(seeds):
    scale, abc = 8, (0.57, 0.19, 0.19)
    one, other = (np.stack(made(RMat(scale, 1024, seed, *abc, permute=False))) for seed in seeds)
    cells = kronecker(*abc, scale)
    for shift in (0, 1, -1):
        same = int((one == np.roll(other, shift, axis=1)).all(axis=0).sum())
        assert stats.binomtest(same, one.shape[1], float((cells**2).sum())).pvalue > LIKELY
    shuffled = [made(RMat(scale, 1024, seed, *abc))[0] for seed in seeds]
    assert (shuffled[0] == shuffled[1]).mean() < 0.5


def test_neighbouring_edges_are_independent():
    scale, abc = 3, (0.57, 0.19, 0.19)
    src, dst = made(RMat(scale, 50_000, 4, *abc, permute=False))
    cell, likely = src << scale | dst, kronecker(*abc, scale).ravel()
    for lag in (1, 2, 1024):
        joint = np.bincount(cell[:-lag] * 64 + cell[lag:], minlength=64 * 64)
        assert_counts_agree(joint, (len(cell) - lag) * np.outer(likely, likely))


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_any_two_windows_of_the_hash_of_consecutive_numbers_are_independent(seed):
    key_0, key_1 = (twins.key(np.uint64(seed), twins.DRAW_QUADRANTS, part) for part in (0, 1))
    numbers = np.arange(10_000, 210_000, dtype=np.uint64)
    hashed = twins.hashed_counter.py_func(key_0, key_1, numbers)
    windows = [(hashed >> np.uint64(at) & np.uint64(31)).astype(np.int64) for at in range(0, 60, 5)]
    for one, other in combinations(windows, 2):
        assert_counts_agree(np.bincount(32 * one + other, minlength=1024), np.full(1024, len(numbers) / 1024))
    for window in windows:
        joint = np.bincount(32 * window[:-1] + window[1:], minlength=1024)
        assert_counts_agree(joint, np.full(1024, (len(numbers) - 1) / 1024))
