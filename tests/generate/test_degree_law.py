"""The generated graphs follow the copy model: exact probabilities, degree laws, and a sequential model."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from graphdask.device.backend import get_backend
from graphdask.generate.preferential_attachment import PreferentialAttachment, coin_threshold, targets
from graphdask.kernels.common import hash as twins

CPU = get_backend("cpu")
LIKELY = 1e-5
"""Seeds are fixed, so a test passes or fails for good; a right generator had this chance to fail once."""


def all_targets(n, degree, p, seed=0):
    return targets(CPU, n, degree, p, seed, degree, n).reshape(n - degree, degree)


def assert_counts_agree(observed, expected):
    """Chi-square test; outcomes that are expected less than 10 times count as one."""
    rare = expected < 10
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    assert LIKELY < stats.chisquare(observed, expected).pvalue < 1 - LIKELY


def exact_distribution(n, degree, p):
    """Probability of every outcome (F(degree), ..., F(n-1)), from the definition of the model."""
    clique = tuple(range(degree))
    known = {(): Fraction(1)}
    for v in range(degree, n):
        longer = {}
        for outcome, probability in known.items():
            target = dict.fromkeys(range(v), Fraction(0))
            for u in range(v):
                if u in clique:
                    target[u] += Fraction(1, v)
                    continue
                target[u] += p / v
                for k in range(degree):
                    target[outcome[(u - degree) * degree + k]] += (1 - p) / (v * degree)
            for edges in itertools.product(range(v), repeat=degree):
                chance = probability
                for u in edges:
                    chance *= target[u]
                if chance:
                    longer[outcome + edges] = chance
        known = longer
    return known


@pytest.mark.parametrize(
    ("n", "degree", "p", "seeds"),
    [
        (6, 1, Fraction(1, 2), 60_000),
        (6, 1, Fraction(1, 8), 60_000),
        (5, 2, Fraction(1, 2), 120_000),
        (5, 3, Fraction(1, 4), 120_000),
    ],
    ids=str,
)
def test_small_graphs_have_their_exact_probabilities(n, degree, p, seeds):
    exact = exact_distribution(n, degree, p)
    edges = len(next(iter(exact)))
    kernels = CPU.kernels("preferential_attachment")
    found = np.empty((seeds, edges), np.int32)
    threshold = np.uint64(coin_threshold(float(p)))
    for seed in range(seeds):
        kernels.pa_targets(edges, degree * degree, degree, threshold, np.uint64(seed), found[seed])
    code = found @ (n ** np.arange(edges))
    outcomes = np.array(list(exact)) @ (n ** np.arange(edges))
    order = np.argsort(outcomes)
    assert np.isin(code, outcomes).all()
    observed = np.bincount(np.searchsorted(outcomes[order], code), minlength=len(order))
    assert_counts_agree(observed, np.array([float(q) for q in exact.values()])[order] * seeds)


def test_index_edge_and_coin_of_one_hash_are_independent():
    slots = np.arange(4_000_000, 8_000_000, dtype=np.uint64)
    keys = (np.uint64(twins.key(np.uint64(12345), twins.DRAW_TARGET, part)) for part in (0, 1))
    fraction = twins.hashed.py_func(*keys, slots)
    digits = []
    for limit in (1_000_003, 5):
        half = np.uint64(32)
        low = (fraction & np.uint64(0xFFFFFFFF)) * np.uint64(limit)
        digits.append((((fraction >> half) * np.uint64(limit) + (low >> half)) >> half).astype(np.int64))
        fraction = fraction * np.uint64(limit)
    coin = fraction < np.uint64(2**63 // 4)
    table = np.zeros((32, 5, 2))
    np.add.at(table, (digits[0] * 32 // 1_000_003, digits[1], coin.astype(int)), 1)
    share = stats.contingency.expected_freq(table)
    assert LIKELY < stats.chi2.sf(((table - share) ** 2 / share).sum(), table.size - 31 - 4 - 1 - 1) < 1 - LIKELY
    assert stats.binomtest(int(coin.sum()), len(slots), 1 / 8).pvalue > LIKELY
    last_bit = digits[0] % 2
    assert abs(np.corrcoef(last_bit, coin)[0, 1]) < 5 / np.sqrt(len(slots))


@pytest.mark.parametrize("start", [64_000, 1 << 33])
def test_direct_edges_are_uniform(start):
    vertices = np.arange(start, start + 200_000)
    found = targets(CPU, 1 << 34, 4, 1.0, 5, start, start + 200_000).reshape(-1, 4)
    even = vertices % 64 == 0
    bins = found[even] * 64 // vertices[even, None]
    for column in range(4):
        assert_counts_agree(np.bincount(bins[:, column], minlength=64), np.full(64, even.sum() / 64))
    pairs = bins[:, 0] * 64 + bins[:, 1]
    coarse = np.bincount(pairs // 512 * 8 + pairs % 64 // 8, minlength=64)
    assert_counts_agree(coarse, np.full(64, even.sum() / 64))


def test_without_direct_edges_the_clique_gets_everything():
    found = all_targets(1_000_000, 3, 0.0)
    assert found.max() == 2
    far = targets(CPU, 1 << 40, 3, 0.0, 0, (1 << 40) - 3000, 1 << 40)
    assert far.max() == 2


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.7, 1.0])
def test_in_degrees_follow_the_rate_equation(p):
    """Krapivsky and Redner (2001): of in-degree j there are a share P(j), attaching at rate p d + (1-p) j."""
    n, degree = 400_000, 4
    in_degree = np.bincount(all_targets(n, degree, p, 7).ravel(), minlength=n)
    share = 1 / (1 + p * degree)
    for j in range(8):
        if j:
            share *= (p * degree + (1 - p) * (j - 1)) / (1 + p * degree + (1 - p) * j)
        assert np.mean(in_degree == j) == pytest.approx(share, abs=5 * np.sqrt(share / n))


def test_the_tail_exponent_at_one_half_is_three():
    n, degree, smallest = 1_000_000, 4, 40
    total = degree + np.bincount(all_targets(n, degree, 0.5, 3).ravel(), minlength=n)
    tail = total[total >= smallest]
    exponent = 1 + len(tail) / np.log(tail / (smallest - 0.5)).sum()
    assert exponent == pytest.approx(3, abs=0.1)
    assert 0.1 < total.max() / (degree * np.sqrt(n)) < 10


def sequential_copy_model(n, degree, p, rng):
    """The copy model with a table of all edges and an ordinary random generator."""
    table = np.zeros((n, degree), np.int64)
    for v in range(degree, n):
        drawn, edge = rng.integers(0, v, degree), rng.integers(0, degree, degree)
        copied = (drawn >= degree) & (rng.random(degree) >= p)
        table[v] = np.where(copied, table[drawn, edge], drawn)
    return table[degree:]


@pytest.mark.parametrize("p", [0.5, 0.2])
def test_degrees_equal_those_of_a_sequential_copy_model(p):
    n, degree = 30_000, 4
    ours = np.bincount(all_targets(n, degree, p, 11).ravel(), minlength=n)
    theirs = np.bincount(sequential_copy_model(n, degree, p, np.random.default_rng(1)).ravel(), minlength=n)
    assert stats.ks_2samp(ours, theirs).pvalue > 1e-3
    both = np.array([np.histogram(d, [0, 1, 2, 3, 4, 6, 9, 14, 30, 100, n * degree])[0] for d in (ours, theirs)])
    assert stats.chi2_contingency(both).pvalue > 1e-3


def test_degrees_at_one_half_are_those_of_networkx_barabasi_albert():
    networkx = pytest.importorskip("networkx")
    n, degree = 30_000, 4
    theirs = np.array([d for _, d in networkx.barabasi_albert_graph(n, degree, seed=1).degree()])
    ours = degree + np.bincount(all_targets(n, degree, 0.5, 2).ravel(), minlength=n)
    assert stats.ks_2samp(ours, theirs).statistic < 0.015


@pytest.mark.parametrize("other", [1, 2, 1 << 32, 2**64 - 1])
def test_nearby_seeds_give_unrelated_graphs(other):
    n = 300_000
    first, second = (all_targets(n, 1, 1.0, seed)[1000:, 0] for seed in (0, other))
    vertices = np.arange(1001, n)
    expected = (1 / vertices).sum()
    assert (first == second).sum() == pytest.approx(expected, abs=5 * np.sqrt(expected) + 1)
    fractions = first / vertices, second / vertices
    for lag in (0, 1, 2, 64):
        left, right = fractions[0][: n - 2000], fractions[1][lag : n - 2000 + lag]
        assert abs(np.corrcoef(left[: len(right)], right)[0, 1]) < 5 / np.sqrt(n)


def test_another_seed_is_another_graph():
    graphs = {PreferentialAttachment(1000, seed=seed).block(CPU, 0, 1)[1].tobytes() for seed in range(100)}
    assert len(graphs) == 100
