"""Shortest paths whose advance and filter are two kernels are those of the fused kernel, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from covering import pairs
from emulated import emulated, stand_in
from graphs import GRAPHS

import graphdask as gd
from graphdask.bench.analysis.choices import paths_unfused


def star(leaves=9_000):
    """A vertex whose row no block takes at once, in the middle of a path."""
    src = np.concatenate([[0, 1], np.full(leaves, 2), [3]])
    dst = np.concatenate([[1, 2], np.arange(3, leaves + 3), [leaves + 3]])
    return leaves + 4, src, dst, False


def broad():
    """So many vertices that the queues of a block fill up and empty again."""
    rng = np.random.default_rng(9)
    return 4000, rng.integers(0, 4000, 9000), rng.integers(0, 4000, 9000), True


def clique():
    """A hundred vertices among a thousand, joined all with all."""
    src, dst = np.triu_indices(100, 1)
    return 1_000, src, dst, False


WEIGHTS = {
    "none": lambda rng, m: None,
    "above 0": lambda rng, m: rng.integers(1, 9, m),
    "integers": lambda rng, m: rng.integers(0, 4, m).astype(np.int32),
    "large": lambda rng, m: rng.integers(2**29, 2**30, m),
    "larger": lambda rng, m: rng.integers(0, 2**50, m),
    "single": lambda rng, m: rng.choice([0, 0.25, 1, 3], m).astype(np.float32),
    "double": lambda rng, m: rng.random(m),
}


def of(make, *where, weights="none", **how):
    n, src, dst, directed = make()
    drawn = WEIGHTS[weights](np.random.default_rng(n), len(src))
    return gd.from_edges(src, dst, drawn, num_vertices=n, directed=directed).partition(*where, **how)


def check_same(found, expected):
    for column in expected.columns:
        mine, other = getattr(found, column), getattr(expected, column)
        np.testing.assert_array_equal(mine, other)
        assert mine.dtype == other.dtype


@pytest.mark.parametrize(("name", "weights", "parts"), pairs(list(GRAPHS), list(WEIGHTS), [1, 2, 3, 4, 7]))
def test_shortest_paths_have_the_same_bits(name, weights, parts):
    graph = of(GRAPHS[name], parts, weights=weights, device="cpu")
    source = graph.num_vertices // 3
    exchange, allocation = ("selective", "just-enough") if parts % 2 else ("broadcast", 1.0)
    found = paths_unfused(graph, source, exchange=exchange, allocation=allocation).verify()
    check_same(found, gd.sssp(graph, source))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "weights", "parts"),
    [(star, "above 0", 1), (star, "double", 3), (broad, "integers", 3), (broad, "above 0", 3), (broad, "double", 1)],
)
def test_shortest_paths_on_the_emulator_of_a_gpu_have_the_same_bits(make, weights, parts, monkeypatch):
    stand_in(monkeypatch, emulated())
    expected = gd.sssp(of(make, parts, weights=weights, device="cpu"), 0)
    graph = of(make, parts, weights=weights, device="cuda")
    for allocation, delta in (("maximal", None), ("just-enough", 0.5)):
        check_same(paths_unfused(graph, 0, delta=delta, allocation=allocation).verify(), expected)


@pytest.mark.slow
@pytest.mark.parametrize(("weights", "label"), [("above 0", 8), ("integers", 4), ("double", 8)])
def test_what_lies_between_relaxing_and_queueing_is_announced_and_allocated(weights, label):
    graph = of(star, 1, weights=weights, device="cpu")
    fused, maximal = gd.sssp(graph, 0).stats, paths_unfused(graph, 0).stats
    between = (4 + label) * 2 * graph.num_edges
    parents = 4 * graph.num_vertices if weights == "double" else 0  # which relaxing alone finds as it goes on
    more = maximal.allocated_start - fused.allocated_start
    assert more == pytest.approx(between - parents, abs=8)  # the limit after a split
    assert maximal.memory - fused.memory == between if weights == "above 0" else maximal.memory >= fused.memory
    grown = paths_unfused(graph, 0, allocation="just-enough").stats
    assert grown.allocated_start < maximal.allocated_start - between // 2
    assert grown.growths > 0
    with pytest.raises(gd.OverBudget, match=r"the array between advance and filter of SSSP, .* use allocation="):
        paths_unfused(of(clique, 1, weights=weights, device="cpu"), 0, delta=1e9, allocation=0.3)
