"""Strong components are SciPy's, for every number of partitions, partitioner, ghosts and exchange."""

from __future__ import annotations

import tracemalloc
from itertools import product

import networkx as nx
import numpy as np
import pytest
from graphs import GRAPHS
from memory import OTHERS
from reference import adjacency, smallest_of_component

import graphdask as gd
import graphdask.partition
import graphdask.partition.sources
from graphdask.algorithms.strong import AT_ONCE
from graphdask.algorithms.tuning import STRONG
from graphdask.partition.tuning import PARTITION

PARTS = (1, 2, 3, 4, 7)
DIVISIONS = tuple(product(("range", "random"), ("all", "1-hop")))
EXCHANGES = ("selective", "broadcast")
NEVER, SOON, FEW = 0, 40 * AT_ONCE, STRONG.few
"""Limits of what ranks finish by themselves: nothing, a part of the small graphs here, and
the default."""


def finished(graph, few, **options):
    """The components, where ranks finish so many vertices and edges by themselves."""
    with STRONG.varied(few=few):
        return gd.strongly_connected_components(graph, **options)


def check(n, src, dst, parts, divisions=DIVISIONS, exchanges=EXCHANGES, few=(NEVER, SOON, FEW), device="cpu"):
    label = smallest_of_component(adjacency(n, src, dst, True), "strong")
    graph = gd.from_edges(src, dst, num_vertices=n)
    for number, (by, ghosts) in enumerate(divisions):
        divided = graph.partition(parts, by=by, ghosts=ghosts, device=device)
        for limit in few:
            for exchange in exchanges if limit == NEVER else exchanges[number % 2 :][:1]:
                found = finished(divided, limit, exchange=exchange)
                np.testing.assert_array_equal(found.label, label, f"{by}, {ghosts}, {exchange}, few={limit}")
                assert found.num_components == len(np.unique(label))
        found.verify()


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", [name for name, make in GRAPHS.items() if make()[3]])
def test_labels_are_scipys(name, parts):
    n, src, dst, _ = GRAPHS[name]()
    check(n, src, dst, parts, DIVISIONS if parts == 3 else DIVISIONS[1:3])


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", [name for name, make in GRAPHS.items() if not make()[3]])
def test_of_an_undirected_graph_they_are_the_components(name, parts):
    n, src, dst, directed = GRAPHS[name]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed).partition(parts, device="cpu")
    found = gd.strongly_connected_components(graph).verify()
    np.testing.assert_array_equal(found.label, smallest_of_component(adjacency(n, src, dst, directed), "strong"))


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("degree", [1, 1.5, 3])
def test_random_graphs_around_the_threshold(degree, parts, rng):
    n = 250
    src, dst = rng.integers(0, n, (2, int(degree * n)))
    check(n, src, dst, parts, DIVISIONS[1:3])


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_labels_agree_with_networkx(parts, rng):
    g = nx.gnm_random_graph(150, 260, seed=int(rng.integers(2**31)), directed=True)
    label = gd.strongly_connected_components(gd.from_networkx(g).partition(parts, device="cpu")).label
    for members in nx.strongly_connected_components(g):
        assert {int(label[v]) for v in members} == {min(members)}


@pytest.mark.parametrize("parts", [1, 3, 4])
@pytest.mark.parametrize("by", ["biased-random", "metis", "owners"])
def test_labels_do_not_depend_on_the_partitioner(by, parts, rng):
    n, src, dst, _ = GRAPHS["sparse random, directed"]()
    owners = rng.integers(0, parts, n) if by == "owners" else by
    check(n, src, dst, parts, [(owners, "1-hop")], few=[NEVER])


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 2, 4])
def test_64_bit_vertex_numbers_give_the_same(parts, tuned):
    tuned(PARTITION, narrow_ids=0)
    n, src, dst, _ = GRAPHS["sparse random, directed"]()
    check(n, src, dst, parts, DIVISIONS[1:3])


@pytest.mark.parametrize("parts", PARTS)
def test_the_empty_graph_has_no_component(parts):
    found = gd.strongly_connected_components(gd.from_edges([], [], num_vertices=0).partition(parts, device="cpu"))
    assert found.verify().label.shape == (0,)
    assert found.num_components == 0


@pytest.mark.parametrize("parts", [1, 3])
def test_labels_are_the_callers_ids(parts):
    strings = gd.from_edges(["d", "b", "c", "x"], ["b", "c", "d", "b"]).partition(parts, device="cpu")
    assert gd.strongly_connected_components(strings).label.tolist() == ["b", "b", "b", "x"]
    numbers = gd.from_edges([7, 2**62, 9], [2**62, 7, 7], vertices=[7, 8, 9, 2**62]).partition(parts, device="cpu")
    assert gd.strongly_connected_components(numbers).label.tolist() == [7, 8, 9, 7]


@pytest.mark.parametrize("parts", [1, 3])
def test_ranks_may_finish_in_any_superstep(parts, rng, tuned):
    src, dst = rng.integers(0, 200, (2, 260))
    label = smallest_of_component(adjacency(200, src, dst, True), "strong")
    graph = gd.from_edges(src, dst, num_vertices=200).partition(parts, by="random", device="cpu")
    most = len(finished(graph, NEVER).stats)
    for patience in range(most):
        tuned(STRONG, patience=patience)
        found = finished(graph, 1000)
        assert len(found.stats) <= patience + 1
        np.testing.assert_array_equal(found.label, label)


def supersteps(src, dst, parts, by, few=NEVER):
    graph = gd.from_edges(src, dst).partition(parts, by=by, device="cpu")
    return len(finished(graph, few).stats)


def test_long_paths_and_cycles_take_few_supersteps_where_partitions_keep_them_together():
    n = 5000
    line = np.arange(n)
    for parts in (1, 3):
        assert supersteps(line[:-1], line[1:], parts, "range") <= parts
        assert supersteps(line, np.roll(line, -1), parts, "range") <= 4 + 3 * parts
    # and one wherever they are few enough for each rank to take them all
    assert supersteps(line, np.roll(line, -1), 3, "random", FEW) == STRONG.patience + 1
    assert supersteps(line[:999], np.roll(line[:999], -1), 3, "random", FEW) == 1


def test_ids_that_rise_along_a_chain_of_components_take_no_more_rounds():
    even = np.arange(0, 2000, 2)
    src, dst = np.r_[even, even + 1, even[:-1] + 1], np.r_[even + 1, even, even[1:]]
    assert supersteps(src, dst, 1, "range") == 10
    assert supersteps(dst, src, 1, "range") == 15


@pytest.mark.parametrize("parts", [1, 3])
def test_a_chain_of_components_in_random_order(parts, rng):
    ids, even = rng.permutation(200), np.arange(0, 200, 2)
    src, dst = ids[np.r_[even, even + 1, even[:-1] + 1]], ids[np.r_[even + 1, even, even[1:]]]
    check(200, src, dst, parts, [("range", "1-hop")], few=[NEVER, 1000], exchanges=["selective"])


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("few", [NEVER, FEW])
@pytest.mark.usefixtures("alone")
def test_no_more_memory_is_taken_than_announced(parts, few, rng, tuned):
    tuned(STRONG, patience=0)
    n = 60_000
    graph = gd.from_edges(*rng.integers(0, n, (2, 2 * n)), num_vertices=n).partition(parts, device="cpu").persist()
    gd.bfs(graph, 0, direction="pull")  # makes the in-edges
    finished(graph, few)
    tracemalloc.start()
    try:
        found = finished(graph, few)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    announced = sum(summary.memory for summary in found.parts.summary)
    assert peak < 1.1 * announced + OTHERS


@pytest.mark.parametrize("parts", PARTS)
def test_a_real_graph(shared_data, parts):
    path = shared_data / "social/email-Eu-core.txt.gz"
    src, dst = np.loadtxt(path, dtype=np.int64).T
    check(int(max(src.max(), dst.max())) + 1, src, dst, parts, DIVISIONS[2:3], EXCHANGES[parts % 2 :][:1])


@pytest.mark.slow
def test_a_graph_of_the_web(shared_data):
    path = shared_data / "web/web-NotreDame.txt.gz"
    graph = gd.read_graph(path)
    src, dst = np.searchsorted(graph.vertex_ids, np.loadtxt(path, dtype=np.int64)).T
    label = smallest_of_component(adjacency(graph.num_vertices, src, dst, True), "strong")
    for parts, few in ((1, NEVER), (3, FEW)):
        divided = graph.partition(parts, device="cpu")
        found = finished(divided, few)
        np.testing.assert_array_equal(found.label, graph.vertex_ids[label])


def test_an_exchange_that_there_is_not_is_refused():
    with pytest.raises(gd.InputError, match="exchange='all' is not"):
        gd.strongly_connected_components(gd.from_edges([0], [1]), exchange="all")


@pytest.mark.gpu
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", [name for name, make in GRAPHS.items() if make()[3]])
def test_labels_on_a_gpu_are_scipys(name, parts):
    n, src, dst, _ = GRAPHS[name]()
    check(n, src, dst, parts, DIVISIONS[1:3], device="cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("parts", [1, 2, 4])
def test_hubs_on_a_gpu_are_scipys(parts, rng):
    n, m = 60_000, 100_000
    src = np.concatenate([np.zeros(n - 1, np.int64), rng.integers(0, n, m), rng.integers(0, n, 9000)])
    dst = np.concatenate([np.arange(1, n), rng.integers(0, n, m), np.full(9000, 5)])
    check(n, src, dst, parts, [("range", "all"), ("random", "1-hop")], device="cuda")
