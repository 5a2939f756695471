"""Traversal samplers draw from the law that they name: against enumeration, and integrals over exponential clocks."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2, chi2_contingency, norm, power_divergence
from specs import agree, orders

import graphdask as gd

LEAST = 1e-4
"""Of the probabilities that what was drawn, or something further off, is drawn; seeds are fixed."""
METHODS = ["auto", "repeated", "updated", "bipartite"]


def drawn(degree, k, trials, weights=None, seed=0, **options):
    """Numbers 0 .. degree - 1 of the neighbours that `trials` instances draw for a vertex, shape (trials, k)."""
    graph = gd.from_edges(np.zeros(degree, np.int64), np.arange(1, degree + 1), weights, directed=True)
    bias = None if weights is None else "weight"
    found = gd.sample.neighbors(
        graph.partition(1, device="cpu"), np.zeros(trials, np.int64), [k], bias=bias, seed=seed, **options
    )
    np.testing.assert_array_equal(found.instance, np.repeat(np.arange(trials), k))
    return found.dst.reshape(trials, k) - 1


def law_of_orders(weights, k):
    """The probability of every sequence of k distinct numbers, each drawn in proportion to what is left."""
    law = {}
    for order in permutations(np.flatnonzero(weights).tolist(), k):
        chance, left = 1.0, float(np.sum(weights))
        for number in order:
            chance, left = chance * weights[number] / left, left - weights[number]
        law[order] = chance
    return law


def fits(observed, expected):
    """G-test; cells of small expectation are taken together."""
    observed, expected = np.asarray(observed, float), np.asarray(expected, float)
    small = expected < 10
    if small.any():
        observed = np.append(observed[~small], observed[small].sum())
        expected = np.append(expected[~small], expected[small].sum())
        if expected[-1] < 10:
            assert observed[-1] <= expected[-1] + 6 * np.sqrt(expected[-1]) + 6
            observed, expected = observed[:-1], expected[:-1]
            expected = expected * (observed.sum() / expected.sum())
    if len(observed) < 2:
        return True
    return power_divergence(observed, expected * observed.sum() / expected.sum(), lambda_="log-likelihood")[1] > LEAST


@pytest.mark.parametrize("method", METHODS)
def test_sets_of_neighbours_all_alike(method):
    for degree in range(2, 7):
        for k in range(1, min(degree, 4)):
            rows = drawn(degree, k, 25_000, seed=degree, method=method)
            sets, counts = np.unique((1 << rows).sum(axis=1), return_counts=True)
            assert all(int(bits).bit_count() == k for bits in sets)
            number = len({frozenset(order) for order in permutations(range(degree), k)})
            assert len(sets) == number
            assert fits(counts, np.full(number, len(rows) / number))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "weights",
    [[1, 2, 3, 4], [5, 0, 1, 0, 2], [10**6, 1, 10**6, 1], [0.125, 0.7, 1e-3, 2.5, 0.0, 0.4], [1, 1, 1, 1, 1, 7]],
)
def test_orders_of_neighbours_by_weight(weights, method):
    weights = np.array(weights)
    for k in range(1, min(4, np.count_nonzero(weights))):
        law = law_of_orders(weights, k)
        trials = 30_000 if max(weights) < 100 else 400
        rows = drawn(len(weights), k, trials, weights, seed=k, method=method)
        found = {tuple(order): 0 for order in law}
        for order, count in zip(*np.unique(rows, axis=0, return_counts=True), strict=True):
            found[tuple(order.tolist())] += int(count)
        assert fits(list(found.values()), [chance * len(rows) for chance in law.values()])


@pytest.mark.parametrize("method", METHODS)
def test_sets_by_weight_where_rows_are_not_short(method):
    """A row of 40: redraws, then what is left."""
    weights = np.ones(40, np.int64)
    weights[[0, 20, 39]] = 2000, 3000, 1000
    rows = drawn(40, 3, 30_000, weights, method=method)
    kind = np.full(40, 3)
    kind[[0, 20, 39]] = 0, 1, 2
    found, counts = np.unique(kind[rows], axis=0, return_counts=True)
    expected = []
    for order in found.tolist():
        chance, left, light = 1.0, float(weights.sum()), 37
        for number in order:
            chance *= [2000, 3000, 1000, light][number] / left
            left -= [2000, 3000, 1000, 1][number]
            light -= number == 3
        expected.append(chance * len(rows))
    assert fits(counts, expected)


def included(weights, k):
    """The probability of each number to be among the first k, by exponential clocks of these rates."""
    weights = np.asarray(weights, float) / np.mean(weights)

    def before(i, t):
        """That fewer than k others have rung by t."""
        counts = np.zeros(k)
        counts[0] = 1
        for j, rate in enumerate(weights):
            if j != i:
                rung = -np.expm1(-rate * t)
                counts[1:], counts[0] = counts[1:] * (1 - rung) + counts[:-1] * rung, counts[0] * (1 - rung)
        return counts.sum()

    def chance(i):
        return quad(lambda u: before(i, -np.log(u) / weights[i]), 0, 1, limit=60, epsabs=1e-6)[0]

    return np.array([chance(i) for i in range(len(weights))])


def check_inclusion(rows, chances, degree):
    counts = np.bincount(rows.reshape(-1), minlength=degree)
    trials = len(rows)
    spread = np.sqrt(trials * chances * (1 - chances))
    certain = spread < 1e-9
    np.testing.assert_array_equal(counts[certain], np.round(trials * chances[certain]))
    if certain.all():
        return
    z = (counts - trials * chances)[~certain] / spread[~certain]
    for one in (z[0], z[-1]):
        assert 2 * norm.sf(abs(one)) > LEAST
    # counts of one set are negatively related: their squares sum to no more than those of as many free ones
    freedom = len(z) - 1
    p = chi2.sf((z**2).sum() * (freedom / len(z)), freedom)
    assert p > LEAST
    assert freedom < 30 or p < 1 - LEAST


@pytest.mark.parametrize("degree", [1, 2, 31, 32, 33, 1023, 1024, 1025, 40_000])
@pytest.mark.parametrize("k", [1, 10, 33, 100])
def test_every_neighbour_is_as_likely(degree, k):
    taken = min(degree, k)
    trials = max(200, min(12_000, 20 * degree // taken + 500))
    rows = drawn(degree, k, trials, seed=5) if taken == k else None
    if rows is None:
        rows = drawn(degree, taken, trials, seed=5)
        np.testing.assert_array_equal(rows, np.tile(np.arange(degree), (trials, 1)))
        return
    assert (np.diff(np.sort(rows, axis=1), axis=1) > 0).all()
    check_inclusion(rows, np.full(degree, k / degree), degree)


@pytest.mark.parametrize(("degree", "k"), [(33, 10), (34, 33), (40, 36), (60, 5)])
@pytest.mark.parametrize("method", METHODS)
def test_neighbours_are_included_as_exponential_clocks_ring(degree, k, method):
    weights = np.arange(degree) % 7 + 1
    weights[0], weights[-1] = 20, 3
    rows = drawn(degree, k, 10_000, weights, seed=2, method=method)
    assert (np.diff(np.sort(rows, axis=1), axis=1) > 0).all()
    check_inclusion(rows, included(weights, k), degree)


@pytest.mark.parametrize("degree", [1, 2, 31, 32, 33, 1023, 1024, 1025, 40_000])
def test_first_draw_and_draws_with_replacement_follow_the_weights(degree):
    weights = np.arange(degree) % 5 + 1
    trials = 20_000 if degree < 40_000 else 400_000
    for rows in (drawn(degree, 1, trials, weights), drawn(degree, 1, trials, weights, replace=True)):
        counts = np.bincount(rows.reshape(-1), minlength=degree)
        for place in (0, degree - 1):
            chance = weights[place] / weights.sum()
            assert abs(counts[place] - trials * chance) <= 4.5 * np.sqrt(trials * chance * (1 - chance))
        assert fits(counts, trials * weights / weights.sum())


def test_with_replacement_draws_are_independent():
    for weights in (None, np.array([1, 2, 3])):
        rows = drawn(3, 2, 60_000, weights, replace=True)
        share = np.full(3, 1 / 3) if weights is None else weights / weights.sum()
        counts = np.zeros((3, 3))
        np.add.at(counts, (rows[:, 0], rows[:, 1]), 1)
        assert fits(counts.reshape(-1), 60_000 * np.outer(share, share).reshape(-1))


@pytest.mark.parametrize("options", [{}, {"replace": True}, {"method": "bipartite"}])
@pytest.mark.parametrize("apart", [1, 2, 256])
def test_instances_are_independent(options, apart):
    rows = drawn(5, 1, 60_000, **options)[:, 0]
    table = np.zeros((5, 5))
    np.add.at(table, (rows[:-apart], rows[apart:]), 1)
    assert chi2_contingency(table)[1] > LEAST


def test_vertices_of_an_instance_and_seeds_are_independent():
    degree, n = 5, 6000
    src, dst = np.repeat(np.arange(n), degree), np.tile(np.arange(n, n + degree), n)
    graph = gd.from_edges(src, dst, directed=True).partition(1, device="cpu")
    one, other = (gd.sample.neighbors(graph, [np.arange(n)] * 10, [1], seed=seed).dst - n for seed in (7, 8))
    for left, right in ((one[:-1], one[1:]), (one[:-n], one[n:]), (one, other)):
        table = np.zeros((degree, degree))
        np.add.at(table, (left, right), 1)
        assert chi2_contingency(table)[1] > LEAST


@pytest.mark.parametrize("p", [0.0, 0.2, 0.7, 0.99])
def test_a_fire_burns_a_geometric_number_of_edges(p):
    degree, trials = 60, 40_000
    graph = gd.from_edges(np.zeros(degree, np.int64), np.arange(1, degree + 1), directed=True)
    fire = gd.sample.forest_fire(graph.partition(1, device="cpu"), np.zeros(trials, np.int64), p, depth=1, seed=3)
    counts = np.bincount(np.diff(fire.edge_offsets), minlength=degree + 1)
    law = np.append((1 - p) * p ** np.arange(degree), p**degree)
    assert fits(counts, trials * law)
    for burnt in (1, 3):
        mine = np.flatnonzero(np.diff(fire.edge_offsets) == burnt)
        if p and len(mine):
            rows = fire.dst[fire.edge_offsets[mine][:, None] + np.arange(burnt)] - 1
            check_inclusion(rows, np.full(degree, burnt / degree), degree)


def test_the_mean_of_a_fire():
    n, p = 2000, 0.6
    src = np.repeat(np.arange(n), 50)
    graph = gd.from_edges(src, (src + np.tile(np.arange(1, 51), n)) % n, directed=True).partition(1, device="cpu")
    fire = gd.sample.forest_fire(graph, np.arange(n), p, depth=1)
    mean, spread = p / (1 - p), np.sqrt(p) / (1 - p)
    assert abs(len(fire.src) / n - mean) < 4 * spread / np.sqrt(n)


def test_a_layer_takes_all_sets_of_edges_alike():
    """Two seeds of 4 and 2 edges, and one of none."""
    graph = gd.from_edges([0, 0, 0, 0, 1, 1], [3, 4, 5, 6, 7, 8], num_vertices=9, directed=True).partition(
        1, device="cpu"
    )
    trials = 30_000
    for k in (1, 2, 3):
        found = gd.sample.layer(graph, [[0, 1, 2]] * trials, [k], seed=k)
        rows = np.sort(found.dst.reshape(trials, k) - 3, axis=1)
        sets, counts = np.unique((1 << rows).sum(axis=1), return_counts=True)
        assert len(sets) == {1: 6, 2: 15, 3: 20}[k]
        assert fits(counts, np.full(len(sets), trials / len(sets)))


@pytest.mark.parametrize("weights", [[5, 1, 0, 2, 3, 1], [0.5, 1e-3, 0.0, 2.5, 0.25, 0.125]])
def test_a_layer_is_drawn_in_proportion_among_what_is_left(weights):
    """Two seeds of 4 and 2 edges; one of the edges has no weight."""
    graph = gd.from_edges([0, 0, 0, 0, 1, 1], [3, 4, 5, 6, 7, 8], weights, num_vertices=9, directed=True).partition(
        1, device="cpu"
    )
    for k in (1, 2, 3):
        found = gd.sample.layer(graph, [[0, 1]] * 20_000, [k], bias="weight", seed=k)
        law = {}
        for order, chance in orders(np.array(weights), k).items():
            law[tuple(sorted(order))] = law.get(tuple(sorted(order)), 0.0) + chance
        agree(map(tuple, (found.dst.reshape(-1, k) - 3).tolist()), law)
    found = gd.sample.layer(graph, [[0, 1]], [6], bias="weight").verify()
    assert found.dst.tolist() == [3, 4, 6, 7, 8]


def test_hops_of_a_layer_are_independent():
    """A ring of vertices with the next 5 as neighbours: what is taken at a hop does not tell what is at the next."""
    n, trials = 64, 60_000
    src = np.repeat(np.arange(n), 5)
    graph = gd.from_edges(src, (src + np.tile(np.arange(1, 6), n)) % n, directed=True).partition(1, device="cpu")
    found = gd.sample.layer(graph, np.zeros(trials, np.int64), [1, 1])
    step = (found.dst - found.src).reshape(trials, 2) % n - 1
    table = np.zeros((5, 5))
    np.add.at(table, (step[:, 0], step[:, 1]), 1)
    assert chi2_contingency(table)[1] > LEAST
    assert fits(table.reshape(-1), np.full(25, trials / 25))


def test_random_edges_and_vertices_are_all_alike():
    graph = gd.from_edges([0, 0, 1, 2, 3], [1, 2, 2, 3, 3], directed=False).partition(1, device="cpu")
    orders, sets = [], []
    for seed in range(3000):
        found = gd.sample.random_edges(graph, 2, seed=seed, progress=False)
        orders.append(tuple(zip(found.src.tolist(), found.dst.tolist(), strict=True)))
        sets.append(frozenset(gd.sample.random_nodes(graph, 2, seed=seed).tolist()))
    for drawn_ones, number in ((orders, 20), (sets, 6)):
        counts = [drawn_ones.count(one) for one in set(drawn_ones)]
        assert len(counts) == number
        assert fits(counts, np.full(number, len(drawn_ones) / number))
