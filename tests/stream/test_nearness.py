"""Closeness and harmonic centrality over graphs on disk: NetworkX's answers, and those in memory, bit for bit."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from graphs import GRAPHS
from streams import weights_of

import graphdask as gd
from graphdask.algorithms.tuning import BETWEENNESS

CALLS = (gd.closeness_centrality, gd.harmonic_centrality)


def of_shape(shape):
    n, src, dst, directed = GRAPHS[shape]()
    return gd.from_edges(src, dst, num_vertices=n, directed=directed)


def same(found, expected):
    assert found.score.tobytes() == expected.score.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
def test_scores_are_those_in_memory(stored, parts):
    shapes = ("dense random, directed", "sparse random, undirected", "scale-free", "only self-loops", "short path")
    for at, shape in enumerate(shapes):
        G = of_shape(shape)
        S = stored(G, "160KiB", order=("layers", "ids")[at % 2]).partition(parts)
        call = CALLS[(at + parts) % 2]
        found = call(S).verify()
        assert found.stats.memory <= S.memory
        same(found, call(G))
        few = min(9, G.num_vertices)
        same(gd.harmonic_centrality(S, few, seed=3).verify(), gd.harmonic_centrality(G, few, seed=3))
        same(gd.closeness_centrality(S, [0], wf_improved=False), gd.closeness_centrality(G, [0], wf_improved=False))


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_scores_are_those_of_networkx(stored, directed):
    H = nx.gnp_random_graph(150, 0.02, seed=4, directed=directed)
    src, dst = np.array(H.edges).T
    S = stored(gd.from_edges(src, dst, num_vertices=150, directed=directed), "96KiB")
    known = [nx.closeness_centrality(H)[node] for node in range(150)]
    np.testing.assert_array_equal(gd.closeness_centrality(S).score, known)
    known = [nx.harmonic_centrality(H)[node] for node in range(150)]
    np.testing.assert_allclose(gd.harmonic_centrality(S).score, known, rtol=1e-14)


def test_scores_do_not_depend_on_how_many_sources_go_together(stored, tuned):
    G = of_shape("dense random, directed")
    expected = [call(G) for call in CALLS]
    S = stored(G, "160KiB")
    for lanes in (1, 3, 8, 20):
        tuned(BETWEENNESS, lanes=lanes)
        for call, known in zip(CALLS, expected, strict=True):
            same(call(S), known)


def test_ranks_send_which_searches_reach_a_vertex_and_no_paths(stored):
    S = stored(of_shape("dense random, undirected"), "160KiB").partition(2)
    for step in gd.closeness_centrality(S).stats.supersteps:
        assert step["bytes_sent"] <= (8 + 4) * step["messages"] + 2 * 8  # each rank's are a multiple of 8 bytes


@pytest.mark.slow
@pytest.mark.parametrize("parts", [None, 3])
def test_through_a_device_too(streamed, parts):
    for shape in ("dense random, directed", "sparse random, undirected"):
        G = of_shape(shape)
        S = streamed(G, "256KiB", parts=parts)
        for call in CALLS:
            found = call(S, 12).verify()
            assert found.stats.streamed["device"] == "cuda"
            same(found, call(G, 12))


@pytest.mark.parametrize("call", CALLS)
def test_too_little_memory_is_refused_with_what_is_enough(stored, call):
    G = of_shape("dense random, directed")
    path = stored(G).store.path
    with pytest.raises(gd.OverBudget, match=r"_centrality streams chunks .* open with .* MiB more") as caught:
        call(gd.stream.open(path, "3KiB"))
    more = float(str(caught.value).split("open with ")[1].split()[0])
    same(call(gd.stream.open(path, int((3 / 1024 + more) * 2**20))), call(G))


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 2])
def test_a_wrong_value_is_found(stored, parts):
    for call in CALLS:
        for column, what in (("score", "score"), ("total", "sum of distances"), ("reached", "number of sources")):
            found = call(stored(of_shape("scale-free"), "160KiB").partition(parts))
            values = found.parts.values[0].columns[column]
            values[np.flatnonzero(values)[0]] *= 2
            with pytest.raises(gd.VerificationError, match=rf"vertex \d+ has another {what} when it is computed again"):
                found.verify()


def test_edges_in_the_other_direction_are_needed(stored):
    for call in CALLS:
        with pytest.raises(gd.Unsupported, match=r"pulls over in-edges, .* build it with inward=True"):
            call(stored(gd.from_edges([0, 1], [1, 0]), inward=False))


def weighted(shape, kind):
    n, src, dst, directed = GRAPHS[shape]()
    return gd.from_edges(src, dst, weights_of(kind, len(src)), num_vertices=n, directed=directed)


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
def test_scores_by_weight_are_those_in_memory(stored, parts):
    shapes = ("dense random, directed", "sparse random, undirected", "only self-loops", "short path")
    for at, shape in enumerate(shapes):
        G = weighted(shape, ("whole", "zeros", "floats")[(at + parts) % 3])
        S = stored(G, "256KiB").partition(parts)
        few = min(9, G.num_vertices)
        for call in CALLS:
            found = call(S, few).verify()
            assert found.stats.memory <= S.memory
            same(found, call(G, few))
        same(gd.closeness_centrality(S, [0], weight=None), gd.closeness_centrality(G, [0], weight=None))


@pytest.mark.parametrize("parts", [None, 3])
def test_scores_by_weight_through_a_device_too(streamed, parts):
    G = weighted("sparse random, directed", "floats")
    S = streamed(G, "256KiB", parts=parts)
    for call in CALLS:
        found = call(S, 5).verify()
        assert found.stats.streamed["device"] == "cuda"
        same(found, call(G, 5))


def test_scores_by_weight_are_found_without_in_edges(stored):
    G = weighted("dense random, directed", "whole")
    same(gd.harmonic_centrality(stored(G, inward=False), 4), gd.harmonic_centrality(G, 4))


def test_a_distance_that_is_too_large_is_refused(stored):
    G = gd.from_edges([0, 1], [1, 2], [2**62, 2**62])
    with pytest.raises(gd.InputError, match="the distance of vertex 2 from a source is too large"):
        gd.closeness_centrality(stored(G))
    with pytest.raises(gd.Unsupported, match="pulls over in-edges"):
        gd.closeness_centrality(stored(G, inward=False))


@pytest.mark.parametrize("parts", [1, 2])
def test_a_wrong_value_by_weight_is_found(stored, parts):
    found = gd.harmonic_centrality(stored(weighted("sparse random, directed", "floats"), "160KiB").partition(parts), 6)
    values = found.parts.values[0].columns["inverse"]
    values[np.flatnonzero(values)[0]] *= 2
    with pytest.raises(gd.VerificationError, match=r"vertex \d+ has another sum of 1 / distance when it is computed"):
        found.verify()
