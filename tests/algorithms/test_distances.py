"""Closeness and harmonic centrality against NetworkX, exact, from given sources and from drawn ones."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import graphdask as gd

N = 80


def both(directed: bool) -> tuple[gd.Graph, nx.Graph]:
    """A sparse random graph with a self-loop, vertices that nothing reaches, and more sources than lanes."""
    G = nx.gnp_random_graph(N, 0.025, seed=6, directed=directed)
    G.add_edge(5, 5)
    src, dst = np.array(G.edges).T
    src, dst = np.append(src, src[:5]), np.append(dst, dst[:5])
    return gd.from_edges(src, dst, num_vertices=N, directed=directed).partition(2, device="cpu"), G


def in_order(scores):
    return np.array([scores[node] for node in range(N)])


@pytest.mark.parametrize("directed", [False, True])
def test_scores_are_those_of_networkx(directed):
    G, H = both(directed)
    for way in (True, False):
        known = in_order(nx.closeness_centrality(H, wf_improved=way))
        np.testing.assert_array_equal(gd.closeness_centrality(G, wf_improved=way).verify().score, known)
    found = gd.harmonic_centrality(G).verify()
    np.testing.assert_allclose(found.score, in_order(nx.harmonic_centrality(H)), rtol=1e-14)
    some = [3, 70, 11]
    known = in_order(nx.harmonic_centrality(H, sources=some))
    np.testing.assert_allclose(gd.harmonic_centrality(G, some).verify().score, known, rtol=1e-14)
    distance = np.full((3, N), np.inf)
    for row, source in enumerate(some):
        for node, hops in nx.single_source_shortest_path_length(H, source).items():
            distance[row, node] = hops or np.inf
    reached, total = np.isfinite(distance).sum(0), np.where(np.isfinite(distance), distance, 0).sum(0)
    others = 3 - np.isin(np.arange(N), some)
    known = np.where(total > 0, reached**2 / np.maximum(total, 1) / others, 0)
    np.testing.assert_allclose(gd.closeness_centrality(G, some).verify().score, known, rtol=1e-14)


def test_estimates_from_drawn_sources_are_right_on_average():
    G, _ = both(False)
    exact = gd.harmonic_centrality(G).score
    drawn = [gd.harmonic_centrality(G, 40, seed=seed).score for seed in range(12)]
    assert abs(np.mean(drawn, axis=0) - exact).max() < 0.15 * exact.max()
    np.testing.assert_allclose(gd.harmonic_centrality(G, N, seed=1).score, exact, rtol=1e-14)
    np.testing.assert_array_equal(gd.closeness_centrality(G, N).score, gd.closeness_centrality(G).score)


def test_one_drawn_source_has_no_score():
    G = gd.from_edges([10, 20], [20, 30], directed=False)
    with pytest.warns(gd.GraphdaskWarning, match=r"the score of vertex \d+, the only source, cannot be estimated"):
        score = gd.closeness_centrality(G, 1).score
    assert (score == 0).sum() == 1


def test_the_same_sources_are_refused_as_of_betweenness():
    G = gd.from_edges([10, 20], [20, 30])
    with pytest.raises(gd.InputError, match="source 10 is given twice"):
        gd.closeness_centrality(G, [10, 10])
    with pytest.raises(gd.InputError, match="sources=4 is not a number of vertices between 1 and 3"):
        gd.harmonic_centrality(G, 4)
    with pytest.raises(gd.InputError, match="leave seed= out"):
        gd.harmonic_centrality(G, seed=3)


@pytest.mark.parametrize("name", ["closeness_centrality", "harmonic_centrality"])
@pytest.mark.parametrize(("column", "what"), [("score", "score"), ("reached", "number of sources"),
                                              ("total", "sum of distances")])  # fmt: skip
def test_a_changed_value_is_named(name, column, what):
    G, _ = both(True)
    result = getattr(gd, name)(G, 20, seed=2)
    rank, place = result.built.vertex_map.locate(int(result.score.argmax()))
    values = result.parts.values[rank].columns[column]
    values[place] += values[place]
    with pytest.raises(gd.VerificationError, match=rf"vertex \d+ has another {what} when it is computed again"):
        result.verify()


def by_weight(directed: bool, kind: str) -> tuple[gd.Graph, nx.Graph]:
    """The same graph with weights: whole ones, whole ones with zeros, or fractions."""
    _, H = both(directed)
    rng = np.random.default_rng(3)
    for _, _, edge in H.edges(data=True):
        edge["length"] = {"whole": int(rng.integers(1, 9)), "zeros": int(rng.integers(0, 3)), "floats": rng.random()}[
            kind
        ]
    src, dst, weights = zip(*((u, v, edge["length"]) for u, v, edge in H.edges(data=True)), strict=True)
    heavier = [weight + 1 for weight in weights[:5]]  # of parallel edges the lightest counts
    G = gd.from_edges(
        [*src, *src[:5]], [*dst, *dst[:5]], [*weights, *heavier], num_vertices=N, directed=directed
    )  # fmt: skip
    return G, H


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["whole", "zeros", "floats"])
@pytest.mark.parametrize("directed", [False, True])
def test_scores_by_weight_are_those_of_networkx(directed, kind):
    G, H = by_weight(directed, kind)
    for parts in (1, 3):
        divided = G.partition(parts, device="cpu")
        for way in (True, False):
            found = gd.closeness_centrality(divided, wf_improved=way).verify()
            known = in_order(nx.closeness_centrality(H, distance="length", wf_improved=way))
            np.testing.assert_allclose(found.score, known, rtol=1e-13)
        found = gd.harmonic_centrality(divided).verify()
        np.testing.assert_allclose(found.score, in_order(nx.harmonic_centrality(H, distance="length")), rtol=1e-13)
        found = gd.harmonic_centrality(divided, [3, 70, 11])
        known = in_order(nx.harmonic_centrality(H, distance="length", sources=[3, 70, 11]))
        np.testing.assert_allclose(found.score, known, rtol=1e-13)
    for call in (gd.closeness_centrality, gd.harmonic_centrality):
        plain = gd.from_edges(*np.array(H.edges).T, num_vertices=N, directed=directed)
        np.testing.assert_array_equal(call(G, weight=None).score, call(plain).score)


def test_whole_distances_add_up_beyond_64_bits():
    G = gd.from_edges([0, 1, 2], [1, 2, 3], [2**60 + 1] * 3)
    found = gd.closeness_centrality(G, wf_improved=False).verify()
    assert found.score.tolist() == [0.0, *(k / ((2**60 + 1) * k * (k + 1) // 2) for k in (1, 2, 3))]


@pytest.mark.parametrize("weights", [[2**62, 2**62], [1e308, 1.5e308]])
def test_a_distance_that_is_too_large_is_refused(weights):
    G = gd.from_edges([0, 1], [1, 2], weights)
    for parts in (1, 2):
        with pytest.raises(gd.InputError, match="the distance of vertex 2 from a source is too large; scale the"):
            gd.harmonic_centrality(G.partition(parts, device="cpu"))


def test_weights_that_are_no_lengths_are_refused():
    with pytest.raises(gd.InputError, match="the weight -1 of the edge from 0 to 1 is negative; closeness_centrality"):
        gd.closeness_centrality(gd.from_edges([0], [1], [-1]))
    with pytest.raises(gd.InputError, match="'length' is neither 'weight', the weights of the graph, nor None"):
        gd.harmonic_centrality(gd.from_edges([0], [1], [1]), weight="length")


@pytest.mark.parametrize("name", ["closeness_centrality", "harmonic_centrality"])
@pytest.mark.parametrize(
    ("column", "what"),
    [("score", "score"), ("reached", "number of sources"), ("high", "sum of distances"),
     ("inverse", "sum of 1 / distance")],
)  # fmt: skip
def test_a_changed_value_by_weight_is_named(name, column, what):
    G, _ = by_weight(True, "floats")
    result = getattr(gd, name)(G.partition(2, device="cpu"), 20, seed=2)
    rank, place = result.built.vertex_map.locate(int(result.score.argmax()))
    values = result.parts.values[rank].columns[column]
    values[place] += values[place]
    with pytest.raises(gd.VerificationError, match=rf"vertex \d+ has another {what} when it is computed again"):
        result.verify()
