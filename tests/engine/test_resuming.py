"""A run of any algorithm that breaks down in a superstep goes on from a checkpoint on other ranks, with the same bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import graphdask as gd
from graphdask import execute
from graphdask.algorithms.tuning import STRONG


class Broken(Exception):
    pass


def breaking(kind, steps):
    """The class of a primitive that breaks down after so many supersteps."""

    def superstep(self, part, state, inbox, env):
        if len(env.history) > steps:
            raise Broken
        return kind.superstep(self, part, state, inbox, env)

    return type(kind.__name__, (kind,), {"superstep": superstep, "__module__": kind.__module__})


@pytest.fixture
def break_down(monkeypatch):
    """Call a function whose run breaks down after so many supersteps, and writes a checkpoint after each `every`."""
    run = execute.run

    def call(function, G, folder, steps, every):
        def broken(G, primitive, **how):
            primitive.__class__ = breaking(type(primitive), steps)
            return run(G, primitive, **how)

        with monkeypatch.context() as patch:
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
def no_rest(monkeypatch):
    """Let ranks go through all rounds of strong components together, and not finish what is left by themselves."""
    monkeypatch.setattr("graphdask.algorithms.strong.STRONG", replace(STRONG, few=0))


@pytest.mark.parametrize("case", CASES)
def test_a_run_on_three_ranks_goes_on_on_two(case, tmp_path, break_down, no_rest):
    function, G, steps, every = CASES[case]
    break_down(function, G.partition(3), tmp_path, steps, every)
    r = function(G.partition(2, "random"), checkpoint=tmp_path, every=1000)
    assert r.stats.checkpoints["resumed"] > 0
    expected = function(G.partition(1))
    same(r, expected)
    if hasattr(expected, "iterations"):
        assert r.iterations == expected.iterations
    r.verify()
