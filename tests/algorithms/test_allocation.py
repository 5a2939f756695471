"""However queues are allocated, the answer is the same; they grow where they must, and end a run where they may not."""

from __future__ import annotations

import re
import tracemalloc
from itertools import product

import networkx as nx
import numpy as np
import pytest
from covering import pairs
from emulated import emulated, stand_in
from memory import OTHERS
from reference import (
    adjacency,
    lightest,
    propagated_labels,
    search,
    shortest,
    simple,
    smallest_of_component,
)

import graphdask as gd
from graphdask.bench.analysis.choices import paths_unfused
from graphdask.engine.buffers import Allocation, Buffer, Growth
from graphdask.engine.tuning import ENGINE, SEARCH
from graphdask.errors import InputError, OverBudget, Unsupported

PARTS = (1, 2, 3)
GUARD = 64
"""Entries behind each queue that nobody may write."""


def star():
    return 60, np.zeros(59, np.int64), np.arange(1, 60)


def path():
    return 80, np.arange(79), np.arange(1, 80)


def random():
    rng = np.random.default_rng(11)
    return 300, rng.integers(0, 300, 900), rng.integers(0, 300, 900)


def rmat():
    src, dst, _ = gd.generate.rmat(8, 8, seed=5).edges()
    return 256, src.astype(np.int64), dst.astype(np.int64)


GRAPHS = [star, path, random, rmat]
EVERY_PAIR = pytest.mark.parametrize(
    ("make", "directed", "parts", "allocation"), pairs(GRAPHS, [False, True], PARTS, ["just-enough", 1.0])
)


@pytest.fixture
def tight(monkeypatch, tuned):
    """Estimates of next to nothing, so that all queues grow; and what is written behind them is found."""
    made = []

    def guarded(room, size, dtype):
        array = room._backend.xp.full(size + GUARD, 77, dtype)
        made.append(array[size:])
        return array[:size]

    tuned(ENGINE, least_queue=1)
    # A CPU does not say that something is written behind an array.
    monkeypatch.setattr(Buffer, "empty", guarded)
    yield
    assert made
    for guard in made:
        assert (guard == 77).all()


def of(make, parts, directed=False, weights=None, device="cpu"):
    n, src, dst = make()
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    by, ghosts = ("random", "1-hop") if parts == 3 else ("range", "all")
    return graph.partition(parts, by=by, ghosts=ghosts, device=device)


def matrix_of(make, directed=False):
    return adjacency(*make(), directed)


@pytest.mark.usefixtures("tight")
@EVERY_PAIR
def test_searches_are_scipys(make, directed, parts, allocation):
    n, src, dst = make()
    depth, parent = search(matrix_of(make, directed), n // 3)
    graph = of(make, parts, directed)
    if directed:
        gd.connected_components(graph)  # makes the in-edges
    for direction, exchange in product(("auto", "push", "pull"), ("selective", "broadcast")):
        found = gd.bfs(graph, n // 3, direction=direction, exchange=exchange, allocation=allocation)
        np.testing.assert_array_equal(found.depth, depth)
        np.testing.assert_array_equal(found.parent, parent)
    found.verify()
    length = np.arange(len(src)) % 5 + 1.0
    for lengths in (length, length.astype(np.int64), length - 1):
        distance, parent = shortest(lightest(n, src, dst, lengths, directed), n // 3)
        weighted = of(make, parts, directed, lengths)
        for exchange in ("selective", "broadcast"):
            found = gd.sssp(weighted, n // 3, exchange=exchange, allocation=allocation)
            np.testing.assert_array_equal(np.where(found.reached, found.distance, np.inf), distance)
            np.testing.assert_array_equal(found.parent, parent)


@pytest.mark.usefixtures("tight")
@pytest.mark.parametrize("allocation", ["just-enough", 1.0])
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("make", GRAPHS)
def test_components_and_labels_are_scipys(make, parts, allocation):
    graph, matrix = of(make, parts), matrix_of(make)
    labels = gd.connected_components(graph, allocation=allocation).label
    np.testing.assert_array_equal(labels, smallest_of_component(matrix))
    found = gd.label_propagation(graph, 4, allocation=allocation).label
    np.testing.assert_array_equal(found, propagated_labels(matrix, False, 4))


@pytest.mark.usefixtures("tight")
@EVERY_PAIR
def test_betweenness_is_networkxs(make, directed, parts, allocation):
    n, src, dst = make()
    g = nx.DiGraph() if directed else nx.Graph()
    g.add_nodes_from(range(n))
    g.add_edges_from(zip(src.tolist(), dst.tolist(), strict=True))
    u, v = (np.array(ends) for ends in zip(*g.edges(), strict=True))
    graph = gd.from_edges(u, v, num_vertices=n, directed=directed).partition(parts, device="cpu")
    expected = nx.betweenness_centrality(g, normalized=False)
    found = gd.betweenness(graph, allocation=allocation).score
    np.testing.assert_allclose(found, [expected[vertex] for vertex in range(n)], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("make", GRAPHS)
def test_cores_and_strong_components_are_the_same_just_enough(make, parts):
    graph, matrix = of(make, parts), matrix_of(make)
    where = {"allocation": "just-enough"}
    cores = nx.core_number(nx.from_scipy_sparse_array(simple(matrix)))
    np.testing.assert_array_equal(gd.core_number(graph, **where).core, [cores[v] for v in range(graph.num_vertices)])
    arcs = of(make, parts, directed=True)
    labels = gd.strongly_connected_components(arcs, **where).label
    np.testing.assert_array_equal(labels, smallest_of_component(matrix_of(make, True), "strong"))


@pytest.mark.slow
@pytest.mark.usefixtures("tight")
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("make", [star, path, rmat])
def test_on_the_emulator_of_a_gpu_nothing_is_written_behind_a_queue(make, parts, monkeypatch):
    stand_in(monkeypatch, emulated())
    n, src, dst = make()
    depth, parent = search(matrix_of(make), n // 3)
    graph, where = of(make, parts, device="cuda"), {"allocation": "just-enough"}
    for direction in ("auto", "push", "pull"):
        found = gd.bfs(graph, n // 3, direction=direction, **where)
        np.testing.assert_array_equal(found.depth, depth)
        np.testing.assert_array_equal(found.parent, parent)
    assert found.stats.devices[0] != "CPU"
    assert found.stats.allocated_start > 8 * n // parts
    labels = gd.connected_components(graph, **where).label
    np.testing.assert_array_equal(labels, smallest_of_component(matrix_of(make)))
    distance, parent = shortest(lightest(n, src, dst, np.ones(len(src)), False), n // 3)
    found = gd.sssp(graph, n // 3, **where)
    np.testing.assert_array_equal(np.where(found.reached, found.distance, np.inf), distance)
    gd.betweenness(graph, 4, **where).verify()
    gd.label_propagation(graph, 3, **where).verify()
    gd.core_number(graph, **where).verify()


def two_stars(leaves):
    """A path of two into a star, whose leaves are the second level; a level as large as the graph."""
    return leaves + 2, np.concatenate([[0], np.full(leaves, 1)]), np.concatenate([[1], np.arange(2, leaves + 2)])


@pytest.mark.parametrize("parts", [1, 2])
def test_growths_are_counted_where_a_level_is_larger_than_the_estimate(parts):
    graph = of(lambda: two_stars(50_000), parts)
    grown = gd.bfs(graph, 0, direction="push", allocation="just-enough").stats
    assert 1 <= grown.growths <= 3 * parts
    assert grown.allocated_end > grown.allocated_start > 0
    maximal = gd.bfs(graph, 0, direction="push").stats
    assert (maximal.growths, maximal.allocated_start) == (0, maximal.allocated_end)
    assert (maximal.allocation, grown.allocation) == ("maximal", "just-enough")
    assert grown.allocated_start < maximal.allocated_start
    long = of(lambda: (50_000, np.arange(49_999), np.arange(1, 50_000)), 1)
    assert gd.connected_components(long, allocation="just-enough").stats.growths == 0


def test_the_bytes_of_a_state_are_those_of_its_arrays():
    graph = of(lambda: two_stars(9_998), 1)
    stats = gd.bfs(graph, 0, direction="push").stats  # depth, parent, two queues, long rows; bits; counters
    assert stats.allocated_start == 5 * 10_000 * 4 + 313 * 4 + 76 * 8
    stats = gd.bfs(graph, 0, direction="push", allocation="just-enough").stats  # which grows in one queue, for leaves
    assert stats.allocated_start == (2 * 10_000 + 2 * ENGINE.least_queue + 19_996 // 4_096) * 4 + 313 * 4 + 76 * 8
    assert stats.allocated_end == stats.allocated_start + (9_999 - ENGINE.least_queue) * 4  # all but the one found
    assert stats.to_dict()["growths"] == stats.growths == 1


@pytest.mark.parametrize("parts", PARTS)
def test_a_fixed_share_that_may_not_suffice_raises_and_names_one_that_does(parts):
    graph = of(lambda: two_stars(1_000), parts)
    with pytest.raises(OverBudget, match=r"\(allocation=0.1\), but may need [0-9,]+; use allocation=") as refused:
        gd.bfs(graph, 0, direction="push", allocation=0.1)
    share = float(re.search(r"use allocation=([0-9.]+)", str(refused.value)).group(1))
    assert 0.1 < share <= 1
    assert gd.bfs(graph, 0, direction="push", allocation=1.0).depth.max() == 2
    line = of(path, parts)
    found = gd.bfs(line, 0, direction="push", allocation=0.2)
    assert (found.depth.max(), found.stats.growths, found.stats.allocation) == (79, 0, "fixed 0.2")


def test_fixed_alone_is_three_quarters_of_the_maximum():
    assert Allocation.of("fixed") == Allocation("fixed", 0.75)
    with pytest.raises(OverBudget, match="holds 752 of 1,002 vertices"):
        gd.bfs(of(lambda: two_stars(1_000), 1), 0, direction="push", allocation="fixed")


def test_a_fixed_share_is_refused_if_every_vertex_ends_in_the_queue():
    with pytest.raises(Unsupported, match=r".* does not support a fixed allocation, because .*just-enough"):
        gd.core_number(of(star, 1), allocation="fixed")
    gd.core_number(of(star, 1), allocation=1.0).verify()  # all that there can be


def test_a_fixed_share_is_refused_by_strong_components_of_directed_graphs():
    with pytest.raises(Unsupported, match="may be all of them"):
        gd.strongly_connected_components(of(star, 1, directed=True), allocation=0.5)
    assert gd.strongly_connected_components(of(star, 1), allocation=0.5).num_components == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        *((wrong, "nor a share of the maximum, above 0 and up to 1") for wrong in ("enough", 0, 0.0, -1, 1.5, "0.5")),
        (float("nan"), "is not a number$"),
        (True, "is not one of maximal, just-enough, fixed nor a number"),
    ],
)
def test_what_is_no_scheme_is_refused(wrong, said):
    with pytest.raises(InputError, match=f"allocation=.* {said}"):
        gd.bfs(of(star, 1), 0, allocation=wrong)


def test_the_scheme_is_a_setting():
    import dask

    with dask.config.set({"graphdask.allocation": "just-enough"}):
        assert gd.bfs(of(star, 1), 0).stats.allocation == "just-enough"
        assert gd.bfs(of(star, 1), 0, allocation="maximal").stats.allocation == "maximal"


def peak_of(call):
    call()  # loads the kernels
    tracemalloc.start()
    stats = call().stats
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return stats, peak


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.usefixtures("alone")
def test_on_a_long_path_just_enough_takes_far_less_and_what_it_announces(parts):
    # a thousand paths from one end, so that there are few levels, whose statistics would count: all of them are small
    wide, length = 1_000, 300
    n = wide * length
    src, dst = np.arange(n - wide), np.arange(wide, n)
    src, dst = np.concatenate([src, np.zeros(wide - 1, int)]), np.concatenate([dst, np.arange(1, wide)])
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False)
    graph = graph.partition(parts, by="range", ghosts="1-hop", device="cpu")
    (maximal, most), (stats, peak) = (
        peak_of(lambda scheme=scheme: gd.bfs(graph, 0, direction="push", allocation=scheme))
        for scheme in ("maximal", "just-enough")
    )
    assert stats.growths == 0
    queues = 4 * 2 * n // parts  # depth and parent are the same
    assert stats.allocated_end - queues < 0.2 * (maximal.allocated_end - queues)
    assert peak < 0.8 * most
    if parts == 1:
        assert peak < 0.6 * most
        assert stats.memory / 1.1 < peak < 1.1 * stats.memory + OTHERS
    else:
        assert peak / parts < 1.1 * stats.memory + OTHERS


@pytest.mark.parametrize("allocation", ["maximal", "just-enough", 0.8])
@pytest.mark.parametrize("name", ["bfs", "sssp", "sssp not fused", "components", "label_propagation", "strong", "core"])
@pytest.mark.usefixtures("alone")
def test_what_was_announced_with_what_has_grown_is_the_peak(name, allocation):
    n = 100_000
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, n // 2, (2, 400_000))  # half of the vertices are isolated
    graph = gd.from_edges(src, dst, num_vertices=n, directed=name == "strong").partition(1, device="cpu").persist()
    calls = {
        "bfs": lambda: gd.bfs(graph, 0, allocation=allocation),
        "sssp": lambda: gd.sssp(graph, 0, allocation=allocation),
        "sssp not fused": lambda: paths_unfused(graph, 0, allocation=allocation),
        "components": lambda: gd.connected_components(graph, allocation=allocation),
        "label_propagation": lambda: gd.label_propagation(graph, 2, allocation=allocation),
        "strong": lambda: gd.strongly_connected_components(graph, allocation=allocation),
        "core": lambda: gd.core_number(graph, allocation=allocation),
    }
    if allocation == 0.8 and name in ("strong", "core"):
        return
    stats, peak = peak_of(calls[name])
    grown = max(0, stats.allocated_end - stats.allocated_start)
    assert peak < 1.1 * (stats.memory + (0 if allocation != "just-enough" else grown)) + OTHERS


def test_a_buffer_keeps_what_it_is_asked_to_keep():
    from graphdask.device.backend import get_backend

    growth = Growth()
    room = Buffer("a queue", 10_000, np.int32, Allocation("just-enough"), get_backend("cpu"), growth)
    assert len(room) == ENGINE.least_queue
    room.array[:] = np.arange(ENGINE.least_queue)
    assert room.fit(5_000, keep=3_000)[2_999] == 2_999
    assert len(room) == ENGINE.least_queue * 3 // 2  # by half at least
    np.testing.assert_array_equal(room.fit(1 << 40, keep=3_000)[:3_000], np.arange(3_000))
    assert (len(room), growth.growths, growth.grown) == (10_000, 2, 4 * (10_000 - ENGINE.least_queue))
    assert room.fit(1 << 40) is room.array


def test_a_room_does_not_grow_beyond_the_memory_there_is(free_memory):
    from graphdask.device.backend import CpuBackend

    backend = CpuBackend()
    free_memory(30_000)
    room = Buffer("a level of BFS", 1 << 20, np.int32, Allocation("just-enough"), backend, Growth(), expected=100)
    room.fit(7_000)
    with pytest.raises(OverBudget, match=r"a level of BFS has to grow from 7,000 to 900,000 entries, .* more workers"):
        room.fit(900_000)


@pytest.mark.slow
def test_levels_of_one_launch_have_room_for_all_they_may_find(monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    graph = of(lambda: (300, np.arange(299), np.arange(1, 300)), 1, device="cuda")
    tuned(ENGINE, least_queue=1)
    found = gd.bfs(graph, 0, allocation="just-enough")
    assert (found.depth.max(), len(found.stats)) == (299, 2)  # the levels of one launch
    assert len(gd.bfs(graph, 0, allocation=0.2).stats) > 299  # which has no room for SEARCH.small
    assert SEARCH.small > 300
