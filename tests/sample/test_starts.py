"""Starts that are told as a range, or with a number of walks for each: the walks of an array, in fewer bytes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from graphs import GRAPHS

import graphdask as gd
from graphdask.sample.starts import Starts
from graphdask.sample.traversal import Traversal
from graphdask.sample.walks import FirstOrder


@pytest.mark.parametrize("of", [range(3, 40, 4), range(30, 2, -3), range(0), np.array([5, 5, 1, 9])])
@pytest.mark.parametrize("each", [1, 3])
def test_slices_are_those_of_the_array(of, each):
    starts, array = Starts.every(of, each), np.repeat(np.asarray(of, np.int64), each)
    assert len(starts) == len(array)
    for begin, end in ((0, len(array)), (1, 5), (2, 2), (4, 100), (7, 8)):
        some = starts[begin:end]
        np.testing.assert_array_equal(some.astype(np.int32), array[begin:end])
        np.testing.assert_array_equal(some[1:3].astype(np.int64), array[begin:end][1:3])
        assert len(some.of) <= len(some) // each + 2


@pytest.fixture(scope="module")
def graph():
    n, src, dst, directed = GRAPHS["scale-free"]()
    return gd.from_edges(src, dst, num_vertices=n, directed=directed)


@pytest.mark.parametrize("parts", [1, 3])
def test_walks_from_a_range_are_those_from_its_numbers(graph, parts):
    n, G = graph.num_vertices, graph.partition(parts)
    for starts, each in ((range(n), 2), (range(n - 1, 4, -3), 1), ([4, 4, 7], 3)):
        for walk in (gd.sample.random_walk, gd.sample.node2vec):
            found = walk(G, starts, 5, walks_per_start=each, seed=3)
            reported = walk(G, np.repeat(np.array(starts), each), 5, seed=3)
            np.testing.assert_array_equal(found.walks, reported.walks)
    found.verify()


def test_a_range_beyond_the_vertices_names_one_that_is_none(graph):
    n = graph.num_vertices
    with pytest.raises(gd.VertexNotFound, match=f"start {n} "):
        gd.sample.random_walk(graph, range(n + 5), 2)
    assert gd.sample.random_walk(graph, range(0), 2).walks.shape == (0, 3)


def test_a_range_of_names_and_of_ids_from_one_is_looked_up():
    G = gd.from_edges([10, 20, 30], [20, 30, 10])
    walks = gd.sample.random_walk(G, range(10, 31, 10), 1).walks
    assert walks.tolist() == [[10, 20], [20, 30], [30, 10]]
    with pytest.raises(gd.VertexNotFound, match="start 11 "):
        gd.sample.random_walk(G, range(10, 13), 1)


def test_a_rank_is_sent_its_own_starts_and_seeds():
    many, some = range(10**6), np.arange(10**6)
    sizes = {}
    for name, starts in (("range", Starts.every(many, 10)), ("array", some)):
        sampler = FirstOrder(starts, 80, 0, "uniform", None, 0.0, 0.0)
        mine = sampler.share(1, 4)
        assert (mine.first, mine.last) == (len(starts) // 4, len(starts) // 2)
        assert mine.of(mine.starts, mine.first, mine.first + 3).astype(np.int64)[0] == np.asarray(some)[250_000]
        sizes[name] = len(pickle.dumps(mine))
    seeds, bounds = np.arange(10**6), np.arange(0, 10**6 + 1, 10)
    hops = Traversal(seeds, bounds, (2, 2)).share(1, 4)
    np.testing.assert_array_equal(hops.seeds[hops.bounds[3] :][:2], [250_030, 250_031])
    assert len(pickle.dumps(hops)) < 8 * (250_000 + 25_000) + 1000
    assert sizes["range"] < 1000
    assert sizes["array"] < 8 * 250_000 + 1000
