"""Programs in which all vertices send a float, on a CPU that has the whole graph: no Python between supersteps."""

from __future__ import annotations

import numpy as np
import pytest
from plain_programs import Plain

import graphdask as gd
from graphdask.errors import FunctionError
from graphdask.program.tuning import PROGRAM


@pytest.fixture
def in_few_calls(tuned):
    """From the first superstep on several are in a call of the kernel, which is a superstep of the statistics."""
    tuned(PROGRAM, single_steps=0)


@pytest.mark.usefixtures("in_few_calls")
@pytest.mark.parametrize("direction", ["out", "in"])
def test_states_and_aggregates_are_those_of_several_ranks(direction):
    program = gd.Program(
        state={"x": (float, lambda v: 1.0 / (1 + v.id)), "k": (int, lambda v: v.id % 7)},
        message=(float, "sum"),
        send=lambda e: e.source.x / (e.source.degree + e.superstep + 1) if e.source.k % 3 else None,
        apply=lambda v, m: {
            "x": 0.5 * m + (0.125 * v.total + 0.01 * v.least if v.superstep else 0.25),
            "k": (v.k * 3 + v.superstep + v.odd) % 11,
        },
        direction=direction,
        activity="all",
        aggregate={
            "total": ("sum", lambda old, new: new.x - old.x),
            "least": ("min", lambda old, new: new.x),
            "odd": ("count", lambda old, new: new.k % 2),
        },
        until=lambda a: a.superstep > 70 and a.odd < 25 and a.active > 0,
        max_supersteps=200,
    )
    rng = np.random.default_rng(2)
    src, dst = rng.zipf(1.6, 900) % 60, rng.integers(0, 60, 900)
    for directed in (True, False):
        graph = gd.from_edges(src, dst, num_vertices=64, directed=directed)
        found = gd.run(graph.partition(1, device="cpu"), program)
        assert len(found.stats) == 2, "one call writes what vertices send first, one goes through all supersteps"
        assert 70 < found.iterations < 200
        expected = gd.run(graph.partition(3, device="cpu"), program)
        assert (found.iterations, found.aggregates) == (expected.iterations, expected.aggregates)
        for name in ("x", "k"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        for what in ("frontier", "edges"):
            assert sum(step[what] for step in found.stats) == sum(step[what] for step in expected.stats)
        plain, done, _ = Plain(program, 64, src, dst, directed=directed).run()
        assert done == found.iterations
        np.testing.assert_array_equal(found.k, plain["k"])
        np.testing.assert_allclose(found.x, plain["x"], rtol=1e-9)
        found.verify()


def test_a_run_ends_after_max_supersteps_and_each_of_the_first_ones_is_a_call():
    graph = gd.from_edges([0, 1, 2], [1, 2, 0], num_vertices=5).partition(1, device="cpu")
    program = gd.Program(
        state={"x": (float, 1.0)},
        message=(float, "sum"),
        send=lambda e: e.source.x,
        apply=lambda v, m: {"x": 1.0 + 0.5 * m},
        activity="all",
    )
    for most in (0, 1, 3, 80):  # and what vertices send after the last one
        found = gd.run(graph, program, max_supersteps=most)
        assert found.iterations == most
        x = 1.0
        for _ in range(most):
            x = 1.0 + 0.5 * x
        np.testing.assert_array_equal(found.x, [x] * 3 + [1.0] * 2)
        assert len(found.stats) == 1 + min(most, 64) + (most > 64)
        assert [step["pulled"] for step in found.stats] == [1] + [1] * min(most, 64) + [16] * (most > 64)
        assert not any(step["pushed"] for step in found.stats)


@pytest.mark.slow
@pytest.mark.usefixtures("in_few_calls")
@pytest.mark.parametrize("wrong", ["send", "apply", "aggregate", "nan"])
def test_the_function_that_failed_is_named(wrong):
    at = ("send", "apply", "aggregate", "nan").index(wrong)
    program = gd.Program(
        state={"x": (float, 1.0), "mode": (int, 0)},
        message=(float, "sum"),
        send=lambda e: e.source.x / (0 if e.source.mode == 0 and e.superstep == 12 else 1),
        apply=lambda v, m: {"x": 0.5 * m + 1 // (0 if v.mode == 1 and v.superstep == 12 else 1)},
        aggregate={
            "gone": ("max", lambda old, new: 1.0 / (new.x - new.x if new.mode == 2 and new.x > 1.9 else 1.0)),
            "wide": ("sum", lambda old, new: (new.x * 1e308) * 1e308 * (0.0 if new.mode == 3 else 1e-308)),
        },
        activity="all",
        max_supersteps=50,
    )
    graph, errors = gd.from_edges([0, 1, 2], [1, 2, 0]), []
    for parts in (1, 3):
        with pytest.raises(FunctionError) as error:
            gd.run(graph.partition(parts, device="cpu"), program, init={"mode": np.full(3, at)})
        errors.append(str(error.value))
    assert errors[0] == errors[1]
    said = {
        "send": "send failed: division",
        "apply": "apply failed: division",
        "aggregate": "gone",
        "nan": "returns NaN",
    }
    assert said[wrong] in errors[0]
