"""Betweenness of deep graphs by one rank of a CPU, which takes many levels at a time: NetworkX's, and the same bits."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import graphdask as gd
from graphdask.algorithms.tuning import BETWEENNESS

LEVELS = (1, 2, 5, 64)


def path(n=150):
    return nx.path_graph(n)


def comb(spine=20, tooth=12):
    g = nx.path_graph(spine)
    for v in range(spine):
        nx.add_path(g, [v, *(spine + v * tooth + np.arange(tooth)).tolist()])
    return g


def star_of_paths(paths=9, length=25):
    g = nx.Graph()
    for k in range(paths):
        nx.add_path(g, [0, *(1 + k * length + np.arange(length)).tolist()])
    return g


def road(side=18, seed=3):
    """A grid without a tenth of its edges, so that some parts come apart, and with parallel edges."""
    g = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    edges = list(g.edges)
    gone = np.random.default_rng(seed).choice(len(edges), len(edges) // 5, replace=False)
    g.remove_edges_from([edges[k] for k in gone])
    return g


GRAPHS = {"path": path, "comb": comb, "star of paths": star_of_paths, "road": road}


def graph_of(g, directed, rng):
    """A graph of the edges of `g`, some of them twice; if directed, each way with a chance of 0.9."""
    edges = np.array(g.edges)
    if directed:
        edges = np.concatenate((edges, edges[:, ::-1]))
        edges = edges[rng.random(len(edges)) < 0.9]
    twice = np.concatenate((edges, edges[:7]))
    return gd.from_edges(*twice.T, num_vertices=g.number_of_nodes(), directed=directed), edges


def scores_by_levels(graph, sources):
    for apart in LEVELS:
        with BETWEENNESS.varied(apart=apart):
            yield gd.betweenness(graph.partition(1, device="cpu"), sources=sources).score


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_scores_of_deep_graphs_are_those_of_networkx(name, directed, rng):
    graph, edges = graph_of(GRAPHS[name](), directed, rng)
    g = nx.DiGraph() if directed else nx.Graph()
    g.add_nodes_from(range(graph.num_vertices))
    g.add_edges_from(edges.tolist())
    expected = nx.betweenness_centrality(g, normalized=False)
    expected = [expected[v] for v in range(graph.num_vertices)]
    for score in scores_by_levels(graph, None):
        np.testing.assert_allclose(score, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("count", [1, 4, 20])
@pytest.mark.parametrize("name", GRAPHS)
def test_many_levels_at_a_time_give_the_same_bits(name, count, rng):
    graph, _ = graph_of(GRAPHS[name](), False, rng)
    sources = rng.choice(graph.num_vertices, count, replace=False)
    expected = gd.betweenness(graph.partition(3), sources=sources).score
    for score in scores_by_levels(graph, sources):
        np.testing.assert_array_equal(score, expected)


def test_wide_ids_and_several_batches_give_the_same_bits(rng):
    graph, _ = graph_of(comb(), False, rng)
    sources = np.arange(5)
    with BETWEENNESS.varied(lanes=2):
        expected = gd.betweenness(graph.partition(2), sources=sources).score
    with BETWEENNESS.varied(apart=2, lanes=2):
        found = gd.betweenness(graph.partition(1, id_width=64), sources=sources).score
    np.testing.assert_array_equal(found, expected)


def test_a_search_of_a_long_path_takes_few_supersteps():
    n = 20_000
    graph = gd.from_edges(np.arange(n - 1), np.arange(1, n), directed=False).partition(1, device="cpu")
    result = gd.betweenness(graph, sources=[0])
    assert len(result.stats.supersteps) < 200
    np.testing.assert_array_equal(result.score, 0.5 * np.r_[0, np.arange(n - 2, -1, -1)])
