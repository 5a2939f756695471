"""Searches of shallow graphs on a CPU, level by level, against those in memory."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.stream import paths


@pytest.fixture
def by_levels(watched):
    """Of each search whether it went level by level."""
    return watched(paths, "by_levels", answer=lambda found: found is not None)


def graphs(rng):
    """Name, ends of edges and number of vertices."""
    src, dst = (2000 * rng.random((2, 9000)) ** 2).astype(np.int64)
    dst[:200] = src[:200]
    yield "skewed, with self-loops and parallel edges", src, dst, 2100
    yield "sparse, in pieces", *rng.integers(0, 1500, (2, 1400)), 1500
    yield "a star", np.zeros(700, np.int64), np.arange(1, 701), 702
    yield "a short path", np.arange(9), np.arange(1, 10), 10


@pytest.mark.parametrize("which", range(4))
def test_answers_are_those_in_memory(which, by_levels, tmp_path, rng):
    name, src, dst, n = list(graphs(rng))[which]
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False)
    gd.stream.build(graph, tmp_path / "g.gdl", chunk=2048)
    inside = graph.partition(1, device="cpu")
    for memory in ("64KiB", "1MiB"):
        stored = gd.stream.open(tmp_path / "g.gdl", memory=memory)
        for source in {0, n - 1, *rng.integers(0, n, 3).tolist()}:
            found, expected = gd.bfs(stored, source), gd.bfs(inside, source)
            np.testing.assert_array_equal(found.depth, expected.depth, err_msg=name)
            np.testing.assert_array_equal(found.parent, expected.parent, err_msg=name)
            lengths = gd.sssp(stored, source)
            np.testing.assert_array_equal(lengths.distance, expected.depth, err_msg=name)
            np.testing.assert_array_equal(lengths.parent, expected.parent, err_msg=name)
    assert any(by_levels) or which == 1


def test_a_small_front_pushes_and_what_is_left_pulls(by_levels, tmp_path, rng):
    graph = gd.generate.rmat(12, 16, seed=1)
    gd.stream.build(graph, tmp_path / "g.gdl", chunk=8192)
    stored = gd.stream.open(tmp_path / "g.gdl", memory="256KiB")
    source = int(np.flatnonzero(gd.bfs(graph, stored.store.header["root"]).depth == 3)[0])
    found = gd.bfs(stored, source)
    np.testing.assert_array_equal(found.depth, gd.bfs(graph, source).depth)
    steps = [step for step in found.stats.supersteps if step["frontier"]]
    assert sum(by_levels) == 1
    assert [step["frontier"] for step in steps] == np.bincount(found.depth[found.depth >= 0]).tolist()
    edges, every = [step["edges"] for step in steps], 2 * graph.num_edges
    assert 0 < edges[0] < every // 8
    assert sum(edges) < every
    assert found.stats.streamed["chunks_skipped"]


def test_a_slow_disk_is_left_to_labels_that_fall(by_levels, tmp_path):
    graph = gd.generate.rmat(10, 8, seed=1)
    gd.stream.build(graph, tmp_path / "g.gdl", chunk=8192)
    stored = gd.stream.open(tmp_path / "g.gdl", memory="256KiB")
    source = int(np.flatnonzero(gd.bfs(graph, stored.store.header["root"]).depth == 2)[0])
    stored.store.direct.slow = True
    np.testing.assert_array_equal(gd.bfs(stored, source).parent, gd.bfs(graph, source).parent)
    assert not any(by_levels)


def test_many_layers_are_left_to_labels_that_fall(by_levels, tmp_path):
    long = np.arange(40)
    graph = gd.from_edges(long, long + 1, directed=False)
    gd.stream.build(graph, tmp_path / "g.gdl", root=0, chunk=2048)
    found = gd.bfs(gd.stream.open(tmp_path / "g.gdl", memory="64KiB"), 17)
    np.testing.assert_array_equal(found.depth, np.abs(np.arange(41) - 17))
    assert not any(by_levels)
