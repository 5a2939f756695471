"""Betweenness over a streamed graph: NetworkX's, and that in memory to the last bit."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from graphs import GRAPHS

import graphdask as gd


@pytest.mark.parametrize("order", ["layers", "ids"])
@pytest.mark.parametrize("name", ["sparse random, directed", "dense random, undirected", "isolated vertices", "cycle"])
def test_scores_are_those_in_memory_and_are_proved(stored, name, order):
    n, src, dst, directed = GRAPHS[name]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    expected = gd.betweenness(G).score
    S = stored(G, "2MiB", order=order)
    for parts in (1, 3):
        found = gd.betweenness(S.partition(parts)).verify()
        np.testing.assert_array_equal(found.score, expected)
    sampled = gd.betweenness(S.partition(2), 10, seed=3).verify()
    np.testing.assert_array_equal(sampled.score, gd.betweenness(G, 10, seed=3).score)


@pytest.mark.parametrize("parts", [1, 3])
def test_a_wrong_score_of_a_drawn_source_is_found(stored, parts):
    S = stored(gd.generate.preferential_attachment(200, degree=2)).partition(parts)
    result = gd.betweenness(S, 12, normalized=True).verify()
    source = max(result.primitive.sources, key=lambda v: result.score[v])
    rank, place = (0, source) if parts == 1 else _place(result, source)
    result.parts.values[rank].columns["score"][place] *= 12 / 11  # as if it were none
    with pytest.raises(gd.VerificationError, match="the scores add up to"):
        result.verify()


def _place(result, vertex):
    score = result.score[vertex]
    found = [np.flatnonzero(part.columns["score"] == score) for part in result.parts.values]
    rank = next(rank for rank, places in enumerate(found) if len(places))
    return rank, found[rank][0]


def test_exact_scores_are_those_of_networkx(stored):
    n, src, dst, directed = GRAPHS["scale-free"]()
    S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed), "160KiB")
    graph = nx.Graph(zip(src.tolist(), dst.tolist(), strict=True))
    expected = [score for _, score in sorted(nx.betweenness_centrality(graph, normalized=False).items())]
    found = gd.betweenness(S)  # in the memory there is room for the tables of a few sources
    np.testing.assert_allclose(found.score, expected, rtol=1e-12, atol=1e-9)
    assert found.stats.memory < 160 << 10
    assert found.stats.streamed["chunks_read"] > 0


def test_wrong_scores_are_found(stored):
    S = stored(gd.from_edges([0, 1, 2], [1, 2, 3], directed=False))
    result = gd.betweenness(S).verify()
    (one,) = result.parts.values
    for score, reason in (
        ([0.0, 2.0, 3.0, 0.0], "the scores add up to 5"),
        ([0.0, 2.0, -2.0, 0.0], "the score of 2 is negative"),
        ([0.0, 1.0, 3.0, 0.0], "some are too large and others too small"),
    ):
        result.parts.values[0] = replace(one, columns={"score": np.array(score)})
        with pytest.raises(gd.VerificationError, match=reason):
            result.verify()


def test_a_directed_file_without_in_edges_is_refused(stored):
    S = stored(gd.from_edges([0, 1], [1, 2]), inward=False)
    with pytest.raises(gd.errors.Unsupported, match="betweenness pulls over in-edges"):
        gd.betweenness(S)
