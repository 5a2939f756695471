"""Programs that the GPUs of several ranks go through together have the states that ranks on CPUs find."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from plain_programs import Plain
from pushed_programs import PROGRAMS, graph
from some_programs import programs

import graphdask as gd
from graphdask.engine import team
from graphdask.engine.tuning import ENGINE
from graphdask.errors import FunctionError


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)], autouse=True)
def device(request, monkeypatch):
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())


@pytest.fixture
def teams(watched):
    """How many ranks went together, rank by rank."""
    return watched(team.TeamMemory, "__init__", lambda memory, peers, part, *others, **named: part.size)


def same(found, expected):
    assert found.iterations == expected.iterations
    for column in expected.columns:
        np.testing.assert_array_equal(getattr(found, column), getattr(expected, column), err_msg=column)


@pytest.mark.parametrize(("parts", "ghosts"), [(2, "1-hop"), (3, "all"), (7, "1-hop")])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_team_finds_what_one_rank_finds(name, parts, ghosts, teams):
    program, how, dtype = PROGRAMS[name]
    G = graph(dtype)
    found = gd.run(G.partition(parts, "random", ghosts, device="cuda"), program, **how)
    assert teams == parts * [parts]
    same(found, gd.run(G.partition(1), program, **how))


@pytest.mark.parametrize("name", ["hops", "shortest", "reachable backward"])
def test_along_the_edges_of_a_directed_graph(name, teams):
    program, how = programs()[name]
    rng = np.random.default_rng(3)
    G = gd.from_edges(rng.integers(0, 90, 300), rng.integers(0, 90, 300), rng.random(300), num_vertices=95)
    found = gd.run(G.partition(3, device="cuda"), program, **how)
    assert teams == [3, 3, 3]
    same(found, gd.run(G.partition(1), program, **how))


def test_a_launch_goes_on_where_the_last_one_ended(teams, tuned):
    tuned(ENGINE, team_steps=4)
    path = gd.from_edges(np.arange(30), np.arange(1, 31), directed=False)
    program, how = programs()["hops"]
    found = gd.run(path.partition(2, device="cuda"), program, **how)
    assert found.hops.tolist() == list(range(31))
    assert found.iterations == 31
    assert [step["frontier"] for step in found.stats][:3] == [1, 1, 1]
    assert [step["pushed"] for step in found.stats][:3] == [1, 1, 1]
    for most in (0, 1, 5):
        some = gd.run(path.partition(2, device="cuda"), program, max_supersteps=most, **how)
        same(some, gd.run(path.partition(1), program, max_supersteps=most, **how))
    assert set(teams) == {2}


def test_the_function_that_failed_is_named_by_all(teams):
    program = gd.Program(
        state={"x": (int, lambda v: v.id)},
        message=(int, "max"),
        send=lambda e: e.source.x * (2**62 if e.superstep else 1),
        apply=lambda v, m: {"x": m + 5},
    )
    with pytest.raises(FunctionError, match="send failed: an integer that does not fit"):
        gd.run(graph(np.int64).partition(3, device="cuda"), program)
    assert teams == [3, 3, 3]


def hops(**more):
    return gd.Program(
        state={"depth": (np.int32, -1), "x": (float, 0.0)},
        message=(int, "min"),
        send=lambda e: e.source.depth + 1,
        apply=lambda v, m: v.depth < 0 and {"depth": m, "x": 1.0 / (1 + v.id)},
        **more,
    )


FROM = {"active": [0], "init": {"depth": {0: 0}}}
AGGREGATES = {
    "sums and extremes": (
        {
            "floats": ("sum", lambda old, new: new.x - old.x),
            "whole": ("sum", lambda old, new: new.id - 200),
            "least": ("min", lambda old, new: -new.x),
            "most": ("max", lambda old, new: new.depth),
        },
        lambda a: a.floats == 1.0 / 21 and a.whole == -362 and a.least == -1.0 / 19 and a.most == 20,
    ),
    "others": (
        {
            "least": ("min", lambda old, new: new.id - 1000),
            "most": ("max", lambda old, new: 0.5 * new.id),
            "many": ("count", lambda old, new: new.depth >= 18),
            "some": ("any", lambda old, new: new.depth >= 20),
        },
        lambda a: a.some and a.many == 2 and a.least == -982 and a.most == 10.0,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("name", AGGREGATES)
def test_until_reads_aggregates_of_all_ranks(name, parts, teams):
    aggregate, until = AGGREGATES[name]
    path, program = gd.from_edges(np.arange(39), np.arange(1, 40), directed=False), hops(aggregate=aggregate)
    found = gd.run(path.partition(parts, "random", device="cuda"), program, until=until, **FROM)
    expected = gd.run(path.partition(1, device="cpu"), program, until=until, **FROM)
    assert teams == parts * [parts]
    same(found, expected)
    assert found.iterations == 20
    assert found.aggregates == expected.aggregates


@pytest.mark.slow
def test_states_read_aggregates_as_plain_python_has_them(teams):
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
    for directed, parts in ((True, 2), (False, 7)):
        expected, done, aggregates = Plain(program, 60, src, dst, directed=directed).run()
        graph = gd.from_edges(src, dst, num_vertices=60, directed=directed)
        found = gd.run(graph.partition(parts, device="cuda"), program)
        assert (found.iterations, found.aggregates) == (done, aggregates)
        for name in ("x", "y"):
            np.testing.assert_array_equal(getattr(found, name), expected[name])
    assert teams == [2] * 2 + [7] * 7


def test_the_host_decides_where_the_gpus_cannot(teams):
    path = gd.from_edges(np.arange(39), np.arange(1, 40), directed=False).partition(2, device="cuda")
    large = {"large": ("max", lambda old, new: 2**53 + (1 if new.depth >= 9 else 0))}
    assert gd.run(path, hops(aggregate=large), until=lambda a: a.large > 9007199254740992.0, **FROM).iterations == 9
    least = {"least": ("min", lambda old, new: new.depth)}
    with pytest.raises(FunctionError, match=r"until failed: .* by zero"):
        gd.run(path, hops(aggregate=least), until=lambda a: 1 // (5 - a.least) > 5, **FROM)
    assert teams == [2] * 4


@pytest.mark.slow
def test_an_aggregate_that_does_not_fit_is_named(teams):
    program = hops(aggregate={"total": ("sum", lambda old, new: 2**62 if new.depth % 2 else -7)})
    path = gd.from_edges(np.arange(9), np.arange(1, 10))
    expected = gd.run(path.partition(1, device="cpu"), program, max_supersteps=7, **FROM)
    found = gd.run(path.partition(2, device="cuda"), program, max_supersteps=7, **FROM)
    assert found.aggregates == expected.aggregates == {"total": 2**62}
    with pytest.raises(FunctionError, match="does not fit 64 bits"):
        gd.run(gd.from_edges([0, 0], [1, 2]).partition(2, device="cuda"), program, **FROM)
    assert teams == [2] * 4


@pytest.mark.slow
def test_until_that_only_python_can_call_is_called_after_every_superstep(teams):
    seen = set()
    path = gd.from_edges(np.arange(39), np.arange(1, 40), directed=False).partition(2, device="cuda")
    assert gd.run(path, hops(), until=lambda a: seen.add(a.superstep) or a.superstep == 9, **FROM).iterations == 9
    assert seen == set(range(1, 10))
    assert teams == []


AGGREGATES_THAT_FAIL = {
    "failed: division by zero": lambda old, new: 1.0 * (1 // (5 - new.depth)),
    "returns NaN": lambda old, new: (1e308 * new.depth * new.depth) * (0.0 if new.depth == 5 else 1e-308),
}


@pytest.mark.slow
@pytest.mark.parametrize("message", AGGREGATES_THAT_FAIL)
def test_the_aggregate_that_failed_is_named(message, teams):
    function, path = AGGREGATES_THAT_FAIL[message], gd.from_edges(np.arange(9), np.arange(1, 10))
    program = hops(aggregate={"least": ("min", lambda old, new: new.depth), "sums": ("sum", function)})
    errors = []
    for parts, device in ((2, "cuda"), (1, "cpu")):
        with pytest.raises(FunctionError, match=message) as error:
            gd.run(path.partition(parts, device=device), program, **FROM)
        errors.append(str(error.value))
    assert errors[0] == errors[1]
    assert teams == [2, 2]
