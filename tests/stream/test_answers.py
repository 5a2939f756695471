"""Answers over a streamed graph: SciPy's, and those in memory to the last bit, with room for any number of chunks."""

from __future__ import annotations

import os

import dask
import numpy as np
import pytest
from graphs import GRAPHS, two_stars
from reference import adjacency, lightest, power_iteration, search, shortest, smallest_of_component
from streams import weights_of

import graphdask as gd
from graphdask.stream.tuning import STREAM

WEIGHTS = (None, "whole", "zeros", "floats")


def equal(a, b):
    assert a.dtype == b.dtype
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("order", ["layers", "ids"])
@pytest.mark.parametrize("name", GRAPHS)
def test_depths_parents_and_labels_are_those_of_scipy(stored, name, order):
    n, src, dst, directed = GRAPHS[name]()
    S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed), order=order)
    matrix = adjacency(n, src, dst, directed)
    for source in {0, n // 2, n - 1}:
        found, (depth, parent) = gd.bfs(S, source), search(matrix, source)
        np.testing.assert_array_equal(found.depth, depth)
        np.testing.assert_array_equal(found.parent, parent)
    np.testing.assert_array_equal(gd.connected_components(S).label, smallest_of_component(matrix))


@pytest.mark.parametrize("kind", WEIGHTS[1:])
@pytest.mark.parametrize("name", ["sparse random, directed", "dense random, undirected", "only self-loops", "complete"])
def test_distances_and_parents_are_those_of_dijkstra(stored, name, kind):
    n, src, dst, directed = GRAPHS[name]()
    weights = weights_of(kind, len(src))
    S = stored(gd.from_edges(src, dst, weights, num_vertices=n, directed=directed))
    found, (distance, parent) = gd.sssp(S, n - 1), shortest(lightest(n, src, dst, weights, directed), n - 1)
    reached = np.isfinite(distance)
    np.testing.assert_array_equal(found.reached, reached)
    np.testing.assert_allclose(found.distance[reached], distance[reached], rtol=1e-15)
    if kind != "floats":
        np.testing.assert_array_equal(found.parent, parent)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", ["dense random, directed", "sparse random, undirected", "scale-free", "no edges"])
def test_answers_are_those_in_memory_to_the_last_bit(stored, name, kind):
    n, src, dst, directed = GRAPHS[name]()
    G = gd.from_edges(src, dst, weights_of(kind, len(src)), num_vertices=n, directed=directed)
    S = stored(G)
    a, b = gd.sssp(G, 1), gd.sssp(S, 1)
    equal(a.distance, b.distance)
    equal(a.parent, b.parent)
    person = dict.fromkeys(range(0, n, 3), 2.0)
    for options in ({}, {"dangling": "self-loop", "norm": "linf"}, {"dtype": "float32", "tol": 1e-5},
                    {"personalization": person, "start": np.arange(1.0, n + 1)}):  # fmt: skip
        a, b = gd.pagerank(G, **options), gd.pagerank(S, **options)
        equal(a.rank, b.rank)
        assert (a.iterations, a.residual, a.error) == (b.iterations, b.residual, b.error)


def test_ranks_do_not_depend_on_how_many_cores_share_a_chunk(stored, host, tuned):
    n, src, dst, directed = GRAPHS["dense random, directed"]()
    S = stored(gd.from_edges(src, dst, weights_of("floats", len(src)), num_vertices=n, directed=directed))
    alone = gd.pagerank(S)
    tuned(STREAM, one_core=1)
    for count in (1, 2, 5):
        host.cores(count)
        equal(gd.pagerank(S).rank, alone.rank)


def test_ranks_are_those_of_a_power_iteration(stored):
    n, src, dst, directed = GRAPHS["dense random, directed"]()
    S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed))
    np.testing.assert_allclose(gd.pagerank(S).rank, power_iteration(adjacency(n, src, dst, True)), atol=1e-10)


def test_an_edge_between_two_large_trees_is_not_left_to_the_other(stored):
    n, src, dst = two_stars()
    S = stored(gd.from_edges(src, dst, num_vertices=n, directed=False), order="ids")
    assert gd.connected_components(S).label.tolist() == [0] * n


def test_isolated_vertices_that_stand_first_do_not_keep_a_large_tree_from_being_passed_over(stored):
    n, src, dst, _ = GRAPHS["dense random, undirected"]()
    S = stored(gd.from_edges(src + 300, dst + 300, num_vertices=n + 300, directed=False), root=300)
    found = gd.connected_components(S)
    assert found.label.tolist() == [*range(300), *[300] * n]
    assert found.stats.streamed["chunks_skipped"] > S.chunks / 4


@pytest.mark.parametrize("memory", ["40KiB", "44KiB", "56KiB", "80KiB", "1MiB"])
def test_answers_do_not_depend_on_how_much_is_in_memory(stored, memory):
    n, src, dst, directed = GRAPHS["scale-free"]()
    weights = weights_of("floats", len(src))
    S = stored(gd.from_edges(src, dst, weights, num_vertices=n, directed=directed), memory)
    expected = shortest(lightest(n, src, dst, weights, directed), 7)[0]
    np.testing.assert_allclose(gd.sssp(S, 7).distance, expected, rtol=1e-15)
    depth, parent = search(adjacency(n, src, dst, directed), 7)
    np.testing.assert_array_equal(gd.bfs(S, 7).depth, depth)
    np.testing.assert_array_equal(gd.bfs(S, 7).parent, parent)


@pytest.mark.parametrize("order", ["layers", "ids"])
def test_parents_are_those_of_scipy_near_and_far_from_anywhere(stored, order):
    rng = np.random.default_rng(3)
    for n, more in ((700, 0), (700, 9), (300, 200), (300, 2000)):  # distances beyond those of a small table, and ties
        number = rng.permutation(n + 9).astype(np.int64)
        src = np.concatenate([number[: n - 1], number[rng.integers(0, n, more)], number[n : n + 6], number[:3]])
        dst = np.concatenate([number[1:n], number[rng.integers(0, n, more)], number[n + 1 : n + 7], number[:3]])
        S = stored(gd.from_edges(src, dst, num_vertices=n + 9, directed=False), order=order)
        matrix = adjacency(n + 9, src, dst, False)
        for source in number[[0, n // 3, n - 1, n, n + 8]].tolist():
            found, (depth, parent) = gd.bfs(S, source), search(matrix, source)
            np.testing.assert_array_equal(found.depth, depth)
            np.testing.assert_array_equal(found.parent, parent)
            np.testing.assert_array_equal(gd.sssp(S, source).parent, parent)


def test_a_long_path_with_weights_is_followed_against_the_order_of_layers(stored):
    n = 3000
    weights = np.random.default_rng(1).integers(1, 100, n - 1)
    S = stored(gd.from_edges(np.arange(1, n), np.arange(n - 1), weights, num_vertices=n, directed=False), "256KiB")
    found = gd.sssp(S, n - 1)
    np.testing.assert_array_equal(found.distance, np.append(np.cumsum(weights[::-1])[::-1], 0))
    np.testing.assert_array_equal(found.parent, np.append(np.arange(1, n), n - 1))


def test_a_road_network_with_lengths(stored, shared_data):
    G = gd.read_graph(shared_data / "road" / "bremen_dist.gr", weights=True)
    S = stored(G, "4MiB", chunk="32KiB", building="8MiB")
    assert S.layers > 100
    a, b = gd.sssp(G, 17), gd.sssp(S, 17)
    equal(a.distance, b.distance)
    equal(a.parent, b.parent)
    equal(gd.connected_components(G).label, gd.connected_components(S).label)


def test_ids_of_the_caller_come_back(stored):
    numbers = stored(gd.from_edges([10, 30, 70], [30, 70, 90]))
    assert gd.bfs(numbers, 30).parent.tolist() == [-1, 30, 30, 70]
    names = stored(gd.from_edges(["ann", "bob"], ["bob", "cid"], directed=False))
    assert gd.bfs(names, "cid").parent.tolist() == ["bob", "cid", "cid"]
    assert gd.connected_components(names).label.tolist() == ["ann"] * 3


def test_a_graph_without_vertices(stored):
    S = stored(gd.from_edges([], []))
    assert len(gd.connected_components(S).label) == 0
    assert len(gd.pagerank(S).rank) == 0


def test_a_distance_that_is_too_large_names_the_vertex(stored):
    G = gd.from_edges([5, 6], [6, 7], [2**62, 2**62])
    for graph in (G, stored(G)):
        with pytest.raises(gd.InputError, match="the distance of vertex 7 is too large for int64"):
            gd.sssp(graph, 5)


def test_what_a_search_from_the_root_reads_is_each_chunk_once(stored):
    n, src, dst, directed = GRAPHS["binary tree"]()
    S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed), root=0)
    streamed = gd.bfs(S, 0).stats.streamed
    assert streamed["sweeps"] == 1 or streamed["chunks_skipped"] >= S.chunks * (streamed["sweeps"] - 1)
    assert streamed["nbytes"] == streamed["distinct"] > 4 * 2 * S.num_edges


@pytest.mark.parametrize("memory", ["60KiB", "1MiB"])
def test_what_is_read_is_no_less_than_the_edges_that_are_looked_at(stored, memory, rng):
    n, src, dst, directed = GRAPHS["dense random, directed"]()
    weights = rng.integers(1, 9, len(src))
    for directed in (True, False):
        S = stored(gd.from_edges(src, dst, weights, num_vertices=n, directed=directed), memory)
        source = int(S.ids.to_caller(np.array([S.store.header["root"]]))[0])
        for run in (S, S.partition(2)):
            for found in (
                gd.bfs(run, source), gd.sssp(run, source), gd.connected_components(run),
                gd.betweenness(run, 3, weight=None),
                gd.pagerank(run, max_iter=1, tol=1),
            ):  # fmt: skip
                streamed = found.stats.streamed
                assert streamed["nbytes"] >= streamed["distinct"] > streamed["least"] > 0, found.stats.name
    G = gd.from_edges(np.arange(99), np.arange(1, 100), np.ones(99, np.int64), directed=False)
    least = gd.sssp(stored(G, root=0), 0).stats.streamed["least"]
    assert least == 12 * 2 * 99  # ends and weights


def test_a_sweep_skips_chunks_whose_sources_have_not_changed(stored):
    n = 2000
    S = stored(gd.from_edges(np.arange(n - 1), np.arange(1, n), num_vertices=n, directed=False), "60KiB", root=0)
    streamed = gd.bfs(S, n - 1).stats.streamed
    assert streamed["chunks_read"] + streamed["chunks_resident"] <= 3 * S.chunks
    assert streamed["chunks_skipped"] > 0


def test_what_stays_in_memory_is_read_once(stored):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed), "1MiB")
    streamed = gd.pagerank(S, max_iter=500).stats.streamed
    assert streamed["chunks_read"] == S.chunks
    assert streamed["nbytes"] == streamed["distinct"]
    assert streamed["chunks_resident"] == S.chunks * (streamed["sweeps"] - 1)


def test_a_run_that_passes_its_deadline_ends(stored):
    S = stored(gd.from_edges([0, 1], [1, 2]))
    with dask.config.set({"graphdask.deadline": 0}), pytest.raises(gd.DeadlineExceeded, match="passed its deadline"):
        gd.pagerank(S)


def test_a_file_that_is_cut_short_while_it_is_open_is_an_error(stored):
    n, src, dst, directed = GRAPHS["dense random, directed"]()
    S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed))
    os.truncate(S.store.path, S.nbytes // 3)
    with pytest.raises(gd.FormatError, match="the file was truncated"):
        gd.pagerank(S)


def test_one_pass_from_the_root_is_exact_and_reads_each_chunk_once(stored):
    for name in ("scale-free", "sparse random, directed"):
        n, src, dst, directed = GRAPHS[name]()
        S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed))
        root = S.store.header["root"]
        once = gd.stream.open(S.store.path, "64KiB", passes="one", read_ahead=0)  # which reads nothing in vain
        found, (depth, parent) = gd.bfs(once, root), search(adjacency(n, src, dst, directed), root)
        np.testing.assert_array_equal(found.depth, depth)
        np.testing.assert_array_equal(found.parent, parent)
        np.testing.assert_array_equal(gd.sssp(once, root).distance, depth)
        streamed = found.stats.streamed
        assert streamed["sweeps"] == 1
        assert streamed["nbytes"] == streamed["distinct"]


@pytest.mark.parametrize("name", [name for name, made in GRAPHS.items() if not made()[3]])
def test_a_search_from_where_layers_are_counted_from_is_one_pass(stored, name):
    n, src, dst, directed = GRAPHS[name]()
    for root in {0, n // 2, n - 1}:
        S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed), root=root)
        found, (depth, parent) = gd.bfs(S, root), search(adjacency(n, src, dst, directed), root)
        np.testing.assert_array_equal(found.depth, depth)
        np.testing.assert_array_equal(found.parent, parent)
        paths = gd.sssp(S, root)
        assert paths.distance.dtype == np.int64
        np.testing.assert_array_equal(paths.distance, depth)
        np.testing.assert_array_equal(paths.parent, parent)
        if (depth >= 0).sum() > n // 2:  # else chunks are skipped that have no active row
            assert found.stats.streamed["sweeps"] == 1
            assert found.stats.supersteps[0]["edges"] <= S.store.sections["out"].num_edges


def test_a_search_of_a_small_component_reads_little_of_the_others(stored):
    many = np.arange(4000)
    G = gd.from_edges(np.r_[many, 4001], np.r_[(many + 1) % 4000, 4002], num_vertices=4003, directed=False)
    S = stored(G, "256KiB", root=4001)
    found = gd.bfs(S, 4001)
    assert np.flatnonzero(found.depth >= 0).tolist() == [4001, 4002]
    assert found.stats.streamed["chunks_read"] <= 8 < S.chunks


def test_one_pass_is_refused_where_it_is_not_exact(stored):
    edges = np.arange(5), np.arange(1, 6)
    plain, weighted = gd.from_edges(*edges), gd.from_edges(*edges, np.ones(5))
    for G, options, call, reason in (
        (plain, {}, gd.pagerank, "PageRank is no search"),
        (plain, {}, lambda S: gd.bfs(S, 2), "layers are counted from 0"),
        (plain, {"order": "ids"}, lambda S: gd.bfs(S, 0), "the file has no layers"),
        (weighted, {}, lambda S: gd.sssp(S, 0), "edges have weights"),
        (plain, {}, lambda S: gd.bfs(S.partition(2), 0), "is for one rank"),
    ):
        path = stored(G, **(options or {"root": 0})).store.path
        with pytest.raises(gd.errors.Unsupported, match=reason):
            call(gd.stream.open(path, "1MiB", passes="one"))
    with pytest.raises(gd.InputError, match="passes='two' is not one of exact, one"):
        gd.stream.open(path, passes="two")
