"""Which 64-bit numbers decide what: samplers against plain Python with whole numbers of any size."""

from __future__ import annotations

import numpy as np
import pytest
from draw_models import (
    check_by_weight,
    check_fire,
    check_floyd,
    check_frontier,
    check_function_walks,
    check_functions_alike,
    check_functions_by_rejection,
    check_functions_by_weight,
)
from set_laws import by_weight, by_weight_anywhere

SEEDS = [0, -3, 2**70 + 1]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("degree", "k"), [(3, 1), (7, 6), (40, 32), (40, 33), (500, 400), (10_000, 50)])
def test_floyd_by_digits_of_the_numbers(degree, k, seed):
    check_floyd(degree, k, seed)
    check_functions_alike(degree, k, seed)


@pytest.mark.parametrize("kind", ["small", "huge", "fractions"])
@pytest.mark.parametrize(("degree", "k"), [(3, 2), (32, 30), (33, 30), (60, 32), (60, 40)])
def test_draws_by_weight(degree, k, kind, rng):
    weights = rng.integers(1, {"small": 9, "huge": 2**53, "fractions": 2**12}[kind], degree)
    values = weights.tolist()
    if kind == "fractions":  # multiples of a power of two: how they are scaled changes no draw
        weights = weights / 1024
    check_by_weight(weights, values, k)


def test_draws_where_redraws_are_in_vain():
    """Once two of five are drawn, hardly any number finds another one."""
    values = [1, 10**6, 1, 1, 10**6]
    check_by_weight(np.array(values), values, 4, instances=8)


@pytest.mark.parametrize("p", [0.5, 0.1, 2.0**-60, 0.97])
def test_a_fire_burns_on_as_long_as_numbers_are_below_p(p):
    check_fire(p)


@pytest.mark.parametrize("seed", SEEDS)
def test_functions_by_weight(seed, rng):
    for weights, k in ((rng.integers(1, 9, 5).tolist(), 3), (rng.integers(1, 2**50, 600).tolist(), 40)):
        for function in (by_weight, by_weight_anywhere):
            check_functions_by_weight(weights, k, seed, function)
    check_functions_by_rejection([3, 9, 1, 4, 9], 4, 9, seed)


@pytest.mark.parametrize("options", [{}, {"edge_bias": by_weight}, {"edge_bias": by_weight, "edge_bound": 7}])
def test_walks_by_functions(options):
    for seed in SEEDS:
        check_function_walks([3, 7, 1, 4, 2], seed, **options)


def test_frontiers():
    for seed in SEEDS:
        check_frontier(seed)
