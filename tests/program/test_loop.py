"""Many supersteps of a program in one call of a kernel: aggregates and `until` as if Python came between supersteps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from emulated import emulated, stand_in
from plain_programs import Plain

import graphdask as gd
from graphdask.errors import FunctionError
from graphdask.program.tuning import PROGRAM

LENGTH = 300


@pytest.fixture(params=["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)], autouse=True)
def device(request, monkeypatch, tuned):
    """Where a call goes through many supersteps, from the first one on."""
    tuned(PROGRAM, single_steps=0)
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())
    return "cpu" if request.param == "cpu" else "cuda"


def path():
    return gd.from_edges(np.arange(LENGTH - 1), np.arange(1, LENGTH), directed=False)


def hops(**more):
    return gd.Program(
        state={"depth": (np.int32, -1), "x": (float, 0.0)},
        message=(int, "min"),
        send=lambda e: e.source.depth + 1,
        apply=lambda v, m: v.depth < 0 and {"depth": m, "x": 1.0 / (1 + v.id)},
        **more,
    )


FROM = {"active": [0], "init": {"depth": {0: 0}}}


def both(device, program, **how):
    """On one rank in one call, and on three, superstep by superstep."""
    graph = path()
    one = gd.run(graph.partition(1, device=device), program, **FROM, **how)
    three = gd.run(graph.partition(3, by="random", device="cpu"), program, **FROM, **how)
    assert (one.iterations, one.aggregates) == (three.iterations, three.aggregates)
    for name in one.columns:
        np.testing.assert_array_equal(getattr(one, name), getattr(three, name))
    assert sum(step["frontier"] for step in one.stats) == sum(step["frontier"] for step in three.stats)
    assert sum(step["edges"] for step in one.stats) == sum(step["edges"] for step in three.stats)
    assert len(one.stats) < 6 < len(three.stats)
    assert sum(step["pushed"] for step in one.stats) == sum(step["pushed"] for step in three.stats) > 60
    return one


@pytest.mark.slow
def test_a_translated_until_ends_the_run_in_its_superstep(device):
    found = both(device, hops(until=lambda a: a.superstep >= 70 and a.active == 1))
    assert found.iterations == 70
    assert found.depth.tolist() == [*range(71), *([-1] * (LENGTH - 71))]


@pytest.mark.parametrize("most", [None, 0, 1, 20])
def test_a_call_goes_on_where_the_last_one_ended(most, device, tuned):
    tuned(PROGRAM, launch_steps=7)
    program = hops(
        aggregate={"most": ("max", lambda old, new: new.depth), "sum": ("sum", lambda old, new: new.x)},
        until=lambda a: a.most == 40 or a.sum == 0.0,
    )
    expected = gd.run(path().partition(3, device="cpu"), program, max_supersteps=most, **FROM)
    found = gd.run(path().partition(1, device=device), program, max_supersteps=most, **FROM)
    assert found.iterations == expected.iterations == (40 if most is None else most)
    assert found.aggregates == expected.aggregates
    np.testing.assert_array_equal(found.depth, expected.depth)
    calls = -(-found.iterations // 7)  # each is a superstep of the statistics
    assert len(found.stats) == (calls + 1 if device == "cpu" else max(calls, 1))


KINDS = {
    "sums and extremes": (
        {
            "floats": ("sum", lambda old, new: new.x - old.x),
            "whole": ("sum", lambda old, new: new.id - 200),
            "least": ("min", lambda old, new: -new.x),
            "most": ("max", lambda old, new: new.depth),
        },
        lambda a: a.floats == 1.0 / 101 and a.whole == -202 and a.least == -1.0 / 99 and a.most == 100,
        {"floats": 1.0 / 101, "whole": -202, "least": -1.0 / 99, "most": 100},
    ),
    "others": (
        {
            "least": ("min", lambda old, new: new.id - 1000),
            "most": ("max", lambda old, new: 0.5 * new.id),
            "many": ("count", lambda old, new: new.depth >= 98),
            "some": ("any", lambda old, new: new.depth >= 100),
        },
        lambda a: a.some and a.many == 2 and a.least == -902 and a.most == 50.0,
        {"least": -902, "most": 50.0, "many": 2, "some": True},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_until_reads_aggregates_of_each_kind(name, device):
    aggregate, until, expected = KINDS[name]
    found = gd.run(path().partition(1, device=device), hops(aggregate=aggregate), until=until, **FROM)
    assert (found.iterations, found.aggregates) == (100, expected)
    assert len(found.stats) == (2 if device == "cpu" else 1), "on a CPU what is sent first is a call"
    assert found.depth.tolist() == [*range(101), *([-1] * (LENGTH - 101))]


@pytest.mark.slow
def test_states_read_aggregates_as_plain_python_has_them(device):
    program = gd.Program(
        state={"x": (int, lambda v: v.id % 5), "y": (float, 0.25)},
        message=(int, "max"),
        send=lambda e: (e.source.x * 3 + e.superstep) % 97,
        apply=lambda v, m: {
            "x": (m + (v.low if v.superstep else 0) + 2 * v.many) % 97,
            "y": v.y * 0.5 + (1e30 if v.some else v.total % 1.0),
        },
        aggregate={
            "low": ("min", lambda old, new: new.x),
            "many": ("count", lambda old, new: new.x > old.x),
            "total": ("sum", lambda old, new: new.y * (1 - 2 * (new.id % 2))),
            "some": ("any", lambda old, new: new.x > 95),
        },
        until=lambda a: a.superstep > 30 and a.many % 7 == 3,
        max_supersteps=90,
    )  # fmt: skip
    rng = np.random.default_rng(5)
    src, dst = rng.integers(0, 60, 200), rng.integers(0, 60, 200)
    for directed in (True, False):
        expected, done, aggregates = Plain(program, 60, src, dst, directed=directed).run()
        graph = gd.from_edges(src, dst, num_vertices=60, directed=directed)
        found = gd.run(graph.partition(1, device=device), program)
        assert len(found.stats) < 4 < done
        assert (found.iterations, found.aggregates) == (done, aggregates)
        for name in ("x", "y"):
            np.testing.assert_array_equal(getattr(found, name), expected[name])


def test_until_that_only_python_can_call_is_called_after_every_superstep(device):
    seen = []
    program = hops(until=lambda a: seen.append(a.superstep) or a.superstep == 9)
    assert gd.run(path().partition(1, device=device), program, **FROM).iterations == 9
    assert seen == list(range(1, 10))


@pytest.mark.parametrize(
    "until",
    [lambda a: math.exp(a.superstep - 20) >= 1.0, lambda a: (a.superstep / 10.0) ** 0.5 >= math.sqrt(2.0)],
    ids=["exp", "power"],
)
def test_last_digits_are_those_of_python(until, device):
    assert gd.run(path().partition(1, device=device), hops(until=until), **FROM).iterations == 20


@pytest.mark.slow
def test_integers_that_no_float_holds_are_compared_by_python(device):
    program = hops(
        aggregate={"large": ("max", lambda old, new: 2**53 + (1 if new.depth >= 30 else 0))},
        until=lambda a: a.large > 2.0**53,
    )
    assert gd.run(path().partition(1, device=device), program, **FROM).iterations == 30


@pytest.mark.slow
def test_until_that_fails_fails_as_in_python(device):
    program = hops(aggregate={"least": ("min", lambda old, new: new.depth)}, until=lambda a: 1 // (50 - a.least) > 5)
    for parts, where in ((1, device), (3, "cpu")):
        with pytest.raises(FunctionError, match=r"until failed: .*division.* by zero"):
            gd.run(path().partition(parts, device=where), program, **FROM)
    wide = hops(until=lambda a: a.superstep**40 > 150**40)
    assert gd.run(path().partition(1, device=device), wide, **FROM).iterations == 151


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "message"),
    [(1, "nan.* returns NaN"), (2, "quotient.* failed: division by zero"), (3, "wide.* adds up to .*64 bits")],
)
def test_failures_are_those_of_a_run_superstep_by_superstep(mode, message, device):
    program = gd.Program(
        state={"depth": (int, -1), "mode": (int, 0)},
        message=(int, "min"),
        send=lambda e: e.source.depth + 1,
        apply=lambda v, m: v.depth < 0 and {"depth": m},
        aggregate={
            "nan": ("sum", lambda old, new: (new.depth * 1e308) * (0.0 if new.mode == 1 else 1e-308)),
            "quotient": ("max", lambda old, new: 1 // (70 - new.depth) if new.mode == 2 else 0),
            "wide": ("sum", lambda old, new: 2**62 if new.mode == 3 and new.depth > 40 else 0),
        },
    )
    start = {"active": [0], "init": {"depth": {0: 0}, "mode": np.full(LENGTH, mode)}}
    errors = []
    for parts, where in ((1, device), (3, "cpu")):
        with pytest.raises(FunctionError, match=message) as error:
            gd.run(path().partition(parts, device=where), program, **start)
        errors.append(str(error.value))
    assert errors[0] == errors[1]
