"""Supersteps in which many vertices send: vertices go over their rows, which stand in slices, with the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from pushed_programs import HOPS, PROGRAMS, graph

import graphdask as gd
from graphdask.errors import FunctionError
from graphdask.program.tuning import PROGRAM


@pytest.fixture(params=["twins", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, monkeypatch, tuned):
    """Where vertices pull though graphs are small."""
    tuned(PROGRAM, pulled_edges=1)
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())
    return "cpu" if request.param == "twins" else "cuda"


def pulled(found):
    """How often vertices pulled, as the statistics say."""
    return sum(step["pulled"] for step in found.stats)


@pytest.mark.parametrize("name", PROGRAMS)
def test_states_have_the_bits_of_pushed_messages(device, name):
    program, how, dtype = PROGRAMS[name]
    G = graph(dtype)
    expected = gd.run(G.partition(3), program, **how)
    found = gd.run(G.partition(1, device=device), program, **how)
    assert (found.iterations, found.aggregates) == (expected.iterations, expected.aggregates)
    for column in expected.columns:
        np.testing.assert_array_equal(getattr(found, column), getattr(expected, column), err_msg=column)
    assert pulled(found) > 0 == pulled(expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_on_a_cpu_a_row_ends_where_no_message_changes_what_came(name):
    program, how, dtype = PROGRAMS[name]
    G = graph(dtype)
    found, expected = (gd.run(G.partition(parts, device="cpu"), program, **how) for parts in (1, 3))
    assert pulled(found) > 0
    for column in expected.columns:
        np.testing.assert_array_equal(getattr(found, column), getattr(expected, column), err_msg=column)


@pytest.mark.slow
def test_until_is_asked_after_every_superstep(device):
    program, how, dtype = PROGRAMS["silent"]
    G = graph(dtype)
    expected = gd.run(G.partition(3), program, until=lambda a: a.superstep >= 3 and a.active > 0, **how)
    found = gd.run(G.partition(1, device=device), program, until=lambda a: a.superstep >= 3 and a.active > 0, **how)
    assert found.iterations == expected.iterations == 3
    np.testing.assert_array_equal(found.x, expected.x)
    assert pulled(found) > 0


@pytest.mark.slow
def test_along_a_path_and_where_no_float_holds_the_weights_messages_are_pushed(device):
    path = gd.from_edges(np.arange(40), np.arange(1, 41), directed=False).partition(1, device=device)
    hops = gd.run(path, HOPS, active=0, init={"depth": {0: 0}})
    assert (hops.depth.tolist(), pulled(hops)) == (list(range(41)), 0)
    G = gd.from_edges([0, 1, 2], [1, 2, 0], weights=np.array([2**53 + 1, 1, 1]), directed=False)
    largest = gd.Program(
        state={"x": (int, 0)},
        message=(int, "max"),
        send=lambda e: int(e.weight),
        apply=lambda v, m: {"x": m},
        max_supersteps=1,
    )
    found = gd.run(G.partition(1, device=device), largest)
    assert found.x.tolist() == [2**53 + 1, 2**53 + 1, 1]
    assert device == "cpu" or pulled(found) == 0  # the loop of a CPU pulls integers


@pytest.mark.slow
def test_the_function_that_failed_is_named(device):
    G = graph(np.int64).partition(1, device=device)
    program = gd.Program(
        state={"x": (int, lambda v: v.id)},
        message=(int, "max"),
        send=lambda e: e.source.x * (2**62 if e.superstep else 1),
        apply=lambda v, m: {"x": m + 5},
        max_supersteps=3,
    )
    with pytest.raises(FunctionError, match="send failed: an integer that does not fit"):
        gd.run(G, program)
