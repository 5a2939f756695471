"""Searches from several sources, and searches that stop: at a limit, or when the last of their targets is reached.

Expected values are SciPy's from each source by itself: a vertex is as far away as it is from the nearest one. A search
that stops gives the same answer up to where it stops, and nothing beyond.
"""

from __future__ import annotations

from itertools import cycle, product

import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS
from reference import adjacency, search
from scipy.sparse import csgraph

import graphdask as gd
from graphdask.algorithms.bfs import DIRECTIONS
from graphdask.engine.tuning import SEARCH

PARTS = (1, 2, 3, 4, 7)
NAMES = (
    "one vertex", "only self-loops", "isolated vertices", "star inward", "cycle", "short path",
    "sparse random, directed", "sparse random, undirected", "scale-free",
)  # fmt: skip
ON_DEVICES = ("one vertex", "isolated vertices", "star inward", "short path", "sparse random, directed", "scale-free")
WAYS = tuple(product(("range", "random"), ("all", "1-hop"), ("selective", "broadcast")))


def hops(matrix, sources):
    """Depths, and parents by the smallest id, of a search from several vertices."""
    depth = csgraph.shortest_path(matrix, method="D", unweighted=True, indices=sources).min(axis=0)
    depth = np.where(np.isinf(depth), -1, depth).astype(np.int64)
    coo = matrix.tocoo()
    tree = (depth[coo.row] >= 0) & (depth[coo.col] == depth[coo.row] + 1)
    parent = np.full(len(depth), len(depth), np.int64)
    np.minimum.at(parent, coo.col[tree], coo.row[tree])
    parent[depth < 0] = -1
    parent[sources] = sources
    return depth, parent


def check(found, depth, parent, until, said):
    """The answer is that of a search to the end, up to a depth."""
    kept = (depth >= 0) & (depth <= until)
    np.testing.assert_array_equal(found.depth, np.where(kept, depth, -1), said)
    np.testing.assert_array_equal(found.parent, np.where(kept, parent, -1), said)
    found.verify()


def stops(rng, depth):
    """Options of searches that stop, and the depth at which they do."""
    n, end = len(depth), max(int(depth.max()), 0)
    for limit in {0, 1, end // 2, end, end + 3}:
        yield {"depth_limit": limit}, limit
    for count in {1, min(n, 2), min(n, 60)}:
        near = rng.choice(np.flatnonzero(depth >= 0), count)  # one may come twice
        yield {"targets": near}, depth[near].max()
        yield {"targets": near, "depth_limit": end // 2}, min(depth[near].max(), end // 2)
        anywhere = rng.choice(n, count, replace=False)
        yield {"targets": anywhere}, depth[anywhere].max() if (depth[anywhere] >= 0).all() else end


def one_answer(rng, edges, parts, device, every=1):
    """Check searches of a graph, or a part of them: every so many."""
    n, src, dst, directed = edges
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    matrix, ways, directions = adjacency(n, src, dst, directed), cycle(WAYS), cycle(DIRECTIONS)
    for count in {1, min(n, 2), min(n, 9)}:
        sources = rng.choice(n, count, replace=False)
        depth, parent = hops(matrix, sources)
        if count == 1:
            np.testing.assert_array_equal((depth, parent), search(matrix, int(sources[0])))
        for options, until in [({}, n), *stops(rng, depth)][rng.integers(every) :: every]:
            (by, ghosts, exchange), direction = next(ways), next(directions)
            divided = graph.partition(parts, by, ghosts, device=device)
            found = gd.bfs(divided, sources, direction=direction, exchange=exchange, **options)
            check(found, depth, parent, until, f"{options} from {sources}, {by}, {ghosts}, {exchange}, {direction}")


def test_searches_of_several_sources_stop_where_they_are_to(rng):
    for parts, name in product(PARTS, NAMES):
        one_answer(rng, GRAPHS[name](), parts, "cpu", every=20)


@pytest.mark.slow
@pytest.mark.parametrize("parts", PARTS)
def test_all_searches_of_several_sources_stop_where_they_are_to(parts, rng):
    for name in NAMES:
        one_answer(rng, GRAPHS[name](), parts, "cpu")


@pytest.mark.slow
@pytest.mark.parametrize(("parts", "small"), [(1, True), (1, False), (3, True)])
def test_searches_stop_on_the_emulator_of_a_gpu(parts, small, rng, monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    if not small:
        tuned(SEARCH, small=-1)  # by levels that are not small, as a team of one
    for name in ON_DEVICES:
        one_answer(rng, GRAPHS[name](), parts, "cuda", every=5)


@pytest.mark.gpu
@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("parts", PARTS)
def test_searches_stop_on_a_gpu(parts, small, rng, monkeypatch, tuned):
    if not small:
        tuned(SEARCH, small=-1)
    for name in NAMES:
        one_answer(rng, GRAPHS[name](), parts, "cuda")


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_nothing_is_scanned_beyond_a_limit_or_the_last_target(direction, parts):
    path = gd.from_edges(np.arange(99), np.arange(1, 100)).partition(parts, "random", device="cpu")
    whole = gd.bfs(path, 0, direction=direction).stats
    for options in ({"depth_limit": 5}, {"targets": [5, 2]}):
        stats = gd.bfs(path, 0, direction=direction, **options).stats
        assert len(stats) <= 9 < len(whole)
        assert stats.edges <= whole.edges
        if direction == "push":
            assert stats.edges == 5  # one edge for each level
    assert gd.bfs(path, 3, targets=3, direction=direction).stats.edges == 0


@pytest.mark.parametrize("parts", [1, 3])
def test_sources_and_targets_may_be_names(parts):
    graph = gd.from_edges(list("abcdx"), list("bcdey")).partition(parts, device="cpu")
    found = gd.bfs(graph, ["a", "x"], targets=np.array(["c"], object)).verify()
    assert found.depth.tolist() == [0, 1, 2, -1, -1, 0, 1]
    assert found.parent.tolist() == ["a", "a", "b", None, None, "x", "x"]


GRAPH = gd.from_edges([10, 20], [20, 30])


@pytest.mark.parametrize(
    ("source", "options", "error", "message"),
    [
        ([], {}, gd.InputError, "source is empty; give at least one vertex"),
        ([10, 20, 10], {}, gd.InputError, "source 10 is given twice; leave one of them out"),
        ([[10], [20]], {}, gd.InputError, "source=.* is neither a vertex nor a list of them"),
        ([10, 15], {}, gd.VertexNotFound, "source 15 is not in the graph"),
        (10, {"targets": []}, gd.InputError, "targets is empty; give at least one vertex"),
        (10, {"targets": [20, 15]}, gd.VertexNotFound, "target 15 is not in the graph"),
        (10, {"targets": "b"}, gd.InputError, "target 'b' is not a whole number"),
        (10, {"depth_limit": -1}, gd.InputError, "depth_limit=-1 is not a whole number of 0 or more"),
        (10, {"depth_limit": 1.5}, gd.InputError, "depth_limit=1.5 is not a whole number or None"),
    ],
)
def test_what_is_no_source_target_or_limit_is_refused(source, options, error, message):
    with pytest.raises(error, match=message):
        gd.bfs(GRAPH, source, **options)


DIAMOND = [0, 0, 1, 2, 3, 4], [1, 2, 3, 3, 4, 5]
"""0 -> 1, 2 -> 3 -> 4 -> 5"""
WRONG = {
    "deeper than the limit": ({"depth_limit": 3}, {5: (4, 4)}, "vertex 5 is deeper than the level at which the search"),
    "a vertex of the last level is left out": ({"depth_limit": 3}, {4: (-1, -1)}, "the edge from 3 to 4 skips a level"),
    "deeper than the target": ({"targets": [3]}, {4: (3, 3)}, "vertex 4 is deeper than the level at which the search"),
    "the target is left out": ({"targets": [3]}, {3: (-1, -1)}, "the edge from . to 3 skips a level"),
    "the target is too deep": ({"targets": [3]}, {3: (3, 2)}, "the edge from . to 3 skips a level"),
    "another vertex of its level is left out": ({"targets": [1]}, {2: (-1, -1)}, "the edge from 0 to 2 skips a level"),
}


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize("what", WRONG)
def test_a_search_that_stopped_elsewhere_is_named(what, parts):
    options, changes, message = WRONG[what]
    result = gd.bfs(gd.from_edges(*DIAMOND).partition(parts, "random", device="cpu"), 0, **options).verify()
    for vertex, values in changes.items():
        rank, place = result.built.vertex_map.locate(vertex)
        for column, value in zip(("depth", "parent"), values, strict=True):
            result.parts.values[rank].columns[column][place] = value
    with pytest.raises(gd.VerificationError, match=message):
        result.verify()
