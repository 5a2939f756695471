"""Programs give what their functions say, over partitions and on every device."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS
from plain_programs import Plain, graph_of
from some_programs import programs

import graphdask as gd
from graphdask.errors import FunctionError

NAMES = list(programs())
ON_DEVICES = (
    "one vertex with a self-loop",
    "duplicates both ways",
    "star inward",
    "short path",
    "dense random, directed",
)


def made(shape):
    n, src, dst, directed = GRAPHS[shape]()
    weights = np.random.default_rng(len(src)).integers(1, 9, len(src)) / 4
    return n, src, dst, weights, directed


def equal(found, expected, done, exact=True):
    assert found.iterations == done
    for name, column in expected.items():
        if exact or column.dtype.kind != "f":
            np.testing.assert_array_equal(getattr(found, name), column, err_msg=name)
        else:
            np.testing.assert_allclose(getattr(found, name), column, rtol=1e-12, err_msg=name)


def same(one, other):
    assert one.iterations == other.iterations
    assert one.aggregates == other.aggregates
    for name in one.columns:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize("name", NAMES)
def test_programs_give_what_plain_python_gives_over_partitions(name):
    program, arguments = programs()[name]
    for shape in GRAPHS:
        n, src, dst, weights, directed = made(shape)
        arguments = {**arguments}
        if n == 1 and "active" in arguments:
            arguments["active"] = [0]
        expected, done, aggregates = Plain(program, n, src, dst, weights, directed).run(**arguments)
        graph = graph_of(n, src, dst, weights, directed)
        first = gd.run(graph, program, **arguments)
        equal(first, expected, done, exact=name not in ("rank", "waves"))
        for key, value in aggregates.items():
            assert first.aggregates[key] == pytest.approx(value, rel=1e-12, abs=1e-12), shape
        for parts, by, ghosts in (
            (2, "range", "1-hop"),
            (3, "random", "all"),
            (4, "range", "all"),
            (7, "random", "1-hop"),
        ):
            same(gd.run(graph.partition(parts, by=by, ghosts=ghosts), program, **arguments), first)


@pytest.mark.slow
@pytest.mark.parametrize(("combine", "direction"), [("min", "in"), ("max", "out"), ("first", "both")])
def test_of_parallel_edges_the_lightest_counts(combine, direction, rng, tmp_path):
    program = gd.Program(
        state={"w": (float, -1.0)},
        message=((int, float), combine),
        send=lambda e: (1, e.weight),
        apply=lambda v, m: {"w": m[1]},
        direction=direction,
        max_supersteps=1,
    )
    src, dst, weights = rng.integers(0, 5, 40), rng.integers(0, 5, 40), rng.integers(1, 99, 40) / 4
    arcs = list(zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True))
    along = [(u, 0, w, v) for u, v, w in arcs] * (direction != "in")
    against = [(v, 1, w, u) for u, v, w in arcs] * (direction != "out")
    expected = [min((arc for arc in along + against if arc[3] == v), default=(0, 0, -1.0))[2] for v in range(5)]
    graph = gd.from_edges(src, dst, weights, num_vertices=5)
    gd.stream.build(graph, tmp_path / "edges.gdl")
    for each in (graph.partition(1), graph.partition(3, by="random"), gd.stream.open(tmp_path / "edges.gdl")):
        assert gd.run(each, program).w.tolist() == expected


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def gpu(request, monkeypatch):
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())


@pytest.mark.parametrize("name", NAMES)
def test_programs_give_the_same_on_a_gpu(name, gpu):
    program, arguments = programs()[name]
    for shape in ON_DEVICES:
        n, src, dst, weights, directed = made(shape)
        graph = graph_of(n, src, dst, weights, directed)
        mine = {**arguments, "active": [0]} if n == 1 and "active" in arguments else arguments
        expected = gd.run(graph.partition(1, device="cpu"), program, **mine)
        for parts in (1, 3):
            same(gd.run(graph.partition(parts, device="cuda"), program, **mine), expected)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_float_that_float32_cannot_hold_fails(device, gpu):
    program = gd.Program(
        state={"x": (np.float32, 0.0), "y": (float, 0.0)},
        message=(float, "sum"),
        send=lambda e: e.source.y,
        apply=lambda v, m: {"x": m},
        max_supersteps=1,
    )
    graph = gd.from_edges([0], [1]).partition(1, device=device)
    rounded = 2.0**128 - 2.0**103  # the least float that float32 rounds to infinity
    for y in (np.nextafter(rounded, 0.0), -3.4e38, np.inf, -np.inf):
        assert gd.run(graph, program, init={"y": {0: y}}).x.tolist() == [0.0, np.float32(y)]
    for y in (rounded, -rounded, 1e300):
        with pytest.raises(FunctionError, match="apply gives x a float that does not fit float32; take float"):
            gd.run(graph, program, init={"y": {0: y}})
