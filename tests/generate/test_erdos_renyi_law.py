"""Uniform random graphs: every graph as likely as any other, counted where they are few; degrees, neighbours, seeds."""

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, factorial

import numpy as np
import pytest
from scipy import stats

from graphdask.device.backend import get_backend
from graphdask.generate.binomial import binomial, log_factorial
from graphdask.generate.erdos_renyi import ErdosRenyi, erdos_renyi

CPU = get_backend("cpu")
LIKELY = 1e-5
"""Seeds are fixed, so a test passes or fails for good; a right generator had this chance to fail once."""


def made(graph):
    src, dst = graph.block(CPU, 0, 1)
    return src.astype(np.int64), dst.astype(np.int64)


def as_set(graph):
    src, dst = (column.tolist() for column in made(graph))
    return frozenset((u, v) if graph.directed else (min(u, v), max(u, v)) for u, v in zip(src, dst, strict=True))


def assert_counts_agree(observed, expected):
    """Chi-square test; outcomes that are expected less than 10 times count as one."""
    observed, expected = np.ravel(observed), np.ravel(expected)
    rare = expected < 10
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    expected = expected * (observed.sum() / expected.sum())
    assert LIKELY < stats.chisquare(observed, expected).pvalue < 1 - LIKELY


@pytest.mark.parametrize(
    ("n", "m", "directed"),
    [(2, 1, True), (3, 1, False), (3, 2, False), (3, 2, True), (3, 5, True), (4, 1, False), (4, 2, False),
     (4, 3, False), (4, 2, True), (5, 2, False), (5, 4, False), (6, 2, False), (7, 2, False), (8, 2, False)],
)  # fmt: skip
def test_every_graph_is_equally_likely(n, m, directed):
    possible = list(permutations(range(n), 2) if directed else combinations(range(n), 2))
    number = comb(len(possible), m)
    seeds = 40 * number + 2000
    seen = Counter(as_set(ErdosRenyi(n, m, seed, directed)) for seed in range(seeds))
    graphs = [frozenset(chosen) for chosen in combinations(possible, m)]
    assert sum(seen[graph] for graph in graphs) == seeds
    assert_counts_agree(np.array([seen[graph] for graph in graphs]), np.full(number, seeds / number))


@pytest.mark.slow
def test_every_graph_of_g_n_p_has_its_probability():
    n, p, seeds = 4, 0.3, 6000
    seen = Counter(as_set(erdos_renyi(n, p=p, seed=seed).source.generator) for seed in range(seeds))
    pairs = list(combinations(range(n), 2))
    graphs = [
        frozenset(c for c, chosen in zip(pairs, bits, strict=True) if chosen) for bits in product((0, 1), repeat=6)
    ]
    expected = [seeds * p ** len(graph) * (1 - p) ** (6 - len(graph)) for graph in graphs]
    assert_counts_agree(np.array([seen[graph] for graph in graphs]), np.array(expected))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", [40, 41])
def test_degrees_over_seeds_are_hypergeometric(n, directed):
    m, seeds = 90, 3000
    vertices = [0, 1, n // 2, n - 1]
    out, both = np.zeros((4, m + 1), np.int64), np.zeros((4, m + 1), np.int64)
    for seed in range(seeds):
        src, dst = made(ErdosRenyi(n, m, seed, directed))
        for i, v in enumerate(vertices):
            out[i, (src == v).sum()] += 1
            both[i, (src == v).sum() + (dst == v).sum()] += 1
    possible = n * (n - 1) // (1 if directed else 2)
    for i in range(4):
        incident = 2 * (n - 1) if directed else n - 1
        assert_counts_agree(both[i], seeds * stats.hypergeom.pmf(np.arange(m + 1), possible, incident, m))
        if directed:
            assert_counts_agree(out[i], seeds * stats.hypergeom.pmf(np.arange(m + 1), possible, n - 1, m))


@pytest.mark.parametrize(
    ("n", "m"), [(1 << 16, 1 << 19), ((1 << 16) + 1, 1 << 19), (3000, 2_000_000), (1 << 18, 1 << 18)]
)
def test_degrees_of_one_large_graph_are_hypergeometric(n, m):
    degree = np.bincount(np.concatenate(made(ErdosRenyi(n, m, 1))), minlength=n)
    values = np.arange(degree.max() + 50)
    expected = n * stats.hypergeom.pmf(values, n * (n - 1) // 2, n - 1, m)
    assert_counts_agree(np.bincount(degree, minlength=len(values)), expected)


@pytest.mark.parametrize("directed", [False, True])
def test_edges_with_neighbouring_numbers_share_ends_as_often_as_any_two(directed):
    n, m = 1000, 200_000
    src, dst = made(ErdosRenyi(n, m, 2, directed))
    possible = n * (n - 1) // (1 if directed else 2)
    # of the other edges, those that have exactly one end, or both, in common with a given one
    touching = (4 * (n - 2) + 1) if directed else 2 * (n - 2)
    for lag in (1, 2, 7, n - 1, n, 2 * n):
        a, b, c, d = src[:-lag], dst[:-lag], src[lag:], dst[lag:]
        shared = int(((a == c) | (a == d) | (b == c) | (b == d)).sum())
        assert stats.binomtest(shared, m - lag, touching / (possible - 1)).pvalue > LIKELY


@pytest.mark.parametrize("seeds", [(0, 1), (7, 8), (2**63, 2**63 + 1), (5, 2**32 + 5)], ids=str)
def test_nearby_seeds_give_unrelated_graphs(seeds):
    n, m = 400, 20_000
    one, other = (as_set(ErdosRenyi(n, m, seed)) for seed in seeds)
    law = stats.hypergeom(n * (n - 1) // 2, m, m)
    assert min(law.cdf(len(one & other)), law.sf(len(one & other) - 1)) > LIKELY
    shared = sum(
        a == b for a, b in zip(*(zip(*made(ErdosRenyi(n, m, seed)), strict=True) for seed in seeds), strict=True)
    )
    assert shared < 10


@pytest.mark.parametrize(
    ("trials", "p"),
    [(1, 0.5), (5, 0.3), (19, 0.5), (20, 0.5), (100, 0.02), (100, 0.98), (1000, 0.02), (10**6, 0.3), (10**12, 1e-9)],
)
def test_the_number_of_edges_is_binomial(trials, p):
    seeds = 1200
    drawn = np.array([binomial(trials, p, seed) for seed in range(seeds)])
    law = stats.binom(trials, p)
    cuts = np.unique(law.ppf(np.linspace(0.02, 0.98, 49)))
    expected = np.diff(np.concatenate([[0], law.cdf(cuts), [1]])) * seeds
    observed = np.bincount(np.searchsorted(cuts, drawn), minlength=len(expected))
    assert_counts_agree(observed[expected > 0], expected[expected > 0])
    assert 0 <= drawn.min() <= drawn.max() <= trials


@pytest.mark.parametrize("p", [0.5, 0.9, 1e-20])
def test_the_number_of_edges_of_the_largest_graphs_is_binomial(p):
    trials = 2**124
    mean, spread = Fraction(str(p)) * trials, (trials * p * (1 - p)) ** 0.5
    deviations = [float(binomial(trials, p, seed) - mean) / spread for seed in range(300)]
    assert stats.kstest(deviations, "norm").pvalue > LIKELY


def test_a_probability_beyond_all_digits_gives_no_edge():
    assert {binomial(2**124, 5e-324, seed) for seed in range(50)} == {0}
    assert {binomial(2**20, 1 - 2**-53, seed) for seed in range(50)} == {2**20}


def test_logarithms_of_factorials_are_exact_to_many_digits():
    with localcontext(prec=120):
        first = log_factorial(0)
        for k in (1, 2, 5, 62, 63, 64, 100, 3000):
            assert abs(log_factorial(k) - first - Decimal(factorial(k)).ln()) < Decimal("1e-70")


@pytest.mark.parametrize(("n", "m"), [(40, 150), (41, 200)])
def test_triangles_and_squares_are_as_many_as_expected(n, m):
    possible, seeds = n * (n - 1) // 2, 400
    counted = np.zeros((seeds, 2))
    for seed in range(seeds):
        src, dst = made(ErdosRenyi(n, m, seed))
        adjacency = np.zeros((n, n))
        adjacency[src, dst] = adjacency[dst, src] = 1
        walks = adjacency @ adjacency
        degrees = np.diag(walks)
        squares = (np.trace(walks @ walks) - 2 * (degrees**2).sum() + degrees.sum()) / 8
        counted[seed] = np.trace(walks @ adjacency) / 6, squares
    for column, copies, edges in ((0, comb(n, 3), 3), (1, 3 * comb(n, 4), 4)):
        expected = copies * comb(possible - edges, m - edges) / comb(possible, m)
        assert stats.ttest_1samp(counted[:, column], expected).pvalue > LIKELY
