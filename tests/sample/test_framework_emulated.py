"""Samplers that functions describe: the same edges on an emulated GPU, on any number of workers, and for any ids."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS
from specs import by_weight, second_order, specs

import graphdask as gd
import graphdask.partition
import graphdask.sources
from graphdask.sample import _choosing
from graphdask.sample.spec import Spec
from graphdask.sample.translate import Translated

NAMES = ["one vertex with a self-loop", "duplicates both ways", "isolated vertices", "star outward", "short path"]
COLUMNS = ("src", "dst", "hop", "instance")


def hubs():
    """Rows of hundreds, and others around them."""
    rng = np.random.default_rng(3)
    src = np.concatenate([np.zeros(300, np.int64), rng.integers(0, 90, 500), np.full(200, 7)])
    return 90, src, rng.integers(0, 90, 1000), True


def made(make, kind="integers"):
    n, src, dst, directed = make()[:4]
    rng = np.random.default_rng(n)
    weights = rng.integers(0, 9, len(src)) if kind == "integers" else rng.random(len(src)).astype(np.float32) * 9
    return gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)


def same(expected, found):
    for column in COLUMNS:
        one, other = getattr(expected, column), getattr(found, column)
        np.testing.assert_array_equal(other, one, err_msg=column)
        assert one.dtype == other.dtype


@pytest.mark.parametrize("kind", ["integers", "floats"])
@pytest.mark.parametrize("make", [*(pytest.param(GRAPHS[name], id=name) for name in NAMES), hubs])
def test_the_same_on_a_gpu(make, kind, monkeypatch, rng):
    stand_in(monkeypatch, emulated())
    graph = made(make, kind)
    n = graph.num_vertices
    seeds = [rng.integers(0, n, size) for size in (2, 0, 1, 3)]
    on_cpu, on_gpu = (graph.partition(1, device=device) for device in ("cpu", "cuda"))
    for spec in specs(2).values():
        expected = gd.sample.run(on_cpu, spec, seeds, instances=6).verify()
        same(expected, gd.sample.run(on_gpu, spec, seeds, instances=6).verify())


def test_the_same_on_a_gpu_after_too_few_trials_and_many_launches(monkeypatch):
    stand_in(monkeypatch, emulated())
    monkeypatch.setattr("graphdask.sample._expand.TRIALS", 2)
    graph = made(hubs)
    calls = [
        Spec(edge_bias=by_weight, neighbor_size=5, depth=2, edge_bound=40),
        Spec(edge_bias=second_order, neighbor_size=40, depth=2, per="layer"),
        Spec(edge_bias=second_order, neighbor_size=40, depth=2, edge_bound=2.5, replace=True),
        Spec(neighbor_size=50, depth=1),
    ]
    for spec in calls:
        expected = gd.sample.run(graph.partition(1, device="cpu"), spec, [[0, 1], [7], [5, 6]])
        with monkeypatch.context() as small:
            small.setattr(_choosing, "LAUNCH", {"cpu": 100, "cuda": 500})
            for device in ("cpu", "cuda"):
                same(expected, gd.sample.run(graph.partition(1, device=device), spec, [[0, 1], [7], [5, 6]]))


def test_64_bit_vertex_numbers(monkeypatch):
    stand_in(monkeypatch, emulated())
    chosen = {name: specs(2)[name] for name in ("node2vec", "layer", "Metropolis-Hastings")}
    expected = {name: gd.sample.run(made(hubs, "floats"), spec, [0, 7, 5]) for name, spec in chosen.items()}
    for module in (graphdask.partition, graphdask.sources):
        monkeypatch.setattr(module, "index_dtype", lambda n: np.dtype(np.int64))
    for name, spec in chosen.items():
        for device in ("cpu", "cuda"):
            found = gd.sample.run(made(hubs, "floats").partition(1, device=device), spec, [0, 7, 5])
            for column in COLUMNS:
                np.testing.assert_array_equal(getattr(found, column), getattr(expected[name], column))


@pytest.mark.parametrize("make", [pytest.param(GRAPHS["scale-free"], id="scale-free"), hubs])
def test_the_same_on_any_number_of_workers(make):
    graph = made(make)
    seeds = np.arange(graph.num_vertices)[:50]
    for spec in specs(3).values():
        expected = gd.sample.run(graph.partition(1, device="cpu"), spec, seeds, instances=101)
        for parts in (2, 3):
            divided = graph.partition(parts, by="random", device="cpu")
            same(expected, gd.sample.run(divided, spec, seeds, instances=101).verify())


WHOLE = {"node2vec", "node2vec, all edges looked at", "layer", "uniform layer"}
"""Samplers that need the whole graph on every worker."""


@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
@pytest.mark.parametrize("make", [pytest.param(GRAPHS["scale-free"], id="scale-free"), hubs])
def test_the_same_in_partitions(make, ghosts):
    graph = made(make, "floats")
    seeds = [np.arange(graph.num_vertices)[k : k + k % 4] for k in range(20)]
    chosen = {name: spec for name, spec in specs(3).items() if name not in WHOLE}
    chosen["two of the pool"] = Spec(
        vertex_bias=lambda v: v.degree + v.place, frontier_size=2, neighbor_size=2, depth=3
    )
    expected = {name: gd.sample.run(graph.partition(1, device="cpu"), spec, seeds) for name, spec in chosen.items()}
    for parts in (1, 2, 3, 4, 7):
        divided = graph.partition(parts, by="random", ghosts=ghosts, device="cpu")
        for name, spec in chosen.items():
            found = gd.sample.run(divided, spec, seeds, placement="partitioned")
            assert found.placement == "partitioned"
            same(expected[name], found.verify())


def test_the_same_in_partitions_on_a_gpu(monkeypatch):
    stand_in(monkeypatch, emulated())
    graph = made(hubs)
    chosen = {name: spec for name, spec in specs(2).items() if name not in WHOLE}
    for name, spec in chosen.items():
        expected = gd.sample.run(graph.partition(1, device="cpu"), spec, [[0, 7], [], [5]])
        divided = graph.partition(2, by="random", ghosts="1-hop", device="cuda")
        same(expected, gd.sample.run(divided, spec, [[0, 7], [], [5]], placement="partitioned").verify())
        assert len(expected.src), name


def test_cuda_source_in_place_of_a_function(monkeypatch):
    stand_in(monkeypatch, emulated())
    source = "__device__ double heavier(long long source, double weight, int *failure) { return source + weight; }"
    heavier = Translated.from_cuda(source, "heavier", {"source": "int", "weight": "float"}, "float")
    graph = made(hubs, "floats")
    expected = gd.sample.run(
        graph.partition(1, device="cpu"),
        Spec(edge_bias=lambda e: e.source + e.weight, neighbor_size=3, depth=2),
        [0, 5],
    )
    spec = Spec(edge_bias=heavier, neighbor_size=3, depth=2)
    same(expected, gd.sample.run(graph.partition(1, device="cuda"), spec, [0, 5]))
    with pytest.raises(gd.errors.Unsupported, match="heavier is CUDA C"):
        gd.sample.run(graph.partition(1, device="cpu"), spec, [0, 5])


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["integers", "floats"])
def test_the_same_on_a_device(kind):
    graph = made(hubs, kind)
    for spec in specs(3).values():
        pair = [
            gd.sample.run(graph.partition(1, device=device), spec, np.arange(90), 500) for device in ("cpu", "cuda")
        ]
        same(*pair)
