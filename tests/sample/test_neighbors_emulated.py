"""Traversal samplers on the emulator of a GPU give what they give on a CPU, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS

import graphdask as gd

NAMES = [
    "one vertex with a self-loop",
    "duplicates both ways",
    "isolated vertices",
    "star outward",
    "short path",
    "cycle",
]
CALLS = {
    "uniform": lambda G, seeds: gd.sample.neighbors(G, seeds, [3, 2]),
    "all, then many": lambda G, seeds: gd.sample.neighbors(G, seeds, [-1, 40, 1]),
    "with replacement": lambda G, seeds: gd.sample.neighbors(G, seeds, [40, 2], replace=True, direction="in"),
    "by weight": lambda G, seeds: gd.sample.neighbors(G, seeds, [40, 3], bias="weight"),
    "by weight, with replacement": lambda G, seeds: gd.sample.neighbors(G, seeds, [2, 3], bias="weight", replace=True),
    "by degree, bipartite": lambda G, seeds: gd.sample.neighbors(G, seeds, [4, 3], bias="degree", method="bipartite"),
    "repeated": lambda G, seeds: gd.sample.neighbors(G, seeds, [4, 40], method="repeated"),
    "updated": lambda G, seeds: gd.sample.neighbors(G, seeds, [4, 3], bias="weight", method="updated"),
    "layer": lambda G, seeds: gd.sample.layer(G, seeds, [3, 70]),
    "snowball": lambda G, seeds: gd.sample.snowball(G, seeds, 3),
    "forest fire": lambda G, seeds: gd.sample.forest_fire(G, seeds, 0.95, 3),
    "forest fire by weight": lambda G, seeds: gd.sample.forest_fire(G, seeds, 0.97, 2, bias="weight"),
}


def hubs():
    """Rows that a block draws from, and others around them."""
    rng = np.random.default_rng(3)
    src = np.concatenate([np.zeros(300, np.int64), rng.integers(0, 90, 500), np.full(200, 7)])
    return 90, src, rng.integers(0, 90, 1000), True


@pytest.fixture(autouse=True)
def emulated_gpu(monkeypatch):
    stand_in(monkeypatch, emulated())


@pytest.mark.parametrize("kind", ["integers", "floats"])
@pytest.mark.parametrize("make", [*(pytest.param(GRAPHS[name], id=name) for name in NAMES), hubs])
def test_the_same_on_a_gpu(make, kind, rng):
    n, src, dst, directed = make()[:4]
    weights = rng.integers(0, 5, len(src)) if kind == "integers" else rng.random(len(src)).astype(np.float32)
    seeds = [rng.integers(0, n, size) for size in (2, 0, 1, 5)] if n else [[]]
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    for parts, placement in ((1, "replicated"), (2, "partitioned")):
        on_cpu, on_gpu = (graph.partition(parts, "random", "1-hop", device=device) for device in ("cpu", "cuda"))
        for name, call in CALLS.items():
            expected, found = call(on_cpu, seeds), call(on_gpu, seeds)
            for column in ("src", "dst", "hop", "instance"):
                one, other = getattr(expected, column), getattr(found, column)
                np.testing.assert_array_equal(other, one, err_msg=f"{name}, {placement}")
                assert one.dtype == other.dtype
            found.verify()
        k = min(3, graph.num_edges)
        one, other = (gd.sample.random_edges(of, k, placement=placement) for of in (on_cpu, on_gpu))
        np.testing.assert_array_equal((one.src, one.dst), (other.src, other.dst))
        other.verify()
