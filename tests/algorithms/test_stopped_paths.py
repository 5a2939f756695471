"""Shortest paths from several sources, and searches that stop: at a cutoff, or at the distance of the farthest target.

Expected values are SciPy's from each source by itself: the distance of a vertex is that from the nearest one. A search
that stops gives the same answer up to where it stops, and nothing beyond.
"""

from __future__ import annotations

from itertools import cycle, product

import numpy as np
import pytest
from covering import pairs
from emulated import emulated, stand_in
from graphs import GRAPHS
from reference import lightest, shortest
from scipy.sparse import csgraph

import graphdask as gd

PARTS = (1, 2, 3, 4, 7)
NAMES = ("one vertex", "only self-loops", "isolated vertices", "star inward", "short path", "sparse random, directed")
WAYS = tuple(product(("range", "random"), ("all", "1-hop"), ("selective", "broadcast")))
KINDS = ("whole", "zeros", "large", "real")


def weights_of(kind, rng, count):
    """Weights of a kind: those of which labels hold parents, with zeros, beyond 32 bits, and real ones with ties."""
    if kind == "real":
        return rng.integers(0, 9, count) / 4
    least, most = {"whole": (1, 9), "zeros": (0, 4), "large": (1, 1 << 40)}[kind]
    return rng.integers(least, most, count)


def shortest_from(matrix, sources):
    """Distances, inf where there is no path, and parents as `sssp` promises them, of a search from several vertices."""
    if len(sources) == 1:
        return shortest(matrix, int(sources[0]))
    distance = csgraph.dijkstra(matrix, indices=sources).min(axis=0)
    n = len(distance)
    u, v, weight = np.repeat(np.arange(n), np.diff(matrix.indptr)), matrix.indices, matrix.data
    tight = np.isfinite(distance[u]) & (distance[u] + weight == distance[v]) & (u != v)
    parent = np.full(n, n, np.int64)
    nearer = tight & (distance[u] < distance[v])
    np.minimum.at(parent, v[nearer], u[nearer])
    parent[sources] = sources
    level = tight & (distance[u] == distance[v])
    u, v = u[level], v[level]
    while len(step := np.flatnonzero((parent[u] < n) & (parent[v] == n))):
        np.minimum.at(parent, v[step], u[step])
    parent[~np.isfinite(distance)] = -1
    return distance, parent


def check(found, distance, parent, until, said):
    """The answer is that of a search to the end, up to a distance."""
    kept = np.isfinite(distance) & (distance <= until)
    np.testing.assert_array_equal(found.reached, kept, said)
    np.testing.assert_array_equal(found.distance[kept], distance[kept], said)
    np.testing.assert_array_equal(found.parent, np.where(kept, parent, -1), said)
    found.verify()


def stops(rng, distance):
    """Options of searches that stop, and the distance at which they do."""
    n, reached = len(distance), np.flatnonzero(np.isfinite(distance))
    end = distance[reached].max()
    for cutoff in {0.0, float(np.median(distance[reached])), float(end), float(end) * 0.7}:
        yield {"cutoff": cutoff}, cutoff
    for count in {1, min(n, 2), min(n, 60)}:
        near = rng.choice(reached, count)  # one may come twice
        yield {"targets": near}, distance[near].max()
        yield {"targets": near, "cutoff": float(end) * 0.7}, min(distance[near].max(), end * 0.7)
        anywhere = rng.choice(n, count, replace=False)
        yield {"targets": anywhere}, distance[anywhere].max()


def one_answer(rng, edges, parts, device, kind, every=1):
    """Check searches of a graph, or a part of them: every so many."""
    n, src, dst, directed = edges
    weights = weights_of(kind, rng, len(src))
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    matrix, ways = lightest(n, src, dst, weights, directed), cycle(WAYS)
    for count in {1, min(n, 5)}:
        sources = rng.choice(n, count, replace=False)
        distance, parent = shortest_from(matrix, sources)
        for options, until in [({}, np.inf), *stops(rng, distance)][rng.integers(every) :: every]:
            by, ghosts, exchange = next(ways)
            divided = graph.partition(parts, by, ghosts, device=device)
            found = gd.sssp(divided, sources, exchange=exchange, **options)
            check(found, distance, parent, until, f"{options} from {sources}, {kind}, {by}, {ghosts}, {exchange}")


def test_paths_from_several_sources_stop_where_they_are_to(rng):
    for parts, name, kind in pairs(PARTS, NAMES, KINDS):
        one_answer(rng, GRAPHS[name](), parts, "cpu", kind, every=16)


@pytest.mark.slow
@pytest.mark.parametrize("parts", PARTS)
def test_all_paths_from_several_sources_stop_where_they_are_to(parts, rng):
    for kind in KINDS:
        for name in NAMES:
            one_answer(rng, GRAPHS[name](), parts, "cpu", kind)


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 3])
def test_paths_stop_on_the_emulator_of_a_gpu(parts, rng, monkeypatch):
    stand_in(monkeypatch, emulated())
    for kind, name in zip(KINDS, ("short path", "sparse random, directed", "star inward", "short path"), strict=True):
        one_answer(rng, GRAPHS[name](), parts, "cuda", kind, every=4)


@pytest.mark.gpu
@pytest.mark.parametrize("parts", PARTS)
def test_paths_stop_on_a_gpu(parts, rng):
    for kind in KINDS:
        for name in NAMES:
            one_answer(rng, GRAPHS[name](), parts, "cuda", kind)


@pytest.mark.parametrize("parts", [1, 4])
def test_little_is_scanned_beyond_a_cutoff_or_the_last_target(parts):
    n = 5000
    path = gd.from_edges(np.arange(n - 1), np.arange(1, n), np.full(n - 1, 2)).partition(parts, "range", device="cpu")
    for options in ({"cutoff": 10}, {"targets": [5, 2]}):
        assert gd.sssp(path, 0, delta=1.0, **options).stats.edges < 200


GRAPH = gd.from_edges([10, 20], [20, 30], [1, 2])


@pytest.mark.parametrize(
    ("source", "options", "error", "message"),
    [
        ([], {}, gd.InputError, "source is empty; give at least one vertex"),
        ([10, 20, 10], {}, gd.InputError, "source 10 is given twice; leave one of them out"),
        (10, {"targets": [20, 15]}, gd.VertexNotFound, "target 15 is not in the graph"),
        (10, {"cutoff": -1}, gd.InputError, "cutoff=-1 is not a number from 0 to inf"),
        (10, {"cutoff": float("nan")}, gd.InputError, "cutoff=nan is not a number"),
        (10, {"cutoff": "far"}, gd.InputError, "cutoff='far' is not a number or None"),
    ],
)
def test_what_is_no_source_target_or_cutoff_is_refused(source, options, error, message):
    with pytest.raises(error, match=message):
        gd.sssp(GRAPH, source, **options)


WEIGHTED = [0, 0, 1, 2, 3, 4], [1, 2, 3, 3, 4, 5], [1, 2, 5, 1, 1, 1]
"""Distances 0, 1, 2, 3, 4, 5."""
WRONG = {
    "farther than the cutoff": (
        {"cutoff": 3},
        {4: (4, 3)},
        "vertex 4 is farther than the distance at which the",
    ),
    "a vertex is left out": ({"cutoff": 3}, {3: (-1, -1)}, "the edge from 2 to 3 makes a shorter path"),
    "farther than the target": (
        {"targets": 2},
        {3: (3, 2)},
        "vertex 3 is farther than the distance at which the",
    ),
    "the target is left out": ({"targets": 2}, {2: (-1, -1)}, "the edge from 0 to 2 makes a shorter path"),
    "the target is too far": ({"targets": 3}, {3: (6, 1)}, "the edge from 2 to 3 makes a shorter path"),
}


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("what", WRONG)
def test_a_search_that_stopped_elsewhere_is_named(what, parts):
    options, changes, message = WRONG[what]
    result = gd.sssp(gd.from_edges(*WEIGHTED).partition(parts, "random", device="cpu"), 0, **options).verify()
    for vertex, values in changes.items():
        rank, place = result.built.vertex_map.locate(vertex)
        for column, value in zip(("distance", "parent"), values, strict=True):
            result.parts.values[rank].columns[column][place] = value
    with pytest.raises(gd.VerificationError, match=message):
        result.verify()
