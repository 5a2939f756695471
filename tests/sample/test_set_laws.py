"""Draws without replacement: all sets and orders of few neighbours, and how often each of many is among those drawn.

A million trials each, with fixed seeds; test_draw_mutants.py holds that draws that are wrong are noticed.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from set_laws import (
    ALIKE,
    AS_SETS,
    IN_ORDER,
    check_inclusion,
    check_orders,
    check_sets,
    check_sets_alike,
    drawn,
    included,
)

TRIALS = 1_000_000
WEIGHTS = [
    [5, 0, 1, 0, 2],
    [0.125, 0.7, 1e-3, 2.5, 0.0, 0.4],
    [10**6, 1, 10**6, 1],
    [1, 1, 1, 1, 1, 7],
]
DEGREES = [1, 2, 31, 32, 33, 1023, 1024, 1025, 40_000]


@pytest.mark.parametrize("way", ALIKE)
def test_sets_of_neighbours_all_alike(way):
    """By Floyd's algorithm fewer neighbours are not the beginning of more, as they are of what is drawn one by one."""
    for degree in range(2, 7):
        most = min(3, degree - 1)
        for k in range(1 if way in ("auto", "functions") else most, most + 1):
            check_sets_alike(ALIKE[way], degree, k, TRIALS, seed=degree)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("way", IN_ORDER)
def test_orders_of_neighbours_by_weight(way, weights):
    check_orders(IN_ORDER[way], weights, min(3, int(np.count_nonzero(weights)) - 1), TRIALS)


@pytest.mark.parametrize("weights", WEIGHTS[:2])
@pytest.mark.parametrize("way", AS_SETS)
def test_sets_of_neighbours_by_weight(way, weights):
    check_sets(AS_SETS[way], weights, min(3, int(np.count_nonzero(weights)) - 1), TRIALS)


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("k", [1, 10, 33, 100])
def test_every_neighbour_is_as_likely(degree, k):
    taken = min(degree, k)
    trials = max(200, min(12_000, 20 * degree // taken + 500))
    rows = drawn(degree, taken, trials, seed=5)
    if taken < k:
        np.testing.assert_array_equal(rows, np.tile(np.arange(degree), (trials, 1)))
        return
    assert (np.diff(np.sort(rows, axis=1), axis=1) > 0).all()
    check_inclusion(rows, np.full(degree, k / degree), degree)


def uneven(degree):
    """Weights of a row, heavy at both ends."""
    weights = np.arange(degree) % 3 + 1
    weights[0], weights[-1] = 5 + degree // 20, 4 + degree // 30
    return weights


@cache
def chances(degree, k):
    return included(uneven(degree), k)


SLOW = (
    "functions, all edges looked at", "functions, by keys", "functions, bipartite, all edges looked at", *AS_SETS
)  # fmt: skip
"""Which look at all edges of a row."""


@pytest.mark.parametrize("way", [*IN_ORDER, *AS_SETS])
def test_neighbours_by_weight_are_included_as_exponential_clocks_ring(way):
    draw = {**IN_ORDER, **AS_SETS}[way]
    for degree in DEGREES:
        weights = uneven(degree)
        for k in (1, 10, 33):
            if k > degree:
                continue
            trials = min(20 * degree // k + 500, 5000) if degree < 40_000 else 300 if way in SLOW else 4000
            rows = draw(degree, k, trials, weights, seed=k)
            assert (np.diff(np.sort(rows, axis=1), axis=1) > 0).all()
            check_inclusion(rows, chances(degree, k), degree)
