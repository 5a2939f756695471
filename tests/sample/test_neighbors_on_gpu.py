"""Traversal samplers on a GPU, or its emulator, give what they give on a CPU, bit for bit."""

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
    "by weight, repeated": lambda G, seeds: gd.sample.neighbors(G, seeds, [9, 3], bias="weight", method="repeated"),
    "by weight, bipartite": lambda G, seeds: gd.sample.neighbors(G, seeds, [9, 3], bias="weight", method="bipartite"),
    "bipartite, of many": lambda G, seeds: gd.sample.neighbors(
        G, seeds, [40, 3], bias="weight", method="bipartite", collisions="bitmap"
    ),
    "bits of words in turn": lambda G, seeds: gd.sample.neighbors(
        G, seeds, [4, 70], method="bipartite", collisions="strided"
    ),
    "bits of a register": lambda G, seeds: gd.sample.neighbors(
        G, seeds, [32, 4], bias="weight", method="bipartite", collisions="bitmap"
    ),
    "bits of a register in turn": lambda G, seeds: gd.sample.neighbors(
        G, seeds, [31, 9], bias="weight", method="repeated", collisions="strided"
    ),
    "layer by bits of a register": lambda G, seeds: gd.sample.layer(
        G, seeds, [30, 20], method="bipartite", collisions="strided"
    ),
    "one by one": lambda G, seeds: gd.sample.neighbors(
        G, seeds, [40, 3], bias="weight", method="repeated", collisions="linear"
    ),
    "reservoir": lambda G, seeds: gd.sample.neighbors(G, seeds, [40, 3], method="reservoir"),
    "reservoir by weight": lambda G, seeds: gd.sample.neighbors(G, seeds, [4, 3], bias="weight", method="reservoir"),
    "updated": lambda G, seeds: gd.sample.neighbors(G, seeds, [4, 3], bias="weight", method="updated"),
    "layer": lambda G, seeds: gd.sample.layer(G, seeds, [3, 70]),
    "layer by redraws": lambda G, seeds: gd.sample.layer(G, seeds, [3, 70], method="repeated"),
    "layer by a reservoir": lambda G, seeds: gd.sample.layer(G, seeds, [3, 70], method="reservoir"),
    "layer by weight": lambda G, seeds: gd.sample.layer(G, seeds, [3, 70], bias="weight"),
    "layer by degree, against the edges": lambda G, seeds: gd.sample.layer(
        G, seeds, [9], bias="degree", direction="in"
    ),
    "snowball": lambda G, seeds: gd.sample.snowball(G, seeds, 3),
    "forest fire": lambda G, seeds: gd.sample.forest_fire(G, seeds, 0.95, 3),
    "forest fire, by redraws": lambda G, seeds: gd.sample.forest_fire(G, seeds, 0.9, 2, method="repeated"),
    "forest fire by weight": lambda G, seeds: gd.sample.forest_fire(G, seeds, 0.97, 2, bias="weight"),
}


def hubs():
    """Rows that a block draws from, and others around them."""
    rng = np.random.default_rng(3)
    src = np.concatenate([np.zeros(300, np.int64), rng.integers(0, 90, 500), np.full(200, 7)])
    return 90, src, rng.integers(0, 90, 1000), True


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def gpu(request, monkeypatch):
    """What `device="cuda"` means."""
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())


@pytest.mark.parametrize("kind", ["integers", "floats"])
@pytest.mark.parametrize("make", [*(pytest.param(GRAPHS[name], id=name) for name in NAMES), hubs])
def test_the_same_on_a_gpu(gpu, make, kind, rng):
    n, src, dst, directed = make()[:4]
    weights = rng.integers(0, 5, len(src)) if kind == "integers" else rng.random(len(src)).astype(np.float32)
    weights[:1] = 10**6  # after it redraws are in vain
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


@pytest.mark.gpu
def test_the_same_of_many_on_a_gpu(rng):
    """Launches of many blocks, rows of a million edges, tables that are full of other instances."""
    n, hub = 1 << 16, np.zeros(1 << 20, np.int64)
    src = np.concatenate([hub, rng.integers(0, n, 1 << 20)])
    dst = np.concatenate([rng.integers(0, n, 1 << 20), rng.integers(0, n, 1 << 20)])
    weights = rng.integers(1, 100, len(src))
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=False)
    seeds = [np.append(rng.integers(0, n, 40), 0) for _ in range(500)]
    on_cpu, on_gpu = (graph.partition(1, device=device) for device in ("cpu", "cuda"))
    for call in (
        lambda G: gd.sample.neighbors(G, seeds, [10, 10]),
        lambda G: gd.sample.neighbors(G, seeds, [1000, 2]),
        lambda G: gd.sample.neighbors(G, seeds[:3], [-1]),
        lambda G: gd.sample.neighbors(G, seeds, [10, 10], bias="weight"),
        lambda G: gd.sample.neighbors(G, seeds[:9], [100], bias="degree"),
        lambda G: gd.sample.neighbors(G, seeds[:9], [100, 40], bias="weight", method="bipartite", collisions="bitmap"),
        lambda G: gd.sample.neighbors(G, seeds[:9], [5000, 3], method="repeated"),
        lambda G: gd.sample.neighbors(G, seeds, [30, 10], bias="weight", method="repeated", collisions="bitmap"),
        lambda G: gd.sample.neighbors(G, seeds, [10, 3], method="reservoir"),
        lambda G: gd.sample.neighbors(G, seeds[:50], [10, 3], bias="weight", method="reservoir"),
        lambda G: gd.sample.neighbors(G, seeds[:3], [1000, 64], bias="degree", method="reservoir"),
        lambda G: gd.sample.layer(G, seeds[:50], [64, 300], bias="weight"),
        lambda G: gd.sample.layer(G, seeds, [300, 3000]),
        lambda G: gd.sample.layer(G, seeds, [300, 3000], method="bipartite"),
        lambda G: gd.sample.forest_fire(G, seeds, 0.9, 2),
    ):
        expected, found = call(on_cpu), call(on_gpu).verify()
        for column in ("src", "dst", "hop", "instance"):
            np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))
    one, other = (gd.sample.random_edges(graph, 10**5) for graph in (on_cpu, on_gpu))
    np.testing.assert_array_equal((one.src, one.dst), (other.src, other.dst))
