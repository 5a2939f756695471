"""Programs that the GPUs of several ranks go through together have the states that ranks on CPUs find."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from pushed_programs import PROGRAMS, graph
from some_programs import programs

import graphdask as gd
from graphdask.errors import FunctionError
from graphdask.program import _team


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)], autouse=True)
def device(request, monkeypatch):
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())


@pytest.fixture
def teams(monkeypatch):
    """How many ranks went together, rank by rank."""
    seen, init = [], _team.TeamProgram.__init__

    def counted(self, memory, part, *others):
        seen.append(part.size)
        init(self, memory, part, *others)

    monkeypatch.setattr(_team.TeamProgram, "__init__", counted)
    return seen


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


def test_a_launch_goes_on_where_the_last_one_ended(teams, monkeypatch):
    monkeypatch.setattr(_team, "MOST_STEPS", 4)
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
