"""Which 64-bit numbers decide what: traversal samplers against plain Python with whole numbers of any size."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.kernels.hash import hashed, key
from graphdask.kernels.philox import DRAW_NEIGHBOR, philox
from graphdask.kernels.successive import MOST_REDRAWS


def numbers_of(seed, instance, vertex, step=0):
    """The 64-bit numbers of a vertex in an instance, one after the other."""
    keys = [np.uint64(key(np.uint64(seed % 2**64), DRAW_NEIGHBOR, part)) for part in (0, 1)]
    of_vertex = np.uint64(hashed(*keys, np.uint64(vertex)))
    block = 0
    while True:
        yield from map(int, philox(of_vertex, np.uint64(instance), np.uint64(step), np.uint64(block)))
        block += 1


def floyd(numbers, degree, k):
    chosen = []
    for last in range(degree - k, degree):
        place = next(numbers) * (last + 1) >> 64
        chosen.append(last if place in chosen else place)
    return chosen


def in_turn(numbers, weights, k, redraws, regions=False):
    """One draw after the other among what is left, after some among all that find only what was drawn before.

    With regions, what is found again is followed by a fresh number among all but that.
    """
    chosen = []
    for _ in range(k):
        for _ in range(redraws):
            place = found(weights, next(numbers) * sum(weights) >> 64)
            if place in chosen and regions:
                others = [0 if at == place else weight for at, weight in enumerate(weights)]
                place = found(others, next(numbers) * sum(others) >> 64)
            if place not in chosen:
                break
        else:
            left = [0 if place in chosen else weight for place, weight in enumerate(weights)]
            place = found(left, next(numbers) * sum(left) >> 64)
        chosen.append(place)
    return chosen


def found(weights, number):
    """The place whose weight takes in a number."""
    for place, weight in enumerate(weights):
        if number < weight:
            return place
        number -= weight
    raise AssertionError("the number is too large")


def star(degree, weights=None):
    return gd.from_edges(np.full(degree, 5), np.arange(6, degree + 6), weights, num_vertices=degree + 6).partition(
        1, device="cpu"
    )


@pytest.mark.parametrize("seed", [0, -3, 2**70 + 1])
@pytest.mark.parametrize(("degree", "k"), [(3, 1), (7, 6), (40, 32), (40, 33), (500, 400), (10_000, 50)])
def test_floyd_by_digits_of_the_numbers(degree, k, seed):
    drawn = gd.sample.neighbors(star(degree), np.full(4, 5), [k], seed=seed)
    for instance in range(4):
        expected = floyd(numbers_of(seed, instance, 5), degree, k)
        assert (drawn.dst[drawn.instance == instance] - 6).tolist() == expected
    again = gd.sample.neighbors(star(degree), np.full(4, 5), [k], seed=seed, replace=True)
    numbers = numbers_of(seed, 2, 5)
    assert (again.dst[again.instance == 2] - 6).tolist() == [next(numbers) * degree >> 64 for _ in range(k)]


@pytest.mark.parametrize("kind", ["small", "huge", "fractions"])
@pytest.mark.parametrize(("degree", "k"), [(3, 2), (32, 30), (33, 30), (60, 32), (60, 40)])
def test_draws_by_weight(degree, k, kind, rng):
    weights = rng.integers(1, {"small": 9, "huge": 2**53, "fractions": 2**12}[kind], degree)
    values = weights.tolist()
    if kind == "fractions":  # multiples of a power of two: how they are scaled changes no draw
        weights = weights / 1024
    check_draws(weights, values, k, instances=3)


def check_draws(weights, values, k, instances):
    degree = len(values)
    after = {"auto": 8 if degree > 32 else 0, "updated": 0, "repeated": MOST_REDRAWS, "bipartite": MOST_REDRAWS}
    for method, redraws in after.items():
        drawn = gd.sample.neighbors(star(degree, weights), np.full(instances, 5), [k], bias="weight", method=method)
        for instance in range(instances):
            expected = in_turn(numbers_of(0, instance, 5), values, k, redraws if k <= 32 else 0, method == "bipartite")
            assert (drawn.dst[drawn.instance == instance] - 6).tolist() == expected


def test_draws_where_redraws_are_in_vain():
    """Once two of five are drawn, hardly any number finds another one."""
    values = [1, 10**6, 1, 1, 10**6]
    check_draws(np.array(values), values, 4, instances=8)


@pytest.mark.parametrize("p", [0.5, 0.1, 2.0**-60, 0.97])
def test_a_fire_burns_on_as_long_as_numbers_are_below_p(p):
    fire = gd.sample.forest_fire(star(50), np.full(40, 5), p, depth=1, seed=9)
    for instance in range(40):
        numbers = numbers_of(9, instance, 5, step=1)
        count = 0
        while count < 50 and next(numbers) < p * 2**64:
            count += 1
        expected = list(range(50)) if count == 50 else floyd(numbers_of(9, instance, 5), 50, count)
        assert (fire.dst[fire.instance == instance] - 6).tolist() == expected
