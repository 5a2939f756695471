"""Betweenness is NetworkX's, the same bits for every number of partitions."""

from __future__ import annotations

import itertools
import tracemalloc
from contextlib import nullcontext

import networkx as nx
import numpy as np
import pytest
from graphs import GRAPHS
from memory import OTHERS
from reference import Drawn

import graphdask as gd
from graphdask import execute
from graphdask.algorithms.betweenness import Betweenness
from graphdask.engine.tuning import SEARCH

PARTS = (1, 2, 3, 4, 7)


def of_networkx(n, src, dst, directed):
    g = nx.DiGraph() if directed else nx.Graph()
    g.add_nodes_from(range(n))
    g.add_edges_from(zip(src.tolist(), dst.tolist(), strict=True))
    return g


def values(by_vertex):
    return [by_vertex[v] for v in range(len(by_vertex))]


def check(name, device="cpu", parts=PARTS):
    n, src, dst, directed = GRAPHS[name]()
    g = of_networkx(n, src, dst, directed)
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    expected = values(nx.betweenness_centrality(g, normalized=False))
    scaled = values(nx.betweenness_centrality(g, normalized=True))
    first = None
    for size in parts:
        ways = (("range", "all", "selective"), ("random", "1-hop", "broadcast"), ("random", "all", "selective"))
        by, ghosts, exchange = ways[size % 3]
        divided = graph.partition(size, by, ghosts, device=device)
        found = gd.betweenness(divided, exchange=exchange).verify()
        np.testing.assert_allclose(found.score, expected, rtol=1e-12, atol=1e-12)
        first = found.score if first is None else first
        np.testing.assert_array_equal(found.score, first)
        if size == parts[1]:
            np.testing.assert_allclose(gd.betweenness(divided, normalized=True).score, scaled, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", GRAPHS)
def test_scores_are_those_of_networkx(name):
    check(name)


@pytest.mark.gpu
@pytest.mark.parametrize("name", GRAPHS)
def test_scores_on_a_gpu_are_those_of_networkx(name):
    check(name, "cuda", (1, 2, 4))


@pytest.mark.gpu
@pytest.mark.parametrize("parts", [1, 3])
def test_hubs_on_a_gpu_are_those_of_a_cpu(parts, tuned):
    tuned(SEARCH, many=0)  # pushes, too
    graph = gd.generate.preferential_attachment(30_000, degree=4, seed=3)
    ids = np.arange(0, 30_000, 1000)
    for sources in (ids[:1], ids[:7], ids):
        expected = gd.betweenness(graph.partition(1, device="cpu"), sources).score
        found = gd.betweenness(graph.partition(parts, device="cuda"), sources).score
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 130])
def test_given_sources_are_a_subset_of_all_paths(count, parts, rng):
    g = nx.gnm_random_graph(150, 300, seed=4)
    sources = rng.permutation(150)[:count].tolist()
    expected = nx.betweenness_centrality_subset(g, sources, list(range(150)), normalized=False)
    found = gd.betweenness(gd.from_networkx(g).partition(parts, device="cpu"), sources).verify()
    np.testing.assert_allclose(found.score, values(expected), rtol=1e-12, atol=1e-12)


def test_a_sample_of_sources_is_scaled_up_and_follows_the_seed():
    graph = gd.generate.preferential_attachment(400, degree=3).partition(2, device="cpu")
    sampled = gd.betweenness(graph, 100, seed=1)
    sources = sampled.primitive.sources
    assert len(set(sources)) == 100
    seen = np.where(np.isin(np.arange(400), sources), 99, 100)  # how many other sources a vertex has
    np.testing.assert_allclose(sampled.score, gd.betweenness(graph, sources).score * 399 / seen, rtol=1e-12)
    assert gd.betweenness(graph, 100, seed=2).primitive.sources != sources
    assert gd.betweenness(graph, 100, seed=1).primitive.sources == sources
    np.testing.assert_allclose(gd.betweenness(graph, 400).score, gd.betweenness(graph).score, rtol=1e-12)


SMALL = {
    "star": [(0, 1), (0, 2), (0, 3), (0, 4)],
    "star, both ways": [(0, 1), (2, 0), (0, 3), (4, 0)],
    "path": [(0, 1), (1, 2), (2, 3), (3, 4)],
    "cycle": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)],
    "two stars": [(0, 1), (0, 2), (3, 0), (4, 3), (3, 5)],
    "an edge": [(0, 1)],
}


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", SMALL)
def test_scores_of_drawn_sources_are_unbiased(name, directed, normalized):
    """They are NetworkX's for some set of k sources, and at most 1 if normalized; the mean over all sets is exact."""
    g = (nx.DiGraph if directed else nx.Graph)(SMALL[name])
    n = len(g)
    exact = values(nx.betweenness_centrality(g, normalized=normalized))
    parts = [gd.from_networkx(g).partition(size, "random", device="cpu") for size in (1, 2)]
    ids = parts[0].vertex_ids.tolist()
    for k in range(1, n + 1):
        sets = [Drawn(chosen) for chosen in itertools.combinations(range(n), k)]
        theirs = np.array([values(nx.betweenness_centrality(g, k, normalized, seed=drawn)) for drawn in sets])
        known = ~np.isnan(theirs)  # NetworkX has no score for the only source
        theirs = np.where(known, theirs, 0)
        np.testing.assert_allclose(theirs.sum(axis=0) / known.sum(axis=0), exact, rtol=1e-12)
        for seed in range(6):
            with expected_for(k, n):
                result = gd.betweenness(parts[seed % 2], k, normalized=normalized, seed=seed).verify()
            found = result.score[np.argsort(ids)]
            assert not normalized or found.max() <= 1 + 1e-12
            assert np.isclose(found, theirs, rtol=1e-12, atol=1e-12).all(axis=1).any()


def expected_for(sources, vertices):
    if sources > 1 or vertices < 3:
        return nullcontext()
    return pytest.warns(gd.errors.GraphdaskWarning, match="the only source, cannot be estimated and is 0; use 2")


def test_drawn_scores_do_not_leave_0_to_1_on_several_ranks():
    graph = gd.from_networkx(nx.star_graph(9)).partition(3, "random", ghosts="1-hop", device="cpu")
    for seed in range(8):
        score = gd.betweenness(graph, 4, normalized=True, seed=seed).verify().score
        np.testing.assert_allclose(score, [1.0] + [0.0] * 9, rtol=1e-12)


@pytest.mark.gpu
@pytest.mark.parametrize("parts", [1, 2])
def test_drawn_scores_on_a_gpu_are_those_of_a_cpu(parts):
    graph = gd.generate.preferential_attachment(400, degree=3)
    expected = gd.betweenness(graph.partition(1, device="cpu"), 100).score
    found = gd.betweenness(graph.partition(parts, device="cuda"), 100).verify().score
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9)


def test_a_sampled_score_is_near_the_exact_one():
    graph = gd.generate.preferential_attachment(2000, degree=3).partition(1, device="cpu")
    exact, sampled = gd.betweenness(graph).score, gd.betweenness(graph, 500).score
    assert np.corrcoef(exact, sampled)[0, 1] > 0.97
    assert abs(sampled.sum() / exact.sum() - 1) < 0.1


@pytest.mark.parametrize("parts", [1, 2])
def test_ids_of_the_caller_and_no_vertices(parts):
    strings = gd.from_edges(["c", "a"], ["a", "b"], directed=False).partition(parts, device="cpu")
    assert gd.betweenness(strings).score.tolist() == [1.0, 0.0, 0.0]
    assert gd.betweenness(strings, ["c"]).score.tolist() == [0.5, 0.0, 0.0]
    assert gd.betweenness(gd.from_edges([], [], num_vertices=0).partition(parts, device="cpu")).score.shape == (0,)


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (0, "sources=0 is not a number of vertices between 1 and 4"),
        (5, "sources=5 is not a number"),
        (1.5, "neither a number of vertices nor a list"),
        ([], "sources is empty"),
        ([1, 2, 1], "source 1 is given twice"),
        (True, "sources=True is neither"),
        ("a", "sources='a' is neither"),
        ({0, 1}, "is neither a number of vertices nor a list"),
        ([[0, 1]], "is neither a number of vertices nor a list"),
        ([[0], [1, 2]], "sources is no array: its elements have different lengths"),
    ],
)
def test_sources_that_cannot_be_are_refused(sources, message):
    with pytest.raises(gd.InputError, match=message):
        gd.betweenness(gd.from_edges([0, 1, 2], [1, 2, 3]), sources)
    with pytest.raises(gd.VertexNotFound, match="source 9 is not in the graph"):
        gd.betweenness(gd.from_edges([0, 1, 2], [1, 2, 3]), [9])


@pytest.mark.parametrize("given", [{"seed": "x"}, {"seed": -1}, {"seed": 1.5}, {"seed": 1 << 64}, {"normalized": "no"}])
def test_seeds_and_choices_that_cannot_be_are_refused(given):
    (name,) = given
    with pytest.raises(gd.InputError, match=f"{name}=.* is n"):
        gd.betweenness(gd.from_edges([0, 1, 2], [1, 2, 3]), 2, **given)


WRONG = {
    "negative": (2, -1.0, "the score of 2 is negative"),
    "not a number": (2, np.nan, "the score of 2 is negative or not a number"),
    "where no path passes": (0, 1.0, "no path leads through 0"),
    "too large": (2, 99.0, "the scores add up to"),
    "too small": (2, 0.0, "the scores add up to"),
}


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_score_is_found(what, parts):
    vertex, value, message = WRONG[what]
    graph = gd.from_edges([0, 1, 2, 3, 1, 5], [1, 2, 3, 4, 5, 3], directed=True).partition(parts, device="cpu")
    result = gd.betweenness(graph).verify()
    rank, place = result.built.vertex_map.locate(vertex)
    result.parts.values[rank].columns["score"][place] = value
    with pytest.raises(gd.VerificationError, match=message):
        result.verify()


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("given", [{}, {"sources": [0]}, {"sources": 9, "normalized": True}])
@pytest.mark.parametrize("directed", [True, False])
def test_scores_that_add_up_but_are_of_others_are_found(directed, given, parts, rng):
    graph = gd.from_edges(*rng.integers(0, 100, (2, 900)), directed=directed)
    graph = graph.partition(parts, by="random", ghosts="1-hop", device="cpu")
    result = gd.betweenness(graph, **given).verify()
    scoring = np.flatnonzero(result.score > 0)
    if given.get("sources") == 9:  # whose scores are scaled otherwise
        scoring = np.setdiff1d(scoring, result.primitive.sources)
    places = [result.built.vertex_map.locate(v) for v in scoring[:3]]
    columns = [result.parts.values[rank].columns["score"] for rank, _ in places]
    scores = [column[place] for column, (_, place) in zip(columns, places, strict=True)]
    for wrong in (np.roll(scores, 1), scores + np.array([1e-3, -1e-3, 0.0]) * min(scores)):
        assert sum(wrong) == pytest.approx(sum(scores), rel=1e-14)
        for column, (_, place), value in zip(columns, places, wrong, strict=True):
            column[place] = value
        with pytest.raises(gd.VerificationError, match="some are too large and others too small"):
            result.verify()
    for column, (_, place), value in zip(columns, places, scores, strict=True):
        column[place] = value
    result.verify()


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [1, 2, 7, 64])
def test_the_answer_does_not_depend_on_the_lanes(lanes):
    graph = gd.generate.preferential_attachment(300, degree=3).partition(2, device="cpu")
    found = execute.run(graph, Betweenness(range(300), lanes, 0.5))
    np.testing.assert_allclose(found.score, gd.betweenness(graph).score, rtol=1e-12)


def broken(directed):
    """Many searches of which some end at once, some soon, and some go a long way; an edge of them is double."""
    src = np.concatenate([np.arange(60), [70, 70, 71, 80, 80], np.full(40, 90)])
    dst = np.concatenate([np.arange(1, 61), [71, 71, 72, 80, 81], np.arange(91, 131)])
    return gd.from_edges(src, dst, num_vertices=140, directed=directed)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("count", [3, 12, 70])
def test_a_search_that_has_ended_changes_no_other(count, directed):
    """The scores are those of each source by itself."""
    graph = broken(directed)
    sources = np.random.default_rng(1).permutation(140)[:count]
    alone = [gd.betweenness(graph.partition(1, device="cpu"), [source]).score for source in sources]
    for parts in (1, 2, 3):
        found = gd.betweenness(graph.partition(parts, "random", device="cpu"), sources)
        np.testing.assert_allclose(found.score, np.sum(alone, axis=0), rtol=1e-12)


def test_edges_are_not_looked_at_for_a_search_that_has_ended():
    path = gd.from_edges(np.arange(30), np.arange(1, 31), num_vertices=60, directed=False).partition(2, device="cpu")
    one, more = (gd.betweenness(path, sources).stats.edges for sources in ([0], [0, 40, 50]))
    assert one <= more <= one + 60  # one look at all of them


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("exchange", ["selective", "broadcast"])
def test_a_light_front_is_pushed_by_several_ranks_too(parts, exchange, tuned):
    graph = broken(True)
    expected = gd.betweenness(graph.partition(1, device="cpu"), 20)
    tuned(SEARCH, many={"cpu": 0})
    for ghosts in ("all", "1-hop"):
        found = gd.betweenness(graph.partition(parts, "random", ghosts, device="cpu"), 20, exchange=exchange).verify()
        np.testing.assert_array_equal(found.score, expected.score)
        assert found.stats.edges == expected.stats.edges  # nobody looks for nothing
        assert (len(found.stats) > len(expected.stats)) == (parts > 1)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("count", [1, 8, 40])
@pytest.mark.usefixtures("alone")
def test_memory_is_what_was_announced(count, directed, rng):
    n, m = 100_000, 600_000
    src, dst = rng.integers(0, n, (2, m))
    src[: n // 4] = 0  # a row for the kernels of many edges
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed).partition(1, device="cpu")
    gd.betweenness(graph, np.arange(count))  # builds the in-edges, loads the kernels
    tracemalloc.start()
    found = gd.betweenness(graph, np.arange(count))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.1 * found.stats.memory + OTHERS
    if count == 1:  # with more, a vertex may be of as many levels as there are sources, but seldom is
        assert found.stats.memory < 1.1 * peak
