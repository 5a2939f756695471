"""Supersteps in which all vertices send a float, and `until` ends the run: a GPU asks it, and the host decides."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.errors import FunctionError


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)], autouse=True)
def device(request, monkeypatch):
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())


def graph():
    rng = np.random.default_rng(7)
    return gd.from_edges(rng.zipf(1.6, 900) % 60, rng.integers(0, 60, 900), num_vertices=64)


def program(until, **changes):
    return gd.Program(
        **{
            "state": {"x": (float, lambda v: 1.0 / (1 + v.id)), "k": (np.uint8, 0)},
            "message": (float, "sum"),
            "send": lambda e: e.source.x / e.source.degree if e.source.k % 3 < 2 else None,
            "apply": lambda v, m: {
                "x": 0.5 * m + (0.1 * v.total / 64 if v.superstep else 0.25),
                "k": (v.k + v.large) % 7,
            },
            "activity": "all",
            "aggregate": {
                "total": ("sum", lambda old, new: abs(new.x - old.x)),
                "large": ("max", lambda old, new: int(new.x * 100) % 5),
            },
            "until": until,
        }
        | changes
    )


def same(found, expected):
    assert (found.iterations, found.aggregates) == (expected.iterations, expected.aggregates)
    for name in ("x", "k"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("most", [None, 5])
def test_the_run_ends_in_the_superstep_in_which_it_ends_on_several_ranks(most):
    made = program(lambda a: a.superstep >= 9 and a.total < 3.0, max_supersteps=most)
    found, expected = (gd.run(graph().partition(n, device=d), made) for n, d in ((1, "cuda"), (3, "cpu")))
    same(found, expected)
    assert "until" not in found.stats.chosen  # the GPU asks it
    assert [step["pulled"] for step in found.stats] == [1] * (found.iterations + 1)


def test_the_host_goes_on_where_no_float_holds_what_is_compared():
    aggregate = {
        "total": ("sum", lambda old, new: abs(new.x - old.x)),
        "large": ("max", lambda old, new: 2**53 + (1 if new.k >= 4 else 0)),
    }
    made = program(lambda a: a.superstep > 6 and a.large > 2.0**53, aggregate=aggregate, max_supersteps=12)
    found, expected = (gd.run(graph().partition(n, device=d), made) for n, d in ((1, "cuda"), (3, "cpu")))
    same(found, expected)


def test_an_until_that_only_python_can_call_is_called_after_every_superstep():
    seen = []
    found = gd.run(graph().partition(1, device="cuda"), program(lambda a: seen.append(a.superstep) or a.superstep == 4))
    assert (found.iterations, seen) == (4, [1, 2, 3, 4])
    assert found.stats.chosen["until"].startswith("called by Python after every superstep")


def test_what_fails_is_named_as_on_several_ranks():
    failing = {"apply": lambda v, m: {"x": m / (v.superstep - 5)}}
    for until, changes, message in (
        (lambda a: 1 // (4 - a.superstep) > 5, {}, "until failed: .* by zero"),
        (lambda a: False, failing, "apply failed: division by zero"),
    ):
        for parts, where in ((1, "cuda"), (3, "cpu")):
            with pytest.raises(FunctionError, match=message):
                gd.run(graph().partition(parts, device=where), program(until, **changes))
