"""Walks over pools by functions, many steps in a launch: the same edges as step by step, and the same errors."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from specs import COLUMNS, WITH_SUMS, by_degree, by_weight, coin, metropolis, same, second_order, uneven

import graphdask as gd
import graphdask.partition
import graphdask.partition.sources
from graphdask.errors import FunctionError
from graphdask.partition.tuning import PARTITION
from graphdask.sample.spec import Spec
from graphdask.sample.tuning import SAMPLE

DEVICES = ["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)]
SEEDS = [[0, 7], [], [5], [3], [85], *([v, 0, v, 9] for v in range(6)), range(90), [4, 3, 2, 1]]
POOLS = {"frontier_size": 1, "revisit": True, "depth": 7}


def by_place(v):
    return v.place if v.depth % 2 else v.degree % 3


def by_root(v):
    return v.degree**0.5


def never(v):
    return 1 if v.depth == 3 else 0


SPECS = {
    "frontier sampling": Spec(vertex_bias=by_degree, replace=True, **POOLS),
    "all alike": Spec(**POOLS),
    "by place": Spec(vertex_bias=by_place, **POOLS),
    "by floats": Spec(vertex_bias=by_root, edge_bias=by_weight, **POOLS),
    "in one step": Spec(vertex_bias=never, edge_bias=by_weight, replace=True, **POOLS),
    "coins": Spec(vertex_bias=by_degree, update=coin, **POOLS),
    "coins of floats": Spec(vertex_bias=by_root, update=coin, **POOLS),
    "Metropolis-Hastings": Spec(vertex_bias=by_degree, update=metropolis, edge_bias=by_weight, edge_bound=9, **POOLS),
    "the vertex before": Spec(vertex_bias=by_degree, edge_bias=second_order, edge_bound=2.0, **POOLS),
    "aliases": Spec(vertex_bias=by_place, edge_bias=by_weight, select="alias", direction="in", **POOLS),
}


@pytest.fixture(params=DEVICES)
def run(request, monkeypatch):
    """Runs a spec by launches of many steps, which are one superstep."""
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())

    def run(made, *arguments, gives_up=False, **options):
        divided = made.partition(1, device="cpu" if request.param == "cpu" else "cuda")
        with SAMPLE.varied(**WITH_SUMS):
            found = gd.sample.run(divided, *arguments, **options)
        assert (len(found.stats) == 1) != gives_up
        return found

    return run


def step_by_step(made, *arguments, **options):
    with SAMPLE.varied(fused=False):
        return gd.sample.run(made.partition(1, device="cpu"), *arguments, **options)


@pytest.mark.parametrize("name", SPECS)
def test_the_same_as_step_by_step(run, name):
    made = uneven()
    expected = step_by_step(made, SPECS[name], SEEDS, instances=30)
    found = run(made, SPECS[name], SEEDS, instances=30).verify()
    same(expected, found)
    assert found.stats.edges == len(expected.src) > 0


@pytest.mark.slow
def test_the_same_in_many_launches_and_by_64_bit_numbers(run, tuned):
    expected = step_by_step(uneven("floats"), SPECS["by floats"], SEEDS)
    tuned(SAMPLE, pool_launch=2)
    same(expected, run(uneven("floats"), SPECS["by floats"], SEEDS))
    coins = step_by_step(uneven(), SPECS["coins"], SEEDS)
    tuned(PARTITION, narrow_ids=0)
    found = run(uneven(), SPECS["coins"], SEEDS)
    for column in COLUMNS:
        np.testing.assert_array_equal(getattr(found, column), getattr(coins, column))


@pytest.mark.slow
@pytest.mark.parametrize("star", [100, 300])
def test_the_same_after_too_few_trials(run, star, tuned):
    tuned(SAMPLE, trials=1)
    made, spec = uneven("floats", star), Spec(vertex_bias=by_degree, edge_bias=by_weight, edge_bound=9.0, **POOLS)
    same(step_by_step(made, spec, SEEDS), run(made, spec, SEEDS, gives_up=star > 256))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (Spec(vertex_bias=lambda v: 1 - v.degree, **POOLS), "negative"),
        (Spec(vertex_bias=lambda v: 1 // (v.depth - 2), **POOLS), "division by zero"),
        (Spec(vertex_bias=lambda v: 2**62, **POOLS), "add up to"),
        (Spec(edge_bias=by_weight, edge_bound=4, **POOLS), "above edge_bound"),
        (Spec(update=lambda e: 90 if e.depth else e.destination, **POOLS), "neither -1 nor a vertex"),
    ],
)
def test_errors_are_those_of_step_by_step(run, spec, message):
    with pytest.raises(FunctionError, match=message) as expected:
        step_by_step(uneven(), spec, [range(90)])
    with pytest.raises(FunctionError) as found:
        run(uneven(), spec, [range(90)])
    assert str(found.value) == str(expected.value)


@pytest.mark.slow
@pytest.mark.parametrize("size", range(2, 10))
def test_biases_that_add_up_to_more_than_64_bits_are_refused(run, size):
    ring = gd.from_edges(np.arange(9), np.roll(np.arange(9), 1))
    for bias in (lambda v: 2**62, lambda v: 2**62 + 0 * v.depth):
        with pytest.raises(FunctionError, match="add up to"):
            run(ring, Spec(vertex_bias=bias, **POOLS), [range(size)])


def test_nobody_is_asked_about_pools_that_are_empty(run):
    found = run(uneven(), Spec(vertex_bias=lambda v: -1, **POOLS), [[], []])
    assert found.src.tolist() == []
