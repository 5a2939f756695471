"""A run of any algorithm that breaks down goes on from a checkpoint on other ranks, with the same bits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask import execute
from graphdask.algorithms.tuning import COMMUNITIES, CORES, STRONG
from graphdask.program.tuning import PROGRAM


class Broken(Exception):
    pass


def breaking(kind, steps):
    """The class of a primitive that breaks down after so many supersteps, or sources if it saves between those."""

    def superstep(self, part, state, inbox, env):
        if len(env.history) > steps:
            raise Broken
        return kind.superstep(self, part, state, inbox, env)

    def save(self, part, state, env):
        kind.save(self, part, state, env)
        if state.done >= steps:
            raise Broken

    return type(kind.__name__, (kind,), {"superstep": superstep, "save": save, "__module__": kind.__module__})


@pytest.fixture
def break_down(monkeypatch):
    """Call a function whose run breaks down after so many supersteps, and writes a checkpoint after each `every`."""
    run = execute.run

    def call(function, G, folder, steps, every):
        def broken(G, primitive, **how):
            primitive.__class__ = breaking(type(primitive), steps)
            return run(G, primitive, **how)

        with monkeypatch.context() as patch:
            # A run has to end at one superstep of its own choice, and no call of users does.
            patch.setattr(execute, "run", broken)
            with pytest.raises(Broken):
                function(G, checkpoint=folder, every=every)

    return call


def random(directed, weights=None, n=400, m=900, seed=11):
    rng = np.random.default_rng(seed)
    given = {None: None, "int": rng.integers(1, 20, m), "float": rng.random(m), "zero": rng.integers(0, 5, m)}[weights]
    return gd.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), given, num_vertices=n, directed=directed)


def long_path(directed, n=600, seed=5):
    """A path along vertices in random order, and some edges beside it."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    src, dst = order[:-1], order[1:]
    near = rng.integers(0, n - 4, 60)
    return gd.from_edges(np.r_[src, order[near]], np.r_[dst, order[near + 3]], num_vertices=n, directed=directed)


def cycles(directed=True, n=600):
    """Cycles of 30 vertices, one leading to the next."""
    ids = np.arange(n)
    ring = np.where(ids % 30 == 29, ids - 29, ids + 1)
    ahead = ids[:-30:30]
    return gd.from_edges(np.r_[ids, ahead], np.r_[ring, ahead + 30], num_vertices=n, directed=directed)


SMALLEST = gd.Program(
    state={"label": (int, lambda v: v.id), "changed": (bool, False)},
    message=(int, "min"),
    send=lambda e: e.source.label,
    apply=lambda v, m: m < v.label and {"label": m, "changed": True},
    direction="both",
    aggregate={"total": ("sum", lambda old, new: new.label - old.label), "any": ("any", lambda old, new: new.changed)},
)
PULLED = gd.Program(
    state={"best": (float, 0.0), "times": (int, 0)},
    message=(float, "max"),
    send=lambda e: e.source.best * 0.5 + e.destination.times,
    apply=lambda v, m: m > v.best + 0.01 and v.times < 40 and {"best": m, "times": v.times + 1},
)
MEAN = gd.Program(
    state={"x": (float, 1.0)},
    message=(float, "sum"),
    send=lambda e: e.source.x / e.source.degree,
    apply=lambda v, m: {"x": 0.5 * v.x + 0.4 * m + 0.001 * v.change / (1.0 + v.superstep)},
    activity="all",
    aggregate={"change": ("sum", lambda old, new: abs(new.x - old.x))},
    until=lambda a: a.change < 1e-7,
)


def program(made, **given):
    return lambda G, **how: gd.run(G, made, **given, **how)


CASES = {
    "bfs": (lambda G, **how: gd.bfs(G, 3, **how), long_path(True), 40, 7),
    "bfs both": (lambda G, **how: gd.bfs(G, [3, 9], **how), long_path(False), 20, 3),
    "bfs pull": (lambda G, **how: gd.bfs(G, 3, direction="pull", **how), random(True, m=1400), 5, 2),
    "bfs auto": (lambda G, **how: gd.bfs(G, 3, **how), random(False, m=1400), 4, 1),
    "bfs targets": (lambda G, **how: gd.bfs(G, 3, targets=[7], depth_limit=90, **how), long_path(False), 9, 2),
    "sssp": (lambda G, **how: gd.sssp(G, 3, delta=3, **how), random(True, "int", m=1400), 4, 1),
    "sssp float": (lambda G, **how: gd.sssp(G, 3, delta=0.05, **how), random(False, "float"), 9, 2),
    "sssp flat": (lambda G, **how: gd.sssp(G, 3, delta=1, **how), random(False, "zero"), 4, 1),
    "sssp cutoff": (lambda G, **how: gd.sssp(G, 3, delta=2, cutoff=30, **how), random(True, "int", m=1400), 3, 1),
    "sssp targets": (lambda G, **how: gd.sssp(G, 3, delta=2, targets=9, **how), random(True, "int", m=1400), 3, 1),
    "core": (gd.core_number, random(False, m=2500), 4, 1),
    "core path": (gd.core_number, long_path(False), 3, 1),
    "strong": (gd.strongly_connected_components, cycles(), 12, 1),
    "strong path": (gd.strongly_connected_components, long_path(True), 9, 1),
    "strong random": (gd.strongly_connected_components, random(True, m=700), 9, 2),
    "betweenness": (lambda G, **how: gd.betweenness(G, sources=130, seed=4, **how), random(True), 60, 10),
    "closeness": (gd.closeness_centrality, random(False), 30, 5),
    "harmonic": (gd.harmonic_centrality, random(True), 30, 5),
    "betweenness by weight": (
        lambda G, **how: gd.betweenness(G, sources=150, seed=4, **how),
        random(True, "int"),
        100,
        9,
    ),
    "closeness by weight": (
        lambda G, **how: gd.closeness_centrality(G, sources=40, seed=4, **how),
        random(False, "float"),
        30,
        5,
    ),
    "harmonic by weight": (
        lambda G, **how: gd.harmonic_centrality(G, sources=40, seed=4, **how),
        random(True, "int"),
        30,
        5,
    ),
    "louvain": (gd.louvain, random(False, m=1400), 5, 1),
    "louvain weighted": (lambda G, **how: gd.louvain(G, seed=3, **how), random(False, "float", m=1400), 9, 2),
    "leiden": (gd.leiden, random(False, m=1400), 7, 1),
    "katz": (lambda G, **how: gd.katz_centrality(G, alpha=0.05, **how), random(True), 7, 2),
    "hits": (lambda G, **how: gd.hits(G, max_iter=2000, **how), random(True), 9, 3),
    "hits weighted": (lambda G, **how: gd.hits(G, max_iter=4000, **how), random(True, "int"), 9, 2),
    "eigenvector": (lambda G, **how: gd.eigenvector_centrality(G, max_iter=5000, **how), random(False, "float"), 9, 4),
    "pushed": (program(SMALLEST), long_path(False), 30, 4),
    "pushed some": (program(SMALLEST, active=[3, 99], init={"label": {99: -5}}), long_path(True), 30, 4),
    "pulled": (program(PULLED, init={"best": {3: 8.0, 9: 1.5}}), random(True), 12, 5),
    "mean": (program(MEAN), random(False, n=300), 12, 5),
    "mean limited": (program(MEAN, max_supersteps=21), random(True, n=300), 12, 5),
}


def same(found, expected):
    for name in expected.columns:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


@pytest.fixture
def together(tuned):
    """Let ranks go through all rounds and levels together, and none finish a small one by itself."""
    tuned(STRONG, few=0)
    tuned(COMMUNITIES, few_of_graph=0, few=0)
    tuned(CORES, at_once={"cpu": 0, "cuda": 0})


@pytest.mark.parametrize("case", CASES)
def test_a_run_on_three_ranks_goes_on_on_two(case, tmp_path, break_down, together):
    function, G, steps, every = CASES[case]
    break_down(function, G.partition(3), tmp_path, steps, every)
    r = function(G.partition(2, "random"), checkpoint=tmp_path, every=1000)
    assert r.stats.checkpoints["resumed"] > 0
    expected = function(G.partition(1))
    same(r, expected)
    if hasattr(expected, "iterations"):
        assert r.iterations == expected.iterations
    r.verify()


@pytest.mark.parametrize("case", ["bfs auto", "sssp", "pushed some", "mean", "hits", "strong"])
@pytest.mark.parametrize(("parts", "resumed"), [(1, 3), (3, 1)])
def test_one_rank_goes_on_where_several_stopped_and_the_other_way_round(
    case, parts, resumed, tmp_path, break_down, together
):
    function, G, *_ = CASES[case]
    break_down(function, G.partition(parts, "random"), tmp_path, 3, 1)
    r = function(G.partition(resumed), checkpoint=tmp_path, every=1000)
    assert r.stats.checkpoints["resumed"] == 3
    same(r, function(G.partition(1)))


@pytest.mark.parametrize("resumed", [1, 3])
def test_a_program_in_whose_run_the_best_states_go_first_sends_the_others_later(resumed, tmp_path, break_down, tuned):
    tuned(PROGRAM, ordered_edges={"cpu": 1, "cuda": 1 << 62}, launch_steps=1)
    shortest = gd.Program(
        state={"x": (float, math.inf)},
        message=(float, "min"),
        send=lambda e: e.source.x + e.weight,
        apply=lambda v, m: m < v.x and {"x": m},
    )
    function, G = program(shortest, active=3, init={"x": {3: 0.0}}), random(False, "float")
    break_down(function, G.partition(1, device="cpu"), tmp_path, 4, 1)
    r = function(G.partition(resumed, device="cpu"), checkpoint=tmp_path, every=1000)
    assert r.stats.checkpoints["resumed"] == 4
    assert ("order" in r.stats.chosen) == (resumed == 1)
    same(r, function(G.partition(2, device="cpu")))


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        "bfs both",
        "bfs pull",
        "sssp",
        "core",
        "strong random",
        "closeness",
        "mean",
        "pushed",
        "pulled",
        "betweenness by weight",
        "closeness by weight",
    ],
)
@pytest.mark.parametrize(("one", "other"), [("cpu", "cuda"), ("cuda", "cpu")])
def test_a_gpu_goes_on_where_a_cpu_stopped_and_the_other_way_round(
    case, one, other, tmp_path, break_down, together, monkeypatch
):
    stand_in(monkeypatch, emulated())
    function, G, steps, every = CASES[case]
    break_down(function, G.partition(2, device=one), tmp_path, steps, every)
    r = function(G.partition(3, device=other), checkpoint=tmp_path, every=1000)
    assert r.stats.checkpoints["resumed"] > 0
    same(r, function(G.partition(1, device="cpu")))


def test_strong_components_go_on_while_colours_spread(tmp_path, break_down, together):
    G = random(True, m=2500)
    found = set()
    for steps in range(1, 9):
        break_down(gd.strongly_connected_components, G.partition(4), tmp_path / str(steps), steps, 1)
        r = gd.strongly_connected_components(G.partition(3, "random"), checkpoint=tmp_path / str(steps), every=1)
        same(r, gd.strongly_connected_components(G))
        found.add(r.stats.checkpoints["resumed"])
    assert len(found) > 2


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 3])
def test_other_programs_are_refused(parts, tmp_path, break_down):
    G = long_path(False).partition(parts)
    break_down(program(SMALLEST), G, tmp_path, 9, 2)
    other = replace(SMALLEST, apply=lambda v, m: m < v.label and {"label": m})
    for given, says in (
        ({"program": other}, "its program is"),
        ({"active": [3]}, r"its active is None, and here it is \[3\]"),
        ({"init": {"label": {3: 1}}}, "its init is {}"),
        ({"max_supersteps": 4}, "its max_supersteps is None, and here it is 4"),
        ({"until": lambda a: a.superstep > 400}, "its until is None"),
    ):
        given = {"program": SMALLEST} | given
        with pytest.raises(gd.InputError, match=says):
            gd.run(G, **given, checkpoint=tmp_path)


@pytest.mark.parametrize("case", ["pushed", "pushed some", "pulled", "bfs both", "sssp", "strong"])
def test_a_broadcast_is_resumed(case, tmp_path, break_down, together):
    function, G, *_ = CASES[case]
    break_down(lambda G, **how: function(G, exchange="broadcast", **how), G.partition(3), tmp_path, 4, 2)
    r = function(G.partition(4), exchange="broadcast", checkpoint=tmp_path)
    assert r.stats.checkpoints["resumed"] in (2, 4)
    same(r, function(G.partition(1)))


@pytest.mark.slow
def test_no_file_is_lost_while_faster_ranks_write_the_next_checkpoint(tmp_path):
    """A checkpoint after each superstep: rank 0 removes old ones while others write."""
    r = gd.bfs(long_path(True).partition(3), 3, checkpoint=tmp_path, every=1)
    kept = sorted(tmp_path.iterdir())
    assert len(kept) in (2, 3)
    assert r.stats.checkpoints["written"] == len(r.stats) - 1
    assert all(len(list(each.iterdir())) == 4 for each in kept[:2])
