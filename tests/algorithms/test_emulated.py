"""Whole algorithms on the emulator of a GPU give what they give on a CPU, bit for bit."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pytest
from common_checks import broad, hub
from emulated import emulated, stand_in
from graphs import GRAPHS

import graphdask as gd
import graphdask.partition
import graphdask.partition.sources
from graphdask import execute
from graphdask.algorithms.bfs import DIRECTIONS, BreadthFirstSearch
from graphdask.algorithms.tuning import BETWEENNESS
from graphdask.engine.tuning import ENGINE, SEARCH

NAMES = [
    "one vertex with a self-loop", "only self-loops", "duplicates both ways", "isolated vertices", "star inward",
    "star around the last", "short path", "cycle", "sparse random, directed", "dense random, undirected", "scale-free",
]  # fmt: skip
WEIGHTS = {
    "none": lambda rng, m: None,
    "integers": lambda rng, m: rng.integers(0, 9, m).astype(np.int32),
    "above zero": lambda rng, m: rng.integers(1, 4, m),
    "single": lambda rng, m: rng.random(m).astype(np.float32),
    "double": lambda rng, m: rng.random(m),
}

pytestmark = pytest.mark.filterwarnings("ignore:pagerank stopped")


@pytest.fixture(autouse=True)
def emulated_gpu(monkeypatch):
    stand_in(monkeypatch, emulated())


CASES = [pytest.param(GRAPHS[name], id=name) for name in NAMES] + [pytest.param(hub, id="hub")]
BROAD = pytest.param(broad, id="broad")


def divided(make, parts, device, kind="none"):
    n, src, dst, directed = make()
    weights = WEIGHTS[kind](np.random.default_rng(n), len(src))
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    by, ghosts = ("random", "1-hop") if parts == 3 else ("range", "all")
    return graph.partition(parts, by=by, ghosts=ghosts, device=device)


def same(call, *columns, on_cpu, on_gpu):
    expected, found = call(on_cpu), call(on_gpu)
    found.verify()
    for column in columns:
        one, other = getattr(expected, column), getattr(found, column)
        np.testing.assert_array_equal(other, one)
        assert one.dtype == other.dtype
    return found


@pytest.mark.parametrize(("parts", "ghosts"), [(1, "all"), (3, "all"), (3, "1-hop")])
@pytest.mark.parametrize("make", [*CASES, BROAD])
def test_searches_in_each_direction_look_at_the_same_edges(make, parts, ghosts):
    n, src, dst, directed = make()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    on_cpu, on_gpu = (graph.partition(parts, "random", ghosts, device=device) for device in ("cpu", "cuda"))
    exchanges = ("selective", "broadcast")[:: 1 if ghosts == "all" else -1]
    for direction, exchange in zip(DIRECTIONS, cycle(exchanges), strict=False):
        expected = gd.bfs(on_cpu, n // 2, direction=direction, exchange=exchange)
        found = gd.bfs(on_gpu, n // 2, direction=direction, exchange=exchange).verify()
        np.testing.assert_array_equal(found.depth, expected.depth)
        np.testing.assert_array_equal(found.parent, expected.parent)
        if parts == 1 or direction != "auto":  # GPUs that search together count what CPUs estimate before they turn
            assert found.stats.edges == expected.stats.edges
        assert sum(step["frontier"] for step in found.stats) == sum(step["frontier"] for step in expected.stats)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("make", [*CASES, BROAD])
def test_searches_over_edges_either_way_and_from_several_sources(make, parts):
    on_cpu, on_gpu = (divided(make, parts, device) for device in ("cpu", "cuda"))
    n = on_cpu.num_vertices
    search = BreadthFirstSearch(tuple(sorted({0, n // 2, n - 1})), either_way=True)
    expected, found = (execute.run(graph, search) for graph in (on_cpu, on_gpu))
    found.verify()
    np.testing.assert_array_equal(found.depth, expected.depth)
    np.testing.assert_array_equal(found.parent, expected.parent)


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["auto", "push"])
def test_a_long_path_is_one_superstep_of_a_gpu_that_holds_all_of_it(direction):
    n = 1000
    graph = gd.from_edges(np.arange(n - 1), np.arange(1, n), directed=False).partition(1, device="cuda")
    found = gd.bfs(graph, 0, direction=direction)
    np.testing.assert_array_equal(found.depth, np.arange(n))
    np.testing.assert_array_equal(found.parent, np.maximum(np.arange(n) - 1, 0))
    assert [step["frontier"] for step in found.stats] == [0, n]
    assert found.stats.edges == 2 * (n - 1)


def test_a_launch_through_many_levels_ends_now_and_then(tuned):
    tuned(SEARCH, launch_levels=7)
    n = 100
    graph = gd.from_edges(np.arange(n - 1), np.arange(1, n), directed=False).partition(1, device="cuda")
    found = gd.bfs(graph, 0)
    np.testing.assert_array_equal(found.depth, np.arange(n))
    assert [step["frontier"] for step in found.stats] == [0] + 14 * [7] + [2]


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("make", CASES)
def test_ranks_and_betweenness(make, parts):
    pair = {f"on_{name}": divided(make, parts, device) for name, device in (("cpu", "cpu"), ("gpu", "cuda"))}
    same(lambda g: gd.pagerank(g, max_iter=6), "rank", **pair)
    same(lambda g: gd.pagerank(g, max_iter=4, dtype=np.float32, dangling="self-loop"), "rank", **pair)
    expected, found = (
        gd.betweenness(graph, min(70 if parts == 1 else 9, graph.num_vertices)) for graph in pair.values()
    )
    np.testing.assert_allclose(found.score, expected.score, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("kind", "parts"), [("above zero", 1), ("above zero", 3), ("single", 1), ("double", 3)])
@pytest.mark.parametrize("make", CASES)
def test_betweenness_by_weight(make, parts, kind, tuned):
    tuned(BETWEENNESS, chunk=64)  # rows of more edges have several threads
    pair = {f"on_{name}": divided(make, parts, device, kind) for name, device in (("cpu", "cpu"), ("gpu", "cuda"))}
    sources = np.unique(np.linspace(0, pair["on_cpu"].num_vertices - 1, 5).astype(int))
    same(lambda g: gd.betweenness(g, sources), "score", **pair)


@pytest.mark.parametrize("kind", ["none", "integers"])
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("make", [hub, broad])
def test_ranks_out_of_shared_memory(make, parts, kind, device_of, tuned):
    tuned(ENGINE, staged_from=0)
    device_of(emulated(), shared_memory=100 * 8)
    pair = {f"on_{name}": divided(make, parts, device, kind) for name, device in (("cpu", "cpu"), ("gpu", "cuda"))}
    same(lambda g: gd.pagerank(g, max_iter=4), "rank", **pair)


@pytest.mark.parametrize(
    ("kind", "parts"),
    [("none", 1), ("integers", 3), ("above zero", 1), ("above zero", 3), ("single", 3), ("double", 3)],
)
@pytest.mark.parametrize("make", [*CASES[-4:], BROAD])
def test_shortest_paths_and_weighted_ranks(make, parts, kind):
    pair = {f"on_{name}": divided(make, parts, device, kind) for name, device in (("cpu", "cpu"), ("gpu", "cuda"))}
    source = pair["on_cpu"].num_vertices // 2
    same(lambda g: gd.sssp(g, source), "distance", "parent", **pair)
    same(lambda g: gd.pagerank(g, max_iter=3), "rank", **pair)
