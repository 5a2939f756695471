"""Neighbour sampling by functions in one go: the same edges as step by step, and the same errors."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from specs import COLUMNS, WITH_SUMS, by_weight, coin, metropolis, same, second_order, uneven

import graphdask as gd
import graphdask.partition
import graphdask.partition.sources
from graphdask.device.backend import get_backend
from graphdask.errors import FunctionError
from graphdask.partition.tuning import PARTITION
from graphdask.sample.spec import Spec
from graphdask.sample.tuning import SAMPLE

DEVICES = ["twin", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)]
SEEDS = [[0, 7], [], [5], *([v] for v in range(80, 90)), [4, 3, 2, 1]]


def back(e):
    return e.previous if e.depth == 1 and e.destination_is_previous else e.destination


def from_seed(e):
    return e.weight if e.destination_degree > e.source_degree or e.destination == e.seed else 1


SPECS = {
    "uniform": Spec(neighbor_size=[3, 2, 2]),
    "uniform, all of some": Spec(neighbor_size=20, depth=2),
    "uniform with replacement": Spec(neighbor_size=[17, 2], replace=True),
    "no neighbours": Spec(neighbor_size=[2, 0, 3]),
    "uniform from some": Spec(edge_bias=lambda e: e.source % 3 != 2, neighbor_size=3, depth=2),
    "sums": Spec(edge_bias=by_weight, neighbor_size=[4, 3]),
    "sums with replacement": Spec(edge_bias=by_weight, neighbor_size=[4, 3], replace=True),
    "sums against the edges": Spec(edge_bias=by_weight, neighbor_size=[2, 2, 2], direction="in", select="updated"),
    "aliases": Spec(edge_bias=by_weight, neighbor_size=[3, 5], select="alias", replace=True),
    "trials": Spec(edge_bias=by_weight, neighbor_size=[4, 3], edge_bound=9),
    "trials with replacement": Spec(edge_bias=by_weight, neighbor_size=[12, 2], edge_bound=9, replace=True),
    "trials of the vertex before": Spec(edge_bias=second_order, neighbor_size=[3, 3, 2], edge_bound=2.0),
    "trials of the seed": Spec(edge_bias=from_seed, neighbor_size=[3, 3, 2], edge_bound=9.0),
    "coins": Spec(update=coin, neighbor_size=[3, 3, 2]),
    "steps back": Spec(update=back, edge_bias=by_weight, neighbor_size=[3, 3, 2], revisit=True),
    "Metropolis-Hastings": Spec(update=metropolis, neighbor_size=[3, 2], edge_bias=by_weight, edge_bound=9),
    "again and again": Spec(neighbor_size=[3, 3, 2], revisit=True),
}  # fmt: skip


@pytest.fixture(params=DEVICES)
def run(request, monkeypatch, device_of):
    """Runs a spec where all steps may be taken in one go, which is one superstep, and says whether they were."""
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())
    if request.param == "twin":
        device_of(get_backend("cpu"), shared_memory=1 << 17)

    def run(made, *arguments, **options):
        where = made.partition(1, device="cpu" if request.param == "twin" else "cuda")
        with SAMPLE.varied(**WITH_SUMS):
            return gd.sample.run(where, *arguments, **options)

    return run


def step_by_step(made, *arguments, **options):
    with SAMPLE.varied(fused=False):
        return gd.sample.run(made.partition(1, device="cpu"), *arguments, **options)


def in_one_go(found):
    return len(found.stats) == 1


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("integers", name) for name in SPECS),
        *(("floats", name) for name in ("sums", "aliases", "trials of the seed")),
    ],
)
def test_the_same_as_step_by_step(run, rng, kind, name):
    made, spec, seed = uneven(kind), SPECS[name], int(rng.integers(1 << 30))
    expected = step_by_step(made, spec, SEEDS, seed=seed)
    found = run(made, spec, SEEDS, seed=seed).verify()
    same(expected, found)
    assert found.stats.edges == len(expected.src)
    assert in_one_go(found)
    assert not in_one_go(expected)


@pytest.mark.slow
def test_the_same_for_many_instances_in_many_launches(run, tuned):
    tuned(SAMPLE, edge_launch=400)
    made = uneven()
    for name in ("uniform", "sums", "trials of the vertex before", "coins"):
        expected = step_by_step(made, SPECS[name], np.arange(90), instances=200)
        found = run(made, SPECS[name], np.arange(90), instances=200)
        same(expected, found)
        assert in_one_go(found)


@pytest.mark.slow
@pytest.mark.parametrize("star", [200, 300])
def test_the_same_after_too_few_trials(run, star, tuned):
    tuned(SAMPLE, trials=2)
    for kind in ("integers", "floats"):
        made = uneven(kind, star)
        for name in (name for name in SPECS if "trials" in name):
            expected = step_by_step(made, SPECS[name], SEEDS)
            for _ in range(2):
                same(expected, run(made, SPECS[name], SEEDS))


@pytest.mark.slow
def test_64_bit_vertex_numbers(run, tuned):
    names = ("uniform", "sums", "trials of the vertex before")
    expected = {name: step_by_step(uneven(), SPECS[name], SEEDS) for name in names}
    tuned(PARTITION, narrow_ids=0)
    for name in names:
        found = run(uneven(), SPECS[name], SEEDS)
        for column in COLUMNS:
            np.testing.assert_array_equal(getattr(found, column), getattr(expected[name], column))
        assert in_one_go(found)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (Spec(edge_bias=lambda e: 1 // abs(e.weight - 3), neighbor_size=2, depth=2, edge_bound=9), "division by zero"),
        (Spec(edge_bias=lambda e: -1 if e.depth else 1, neighbor_size=2, depth=2, edge_bound=9), "negative"),
        (Spec(edge_bias=by_weight, neighbor_size=2, depth=2, edge_bound=4), "above edge_bound"),
        (Spec(update=lambda e: 90 if e.depth else e.destination, neighbor_size=2, depth=2), "neither -1 nor a vertex"),
        (Spec(edge_bias=lambda e: 2 - e.source_degree, neighbor_size=2, depth=2), "negative"),
    ],
)
def test_errors_are_those_of_step_by_step(run, spec, message):
    with pytest.raises(FunctionError, match=message) as expected:
        step_by_step(uneven(), spec, np.arange(90))
    with pytest.raises(FunctionError) as found:
        run(uneven(), spec, np.arange(90))
    assert str(found.value) == str(expected.value)


def test_what_is_not_small_or_not_alike_goes_step_by_step(run):
    made = uneven()
    for spec in (
        Spec(neighbor_size=40, depth=1),
        Spec(neighbor_size=-1, depth=2),
        Spec(neighbor_size=[32, 32, 2]),
        Spec(neighbor_size=lambda v: v.depth + 1, depth=2),
        Spec(neighbor_size=2, depth=2, per="layer"),
        Spec(neighbor_size=2, depth=2, frontier_size=1),
        Spec(edge_bias=by_weight, neighbor_size=2, depth=2, select="reservoir"),
        Spec(edge_bias=second_order, neighbor_size=2, depth=2, select="inverse"),
    ):
        same(step_by_step(made, spec, SEEDS), run(made, spec, SEEDS))
