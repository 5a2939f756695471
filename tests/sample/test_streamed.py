"""Samples of a graph in host memory, streamed to a device: the same bits, whatever is resident, and what it costs."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
import pytest
from emulated import device_backend, emulated, stand_in
from gangs import active
from graphs import GRAPHS
from memory import OTHERS

import graphdask as gd
from graphdask import execute
from graphdask.errors import DeadlineExceeded, InputError, OverBudget
from graphdask.sample import streamed
from graphdask.sample.traversal import NumberedTraversal, Traversal

sample = gd.sample
Streamed = sample.Streamed
WALKS = {
    "simple": sample.random_walk,
    "rejection": partial(sample.random_walk, bias="weight", method="rejection"),
    "inverse": partial(sample.random_walk, bias="weight", method="inverse", restart=0.2),
    "alias": partial(sample.random_walk, bias="weight", method="alias", jump=0.1),
    "degree": partial(sample.random_walk, bias="degree"),
    "metropolis": sample.metropolis_hastings,
}
HOPS = {
    "all alike": partial(sample.neighbors, fanouts=(3, 2, -1)),
    "many": partial(sample.neighbors, fanouts=(40, 2), bias="weight"),
    "again": partial(sample.neighbors, fanouts=(3, 4), replace=True, bias="degree", direction="in"),
    "fire": partial(sample.forest_fire, depth=3, bias="weight"),
    "snowball": partial(sample.snowball, depth=2),
}
SETS = [("baseline", 3, 1), ("BA", 4, 2), ("WS", 7, 3), ("in-place", 4, 2), ("BAL", 5, 5), ("BAL", 4, 2)]
"""Scheme, partitions, and how many of them are resident."""


def made(name, **options):
    n, src, dst, directed = GRAPHS[name]()
    weights = np.random.default_rng(n).integers(0, 5, len(src))
    return gd.from_edges(src, dst, weights, num_vertices=n, directed=directed, **options)


def drawn(graph, kind, placement, many=17):
    begin = np.random.default_rng(1).integers(0, graph.num_vertices, many)
    if kind in HOPS:
        seeded = {} if kind == "snowball" else {"seed": 5}  # it takes all neighbours, and draws nothing
        return HOPS[kind](graph, begin, **seeded, placement=placement)
    graph = graph.to_undirected() if kind == "metropolis" else graph
    return WALKS[kind](graph, begin, 12, seed=5, placement=placement)


def same(found, expected):
    for name in expected.columns:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert getattr(found, name).dtype == getattr(expected, name).dtype
    assert found.placement == "streamed"


def ways():
    return [Streamed(count, held, scheme) for scheme, count, held in SETS]


@pytest.mark.parametrize("name", ["one vertex", "only self-loops", "no edges", "star around the last", "scale-free"])
@pytest.mark.parametrize("kind", [*WALKS, *HOPS])
def test_samples_are_the_same_whatever_is_resident(kind, name):
    graph = made(name).partition(1, device="cpu")
    expected = drawn(graph, kind, "replicated")
    for where in [*ways(), Streamed(batch=5), "streamed"]:
        same(drawn(graph, kind, where).verify(), expected)


@pytest.mark.parametrize("kind", [*WALKS, *HOPS])
def test_samples_are_the_same_on_a_gpu(kind, monkeypatch):
    stand_in(monkeypatch, emulated())
    expected = drawn(made("scale-free").partition(1, device="cpu"), kind, "replicated")
    graph = made("scale-free").partition(1, device="cuda")
    drawn(graph, kind, "replicated")  # what is on the device is not taken for what the host has
    for where in ways()[1:]:
        found = drawn(graph, kind, where).verify()
        same(found, expected)
        assert found.stats.devices == [emulated().description]


@pytest.mark.gpu
@pytest.mark.parametrize("kind", [*WALKS, *HOPS])
def test_samples_are_the_same_on_a_real_gpu(kind):
    src, dst, _ = gd.generate.rmat(12, edge_factor=8, seed=3).partition(1, device="cpu").edges("cpu")
    weights = np.random.default_rng(2).integers(1, 65, len(src))
    graph = gd.from_edges(src, dst, weights, num_vertices=1 << 12, directed=False)
    expected = drawn(graph.partition(1, device="cpu"), kind, "replicated", 20_000)
    on_gpu = graph.partition(1, device="cuda")
    for where in ways():
        same(drawn(on_gpu, kind, where, 20_000), expected)


@pytest.mark.slow
def test_several_ranks_and_64_bits():
    graph = made("scale-free")
    expected = sample.random_walk(graph.partition(1, id_width=64, device="cpu"), range(20), 9)
    found = sample.random_walk(
        graph.partition(3, id_width=64, device="cpu"), range(20), 9, placement=Streamed(4, 2)
    ).verify()  # fmt: skip
    same(found, expected)
    assert found.stats.ranks == 3
    assert found.stats.edges == expected.lengths.sum()


@pytest.mark.slow
def test_alias_tables_of_64_bits(monkeypatch):
    stand_in(monkeypatch, emulated())
    n, src, dst, directed = GRAPHS["scale-free"]()
    weights = np.random.default_rng(n).integers(0, 5, len(src)).astype(np.int32)
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    expected = drawn(graph.partition(1, id_width=64, device="cpu"), "alias", "replicated")
    for device, scheme in (("cpu", "BAL"), ("cpu", "in-place"), ("cuda", "in-place")):
        on = graph.partition(1, id_width=64, device=device)
        same(drawn(on, "alias", Streamed(4, 2, scheme)).verify(), expected)


def test_no_more_is_taken_of_the_host_than_there_is(free_memory):
    graph = made("scale-free").partition(1, device="cpu")
    drawn(graph, "alias", "replicated")  # its tables are there
    free_memory(1000)
    with pytest.raises(OverBudget, match='method="rejection"'):
        drawn(graph, "alias", "streamed")


def test_on_a_cluster(two_workers):
    graph = made("scale-free")
    with active(two_workers):
        for kind in ("alias", "many"):
            expected = drawn(graph.partition(1, device="cpu"), kind, "replicated")
            found = drawn(graph, kind, Streamed(4, 2, "WS")).verify()
            assert found.stats.ranks == 2
            same(found, expected)


def test_what_a_scheme_saves():
    graph = made("scale-free").partition(1, device="cpu")
    stats = {
        scheme: drawn(graph, "simple", Streamed(4, 2, scheme, batch=batch), 300).stats
        for scheme, batch in dict.fromkeys(streamed.SCHEMES).items()
    }
    reported = {scheme: stat.streamed for scheme, stat in stats.items()}
    assert [reported[scheme]["batches"] for scheme in streamed.SCHEMES] == [2, 1, 1, 1, 1]
    assert reported["baseline"]["transfers"] > reported["BA"]["transfers"] > reported["WS"]["transfers"] >= 4
    assert reported["WS"]["transfers"] == reported["BAL"]["transfers"]
    assert reported["BAL"]["imbalance"] < reported["WS"]["imbalance"]
    assert all(t["nbytes"] > 0 and (t["partitions"], t["resident"]) == (4, 2) for t in reported.values())
    assert reported["in-place"]["transfers"] < reported["BAL"]["transfers"]
    assert [reported[scheme]["in_place"] > 0 for scheme in streamed.SCHEMES] == [False] * 4 + [True]
    assert len(stats["WS"]) > 1
    assert stats["WS"].to_dict()["streamed"] == reported["WS"]


@pytest.mark.parametrize("device", ["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_walks_are_read_in_place_on_a_gpu(device, monkeypatch):
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    graph = made("dense random, directed").partition(1, device="cpu" if device == "cpu" else "cuda")

    def scheme(kind, where="streamed"):
        return drawn(graph, kind, where).stats.streamed["scheme"]

    in_place = device != "cpu"
    assert {scheme(kind) for kind in WALKS} == {"in-place" if in_place else "BAL"}
    assert scheme("all alike") == "WS"
    for kind in ("simple", "rejection"):  # who asks for a scheme gets it
        assert {name: scheme(kind, Streamed(4, 2, name)) for name in streamed.SCHEMES} == {
            name: name for name in streamed.SCHEMES
        }
    # all as large as by BAL leaves no room for where the rows of the others begin
    memory = drawn(graph, "alias", Streamed(8, 1, "BAL")).stats.memory
    assert scheme("alias", Streamed(8, 1, device_memory=memory)) == "BAL"
    with pytest.raises(OverBudget):
        drawn(graph, "alias", Streamed(8, 1, "in-place", device_memory=memory))
    ring = gd.from_edges(np.arange(3000), np.roll(np.arange(3000), 1))
    ring = ring.partition(1, device="cuda" if in_place else "cpu")
    for size, expected in (("40KiB", "BAL"), ("60KiB", "in-place")):  # of which 24,000 bytes say where rows begin
        found = sample.random_walk(ring, [0], 3, placement=Streamed(device_memory=size))
        assert found.stats.streamed["scheme"] == (expected if in_place else "BAL")


def test_walkers_go_on_over_all_that_is_read():
    graph = made("dense random, directed").partition(1, device="cpu")
    n, steps = 40, 30

    def stats(scheme, *more, walkers=n, kind="simple"):
        begin = np.arange(walkers) % graph.num_vertices
        draw = WALKS[kind]
        found = draw(graph, begin, steps, seed=3, placement=Streamed(*more, scheme)).verify()
        assert (found.walks == draw(graph, begin, steps, seed=3, placement="replicated").walks).all()
        return found.stats

    for kind in ("simple", "rejection"):  # few walkers: nothing is worth a copy, and nobody waits
        alone = stats("in-place", 8, 2, walkers=1, kind=kind)
        assert (len(alone), alone.streamed["transfers"], alone.streamed["in_place"]) == (1, 0, steps)
    some = stats("in-place", 8, 2)
    assert (len(some), some.streamed["transfers"]) == (1, 2)  # the room that is free is used once
    assert 0 < some.streamed["in_place"] < n * steps
    parted = sample.random_walk(
        graph, np.arange(n) % graph.num_vertices, steps, placement=Streamed(8, 2, "in-place", batch=4)
    )
    assert (parted.stats.streamed["batches"], parted.stats.streamed["transfers"]) == (10, 2)  # also by all batches
    many = stats("in-place", 8, 2, walkers=2000)  # more would be read in place than copied
    assert many.streamed["transfers"] > 8
    assert many.streamed["in_place"] < 2000 * steps // 2
    for scheme in ("WS", "BAL"):
        assert len(stats(scheme, 8, 8)) <= 2  # all partitions, once they are there
        assert len(stats(scheme, 8, 4)) < len(stats(scheme, 8, 2)) < steps * 8


def test_each_partition_comes_once_where_all_fit():
    graph = made("scale-free").partition(1, device="cpu")
    for kind in ("alias", "all alike"):
        reported = drawn(graph, kind, Streamed(6, 6, "WS")).stats.streamed
        assert reported["transfers"] <= 6
    assert drawn(graph, "simple", Streamed(6)).stats.streamed["resident"] == 6


def test_the_device_memory_says_what_is_resident():
    graph = made("dense random, directed").partition(1, device="cpu")
    half = drawn(graph, "alias", Streamed(8, 4)).stats
    fitted = drawn(graph, "alias", Streamed(8, device_memory=half.memory)).stats
    assert (fitted.streamed["resident"], fitted.memory) == (4, half.memory)
    less = drawn(graph, "alias", Streamed(device_memory=half.memory // 2))
    assert less.stats.memory <= half.memory // 2
    assert less.stats.streamed["partitions"] >= 16
    same(less, drawn(graph, "alias", "replicated"))
    with pytest.raises(OverBudget, match="more partitions"):
        drawn(graph, "alias", Streamed(1, device_memory=half.memory // 2))


@pytest.mark.parametrize("scheme", ["WS", "BAL", "in-place"])
@pytest.mark.parametrize("kind", ["simple", "alias", "all alike"])
@pytest.mark.usefixtures("alone")
def test_no_more_memory_is_taken_than_announced(kind, scheme):
    graph = made("scale-free").partition(1, device="cpu")
    drawn(graph, kind, Streamed(8, 2, scheme))  # what stays is made
    tracemalloc.start()
    try:
        found = drawn(graph, kind, Streamed(8, 2, scheme), 30_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.3 * found.stats.memory < peak < 1.1 * found.stats.memory + OTHERS


def test_hops_of_partitions_that_are_there_are_one_launch(watched):
    graph = made("dense random, directed").partition(1, device="cpu")
    launched = watched(Traversal, "draw_hop")
    launches = {}
    for scheme in ("WS", "BAL"):
        for resident in (1, 4, 6, 12):
            launched.clear()
            reported = drawn(graph, "all alike", Streamed(12, resident, scheme), 300).stats.streamed
            launches[scheme, resident] = len(launched)
            assert reported["transfers"] >= 12
    assert launches["WS", 1] == launches["WS", 4] == launches["WS", 12] == launches["BAL", 1] == 3 * 12
    assert launches["BAL", 4] == 6 + 2 * (1 + 4)  # two at a time; four are there when the next hop begins
    assert launches["BAL", 12] == 2 + 1 + 1


def test_edges_have_their_numbers_where_partitions_are_sampled_together():
    graph = made("scale-free").partition(1, device="cpu")
    for bias in (None, "weight"):
        loads = {
            where: NumberedTraversal(np.arange(20), None, (3, 2), bias=bias, seed=3) for where in ("replicated", "BAL")
        }
        whole, parts = (
            execute.sample(graph, sampler, Streamed(8, 6, "BAL") if where == "BAL" else where, progress=False)
            for where, sampler in loads.items()
        )
        for name in ("src", "dst", "edge"):
            np.testing.assert_array_equal(parts._internal(name), whole._internal(name))


@pytest.mark.parametrize(
    "wrong",
    [{"partitions": 0}, {"partitions": 5000}, {"resident": True}, {"scheme": "ba"}, {"batch": 1.5},
     {"device_memory": "much"}, {"device_memory": 0}],
)  # fmt: skip
def test_arguments_that_are_none(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Streamed(**wrong)


def test_where_memory_is_short_streaming_is_named(free_memory):
    graph = made("scale-free").partition(1, device="cpu")
    free_memory(1000)
    for placement in ("auto", "replicated", "partitioned"):
        with pytest.raises(OverBudget, match='placement="streamed"'):
            drawn(graph, "simple", placement)
        with pytest.raises(OverBudget, match='placement="streamed"'):
            sample.node2vec(graph, [0], 3, placement=placement)


def test_a_deadline_ends_a_streamed_run():
    import dask

    graph = made("scale-free").partition(1, device="cpu")
    for kind in ("simple", "all alike"):
        drawn(graph, kind, "streamed")
        with pytest.raises(DeadlineExceeded), dask.config.set({"graphdask.deadline": 1e-9}):
            drawn(graph, kind, Streamed(4, 1))


@pytest.mark.parametrize("device", ["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_queues_have_the_walkers_of_each_partition(device):
    backend, rng, n = device_backend(device), np.random.default_rng(2), 9000
    for parts in (1, 3, 300):
        places, lengths = rng.integers(0, parts + 1, n).astype(np.int32), rng.integers(0, 99, n).astype(np.int32)
        tally, queue = backend.from_host(np.zeros(2 * parts + 1, np.int64)), backend.from_host(np.full(n, -7))
        given, kernels = backend.from_host(places), backend.kernels("queues")
        kernels.queues_count(n, given, backend.from_host(lengths), parts, tally, per_processor=4, shared=4 * parts)
        kernels.queues_fill(n, given, parts, tally, queue, shared=12 * parts)
        backend.synchronize()
        reported, found = backend.to_host(tally)[: parts + 1], backend.to_host(queue)
        np.testing.assert_array_equal(reported, [*np.bincount(places, minlength=parts + 1)[:parts], lengths.sum()])
        ends = np.cumsum(reported[:parts])
        for part, queued in enumerate(np.split(found, ends)[:parts]):
            np.testing.assert_array_equal(np.sort(queued), np.flatnonzero(places == part))
        assert (found[ends[-1] :] == -7).all()
