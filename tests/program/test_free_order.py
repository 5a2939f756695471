"""Programs whose answer does not depend on the order in which vertices send: which they are, and that sending the best
states first changes no answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from emulated import emulated, stand_in
from plain_programs import Plain
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import graphdask as gd
from graphdask.errors import FunctionError
from graphdask.program.definition import Definition
from graphdask.program.tuning import PROGRAM

TOLL, REFUND = 2, -3


@pytest.fixture(autouse=True)
def small(tuned):
    """The best states go first in small graphs, too."""
    tuned(PROGRAM, flooded_edges={"cpu": 1, "cuda": 1}, ordered_edges={"cpu": 1, "cuda": 1})


def block(e):
    """A function of one expression, with a docstring."""
    return e.source.x + e.weight


FREE = [
    (lambda e: e.source.x, "min", (0, 0)),
    (lambda e: e.source.x, "max", (0, 0)),
    (lambda e: e.source.x + e.weight, "min", (1, 0)),
    (lambda e: e.weight + e.source.x, "min", (1, 0)),
    (block, "min", (1, 0)),
    (lambda e: e.source.x + (TOLL * e.weight + 1), "min", (2, 1)),
    (lambda e: e.source.x + e.weight + TOLL, "min", (1, 2)),
    (lambda e: e.source.x - e.weight, "max", (1, 0)),
    (lambda e: min(e.source.x, e.weight), "max", (0, 0)),
    (lambda e: max(e.weight * REFUND, e.source.x), "min", (0, 0)),
    (lambda e: min(e.source.x, e.source.degree if e.weight > 2 else e.source.other), "max", (0, 0)),
    (lambda e: e.source.x + e.weight if e.source.degree > 2 else None, "min", (1, 0)),
]
NOT_FREE = [
    (lambda e: e.source.x + 1, "min"),  # in the best order already
    (lambda e: e.source.x - e.weight, "min"),
    (lambda e: e.source.x + e.weight, "max"),
    (lambda e: e.weight - e.source.x, "max"),
    (lambda e: e.source.x + REFUND * e.weight, "min"),
    (lambda e: e.source.x + e.weight + REFUND, "min"),
    (lambda e: e.source.x + e.weight * e.weight, "min"),
    (lambda e: e.source.x * e.weight, "min"),
    (lambda e: e.source.x + e.source.other, "min"),
    (lambda e: e.source.x + e.source.x, "min"),
    (lambda e: min(e.source.x, e.weight), "min"),
    (lambda e: max(e.source.x, e.weight), "max"),
    (lambda e: min(e.source.x, e.source.x + e.weight), "max"),
    (lambda e: e.source.x if e.source.x > 3 else None, "max"),
    (lambda e: e.source.x if e.weight > 3 else 7, "max"),
    (lambda e: e.source.x + e.superstep + e.weight, "min"),
    (lambda e: max(e.source.x, e.superstep), "min"),
    (lambda e: e.source.other, "min"),
    (lambda e: -e.source.x, "min"),
]


def program(send, combine="min", kind=float, apply=None, first=None, **more):
    better = {"min": lambda v, m: m < v.x and {"x": m}, "max": lambda v, m: m > v.x and {"x": m}}[combine]
    first = {"min": math.inf, "max": -math.inf}[combine] if first is None else first
    return gd.Program(
        state={"other": (float, 0.0), "x": (kind, first)},
        message=(int if np.dtype(kind).kind in "iu" else float, combine),
        send=send,
        apply=better if apply is None else apply,
        **more,
    )


@pytest.mark.parametrize(("send", "combine", "added"), FREE)
def test_messages_that_grow_with_the_state_and_are_never_better_are_seen(send, combine, added):
    found = Definition.of(program(send, combine), "float").free_order
    assert (found.slope, found.offset) == added
    assert found.alike == (send in (FREE[0][0], FREE[1][0]))


@pytest.mark.parametrize(("send", "combine"), NOT_FREE)
def test_other_messages_are_not(send, combine):
    assert Definition.of(program(send, combine), "float").free_order is None


@pytest.mark.parametrize(
    "more",
    [
        {"apply": lambda v, m: m < v.x and {"x": m, "other": v.superstep}},
        {"apply": lambda v, m: {"x": m} if m < v.x and v.received > 1 else None},
        {"aggregate": {"all": ("sum", lambda old, new: new.x)}},
        {"activity": "all", "max_supersteps": 3},
    ],
)
def test_whatever_else_depends_on_the_order_keeps_it(more):
    assert Definition.of(program(lambda e: e.source.x, **more), None).free_order is None


def edges(seed, n=60, most=9):
    rng = np.random.default_rng(seed)
    src, dst = rng.zipf(1.7, 260) % n, rng.integers(0, n, 260)
    return src, dst, rng.integers(1, most, 260).astype(float)


CASES = {
    "distances": (program(lambda e: e.source.x + e.weight), {"active": [0, 5], "init": {"x": {0: 0, 5: 2, 7: 1}}}),
    "single precision": (
        program(lambda e: e.source.x + 0.25 * e.weight, kind=np.float32), {"active": [3], "init": {"x": {3: 0.0}}},
    ),
    "labels": (program(lambda e: e.source.x, kind=int, first=lambda v: (v.id * 7) % 61, direction="both"), {}),
    "some labels": (
        program(lambda e: e.source.x if e.weight > 3 else None, "max", int, first=lambda v: v.id),
        {"active": list(range(0, 60, 2))},
    ),
    "labels by a minimum": (
        program(lambda e: e.source.x, kind=int, first=lambda v: v.id, apply=lambda v, m: {"x": min(m, v.x)}), {},
    ),
    "widths": (
        program(lambda e: min(e.source.x, e.weight), "max", first=0.0), {"active": [3], "init": {"x": {3: math.inf}}},
    ),
    "heights": (
        program(lambda e: max(e.source.x, e.weight), kind=np.uint8, first=255), {"active": [3], "init": {"x": {3: 0}}},
    ),
    "profits": (program(lambda e: e.source.x - e.weight, "max"), {"active": [1, 2], "init": {"x": {1: 9.0, 2: 4.0}}}),
    "infinite states": (
        program(lambda e: e.source.x, first=lambda v: -math.inf if v.id == 9 else math.inf if v.id % 2 else v.id), {},
    ),
}  # fmt: skip


QUICK = "distances", "labels"


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in CASES]
)
def test_the_answer_is_that_of_plain_loops_in_any_order(name, directed, tmp_path):
    given, how = CASES[name]
    src, dst, weights = edges(int(directed))
    weights = weights.astype(np.int64) if name == "heights" else weights
    graph = gd.from_edges(src, dst, weights, num_vertices=60, directed=directed)
    expected, done, _ = Plain(given, 60, src, dst, weights, directed=directed).run(**how)
    stored = gd.stream.build(graph, tmp_path / "g.gdl", memory="64MiB")
    for where in (*(graph.partition(parts, device="cpu") for parts in (1, 2, 3, 4, 7)), stored):
        found = gd.run(where, given, **how)
        np.testing.assert_array_equal(found.x, expected["x"])
        one_way = not (directed and given.direction == "both")
        assert ("order" in found.stats.chosen) == (where is not stored and found.stats.ranks == 1 and one_way)
        assert "order" in found.stats.chosen or found.iterations == done
        found.verify()


GPUS = "emulated", pytest.param("cuda", marks=pytest.mark.gpu)


@pytest.mark.parametrize("device", GPUS)
@pytest.mark.parametrize("pulled", [1, 1 << 62])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in CASES]
)
def test_a_gpu_has_the_bits_of_a_cpu(name, pulled, device, monkeypatch, tuned):
    given, how = CASES[name]
    tuned(PROGRAM, pulled_edges={"cpu": 1 << 62, "cuda": pulled}, launch_steps=5)
    src, dst, weights = edges(7)
    weights = weights.astype(np.int64) if name == "heights" else weights
    graph = gd.from_edges(src + 5, dst + 5, weights, num_vertices=70, directed=False)  # the first have no edges
    expected = gd.run(graph.partition(3, device="cpu"), given, **how)
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    found = gd.run(graph.partition(1, device="cuda"), given, **how)
    np.testing.assert_array_equal(found.x, expected.x)
    assert "order" in found.stats.chosen
    assert (sum(step["pulled"] for step in found.stats) > 0) <= (pulled == 1)
    found.verify()


@pytest.mark.parametrize("how", [{"max_supersteps": 1000}, {"until": lambda a: False}])
def test_a_run_that_may_end_after_some_superstep_keeps_the_order(how):
    src, dst, weights = edges(0)
    graph = gd.from_edges(src, dst, weights, num_vertices=60).partition(1, device="cpu")
    given, start = CASES["distances"]
    found = gd.run(graph, given, **start, **how)
    assert "order" not in found.stats.chosen
    assert found.iterations == Plain(given, 60, src, dst, weights).run(**start)[1]


def test_many_buckets_give_the_distances_of_dijkstra():
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 3000, 12000), rng.integers(0, 3000, 12000)
    weights = rng.exponential(size=12000)
    graph = gd.from_edges(src, dst, weights, num_vertices=3000, multi_edges="merge").partition(1, device="cpu")
    expected = dijkstra(csr_array(graph.to_scipy()), indices=0)
    given = program(lambda e: e.source.x + e.weight)
    found = gd.run(graph, given, active=0, init={"x": {0: 0.0}})
    np.testing.assert_allclose(found.x, expected, rtol=1e-12)
    in_order = gd.run(graph, given, active=0, init={"x": {0: 0.0}}, max_supersteps=10**6)
    np.testing.assert_array_equal(found.x, in_order.x)
    visited, before = (sum(step["edges"] for step in each.stats) for each in (found, in_order))
    assert visited < before
    assert found.verify() is found


def test_the_smallest_label_floods_a_component_before_others_are_sent():
    rng = np.random.default_rng(4)
    graph = gd.from_edges(rng.integers(0, 2000, 20000), rng.integers(0, 2000, 20000), directed=False)
    labels = program(lambda e: e.source.x, kind=int, first=lambda v: v.id)
    found, in_order = (gd.run(graph.partition(1, device="cpu"), labels, max_supersteps=most) for most in (None, 10**6))
    np.testing.assert_array_equal(found.x, in_order.x)
    visited, before = (sum(step["edges"] for step in each.stats) for each in (found, in_order))
    assert visited <= graph.num_edges * 2 + 100 < before


@pytest.mark.parametrize("bad", [-1.0, -0.5])
def test_weights_that_may_be_negative_keep_the_order(bad):
    graph = gd.from_edges([0, 1, 2, 4], [1, 2, 3, 5], [1.0, 2.0, 3.0, bad]).partition(1, device="cpu")
    found = gd.run(graph, program(lambda e: e.source.x + e.weight), active=0, init={"x": {0: 0.0}})
    assert found.x.tolist() == [0, 1, 3, 6, math.inf, math.inf]
    assert "order" not in found.stats.chosen


@pytest.mark.parametrize("parts", [1, 3])
def test_integers_that_may_not_fit_keep_the_order_and_its_failures(parts):
    far = 2**62
    graph = gd.from_edges([0, 1, 0, 2], [1, 2, 2, 3], np.array([far, far, 1, 1])).partition(parts, device="cpu")
    given = program(lambda e: e.source.x + e.weight, kind=int, first=2**63 - 1)
    with pytest.raises(FunctionError, match="send failed: an integer that does not fit"):
        gd.run(graph, given, active=[0, 1], init={"x": {0: 0, 1: far + 5}})
