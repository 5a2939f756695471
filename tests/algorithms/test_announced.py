"""What ranks take on a GPU is what was announced, or less.

On the emulator of a GPU every array of the device is counted; what CuPy takes within a function, on a GPU only.
"""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from memory import DevicePeak
from relayed import apart

import graphdask as gd
from graphdask.algorithms.tuning import COMMUNITIES
from graphdask.bench.analysis.choices import paths_unfused
from graphdask.bench.analysis.timing import PeakMemory
from graphdask.comm.tuning import COMM
from graphdask.engine.tuning import ENGINE
from graphdask.partition.tuning import PARTITION

CALLS = {
    "bfs": lambda graph, start: gd.bfs(graph, start),
    "sssp": lambda graph, start: gd.sssp(graph, start),
    "sssp not fused": lambda graph, start: paths_unfused(graph, start),
    "components": lambda graph, start: gd.connected_components(graph),
    "betweenness": lambda graph, start: gd.betweenness(graph, [start, start + 1]),
    "core": lambda graph, start: gd.core_number(graph),
    "triangles": lambda graph, start: gd.triangles(graph),
    "strong": lambda graph, start: gd.strongly_connected_components(graph),
    "forest": lambda graph, start: gd.minimum_spanning_forest(graph),
}
EVERY = CALLS | {
    "labels": lambda graph, start: gd.label_propagation(graph, 3),
    "clustering": lambda graph, start: gd.local_clustering_coefficient(graph),
}
CLOSE = ("bfs", "sssp", "betweenness")
"""Where the bound is close on random graphs, too."""


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("method", [gd.louvain, gd.leiden])
def test_the_memory_of_communities_is_announced(method, rng, monkeypatch, tuned):
    """Of levels that are made in many blocks, as those of large graphs are."""
    stand_in(monkeypatch, emulated())
    tuned(COMMUNITIES, few_of_graph=0, few=0, block=1 << 9)
    src, dst = rng.integers(0, 500, (2, 8_000))
    graph = gd.from_edges(src, dst, num_vertices=500, directed=False).partition(1, device="cuda")
    method(graph, passes=1)
    with DevicePeak(monkeypatch) as peak:
        found = method(graph, passes=1)
    assert 0.3 < peak.bytes / found.stats.memory < 1.0


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(("parts", "ghosts"), [(2, "all"), (3, "1-hop")])
@pytest.mark.parametrize("name", CALLS)
def test_the_memory_of_ranks_that_exchange_is_announced(name, parts, ghosts, rng, monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    tuned(COMM, first_buffer=1 << 10)
    apart(monkeypatch)
    n, m = 3_000, 9_000
    src, dst = rng.integers(0, n, (2, m))
    for weights in (None, rng.random(m)) if name.startswith(("sssp", "forest")) else (None,):
        graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=name == "strong")
        graph = graph.partition(parts, "random", ghosts, device="cuda").persist()
        CALLS[name](graph, int(src[0]))  # makes what is kept: in-edges, mirrors, tables
        with DevicePeak(monkeypatch) as peak:
            found = CALLS[name](graph, int(src[0]))
        share = peak.bytes / parts / found.stats.memory
        assert (0.5 if name in CLOSE else 0.0) < share < 1.1


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", ["triangles", "clustering"])
def test_no_more_than_is_announced_is_taken_for_triangles_of_many_pieces(name, rng, monkeypatch, tuned):
    """Of a large graph rows and their sources are what is large, not the pieces that are sorted."""
    stand_in(monkeypatch, emulated())
    tuned(PARTITION, block_edges=1 << 11)
    src, dst = rng.integers(0, 2_000, (2, 60_000))
    graph = gd.from_edges(src, dst, directed=False).partition(1, device="cuda").persist()
    with DevicePeak(monkeypatch) as peak:
        found = EVERY[name](graph, 0)
    assert 0.6 < peak.bytes / found.stats.memory <= 1


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("parts", [1, 3])
def test_the_memory_of_ranks_of_a_graph_that_changes_is_announced(parts, rng, monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    tuned(COMM, first_buffer=1 << 10)
    tuned(ENGINE, staged_from=0)
    D = gd.DynamicGraph(gd.from_edges(*rng.integers(0, 9_000, (2, 60_000))).partition(parts, device="cuda"))
    D.update(insert=([0], [1]))
    for method in ("static", "nd", "dfp"):
        with DevicePeak(monkeypatch) as peak:
            found = gd.pagerank(D, method=method, tol=1e-6)
        assert 0.3 < peak.bytes / parts / found.stats.memory < 1.1
        D.update(insert=rng.integers(0, 9_000, (2, 60)))  # the rows are listed again


@pytest.mark.gpu
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("name", EVERY)
def test_the_memory_on_a_gpu_is_announced(name, parts, rng):
    n, m = 1 << 20, 1 << 23
    src, dst = rng.integers(0, n, (2, m))
    graph = gd.from_edges(src, dst, num_vertices=n, directed=name == "strong")
    graph = graph.partition(parts, "random", device="cuda").persist()
    EVERY[name](graph, int(src[0]))
    with PeakMemory("cuda", parts, True) as peak:
        found = EVERY[name](graph, int(src[0]))
    assert peak.bytes / parts < 1.1 * found.stats.memory


@pytest.mark.gpu
def test_the_memory_on_a_gpu_of_a_graph_that_changes_is_announced(rng):
    n, m = 1 << 20, 1 << 23
    D = gd.DynamicGraph(gd.from_edges(*rng.integers(0, n, (2, m)), num_vertices=n).partition(1, device="cuda"))
    for method in ("static", "nd", "dfp"):
        D.update(insert=rng.integers(0, n, (2, 100)))
        with PeakMemory("cuda", 1, True) as peak:
            found = gd.pagerank(D, method=method, tol=1e-6)
        assert peak.bytes < 1.1 * found.stats.memory


@pytest.mark.gpu
@pytest.mark.parametrize("scale", [18, 22])
@pytest.mark.parametrize("name", ["triangles", "clustering"])
def test_no_more_than_is_announced_is_taken_on_a_gpu_for_triangles(name, scale, tuned):
    """With what CuPy takes within a function; on the small graph with pieces as small beside it as of a large one."""
    if scale < 20:
        tuned(PARTITION, block_edges=1 << 16)
    graph = gd.generate.rmat(scale, seed=1).partition(1, device="cuda").persist()
    with PeakMemory("cuda", 1, True) as peak:
        found = EVERY[name](graph, 0)
    assert 0.5 * found.stats.memory < peak.bytes <= found.stats.memory + (1 << 20)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("weights", [None, "small integers", "reals"])
def test_no_more_than_is_announced_is_taken_on_a_gpu_for_ranks(weights, dtype, rng):
    """By the first call, which lays out the edges, and a later one; of a skewed graph of many vertices."""
    src, dst = (np.minimum(rng.zipf(1.3, 1 << 24), 1 << 22) - 1 for _ in range(2))
    given = {None: None, "small integers": rng.integers(1, 64, len(src)), "reals": rng.random(len(src))}[weights]
    graph = gd.from_edges(src, dst, given, num_vertices=1 << 22, directed=False).partition(1, device="cuda").persist()
    for _ in ("first", "later"):
        with PeakMemory("cuda", 1, True) as peak:
            found = gd.pagerank(graph, dtype=dtype, tol=0.1, weighted=given is not None)
        assert 0.5 * found.stats.memory < peak.bytes <= found.stats.memory + (1 << 20)
