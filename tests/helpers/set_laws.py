"""What is drawn from one row without replacement: all samplers that do it, and the laws of sets, orders and inclusion.

A law of orders is that one is drawn after the other, each in proportion among what is left.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from scipy.integrate import quad
from scipy.special import gammaln
from scipy.stats import chi2, norm, power_divergence
from specs import LEAST, by_weight, orders
from walk_laws import p_of_independence

import graphdask as gd
from graphdask.sample.spec import Spec

METHODS = ["auto", "repeated", "updated", "bipartite", "reservoir"]
"""Of `gd.sample.neighbors`."""


def star(degree, weights=None, device="cpu"):
    """A vertex, `degree`, with all before it as its neighbours."""
    graph = gd.from_edges(np.full(degree, degree), np.arange(degree), weights, directed=True)
    return graph.partition(1, device=device)


def drawn(degree, k, trials, weights=None, seed=0, device="cpu", **options):
    """The neighbours that `trials` instances draw for a vertex, shape (trials, k)."""
    bias = None if weights is None else "weight"
    seeds = np.full(trials, degree)
    found = gd.sample.neighbors(star(degree, weights, device), seeds, [k], bias=bias, seed=seed, **options)
    np.testing.assert_array_equal(found.instance, np.repeat(np.arange(trials), k))
    return found.dst.reshape(trials, k)


def drawn_as_layer(degree, k, trials, weights=None, seed=0):
    """The same of a layer of one vertex, ascending."""
    bias = None if weights is None else "weight"
    found = gd.sample.layer(star(degree, weights), np.full(trials, degree), [k], bias=bias, seed=seed)
    np.testing.assert_array_equal(found.edge_offsets, np.arange(trials + 1) * k)
    return found.dst.reshape(trials, k)


def drawn_by_spec(degree, k, trials, weights=None, seed=0, function=by_weight, **options):
    """The same by a function that reads the weight."""
    spec = Spec(edge_bias=None if weights is None else function, neighbor_size=k, depth=1, **options)
    found = gd.sample.run(star(degree, weights), spec, [degree], instances=trials, seed=seed)
    np.testing.assert_array_equal(found.edge_offsets, np.arange(trials + 1) * k)
    return found.dst.reshape(trials, k)


def by_weight_anywhere(edge):
    """Of which no sums are kept."""
    return edge.weight if edge.previous < 0 else 0


def drawn_by_looking_at_all(*arguments, **options):
    return drawn_by_spec(*arguments, function=by_weight_anywhere, select="inverse", **options)


def drawn_by_rejection(degree, k, trials, weights, **options):
    return drawn_by_spec(degree, k, trials, weights, edge_bound=np.max(weights).item(), **options)


def _neighbours(method):
    return lambda *arguments, **options: drawn(*arguments, method=method, **options)


ALIKE: dict[str, Callable] = {
    **{method: _neighbours(method) for method in METHODS},
    "layer": drawn_as_layer,
    "functions": drawn_by_spec,
    "layer of functions": lambda *arguments, **options: np.sort(drawn_by_spec(*arguments, per="layer", **options)),
}
"""Samplers of neighbours that are all alike."""
IN_ORDER: dict[str, Callable] = {
    **{method: _neighbours(method) for method in METHODS},
    "functions": lambda *arguments, **options: drawn_by_spec(*arguments, select="inverse", **options),
    "functions, all edges looked at": drawn_by_looking_at_all,
    "functions, by rejection": drawn_by_rejection,
    "functions, by keys": lambda *arguments, **options: drawn_by_spec(*arguments, select="reservoir", **options),
    "functions, repeated": lambda *arguments, **options: drawn_by_spec(*arguments, select="repeated", **options),
    "functions, bipartite": lambda *arguments, **options: drawn_by_spec(*arguments, select="bipartite", **options),
    "functions, bipartite, all edges looked at": lambda *arguments, **options: drawn_by_spec(
        *arguments, function=by_weight_anywhere, select="bipartite", **options
    ),
}
"""Samplers by weight, whose edges stand in the order in which they are drawn."""
AS_SETS: dict[str, Callable] = {
    "layer": drawn_as_layer,
    "layer of functions": lambda *arguments, **options: np.sort(drawn_by_spec(*arguments, per="layer", **options)),
    "layer of functions, bipartite": lambda *arguments, **options: np.sort(
        drawn_by_spec(*arguments, per="layer", select="bipartite", **options)
    ),
}
"""Samplers by weight, whose edges stand in the order of the neighbours."""


def fits(observed, expected):
    """G-test; cells of small expectation are taken together."""
    observed, expected = np.asarray(observed, float), np.asarray(expected, float)
    if observed[expected == 0].any():
        return False
    small = expected < 10
    if small.any():
        observed = np.append(observed[~small], observed[small].sum())
        expected = np.append(expected[~small], expected[small].sum())
        if expected[-1] < 10:
            if observed[-1] > expected[-1] + 6 * np.sqrt(expected[-1]) + 6:
                return False
            observed, expected = observed[:-1], expected[:-1]
            expected = expected * (observed.sum() / expected.sum())
    if len(observed) < 2:
        return True
    return power_divergence(observed, expected * observed.sum() / expected.sum(), lambda_="log-likelihood")[1] > LEAST


def check_sets_alike(draw, degree, k, trials, seed=0):
    """Every set of k of `degree` neighbours comes as often as any other."""
    rows = draw(degree, k, trials, seed=seed)
    counts = np.bincount(np.left_shift(1, rows).sum(axis=1), minlength=1 << degree)
    law = np.zeros(1 << degree)
    for chosen in combinations(range(degree), k):
        law[sum(1 << place for place in chosen)] = 1
    assert fits(counts, law / law.sum() * trials)


def check_orders(draw, weights, k, trials, seed=0):
    """Every sequence of k neighbours comes as often as its law says; of fewer, what comes is the beginning of it."""
    weights = np.asarray(weights)
    rows = draw(len(weights), k, trials, weights, seed=seed)
    _check_cells(rows, orders(weights, k), trials, len(weights))
    for fewer in range(1, k):
        np.testing.assert_array_equal(draw(len(weights), fewer, 500, weights, seed=seed), rows[:500, :fewer])


def check_sets(draw, weights, k, trials, seed=0):
    """The same of sets, which are part of those of more."""
    weights = np.asarray(weights)
    rows = draw(len(weights), k, trials, weights, seed=seed)
    law = {}
    for order, chance in orders(weights, k).items():
        law[tuple(sorted(order))] = law.get(tuple(sorted(order)), 0.0) + chance
    _check_cells(rows, law, trials, len(weights))


def _check_cells(rows, law, trials, degree):
    k = rows.shape[1]
    base = degree ** np.arange(k)
    expected = np.zeros(degree**k)
    for cell, chance in law.items():
        expected[np.dot(cell, base)] = chance
    np.testing.assert_allclose(expected.sum(), 1)
    assert fits(np.bincount(rows @ base, minlength=degree**k), expected * trials)


def check_row_of_40(draw, trials=30_000):
    """Redraws, then what is left: orders of three heavy ones and the others, and inclusion beside one at the start."""
    weights = np.ones(40, np.int64)
    weights[[0, 20, 39]] = 2000, 3000, 1000
    rows = draw(40, 3, trials, weights)
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
    weights[:] = 1
    weights[0] = 1000
    check_inclusion(draw(40, 2, trials, weights), included(weights, 2), 40)


def included(weights, k):
    """The probability of each number to be among the first k, by exponential clocks of these rates."""
    if k == len(weights):
        return np.ones(k)
    # of the order of 1 is when as many have rung, most of them one or more alike
    weights = np.asarray(weights, float) / np.sum(weights) * k
    rates, which, numbers = np.unique(weights, return_inverse=True, return_counts=True)
    j = np.arange(k)

    def before(one, t):
        """That fewer than k others than one of these rates have rung by t: those of one rate are binomial."""
        counts = np.ones(1)
        for rate, number in zip(rates, numbers - (np.arange(len(rates)) == one), strict=True):
            ways = gammaln(number + 1) - gammaln(j + 1) - gammaln(number - j + 1)
            rung = np.exp(ways + j * np.log(-np.expm1(-rate * t)) - (number - j) * rate * t)
            counts = np.convolve(counts, rung)[:k]
        return counts.sum()

    def density(s, one):
        t = s / (1 - s)
        return rates[one] * np.exp(-rates[one] * t) * before(one, t) / (1 - s) ** 2

    found = [quad(density, 0, 1, (one,), epsabs=0, epsrel=1e-6, limit=200)[0] for one in range(len(rates))]
    chances = np.array(found)[which]
    np.testing.assert_allclose(chances.sum(), k, rtol=1e-5)
    return chances


def check_inclusion(rows, chances, degree):
    """Whether the first neighbour, the last one, and all of them together come as often as they should."""
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
    if freedom < 5000:
        p = chi2.sf((z**2).sum() * (freedom / len(z)), freedom)
    else:  # many, which are expected few times each: as a normal law, with the variance of what is binomial
        p = norm.sf(((z**2).sum() - len(z)) / np.sqrt((2 + spread[~certain] ** -2 - 6 / trials).sum()))
    assert p > LEAST
    assert freedom < 30 or p < 1 - LEAST


def check_instances(draw, apart=(1, 2, 256), trials=60_000, **options):
    """What an instance draws does not tell what another one does, however far apart they are."""
    rows = draw(5, 1, trials, **options)[:, 0]
    assert fits(np.bincount(rows, minlength=5), np.full(5, trials / 5))
    for distance in apart:
        assert p_of_independence(rows[:-distance], rows[distance:]) > LEAST


def check_vertices():
    """Nor does what it draws for a vertex tell what it draws for another one, nor what another seed draws."""
    degree, n = 5, 6000
    src, dst = np.repeat(np.arange(n), degree), np.tile(np.arange(n, n + degree), n)
    graph = gd.from_edges(src, dst, directed=True).partition(1, device="cpu")
    one, other = (gd.sample.neighbors(graph, [np.arange(n)] * 10, [1], seed=seed).dst - n for seed in (7, 8))
    for left, right in ((one[:-1], one[1:]), (one[:-n], one[n:]), (one, other)):
        assert p_of_independence(left, right) > LEAST


def check_one_pass(trials):
    """All orders of two edges, and all sets of two vertices, come alike; a seed has one of each."""
    graph = gd.from_edges([0, 0, 1, 2, 3], [1, 2, 2, 3, 3], directed=False).partition(1, device="cpu")
    of_edges, sets = [], []
    for seed in range(trials):
        found = gd.sample.random_edges(graph, 2, seed=seed, progress=False)
        of_edges.append(tuple(zip(found.src.tolist(), found.dst.tolist(), strict=True)))
        sets.append(frozenset(gd.sample.random_nodes(graph, 2, seed=seed).tolist()))
    for drawn_ones, number in ((of_edges, 20), (sets, 6)):
        counts = [drawn_ones.count(one) for one in set(drawn_ones)]
        assert len(counts) == number
        assert fits(counts, np.full(number, trials / number))
