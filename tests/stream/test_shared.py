"""A store that several ranks stream: answers are those of one, whoever reads what."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from gangs import active
from graphs import GRAPHS
from reference import lightest, shortest
from streams import weights_of

import graphdask as gd
from graphdask.stream.own_chunks import divided

CALLS = {
    "bfs": lambda G: gd.bfs(G, 1),
    "sssp": lambda G: gd.sssp(G, 2),
    "components": gd.connected_components,
    "pagerank": gd.pagerank,
}


def same(G, S):
    """All answers over S are those over G in memory, and are proved."""
    for call in CALLS.values():
        a, b = call(G), call(S)
        for column in a.columns:
            assert getattr(a, column).dtype == getattr(b, column).dtype
            np.testing.assert_array_equal(getattr(a, column), getattr(b, column))
        b.verify()
    assert b.stats.ranks == S.plan.parts


@pytest.mark.parametrize(
    ("name", "kind", "order", "parts"),
    [
        ("dense random, directed", "zeros", "layers", 3),
        ("sparse random, undirected", "zeros", "layers", 4),
        ("sparse random, directed", "floats", "ids", 2),
        ("dense random, undirected", "whole", "layers", 7),
        ("scale-free", None, "ids", 3),
        ("no edges", None, "layers", 2),
        ("only self-loops", "floats", "layers", 3),
        ("binary tree", "whole", "layers", 4),
    ],
)
def test_ranks_together_answer_as_one_in_memory(stored, name, kind, order, parts):
    n, src, dst, directed = GRAPHS[name]()
    G = gd.from_edges(src, dst, weights_of(kind, len(src)), num_vertices=n, directed=directed)
    S = stored(G, "1MiB", order=order)
    same(G, S.partition(parts))


def test_a_road_of_thousands_of_layers_with_back_edges(stored):
    n = 1200
    rng = np.random.default_rng(3)
    src = np.concatenate([np.arange(n - 1), np.arange(n - 1), rng.integers(0, n, 60)])
    dst = np.concatenate([np.arange(1, n), np.arange(1, n), np.clip(src[-60:] - 5, 0, n - 1)])
    weights = np.concatenate([np.full(n - 1, 9), rng.integers(1, 5, n - 1), np.full(60, 1)])
    S = stored(gd.from_edges(src, dst, weights, num_vertices=n), "1MiB", root=0)
    assert S.layers > 1000
    found, (distance, parent) = gd.sssp(S.partition(3), 0), shortest(lightest(n, src, dst, weights, True), 0)
    np.testing.assert_array_equal(found.distance, distance)
    np.testing.assert_array_equal(found.parent, parent)


def test_each_rank_owns_whole_chunks_and_all_read_as_much(stored):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed))
    section = S.store.sections["out"]
    first, sizes = section.table["first"], np.array([sum(section.sizes(number)) for number in range(S.chunks)])
    for parts in (2, 3, 5):
        offsets = divided(S.store, parts)
        assert set(offsets.tolist()) <= {*first.tolist(), n}
        read = [int(sizes[(first >= a) & (first < b)].sum()) for a, b in pairwise(offsets)]
        assert max(read) <= sum(sizes) / parts + 2 * max(sizes)
    more = divided(S.store, S.chunks + 3)
    assert more[0] == 0
    assert more[-1] == n
    assert (np.diff(more) >= 0).all()


def test_what_all_have_read_is_counted_together(stored):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed), "1MiB")
    streamed = gd.pagerank(S.partition(3)).stats.streamed
    assert streamed["chunks_read"] == S.chunks
    assert streamed["nbytes"] == streamed["distinct"]


def test_each_rank_needs_its_own_memory(stored):
    n, src, dst, directed = GRAPHS["scale-free"]()
    S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed), "12KiB")
    gd.bfs(S, 0)
    with pytest.raises(gd.OverBudget, match="MiB are left"):
        gd.bfs(S.partition(2), 0)


def test_a_distance_that_is_too_large_names_the_vertex(stored):
    S = stored(gd.from_edges([5, 6], [6, 7], [2**62, 2**62]), "1MiB")
    with pytest.raises(gd.InputError, match="the distance of vertex 7 is too large for int64"):
        gd.sssp(S.partition(2), 5)


@pytest.mark.filterwarnings("ignore:unclosed event loop:ResourceWarning")
def test_workers_open_the_file_themselves(stored, two_workers):
    n, src, dst, directed = GRAPHS["dense random, directed"]()
    G = gd.from_edges(src, dst, weights_of("floats", len(src)), num_vertices=n, directed=directed)
    S = stored(G, "1MiB")
    T = gd.stream.open(S.store.path, "1MiB")
    distance, rank = gd.sssp(G, 2).distance, gd.pagerank(G).rank
    with active(two_workers):
        found = gd.sssp(S, 2).verify()
        assert found.stats.ranks == 2
        np.testing.assert_array_equal(found.distance, distance)
        np.testing.assert_array_equal(gd.pagerank(S).rank, rank)
        alone = gd.sssp(T.partition(1), 2)
        assert alone.stats.ranks == 1
        np.testing.assert_array_equal(alone.distance, distance)
        gd.stream.build(gd.from_edges([0], [1]), T.store.path, overwrite=True)
        with pytest.raises(gd.FormatError, match="on this worker the file is another one"):
            gd.bfs(T, 0)
