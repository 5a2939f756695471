"""Samplers that need the whole graph, over edges that stay in the host's memory: the same bits, and what is copied."""

from __future__ import annotations

import numpy as np
import pytest
from device_arrays import DeviceArray
from emulated import emulated, stand_in
from gangs import active
from graphs import GRAPHS
from memory import DevicePeak, free

import graphdask as gd
from graphdask.bench.analysis.timing import PeakMemory
from graphdask.comm.tuning import COMM
from graphdask.errors import InputError, OverBudget, Unsupported
from graphdask.partition.part import Tables
from graphdask.program.translated import Translated
from graphdask.sample import streamed, streamed_whole

sample = gd.sample
Spec = sample.Spec
WALK = {"depth": 4, "replace": True}
SPECS = {
    "sums": Spec(edge_bias=lambda e: e.weight, **WALK),
    "near": Spec(edge_bias=lambda e: e.weight * (2.0 if e.destination_near_previous else 1.0), **WALK),
    "layer": Spec(edge_bias=lambda e: e.weight, per="layer", neighbor_size=3, depth=2),
    "plain": Spec(neighbor_size=2, depth=2, direction="in"),
}
CALLS = {
    "node2vec": lambda G, v, **o: sample.node2vec(G, v, 9, p=0.5, q=2, weighted=False, **o),
    "rejection": lambda G, v, **o: sample.node2vec(G, v, 9, p=0.5, method="rejection", **o),
    "inverse": lambda G, v, **o: sample.node2vec(G, v, 9, p=0.5, method="inverse", **o),
    "alias": lambda G, v, **o: sample.node2vec(G, v, 9, p=0.5, method="alias", **o),
    "reservoir": lambda G, v, **o: sample.node2vec(G, v, 9, p=0.5, method="reservoir", **o),
    "layers": lambda G, v, **o: sample.layer(G, v, [5, 40], **o),
    "layers by weight": lambda G, v, **o: sample.layer(G, v, [5, 3], bias="weight", **o),
    "layers by degree": lambda G, v, **o: sample.layer(G, [v, v[:2]], [5, 3], bias="degree", direction="in", **o),
    "frontier": lambda G, v, **o: sample.frontier_sampling(G, np.reshape(v[:6], (2, 3)), 7, **o),
    "metapath": lambda G, v, **o: sample.metapath_walk(G, v, 9, metapath=[2, 0, 1], **o),
    "pagerank": lambda G, v, **o: sample.personalized_pagerank(G, v[:4], 50, top=5, **o),
    "edges": lambda G, v, **o: sample.random_edges(G, min(G.num_edges, 20), **o),
    "times": lambda G, v, **o: sample.temporal_neighbors(G, v, [3, 40], seed_times=2, **o),
    "last times": lambda G, v, **o: sample.temporal_neighbors(G, v, [2, 2], seed_times=2, strategy="last", **o),
}
CALLS |= {f"spec: {name}": lambda G, v, s=spec, **o: sample.run(G, s, v, **o) for name, spec in SPECS.items()}
SAINT = {
    "nodes": lambda G, v, **o: sample.saint_nodes(G, 30, 3, **o),
    "saint edges": lambda G, v, **o: sample.saint_edges(G, 20, 3, **o),
    "saint walks": lambda G, v, **o: sample.saint_walks(G, 10, 4, 3, **o),
}
EVERY = CALLS | SAINT


def made(name):
    n, src, dst, directed = GRAPHS[name]()
    return gd.from_edges(src, dst, np.random.default_rng(n).integers(0, 4, len(src)), num_vertices=n, directed=directed)


def drawn(graph, kind, placement, many=12):
    if kind == "saint edges":
        graph = graph.to_undirected()
    begin = np.random.default_rng(1).integers(0, graph.num_vertices, many)
    return EVERY[kind](graph, begin, seed=5, placement=placement)


def part_of(graph):
    """The graph in one piece, in this process."""
    (part,) = graph.replicas.held.values
    return part


def same(found, expected):
    for name in expected.columns:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert getattr(found, name).dtype == getattr(expected, name).dtype
    assert found.placement == "streamed"


@pytest.fixture
def page_locked(monkeypatch):
    """Arrays in page-locked memory, which the emulator of a GPU sees where they are."""
    stand_in(monkeypatch, emulated())
    seen = []

    def in_place(backend, array):
        seen.append(array)
        return DeviceArray(array)

    # The emulator has no page-locked memory.
    monkeypatch.setattr(streamed_whole, "seen_in_place", in_place)
    return seen


@pytest.mark.parametrize("name", ["one vertex", "no edges", "star around the last", "scale-free"])
def test_samples_are_the_same_on_a_cpu(name):
    for kind in CALLS:
        graph = made(name).partition(1, device="cpu")
        same(drawn(graph, kind, "streamed").verify(), drawn(graph, kind, "replicated"))


@pytest.mark.parametrize("kind", EVERY)
def test_samples_are_the_same_on_a_gpu(kind, page_locked):
    expected = drawn(made("scale-free").partition(1, device="cpu"), kind, "replicated")
    graph = made("scale-free").partition(1, device="cuda")
    drawn(graph, kind, "replicated")  # what is on the device is not taken for what the host has
    for _ in range(2):
        found = drawn(graph, kind, "streamed").verify()
        same(found, expected)
        assert found.stats.devices == [emulated().description]
    assert page_locked


@pytest.mark.slow
@pytest.mark.usefixtures("page_locked")
@pytest.mark.parametrize("name", ["one vertex", "no edges", "only self-loops"])
def test_graphs_of_little_are_the_same_on_a_gpu(name):
    for kind in CALLS:
        expected = drawn(made(name).partition(1, device="cpu"), kind, "replicated")
        same(drawn(made(name).partition(1, device="cuda"), kind, "streamed"), expected)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", EVERY)
def test_samples_are_the_same_on_a_real_gpu(kind):
    src, dst, _ = gd.generate.rmat(12, edge_factor=8, seed=3).partition(1, device="cpu").edges("cpu")
    weights = np.random.default_rng(2).integers(0, 4, len(src))
    graph = gd.from_edges(src, dst, weights, num_vertices=1 << 12, directed=False)
    expected = drawn(graph.partition(1, device="cpu"), kind, "replicated", 2_000)
    on_gpu = graph.partition(1, device="cuda")
    for _ in range(2):
        same(drawn(on_gpu, kind, "streamed", 2_000), expected)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("kind", CALLS)
def test_no_edges_are_on_the_device(kind, page_locked, monkeypatch, tuned):
    tuned(COMM, first_buffer=1 << 10)
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 50, (2, 60_000))
    graph = gd.from_edges(src, dst, rng.integers(0, 4, len(src)), num_vertices=50, directed=False)
    graph = graph.partition(1, device="cuda")
    drawn(graph, kind, "streamed")  # what stays is made
    with DevicePeak(monkeypatch) as peak:
        peak.leave_out(page_locked)
        found = drawn(graph, kind, "streamed")
    assert peak.bytes < 1.1 * found.stats.memory + (1 << 13)
    if "spec" not in kind:  # a spec looks at the edges of some vertices at a time
        assert found.stats.memory < 2 * len(src)
    reported = found.stats.streamed
    assert reported["scheme"] == "in-place"
    assert 8 * 50 <= reported["nbytes"] < 40 * 50
    assert reported["in_place"] >= 0


def test_rows_stay_in_host_memory_where_the_device_has_no_room_for_them(page_locked):
    ring = np.arange(3000)
    graph = gd.from_edges(np.tile(ring, 2), np.concatenate([np.roll(ring, 1), np.roll(ring, 2)]))
    graph = graph.partition(1, device="cuda")
    expected = sample.node2vec(graph, [5], 4, placement="replicated")
    for size, copied in (("20KiB", 0), ("100KiB", 8 * 3001 + 4 * 3000)):
        found = sample.node2vec(graph, [5], 4, placement=sample.Streamed(device_memory=size))
        same(found, expected)
        assert found.stats.streamed["nbytes"] == copied
        assert copied < found.stats.memory < copied + 200


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_device_memory_is_not_exceeded(device, page_locked):
    graph = made("scale-free").partition(1, device=device)
    memory = drawn(graph, "rejection", "streamed", 300).stats.memory
    same(
        drawn(graph, "rejection", sample.Streamed(device_memory=memory + 1000, scheme="in-place"), 300),
        drawn(graph, "rejection", "replicated", 300),
    )
    with pytest.raises(OverBudget, match="raise device_memory"):
        drawn(graph, "rejection", sample.Streamed(device_memory=memory // 2), 300)


def test_no_more_is_taken_of_the_host_than_there_is(free_memory, page_locked):
    free_memory(1 << 30, emulated())
    for kind, reason in (("alias", r"tables .* use method="), ("frontier", "page-locked copies")):
        graph = made("scale-free").partition(1, device="cuda")
        drawn(graph, "frontier", "streamed")
        while kind == "frontier" and part_of(graph.on_host).tables.forget():
            pass  # else there is nothing to be page-locked
        with free(100), pytest.raises(OverBudget, match=reason):
            drawn(graph, kind, "streamed")


@pytest.mark.parametrize("device", ["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_each_rank_reads_the_whole_graph_in_place(device, monkeypatch):
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    for kind in ("node2vec", "layers", "edges", "spec: sums"):
        expected = drawn(made("scale-free").partition(1, device="cpu"), kind, "replicated")
        graph = made("scale-free").partition(3, device="cpu" if device == "cpu" else "cuda")
        found = drawn(graph, kind, "streamed").verify()
        same(found, expected)
        assert found.stats.ranks == 3


@pytest.mark.slow
def test_on_a_cluster(two_workers):
    with active(two_workers):
        for kind in ("alias", "layers by weight"):
            expected = drawn(made("scale-free").partition(1, device="cpu"), kind, "replicated")
            found = drawn(made("scale-free"), kind, "streamed").verify()
            assert found.stats.ranks == 2
            same(found, expected)


@pytest.mark.slow
def test_ids_of_64_bits(page_locked):
    for kind in ("alias", "last times", "metapath"):
        expected = drawn(made("scale-free").partition(1, id_width=64, device="cpu"), kind, "replicated")
        same(drawn(made("scale-free").partition(1, id_width=64, device="cuda"), kind, "streamed"), expected)


@pytest.mark.parametrize("given", [{"partitions": 4}, {"resident": 1}, {"scheme": "BAL"}, {"batch": 5}])
@pytest.mark.parametrize("kind", ["node2vec", "nodes"])
def test_what_says_nothing_is_refused_before_any_work(kind, given):
    graph = made("scale-free")
    with pytest.raises(Unsupported, match=next(iter(given))):
        drawn(graph, kind, sample.Streamed(**given))
    assert graph.replicas is None


def test_weights_that_are_none_are_refused_as_ever():
    graph = gd.from_edges([0, 1], [1, 0], [1.0, -1.0])
    with pytest.raises(InputError, match="negative"):
        sample.node2vec(graph, [0], 3, placement="streamed")


@pytest.mark.slow
def test_functions_in_cuda_keep_no_sums_on_the_device(page_locked):
    source = "__device__ double mine(long long weight) { return weight; }"
    spec = Spec(edge_bias=Translated.from_cuda(source, "mine", {"weight": "int"}, "float"), **WALK)
    graph = made("scale-free").partition(1, device="cuda")
    v = np.arange(60)
    expected = sample.run(graph, spec, v, seed=5, placement="replicated")
    name = "sums of a function", spec.edge_bias.digest, "out"
    assert name in part_of(graph).tables
    found = sample.run(graph, spec, v, seed=5, placement="streamed")
    same(found, expected)
    assert name not in part_of(graph.on_host).tables


@pytest.mark.slow
def test_edges_are_page_locked_once_for_all(page_locked, watched):
    locked = watched(streamed, "page_locked", lambda backend, array: array)
    graph = made("scale-free").partition(1, device="cuda")
    for kind in ("saint walks", "node2vec", "layers", "layers by weight"):
        drawn(graph, kind, "streamed")
    out = part_of(graph.on_host).out
    assert [sum(array is edges for array in locked) for edges in (out.indices, out.weights)] == [1, 1]


@pytest.mark.gpu
@pytest.mark.parametrize("kind", CALLS)
def test_no_edges_are_on_a_real_gpu(kind):
    src, dst, _ = gd.generate.rmat(16, edge_factor=32, seed=3).partition(1, device="cpu").edges("cpu")
    weights = np.random.default_rng(2).integers(0, 4, len(src))
    graph = gd.from_edges(src, dst, weights, num_vertices=1 << 16, directed=False).partition(1, device="cuda")
    drawn(graph, kind, "streamed")  # what stays is made
    with PeakMemory("cuda", 1, True) as peak:
        found = drawn(graph, kind, "streamed")
    assert peak.bytes < 1.1 * found.stats.memory + (1 << 22)
    if "spec" not in kind:
        assert found.stats.memory < 4 * len(src)


def test_tables_that_may_be_let_go_are_those_of_the_partition():
    tables = Tables()
    tables.keep("of a call before", (), 5)
    asked = streamed_whole._Asked(tables)
    assert asked.nbytes == 5
    assert asked.forget()
    assert asked.nbytes == 0
