"""Graphs with distinct targets follow their models: exact probabilities of small graphs, degree laws of large ones."""

import itertools
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from graphdask.device.backend import get_backend
from graphdask.generate.copy_model import QueueCopyModel, SequentialBarabasiAlbert, SequentialCopyModel
from graphdask.generate.preferential_attachment import coin_threshold, first_edge

CPU = get_backend("cpu")
LIKELY = 1e-5
"""Seeds are fixed, so a test passes or fails for good; a right generator had this chance to fail once."""


def rows(graph):
    clique = first_edge(graph.degree, graph.degree)
    return graph.targets(CPU, graph.n)[clique:].reshape(-1, graph.degree)


def copy_chances(v, degree, p, outcome):
    """Chance of each vertex before v to be the candidate of the copy model, given the targets so far."""
    chance = dict.fromkeys(range(v), Fraction(0))
    for u in range(v):
        if u < degree:
            chance[u] += Fraction(1, v)
            continue
        chance[u] += p / v
        for k in range(degree):
            chance[outcome[(u - degree) * degree + k]] += (1 - p) / (v * degree)
    return chance


def degree_chances(v, degree, p, outcome):
    """Chance of each vertex before v by its degree; if none has an edge, or v is the first, all are alike."""
    if v == degree:
        return dict.fromkeys(range(v), Fraction(1, v))
    ends = [u for u in range(degree) for _ in range(degree - 1)]
    ends += [u for target, u in zip(outcome, (u for u in range(degree, v) for _ in range(degree)), strict=True)]
    ends += outcome
    return {u: Fraction(ends.count(u), len(ends)) for u in range(v)}


def exact_distribution(n, degree, p, chances):
    """Probability of every outcome (F(degree), ..., F(n-1)) if each vertex draws until its targets are distinct."""
    known = {(): Fraction(1)}
    for v in range(degree, n):
        longer = {}
        for outcome, probability in known.items():
            chance = chances(v, degree, p, outcome)
            for row in itertools.permutations(range(v), degree):
                total, free = probability, Fraction(1)
                for u in row:
                    if not chance[u]:
                        total = Fraction(0)
                        break
                    total *= chance[u] / free
                    free -= chance[u]
                if total:
                    longer[outcome + row] = total
        known = longer
    assert sum(known.values()) == 1
    return known


def assert_counts_agree(found, exact, n):
    """Chi-square test of the rows of `found`; outcomes expected less than 10 times count as one."""
    place = n ** np.arange(found.shape[1])
    code, outcomes = found @ place, np.array(list(exact)) @ place
    order = np.argsort(outcomes)
    assert np.isin(code, outcomes).all()
    observed = np.bincount(np.searchsorted(outcomes[order], code), minlength=len(order))
    expected = np.array([float(q) for q in exact.values()])[order] * len(found)
    rare = expected < 10
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    assert LIKELY < stats.chisquare(observed, expected).pvalue < 1 - LIKELY


@pytest.mark.parametrize(
    ("n", "degree", "p", "seeds"),
    [
        (3, 1, Fraction(1, 4), 20_000),
        (6, 1, Fraction(1, 2), 60_000),
        (4, 2, Fraction(1, 2), 20_000),
        (4, 2, Fraction(0), 20_000),
        (5, 2, Fraction(1, 4), 100_000),
        (5, 3, Fraction(1, 2), 100_000),
    ],
    ids=str,
)
def test_small_copy_models_have_their_exact_probabilities(n, degree, p, seeds):
    exact = exact_distribution(n, degree, p, copy_chances)
    found = np.empty((seeds, (n - degree) * degree), np.int32)
    threshold, kernels = np.uint64(coin_threshold(float(p))), CPU.kernels("copy_model")
    for seed in range(seeds):
        kernels.scm_targets(n - degree, degree, threshold, np.uint64(seed), 64 * degree, found[seed])
    assert_counts_agree(found, exact, n)


@pytest.mark.parametrize(("n", "degree", "seeds"), [(5, 1, 30_000), (4, 2, 20_000), (5, 2, 60_000), (5, 3, 100_000)])
def test_small_barabasi_albert_graphs_have_their_exact_probabilities(n, degree, seeds):
    exact = exact_distribution(n, degree, None, degree_chances)
    found = np.empty((seeds, (n - degree) * degree), np.int32)
    kernels = CPU.kernels("copy_model")
    for seed in range(seeds):
        kernels.sba_targets(n - degree, degree, np.uint64(seed), 128 * degree, found[seed])
    assert_counts_agree(found, exact, n)


def in_degrees(graph):
    return np.bincount(rows(graph).ravel(), minlength=graph.n)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_at_one_half_the_copy_model_has_the_degrees_of_barabasi_albert(seed):
    n, degree = 400_000, 4
    copied = in_degrees(QueueCopyModel(n, degree, 0.5, seed))
    attached = in_degrees(SequentialBarabasiAlbert(n, degree, seed=seed))
    assert stats.ks_2samp(copied, attached).pvalue > 1e-3
    limits = [0, 1, 2, 3, 4, 6, 9, 14, 30, 100, 300, n]
    both = np.array([np.histogram(d, limits)[0] for d in (copied, attached)])
    assert stats.chi2_contingency(both).pvalue > 1e-3


@pytest.mark.parametrize("kind", [QueueCopyModel, SequentialBarabasiAlbert])
def test_degrees_at_one_half_are_those_of_networkx_barabasi_albert(kind):
    n, degree = 30_000, 4
    theirs = np.array([d for _, d in nx.barabasi_albert_graph(n, degree, seed=1).degree()])
    ours = in_degrees(kind(n, degree, seed=2)) + degree
    ours[:degree] -= 1
    assert stats.ks_2samp(ours, theirs).pvalue > 1e-3


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.7, 1.0])
def test_in_degrees_follow_the_rate_equation(p):
    """Krapivsky and Redner (2001): of in-degree j there are a share P(j), attaching at rate p d + (1-p) j."""
    n, degree = 400_000, 4
    in_degree = in_degrees(SequentialCopyModel(n, degree, p, 7))
    share = 1 / (1 + p * degree)
    for j in range(8):
        if j:
            share *= (p * degree + (1 - p) * (j - 1)) / (1 + p * degree + (1 - p) * j)
        assert np.mean(in_degree == j) == pytest.approx(share, abs=5 * np.sqrt(share / n))


@pytest.mark.parametrize("degree", [1, 3, 16])
def test_without_direct_edges_every_vertex_has_the_whole_clique(degree):
    found = np.sort(rows(QueueCopyModel(3000, degree, 0.0, 1)), axis=1)
    if degree > 1:
        np.testing.assert_array_equal(found, np.tile(np.arange(degree), (3000 - degree, 1)))
    assert found.max() == degree - 1


@pytest.mark.parametrize("other", [1, 2, 1 << 32, 2**64 - 1])
@pytest.mark.parametrize("kind", [SequentialCopyModel, SequentialBarabasiAlbert])
def test_nearby_seeds_give_unrelated_graphs(kind, other):
    """As often equal as two draws from the same law that know nothing of each other."""
    n, degree = 200_000, 2
    first, second, third = (rows(kind(n, degree, 1.0, seed)).ravel() for seed in (0, other, 1 << 17))
    equal, reference = (first == second).sum(), (first == third).sum()
    assert equal == pytest.approx(reference, abs=5 * np.sqrt(2 * reference) + 1)
    fractions = [x / np.repeat(np.arange(degree, n), degree) for x in (first, second)]
    for lag in (0, 1, 2, 64):
        assert abs(np.corrcoef(fractions[0][: 300_000 - lag], fractions[1][lag:300_000])[0, 1]) < 5 / np.sqrt(300_000)


def test_another_seed_is_another_graph():
    for kind in (QueueCopyModel, SequentialBarabasiAlbert):
        assert len({rows(kind(300, 4, 0.5, seed)).tobytes() for seed in range(100)}) == 100
