"""Edge betweenness is that of NetworkX, with the same bits for every number of partitions; wrong scores are found."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from common_checks import hub
from emulated import emulated, stand_in
from graphs import GRAPHS
from kernel_launch import Launch

import graphdask as gd

SHAPES = (
    "no edges", "one vertex with a self-loop", "only self-loops", "duplicates both ways", "isolated vertices",
    "star inward", "short path", "two triangles",
)  # fmt: skip


def mixed(directed):
    """A graph with parallel edges, self-loops and isolated vertices."""
    return 20, *np.random.default_rng(7).integers(0, 16, (2, 40)), directed


def weights_of(kind, count):
    drawn = np.random.default_rng(5).integers(1, 4, count)
    return None if kind == "none" else drawn


def of_networkx(n, src, dst, weights, directed, **options):
    """NetworkX's values by row."""
    g = (nx.MultiDiGraph if directed else nx.MultiGraph)()
    g.add_nodes_from(range(n))
    for row, ends in enumerate(zip(src.tolist(), dst.tolist(), strict=True)):
        g.add_edge(*ends, row, weight=1 if weights is None else weights[row].item())
    found = nx.edge_betweenness_centrality(g, weight=None if weights is None else "weight", **options)
    values = np.zeros(len(src))
    for (_, _, row), value in found.items():
        values[row] = value
    return values


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["none", "integers"])
def test_scores_are_those_of_networkx(kind):
    cases = {name: GRAPHS[name]() for name in SHAPES} | {"directed": mixed(True), "undirected": mixed(False)}
    for name, (n, src, dst, directed) in cases.items():
        weights = weights_of(kind, len(src))
        expected = of_networkx(n, src, dst, weights, directed, normalized=False)
        first = None
        for parts in (1, 3) if name in SHAPES else (1, 2, 3, 4, 7):
            by, ghosts = (("range", "all"), ("random", "1-hop"))[parts % 2]
            G = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed).partition(
                parts, by, ghosts, device="cpu"
            )
            found = gd.edge_betweenness(G).verify()
            first = found.score if first is None else first
            assert found.row.tolist() == list(range(len(src)))
            np.testing.assert_allclose(found.score, expected, rtol=1e-11, atol=1e-11, err_msg=f"{name}, {parts}")
            np.testing.assert_array_equal(found.score, first, f"{name}, {parts}")
            np.testing.assert_array_equal(found.vertex_score, gd.betweenness(G).score)
        ends = (src, dst) if directed else (np.minimum(src, dst), np.maximum(src, dst))
        assert (found.source.tolist(), found.destination.tolist()) == tuple(each.tolist() for each in ends)


@pytest.mark.parametrize("kind", ["none", "integers"])
@pytest.mark.parametrize("directed", [True, False])
def test_samples_and_norms_are_scaled_as_in_networkx(directed, kind):
    n, src, dst, _ = mixed(directed)
    weights = weights_of(kind, len(src))
    G = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed).partition(2, device="cpu")

    for normalized in (True, False):
        every = gd.edge_betweenness(G, normalized=normalized)
        expected = of_networkx(n, src, dst, weights, directed, normalized=normalized)
        np.testing.assert_allclose(every.score, expected, rtol=1e-11, atol=1e-14)
        drawn = gd.edge_betweenness(G, 5, seed=3, normalized=normalized).verify()
        sources = drawn.primitive.sources
        some = sum(gd.edge_betweenness(G, [source], normalized=normalized).score for source in sources)
        np.testing.assert_allclose(drawn.score, some * n / 5, rtol=1e-11, atol=1e-14)


def test_parallel_edges_share_the_value_if_they_are_the_lightest():
    src, dst, weights = [0, 1, 0, 0, 2], [1, 0, 1, 0, 1], [2, 2, 3, 0, 1]
    G = gd.from_edges(src, dst, weights, directed=False)
    assert gd.edge_betweenness(G).verify().score.tolist() == [1, 1, 0, 0, 2]
    assert gd.edge_betweenness(G, weight=None).verify().score.tolist() == [2 / 3, 2 / 3, 2 / 3, 0, 2]
    merged = gd.edge_betweenness(gd.from_edges(src, dst, weights, directed=False, multi_edges="merge")).verify()
    assert (merged.row.tolist(), merged.score.tolist()) == ([0, 3, 4], [2, 0, 2])


def test_names_and_rows_are_the_callers():
    G = gd.from_edges(["b", "a", "c"], ["a", "c", "d"], directed=False)
    found = gd.edge_betweenness(G)
    assert (found.source.tolist(), found.destination.tolist()) == (["a", "a", "c"], ["b", "c", "d"])
    assert (found.row.tolist(), found.score.tolist()) == ([0, 1, 2], [3, 4, 3])


SRC, DST = [0, 1, 2, 3, 0, 4, 4, 5], [1, 2, 3, 0, 2, 5, 5, 5]
"""A cycle with a chord, parallel edges and a self-loop."""
WRONG = {
    0: (1, "weighed by vertex and edge the scores add up"),
    1: (-20, "from 1 to 2: its score is negative or not a number"),
    5: (1, "from 4 to 5: a parallel edge has another score"),
    7: (1, "from 5 to 5: it is a self-loop, but has a score"),
}


@pytest.mark.parametrize("weights", [None, [1, 1, 1, 1, 1, 2, 2, 1]], ids=["hops", "weights"])
def test_wrong_scores_are_found(weights):
    for parts in (1, 3):
        G = gd.from_edges(SRC, DST, weights, directed=False).partition(parts, device="cpu")
        for row, (by, message) in WRONG.items():
            result = gd.edge_betweenness(G).verify()
            for part in result.parts.values:
                part.columns["score"][part.columns["row"] == row] += by
            with pytest.raises(gd.VerificationError, match=message):
                result.verify()
        result = gd.edge_betweenness(G)  # what is too large in a cycle is missing there
        for part in result.parts.values:
            for row, by in ((0, 0.5), (1, -0.5), (2, 0.5), (3, -0.5)):
                part.columns["score"][part.columns["row"] == row] += by
        with pytest.raises(gd.VerificationError, match="weighed by vertex and edge the scores add up"):
            result.verify()
        result = gd.edge_betweenness(G)
        for part in result.parts.values:
            part.columns["row"][part.columns["row"] == 3] = 2
        with pytest.raises(gd.VerificationError, match="from 0 to 3: its row is not that of the graph"):
            result.verify()


def test_a_parallel_edge_that_is_longer_has_no_score():
    result = gd.edge_betweenness(gd.from_edges([0, 0], [1, 1], [1, 2]))
    result.parts.values[0].columns["score"][1] = 1
    with pytest.raises(gd.VerificationError, match="from 0 to 1: a parallel edge is shorter, but it has a score"):
        result.verify()


@pytest.mark.parametrize("weights", [None, [1, 1, 1, 1, 1, 2, 2, 1]], ids=["hops", "weights"])
@pytest.mark.parametrize("directed", [True, False])
def test_further_calls_take_the_ends_that_a_graph_keeps(directed, weights):
    for parts in (1, 3):
        G = gd.from_edges(SRC, DST, weights, directed=directed).partition(parts, device="cpu")
        results = [gd.edge_betweenness(G, [source]) for source in (0, 3, 0)]
        for part in results[1].parts.values:
            part.columns["source"] += 1  # is the caller's, not the graph's
            part.columns["row"] += 1
        for result in (results[0], results[2], gd.edge_betweenness(G, [0])):
            assert result.row.tolist() == list(range(len(SRC)))
            np.testing.assert_array_equal(result.source, results[0].source)
            np.testing.assert_array_equal(result.score, results[0].score)
        fresh = gd.edge_betweenness(gd.from_edges(SRC, DST, weights, directed=directed), [0])
        np.testing.assert_array_equal(fresh.score, results[0].score)


@pytest.mark.parametrize("count", [0, 1, 5000])
def test_both_directions_of_an_edge_are_added(backend, dtype, count, rng):
    over, came, scale = rng.random(5000), rng.random(700), rng.random()
    places, mirrors = (rng.integers(low, high, count).astype(dtype) for low, high in ((0, 5000), (-1, 700)))
    scores = np.full(count, np.nan)
    Launch(backend, "edge_pairs", dtype)(
        count, places, mirrors, over, came, scale, scores, names=("edge_pairs_add",)
    )  # fmt: skip
    other = np.where(mirrors < 0, 0.0, came[mirrors] * scale)
    np.testing.assert_array_equal(scores, over[places] * scale + other)


def test_endless_paths_are_refused():
    with pytest.raises(gd.InputError, match="form a cycle"):
        gd.edge_betweenness(gd.from_edges([0], [1], [0], directed=False))


def test_the_proof_of_several_sources_reads_only_their_frontier_on_a_gpu(monkeypatch):
    stand_in(monkeypatch, emulated())
    gd.edge_betweenness(gd.generate.rmat(5, 8, directed=False).partition(1, device="cuda"), [0, 1]).verify()


@pytest.mark.slow
def test_scores_by_hops_on_the_emulator_of_a_gpu_are_those_of_a_cpu(monkeypatch):
    stand_in(monkeypatch, emulated())
    for (n, src, dst, directed), parts in ((hub(), 1), (mixed(True), 2), (mixed(False), 3)):
        G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
        expected, found = (
            gd.edge_betweenness(G.partition(parts, device=device), [0, 3]).verify() for device in ("cpu", "cuda")
        )
        np.testing.assert_allclose(found.score, expected.score, rtol=1e-12, atol=1e-12)
        assert found.score.max() > 0
