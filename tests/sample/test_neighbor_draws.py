"""Which 64-bit numbers decide what: samplers against plain Python with whole numbers of any size."""

from __future__ import annotations

import numpy as np
import pytest
from draw_models import (
    check_by_weight,
    check_ends,
    check_fire,
    check_floyd,
    check_frontier,
    check_function_walks,
    check_functions_alike,
    check_functions_by_rejection,
    check_functions_by_weight,
    check_reservoir,
    in_turn,
    numbers_of,
)
from emulated import stand_in
from set_laws import by_weight, by_weight_anywhere, drawn

from graphdask.kernels.neighbors.successive import MOST_REDRAWS

SEEDS = [0, 2**64 - 3, 2**63 + 1]


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


@pytest.mark.parametrize("collisions", ["auto", "linear", "bitmap", "strided"])
@pytest.mark.parametrize("method", ["repeated", "bipartite"])
@pytest.mark.parametrize(("degree", "k"), [(2, 1), (33, 32), (65, 40), (100, 99)])
def test_however_it_is_seen_what_is_drawn_already(degree, k, method, collisions):
    for weights in (None, np.arange(1, degree + 1)):
        rows = drawn(degree, k, 3, weights, seed=4, method=method, collisions=collisions)
        values = [1] * degree if weights is None else weights.tolist()
        for instance in range(3):
            expected = in_turn(numbers_of(4, instance, degree), values, k, MOST_REDRAWS, method == "bipartite")
            assert rows[instance].tolist() == expected


@pytest.mark.parametrize("method", ["repeated", "bipartite"])
def test_draws_that_end_among_what_is_left(backend, monkeypatch, method):
    """Two of four biases are as good as nothing: no redraw finds them."""
    weights = [2**58, 1, 2**57, 1]
    expected = in_turn(numbers_of(0, 0, 4), weights, 3, MOST_REDRAWS, method == "bipartite")
    assert sorted(expected[:2]) == [0, 2]
    device = "cpu" if backend.name == "cpu" else "cuda"
    if device == "cuda":
        stand_in(monkeypatch, backend)
    for collisions in ("linear", "bitmap", "strided") if device == "cpu" else ("strided",):
        options = {"method": method, "collisions": collisions, "device": device}
        assert drawn(4, 3, 1, np.array(weights), **options).tolist() == [expected]


@pytest.mark.parametrize("seed", [0, 2**64 - 3])
@pytest.mark.parametrize(("degree", "k"), [(1, 1), (7, 0), (7, 6), (40, 33), (500, 3)])
def test_a_reservoir_by_digits_of_the_numbers(degree, k, seed):
    check_reservoir(degree, k, seed)


def test_a_reservoir_of_weights_keeps_the_smallest_keys():
    weights = np.array([3, 1, 2**40, 5, 1, 0, 7])
    for k in (2, 6):
        rows = drawn(7, k, 5, weights, method="reservoir", seed=2)
        for instance in range(5):
            numbers = numbers_of(2, instance, 7, step=2)
            places = [place for place in range(7) if weights[place]]
            keys = {place: -np.log(((next(numbers) >> 11) + 1) / 2**53) / float(weights[place]) for place in places}
            expected = sorted(keys, key=keys.get)[:k] if k < 6 else places
            assert rows[instance].tolist() == expected


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


def test_ends_of_walks_of_personalised_pagerank():
    check_ends()


def test_frontiers():
    for seed in SEEDS:
        check_frontier(seed)
