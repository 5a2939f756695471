"""One edge of a row: every number that can be drawn, frequencies, and the same draws on every device."""

from __future__ import annotations

import numpy as np
import pytest
from biased_rows import DTYPES, METHODS, biased_rows, csr_of, drawn, tables
from scipy.stats import power_divergence

from graphdask.device.backend import get_backend
from graphdask.kernels.choice import pick
from graphdask.kernels.choice.keys import exponential_key, may_be_less
from graphdask.kernels.common.hash import hashed
from graphdask.kernels.common.hash import key as keyed
from graphdask.kernels.common.philox import DRAW_KEY, philox

CPU = get_backend("cpu")
EVERY = pytest.mark.parametrize("method", METHODS)
ROWS = [[3], [0, 2], [2, 0], [1, 1], [0, 0, 5, 1, 0, 4, 0], [7, 0, 0], [0, 0, 1], [2] * 31, [1] * 32 + [0, 3], [5] * 33]
u64 = np.uint64


def first_number(digit, size):
    """The least 64-bit number x with floor(x / 2^64 * size) == digit, and the greatest."""
    return u64(-((-digit << 64) // size)), u64(((digit + 1 << 64) - 1) // size)


def prefix_of(row, offset=0):
    """Prefix sums of a row that begins at an offset among other edges, and its biases there."""
    values = np.concatenate([np.full(offset, 99), row, np.full(40, 99)]).astype(np.int64)
    prefix = np.concatenate([np.arange(1, offset + 1) * 99, np.cumsum(row), np.arange(1, 41) * 99]).astype(u64)
    return values, prefix


@pytest.mark.parametrize("offset", [0, 1, 30, 31, 32, 33, 64])
@pytest.mark.parametrize("row", ROWS)
def test_every_digit_of_the_total_belongs_to_one_edge(row, offset):
    values, prefix = prefix_of(row, offset)
    sparse, total, end = prefix[31::32].copy(), sum(row), offset + len(row)
    owners = np.repeat(np.arange(len(row)), row).tolist()
    for digit, owner in enumerate(owners):
        for number in first_number(digit, total):
            assert pick.pick_inverse(prefix, offset, end, number) == offset + owner
            assert pick.pick_sparse(values, 0, u64(total), sparse, offset, end, number) == offset + owner


@pytest.mark.parametrize("row", ROWS)
def test_every_pair_of_digits_of_an_alias_table_counts_once(row):
    made = tables(CPU, csr_of(CPU, [0, len(row)], np.array(row)), method="alias")
    total, degree, counts = sum(row), len(row), np.zeros(len(row), int)
    for place in range(degree):
        for digit in range(total):
            numbers = first_number(place, degree)[0], first_number(digit, total)[1]
            counts[pick.pick_alias(made.alias_share, made.alias_other, u64(total), 0, degree, *numbers)] += 1
    np.testing.assert_array_equal(counts, degree * np.array(row))


@pytest.mark.parametrize("degree", [1, 2, 3, 31, 1000])
def test_every_edge_of_a_row_without_biases_has_its_numbers(degree):
    for edge in range(degree):
        assert [pick.pick_uniform(70, 70 + degree, x) for x in first_number(edge, degree)] == [70 + edge] * 2


@pytest.mark.parametrize("row", [[3, 1, 4, 1, 5], [0, 0, 2], [6]])
def test_rejection_keeps_an_edge_where_the_digit_is_below_its_bias(row):
    values, total, key = np.array(row), u64(sum(row)), u64(77)
    for instance in range(200):
        expected, draw = -1, 0
        while expected < 0:
            first, second = map(int, philox(key, u64(instance), u64(5), u64(draw)))
            edge, digit = first * len(row) >> 64, second * max(row) >> 64
            draw += 1
            if digit < row[edge]:
                expected = edge
        found = pick.pick_rejection(
            values, values.max(), 0, total, np.empty(0, u64), 0, len(row), key, u64(instance), u64(5), u64(0)
        )
        assert found == (expected, draw)


def test_rejection_ends_after_its_trials():
    nothing = np.zeros(40, np.int64)  # with a total that says otherwise, so that every trial is in vain
    end = pick.pick_rejection(nothing, np.int64(1), 0, u64(40), np.zeros(1, u64), 0, 40, u64(1), u64(2), u64(3), u64(0))
    assert end == (39, pick.TRIALS + 1)


def divergence(counts, weights):
    """p-value of a G-test; what has no weight must not have come."""
    assert not counts[weights == 0].any()
    counts, weights = counts[weights > 0], weights[weights > 0].astype(np.float64)
    expected = weights / weights.sum() * counts.sum()
    return power_divergence(counts, expected, lambda_="log-likelihood").pvalue


@EVERY
@pytest.mark.parametrize("bias", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("degree", [2, 33, 100])
def test_edges_come_as_often_as_their_biases_say(bias, method, degree):
    rng = np.random.default_rng(degree)
    weights = rng.integers(0, 30, degree) if np.dtype(bias).kind == "i" else rng.random(degree) * 7
    weights[:2] = 3, 8
    weights[2:-1:5] = 0
    csr = csr_of(CPU, [0, 3, 3 + degree], np.concatenate([[9, 9, 9], weights]).astype(bias))
    edges, draws = drawn(CPU, tables(CPU, csr, method=method), csr, np.ones(200_000), np.arange(200_000), key=2)
    assert divergence(np.bincount(edges - 3, minlength=degree), csr.weights[3:]) > 1e-3
    trials = degree * csr.weights[3:].max() / csr.weights[3:].sum() if method == "rejection" else 1
    assert abs(draws.mean() / trials - 1) < 0.02


@EVERY
def test_one_heavy_edge_among_many_takes_no_trials(method):
    weights = np.ones(100_000, np.int32)
    weights[777] = 300_000
    csr = csr_of(CPU, [0, 100_000], weights)
    edges, draws = drawn(CPU, tables(CPU, csr, method=method), csr, np.zeros(100_000), np.arange(100_000), key=3)
    assert (draws == 1).all()
    groups = np.bincount(np.where(edges == 777, 10, edges // 10_000), minlength=11)
    assert divergence(groups, np.array([9_999] + [10_000] * 9 + [300_000])) > 1e-3


def test_rows_are_drawn_by_rejection_up_to_16_trials_an_edge():
    for greatest, even in ((17, True), (18, False)):  # 256 * 17 == 16 * (255 + 17)
        csr = csr_of(CPU, [0, 256], np.array([1] * 255 + [greatest]))
        _, draws = drawn(CPU, tables(CPU, csr, method="rejection"), csr, np.zeros(500), np.arange(500))
        assert (draws.max() > 1) == even
        assert draws.max() <= pick.TRIALS + 1


def test_edges_without_biases_come_alike():
    csr = csr_of(CPU, [0, 3, 3, 70], None)
    made = tables(CPU, csr, None)
    edges, draws = drawn(CPU, made, csr, np.full(100_000, 2), np.arange(100_000))
    assert divergence(np.bincount(edges - 3, minlength=67), np.ones(67)) > 1e-3
    assert (draws == 1).all()
    assert (drawn(CPU, made, csr, np.ones(9), np.arange(9))[0] == -1).all()


@EVERY
@pytest.mark.parametrize("bias", [np.int32, np.float64])
def test_from_rows_without_a_bias_above_zero_nothing_is_drawn(backend, bias, method):
    csr = csr_of(backend, [0, 0, 3, 40, 41], np.concatenate([np.zeros(40), [2]]).astype(bias))
    rows = np.array([0, 1, 2, 3, 3])
    edges, _ = drawn(backend, tables(backend, csr, method=method), csr, rows, np.arange(5))
    assert edges.tolist() == [-1, -1, -1, 40, 40]


@EVERY
@pytest.mark.parametrize("bias", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_draws_are_the_same_on_every_device(rng, backend, bias, method):
    indptr, weights = biased_rows(rng, bias, (1, 2, 31, 32, 33, 1025, 5000), 100)
    rows, instances = rng.integers(0, len(indptr) - 1, 3000), rng.integers(0, 1 << 62, 3000)
    draws = rng.integers(0, 5, 3000).astype(np.int32)
    found = []
    for where in (CPU, backend):
        csr = csr_of(where, indptr, weights)
        found.append(drawn(where, tables(where, csr, method=method), csr, rows, instances, 2**64 - 9, 2**32 - 1, draws))
    for expected, other in zip(*found, strict=True):
        np.testing.assert_array_equal(other, expected)
    edges, filled = found[1][0], np.add.reduceat(np.append(weights, 0), indptr[:-1]) * np.diff(indptr) > 0
    np.testing.assert_array_equal(edges >= 0, filled[rows])
    drawn_from = edges >= 0
    assert (indptr[rows] <= edges)[drawn_from].all()
    assert (edges < indptr[rows + 1])[drawn_from].all()
    assert (weights[edges[drawn_from]] > 0).all()


def test_draws_without_biases_are_the_same_on_every_device(rng, backend):
    indptr, _ = biased_rows(rng, np.int32, (1, 2, 31, 5000), 100)
    rows, instances = rng.integers(0, len(indptr) - 1, 3000), rng.integers(0, 1 << 62, 3000)
    found = []
    for where in (CPU, backend):
        csr = csr_of(where, indptr, None)
        found.append(drawn(where, tables(where, csr, None), csr, rows, instances, 5, 6)[0])
    np.testing.assert_array_equal(*found)


@EVERY
@pytest.mark.parametrize("bias", [np.int32, np.float32])
def test_draws_do_not_depend_on_where_a_row_stands(rng, bias, method):
    weights = np.concatenate([rng.integers(0, 9, 60), [4], rng.integers(0, 9, 1000), [1, 900]]).astype(bias)
    found = []
    for offset in (0, 1, 31, 32, 77):
        csr = csr_of(CPU, [0, offset, offset + len(weights)], np.concatenate([np.ones(offset), weights]).astype(bias))
        edges, draws = drawn(CPU, tables(CPU, csr, method=method), csr, np.ones(500), np.arange(500))
        found.append((edges - offset, draws))
    for edges, draws in found[1:]:
        np.testing.assert_array_equal(edges, found[0][0])
        np.testing.assert_array_equal(draws, found[0][1])


@EVERY
def test_each_draw_has_numbers_of_its_own(method):
    csr = csr_of(CPU, [0, 64], np.arange(64))
    made, rows, instances = tables(CPU, csr, method=method), np.zeros(400), np.arange(400)
    seen = []
    for key, step, draw, shift in ((1, 0, 0, 0), (2, 0, 0, 0), (1, 1, 0, 0), (1, 0, 9, 0), (1, 0, 0, 1 << 40)):
        draws = np.full(400, draw, np.int32)
        seen.append(drawn(CPU, made, csr, rows, instances + shift, key, step, draws)[0])
    for i, one in enumerate(seen):
        for other in seen[:i]:
            assert (one == other).mean() < 0.1


def test_keys_that_are_less_are_made(rng):
    """What says without a logarithm that a key cannot be less is never wrong, and seldom says so in vain."""
    numbers = rng.integers(0, 2**64, 3000, dtype=np.uint64)
    numbers[:200] = np.uint64(2**64 - 1) - (numbers[:200] >> np.arange(200, dtype=np.uint64) % np.uint64(64))
    numbers[200:202] = 0, 2**64 - 1
    for bias in (1.0, 3, 1e-300, 5e-324, 1e300, 2.5):
        keys = np.array([exponential_key(number, bias) for number in numbers])
        for than in (keys[0], keys[1000], np.median(keys), 0.0, 1e-3 / bias if bias < 1e300 else 1e-303, np.inf):
            may = np.array([may_be_less(number, bias, than) for number in numbers])
            assert not ((keys < than) & ~may).any()
    keys = np.array([exponential_key(number, 2.5) for number in numbers])
    may = np.array([may_be_less(number, 2.5, 0.004) for number in numbers])
    assert may[202:].sum() <= (keys < 0.0041)[202:].sum()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_edge_of_the_smallest_key_is_picked(backend, dtype, rng):
    """On every device, and by the numbers of each edge."""
    indptr, weights = biased_rows(rng, dtype, degrees=(0, 1, 2, 33, 300), few=20)
    csr = csr_of(backend, indptr, weights)
    rows, instances = np.arange(len(indptr) - 1), rng.integers(0, 2**40, len(indptr) - 1)
    edges, draws = drawn(backend, tables(backend, csr, method="reservoir"), csr, rows, instances, key=7, step=3)
    of_draw = hashed(keyed(u64(7), DRAW_KEY, 0), keyed(u64(7), DRAW_KEY, 1), u64(0))
    for row in rows:
        begin, end = indptr[row], indptr[row + 1]
        keys = [np.inf] * (end - begin)
        for place, weight in enumerate(weights[begin:end]):
            number = philox(of_draw, u64(instances[row]), u64(3), u64(place >> 1))[place & 1]
            keys[place] = exponential_key(u64(number), weight) if weight > 0 else np.inf
        some = min(keys, default=np.inf) < np.inf
        assert edges[row] == (begin + int(np.argmin(keys)) if some else -1)
        assert draws[row] == (end > begin)
