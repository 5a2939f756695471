"""Searches from several sources over graphs on disk, and searches that stop: those in memory, bit for bit."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from graphs import GRAPHS
from streams import changed

import graphdask as gd

KINDS = (None, "whole", "zeros", "real")
pytestmark = pytest.mark.filterwarnings("ignore:sssp counts every edge as 1")


def of_kind(kind, shape):
    n, src, dst, directed = GRAPHS[shape]()
    rng = np.random.default_rng(len(src))
    drawn = {"whole": rng.integers(1, 9, len(src)), "zeros": rng.integers(0, 3, len(src)),
             "real": rng.integers(0, 9, len(src)) / 4}  # fmt: skip
    return gd.from_edges(src, dst, drawn.get(kind), num_vertices=n, directed=directed)


def calls(G):
    """Searches, with their sources and options; the last vertex may be out of reach."""
    n = G.num_vertices
    distance = gd.sssp(G, 0).distance
    middle = float(np.median(distance[(distance >= 0) & (distance < np.inf)]))
    several = [n // 2, 0, n - 1]
    for source, options in (
        (several, {}), (0, {"depth_limit": 2}), (0, {"depth_limit": 0}), (several, {"targets": [n // 3, 1]}),
        (0, {"targets": n - 1, "depth_limit": 3}),
    ):  # fmt: skip
        yield gd.bfs, source, options
    for source, options in (
        (several, {}), (0, {"cutoff": middle}), (0, {"cutoff": 0.0}), (several, {"targets": [n // 3, 1]}),
        (0, {"targets": n - 1, "cutoff": 2 * middle}),
    ):  # fmt: skip
        yield gd.sssp, source, options


def same(found, expected):
    for name in found.columns:
        a, b = found._column(name), expected._column(name)
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes(), name


@pytest.mark.parametrize(("kind", "parts"), [*zip(KINDS, (1, 2, 4, 3), strict=True), ("zeros", 1), ("real", 7)])
def test_answers_are_those_in_memory(stored, kind, parts):
    for shape in ("sparse random, directed", "scale-free"):
        G = of_kind(kind, shape)
        S = stored(G, "128KiB", order=("layers", "ids")[parts % 2]).partition(parts)
        for call, source, options in calls(G):
            same(call(S, source, **options).verify(), call(G, source, **options))
        assert gd.shortest_path(S, 0, 5).tolist() == gd.shortest_path(G, 0, 5).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("parts", [None, 3])
def test_through_a_device_too(streamed, parts):
    for kind, shape in (("whole", "sparse random, directed"), ("real", "scale-free")):
        G = of_kind(kind, shape)
        S = streamed(G, "160KiB", parts=parts)
        for call, source, options in calls(G):
            same(call(S, source, **options).verify(), call(G, source, **options))


@pytest.mark.parametrize("parts", [1, 2])
def test_little_is_read_beyond_where_a_search_stops(stored, parts):
    n = 4000
    G = gd.from_edges(np.arange(n - 1), np.arange(1, n), np.full(n - 1, 2), num_vertices=n)
    S = stored(G, "1MiB", order="ids").partition(parts)
    for call, options in product((gd.bfs, gd.sssp), ({"targets": [5, 2]}, {"depth_limit": 5})):
        given = {"cutoff": 10} if call is gd.sssp and "depth_limit" in options else options
        assert call(S, 0, **given).stats.streamed["chunks_read"] <= 2


@pytest.mark.parametrize(
    ("options", "columns", "reason"),
    [
        ({"cutoff": 2}, {"distance": (3, 3), "parent": (3, 2)}, "vertex 13 is farther than the distance at which"),
        ({"cutoff": 2}, {"distance": (2, -1), "parent": (2, -1)}, "the edge from 11 to 12 can relax"),
        ({"targets": 12}, {"distance": (1, -1), "parent": (1, -1)}, "the edge from 10 to 11 can relax"),
    ],
)
def test_wrong_results_are_found(stored, options, columns, reason):
    S = stored(gd.from_edges([10, 11, 12], [11, 12, 13], [1, 1, 1], vertices=range(10, 15), directed=False))
    result = gd.sssp(S, 10, **options).verify()
    with pytest.raises(gd.VerificationError, match=reason):
        changed(result, **columns).verify()


def test_one_pass_is_for_one_source(stored):
    path = stored(gd.from_edges([0, 1, 2], [1, 2, 3]), root=0).store.path
    S = gd.stream.open(path, passes="one")
    assert gd.bfs(S, 0, depth_limit=2).verify().depth.tolist() == [0, 1, 2, -1]
    with pytest.raises(gd.Unsupported, match='passes="one" is not exact for this: layers are counted from 0'):
        gd.bfs(S, [0, 2])
