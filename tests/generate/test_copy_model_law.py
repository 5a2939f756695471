"""The in-degrees of the generators against the law of the copy model, and that law against enumeration and references.

Seeds are fixed, so a test passes or fails for good; bounds leave a right generator a chance of 1e-4 to fail once.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from graphdask.device.backend import get_backend
from graphdask.errors import InputError
from graphdask.generate.copy_model import QueueCopyModel, SequentialBarabasiAlbert, SequentialCopyModel
from graphdask.generate.degree_law import CopyModelLaw
from graphdask.generate.preferential_attachment import PreferentialAttachment, first_edge, targets
from graphdask.graph.power_law import fit_power_law

CPU = get_backend("cpu")
LIKELY = 1e-4
PROBABILITIES = (0.1, 0.3, 0.5, 0.7, 1.0)
SEEDS = (0, 1, 2)
GENERATORS = {"hash": PreferentialAttachment, "queue": QueueCopyModel, "SCM": SequentialCopyModel}


def in_degrees(graph, n=None):
    """Without the vertices of the clique."""
    _, dst = graph.block(CPU, 0, 1)
    later = dst[first_edge(graph.degree, graph.degree) :]
    return np.bincount(later, minlength=graph.n)[graph.degree :]


# The law itself.


@pytest.mark.parametrize(("degree", "p"), [(1, 0.5), (4, 0.1), (4, 0.5), (3, 0.7), (2, 1.0), (5, 0.0)])
def test_the_law_solves_the_rate_equation(degree, p):
    """Of in-degree k there is a share P(k) with (1 + pd + (1-p) k) P(k) = (pd + (1-p)(k-1)) P(k-1)."""
    law = CopyModelLaw(degree, p)
    share = Fraction(1) / (1 + Fraction(p) * degree)
    total = Fraction(0)
    for k in range(30):
        if k:
            share *= (Fraction(p) * degree + (1 - Fraction(p)) * (k - 1)) / (
                1 + Fraction(p) * degree + (1 - Fraction(p)) * k
            )
        assert law.share(k) == pytest.approx(float(share), rel=1e-9, abs=1e-300)
        assert law.at_least(k) == pytest.approx(float(1 - total), rel=1e-9, abs=1e-12)
        total += share


@pytest.mark.parametrize(("p", "exponent"), [(0.0, 2.0), (0.3, 1 + 1 / 0.7), (0.5, 3.0), (0.75, 5.0), (1.0, np.inf)])
def test_the_exponent_is_one_more_than_the_inverse_share_of_copies(p, exponent):
    law = CopyModelLaw(4, p)
    assert law.exponent == pytest.approx(exponent)
    if 0 < p < 1:
        far = law.share(np.array([1e6, 2e6]))
        assert np.log2(far[0] / far[1]) == pytest.approx(exponent, abs=1e-3)


def exact_expectation(n, degree, p, vertex):
    """Expected in-degree after vertex n-1 by adding up the chances of every edge, in fractions."""
    own = vertex < degree
    mean = Fraction(0)
    for t in range(max(vertex + 1, degree), n):
        mean += degree * ((1 if own else p) + (1 - p) * mean / degree) / t
    return mean


@pytest.mark.parametrize("p", [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1)])
def test_the_expected_in_degree_of_a_vertex_is_exact(p):
    law = CopyModelLaw(3, float(p))
    vertices = np.array([0, 2, 3, 10, 38, 39])
    expected = [float(exact_expectation(40, 3, p, int(v))) for v in vertices]
    assert law.expected(40, vertices) == pytest.approx(expected, abs=1e-9)
    assert law.expected(40, np.arange(40)).sum() == pytest.approx(37 * 3)


@pytest.mark.parametrize("p", [0.1, 0.5, 1.0])
def test_simulated_vertices_have_the_expected_in_degree_and_maximum(p):
    n, degree, runs = 3000, 2, 400
    law = CopyModelLaw(degree, p)
    found = np.array([np.bincount(targets(CPU, n, degree, p, seed, degree, n), minlength=n) for seed in range(runs)])
    for v in (0, degree, 30):
        bound = 4 * found[:, v].std() / np.sqrt(runs)
        assert found[:, v].mean() == pytest.approx(law.expected(n, v), abs=bound)
    maximum = found.max(axis=1)
    bound = 4 * maximum.std() / np.sqrt(runs)
    assert maximum.mean() == pytest.approx(law.expected_maximum(n), abs=bound + 0.04 * maximum.mean())


def test_the_law_of_the_maximum_is_a_distribution():
    law = CopyModelLaw(4, 0.5)
    below = law.maximum_below(10_000, np.arange(0, 20_000, 100))
    assert (np.diff(below) >= 0).all()
    assert below[0] == pytest.approx(0)
    assert below[-1] == pytest.approx(1)
    assert CopyModelLaw(4, 0.5).expected_maximum(10_000) == pytest.approx((1 - below[:-1]).sum() * 100, rel=0.1)


def test_bad_arguments_are_refused():
    with pytest.raises(InputError, match="p=2"):
        CopyModelLaw(4, 2)
    with pytest.raises(InputError, match="degree=0"):
        CopyModelLaw(0, 0.5)
    with pytest.raises(InputError, match="vertices must be from 0 to 9"):
        CopyModelLaw(4, 0.5).expected(10, 10)
    with pytest.raises(InputError, match="3 in-degrees are too few"):
        CopyModelLaw(4, 0.5).goodness_of_fit([1, 2, 3])


# The generators.


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("p", PROBABILITIES)
@pytest.mark.parametrize("method", ["hash", "queue"])
def test_in_degrees_fit_the_law(method, p, seed):
    n, degree = (300_000, 4) if method == "hash" else (100_000, 4)
    law = CopyModelLaw(degree, p)
    found = in_degrees(GENERATORS[method](n, degree, p, seed))
    distance, p_value = law.goodness_of_fit(found)
    # Distinct targets take a little from the hubs, most for small p.
    assert distance < (1.95 / np.sqrt(n) if method == "hash" else 0.012)
    if method == "hash":
        assert p_value > LIKELY
        zero = law.share(0)
        assert np.mean(found == 0) == pytest.approx(zero, abs=4 * np.sqrt(zero * (1 - zero) / n))


@pytest.mark.parametrize("p", PROBABILITIES)
def test_the_largest_in_degree_is_what_the_law_expects(p):
    n, degree, seeds = 100_000, 4, 12
    law = CopyModelLaw(degree, p)
    chances = []
    for seed in range(seeds):
        largest = np.bincount(targets(CPU, n, degree, p, seed, degree, n)).max()
        chances.append(law.maximum_below(n, largest))
        assert 1e-5 < chances[-1] < 1 - 1e-5
    assert 0.2 < np.mean(chances) < 0.85  # half the seeds below the median, within four standard errors


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("p", [0.3, 0.5])
def test_the_tail_has_the_exponent_of_the_law(p, seed):
    n, degree = 1_000_000, 4
    total = degree + in_degrees(PreferentialAttachment(n, degree, p, seed))
    # The shift of the law bends the beginning of the tail: 60 is far enough for degree 4.
    found = fit_power_law(total, first=60)
    assert found.exponent == pytest.approx(CopyModelLaw(degree, p).exponent, abs=4 * found.error + 0.05)
    assert found.distance < 1.95 / np.sqrt(found.tail)


def test_without_copies_the_tail_is_no_power_law():
    found = in_degrees(PreferentialAttachment(200_000, 4, 1.0, 1))
    assert fit_power_law(found, first=4, bootstrap=20).p_value == 0


def two_samples(left, right):
    """p-value of a chi-square test that both have the same law, over bins that hold at least 20 of each."""
    edges = [0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 30, 40, 60, 90, 150, 1 << 40]
    counts = np.array([np.histogram(sample, edges)[0] for sample in (left, right)])
    full = (counts >= 20).all(axis=0)
    counts = np.column_stack([counts[:, full], counts[:, ~full].sum(axis=1)])
    return stats.chi2_contingency(counts[:, counts.sum(axis=0) > 0]).pvalue


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("p", PROBABILITIES)
def test_hashing_and_queues_have_the_in_degrees_of_the_sequential_copy_model(p, seed):
    n, degree = 40_000, 4
    reference = in_degrees(SequentialCopyModel(n, degree, p, seed + 100))
    queue = in_degrees(QueueCopyModel(n, degree, p, seed))
    assert two_samples(queue, reference) > LIKELY
    assert stats.ks_2samp(queue, reference).pvalue > LIKELY
    hashed = in_degrees(PreferentialAttachment(n, degree, p, seed))
    # The reference draws again what is parallel: that moves up to one vertex in fifty for p = 0.1.
    assert stats.ks_2samp(hashed, reference).statistic < (0.03 if p == 0.1 else 0.016)


@pytest.mark.parametrize("seed", SEEDS)
def test_hashing_has_exactly_the_sequential_law_where_no_edge_can_be_parallel(seed):
    n = 60_000
    for p in PROBABILITIES:
        hashed = in_degrees(PreferentialAttachment(n, 1, p, seed))
        assert two_samples(hashed, in_degrees(SequentialCopyModel(n, 1, p, seed + 100))) > LIKELY


@pytest.mark.parametrize("seed", SEEDS)
def test_at_one_half_the_degrees_are_those_of_barabasi_and_albert(seed):
    n, degree = 40_000, 4
    reference = in_degrees(SequentialBarabasiAlbert(n, degree, seed=seed + 100))
    for graph in (QueueCopyModel(n, degree, 0.5, seed), PreferentialAttachment(n, degree, 0.5, seed)):
        assert stats.ks_2samp(in_degrees(graph), reference).statistic < 0.016


# One hash gives the vertex, the edge and the coin: they must be independent, near and far.


@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("degree", [1, 4, 7])
@pytest.mark.parametrize("start", [10**8, (1 << 31) - 100_000, 1 << 36, 1 << 50])
def test_targets_lie_where_a_product_of_uniform_numbers_lies(start, degree, p):
    """A walk of K steps ends at v U1 ... UK with K geometric, so F(v)/v is below x with probability x^p.

    That holds only if the coin does not depend on the vertex that was drawn.
    """
    count = 200_000
    found = targets(CPU, start + count, degree, p, 3, start, start + count, np.int64).reshape(-1, degree)
    below = (found / np.arange(start, start + count)[:, None]) ** p
    # What is less than 1/1000 of the way may have met the clique or feel that vertices are whole numbers.
    edges = np.concatenate([[0], np.linspace(max(0.05, 0.001**p), 1, 40)])
    for column in range(degree):
        observed = np.histogram(below[:, column], edges)[0]
        assert stats.chisquare(observed, np.diff(edges) * count).pvalue > LIKELY / 10
    if degree > 1:
        bins = np.minimum((below[:, :2] * 8).astype(int), 7)
        table = np.zeros((8, 8))
        np.add.at(table, (bins[:, 0], bins[:, 1]), 1)
        assert stats.chi2_contingency(table).pvalue > LIKELY / 10


@pytest.mark.parametrize("first", [0, 1, 12345, 2**63, 2**64 - 2])
def test_the_graph_of_the_next_seed_agrees_only_by_chance(first):
    n, degree = 100_000, 4
    left, right = (targets(CPU, n, degree, 1.0, seed, degree, n).reshape(-1, degree) for seed in (first, first + 1))
    vertices = np.arange(degree, n)
    expected = (1 / vertices).sum()
    for shift in range(degree):  # no column of one seed is a column of the next
        same = (left == np.roll(right, shift, axis=1)).sum() / degree
        assert same == pytest.approx(expected, abs=5 * np.sqrt(expected / degree))
    for lag in (1, 2, degree):  # nor is it shifted by some vertices
        ranks = left[: n - degree - lag, 0] / vertices[:-lag], right[lag:, 0] / vertices[lag:]
        assert abs(np.corrcoef(*ranks)[0, 1]) < 5 / np.sqrt(n)
