"""Blocks, bridges, spanning trees and modularity of the backend of NetworkX: the answers are NetworkX's."""

from __future__ import annotations

import math

import networkx as nx
import pytest
from networkx_names import function_of

from graphdask.nx.backend import can_run, should_run

BACKENDS = ("networkx", "graphdask")


@pytest.fixture(autouse=True)
def settings():
    """NetworkX says with a warning that it keeps converted graphs; the tests know."""
    nx.config.warnings_to_ignore.add("cache")
    yield
    nx.config.warnings_to_ignore.discard("cache")


def graphs(rng, weights=(1, 2.5, 0.0, -0.0, 0, True, -3, math.inf), loops=True):
    """Small graphs and multigraphs, sparse and dense, their nodes in any order; many weights are equal or missing."""
    for n, edges in ((0, 0), (1, 0), (1, 1), (5, 3), (8, 9), (30, 30), (30, 90)):
        for kind in (nx.Graph, nx.MultiGraph):
            G = kind(title="t")
            G.add_nodes_from((f"node {node}", {"colour": int(node)}) for node in rng.permutation(n))
            for row, (u, v) in enumerate(rng.integers(0, max(n, 1), (edges, 2)).tolist()):
                if loops or u != v:
                    G.add_edge(f"node {u}", f"node {v}", row=row, **{"weight": weights[row % 8]} if row % 9 else {})
            yield G


def test_blocks_and_bridges_are_those_of_networkx(rng):
    for G in graphs(rng):
        for function, ordered in (
            (nx.articulation_points, set),
            (nx.bridges, list),
            (nx.has_bridges, bool),
            (nx.biconnected_components, lambda blocks: sorted(map(sorted, blocks))),
            (nx.is_biconnected, bool),
        ):
            known, found = (ordered(function(G, backend=x)) for x in BACKENDS)
            assert found == known, function.__name__
        for root in list(G)[:2]:
            known, found = (set(map(frozenset, nx.bridges(G, root, backend=x))) for x in BACKENDS)
            assert found == known
            assert nx.has_bridges(G, root, backend="graphdask") == bool(known)


def test_a_graph_with_leaves_is_left_to_networkx_which_stops_at_the_second_block():
    G = nx.barabasi_albert_graph(60_000, 2, seed=1)
    assert should_run("is_biconnected", (G,), {}) is True
    G.add_edge(0, 60_000)
    assert "stops at the second block" in should_run("is_biconnected", (G,), {})
    assert should_run("biconnected_components", (G,), {}) is True


@pytest.mark.parametrize("G", [nx.path_graph(2), nx.path_graph(3), nx.cycle_graph(3), nx.Graph([(0, 0), (0, 1)]),
                               nx.barbell_graph(3, 0), nx.MultiGraph([(0, 1), (0, 1), (1, 2), (1, 2)])])  # fmt: skip
def test_small_graphs_are_biconnected_as_networkx_says(G):
    known, found = (nx.is_biconnected(G, backend=x) for x in BACKENDS)
    assert found == known


@pytest.mark.parametrize(
    ("name", "G", "keywords"),
    [
        ("bridges", nx.path_graph(3), {"root": 9}),
        ("has_bridges", nx.path_graph(3), {"root": 9}),
        ("articulation_points", nx.DiGraph(), {}),
        ("minimum_spanning_tree", nx.DiGraph(), {}),
        ("maximum_spanning_edges", nx.Graph([(0, 1, {"weight": math.nan})]), {}),
        ("minimum_spanning_edges", nx.MultiGraph([(0, 1, {"weight": math.nan})]), {}),
    ],
)
def test_what_is_wrong_raises_what_networkx_raises(name, G, keywords):
    raised = []
    for backend in BACKENDS:
        with pytest.raises(Exception) as error:  # noqa: PT011  # which one, NetworkX decides
            list(function_of(name)(G, **keywords, backend=backend))
        raised.append((error.type, str(error.value)))
    assert raised[0] == raised[1]


@pytest.mark.parametrize(("G", "communities"), [(nx.Graph(), []), (nx.empty_graph(2), [{0, 1}])])
def test_modularity_without_weight_is_what_this_version_of_networkx_makes_of_it(G, communities):
    found = []
    for backend in BACKENDS:
        try:
            found.append(nx.community.modularity(G, communities, backend=backend))
        except ZeroDivisionError:
            found.append("division by zero")
    assert found[0] == found[1]


def test_what_differs_is_refused_with_the_reason():
    for name, keywords, kind, reason in (
        ("minimum_spanning_edges", {"algorithm": "prim"}, nx.Graph, "kruskal"),
        ("modularity", {"communities": [], "resolution": -1}, nx.Graph, "resolution=-1"),
        ("modularity", {"communities": []}, nx.DiGraph, "directed"),
    ):
        assert reason in can_run(name, (kind([(0, 1)]),), keywords)


def test_edges_of_blocks_are_those_of_networkx(rng):
    for G in graphs(rng, loops=False):
        known, found = (
            sorted(
                sorted(tuple(sorted(edge)) for edge in block) for block in nx.biconnected_component_edges(G, backend=x)
            )
            for x in BACKENDS
        )
        assert found == known
    with pytest.raises(NotImplementedError, match="self-loops"):
        list(nx.biconnected_component_edges(nx.Graph([(0, 0)]), backend="graphdask"))


@pytest.mark.parametrize("least", [True, False])
def test_spanning_edges_and_trees_are_those_of_networkx_in_their_order(least, rng):
    edges = nx.minimum_spanning_edges if least else nx.maximum_spanning_edges
    tree = nx.minimum_spanning_tree if least else nx.maximum_spanning_tree
    for G in graphs(rng):
        for keywords in ({}, {"data": False}, {"keys": False, "weight": "row"}, {"weight": None}):
            known, found = (list(edges(G, **keywords, backend=x)) for x in BACKENDS)
            assert found == known, keywords
        known, found = (tree(G, backend=x) for x in BACKENDS)
        assert nx.utils.graphs_equal(found, known)
        assert (list(found), list(found.edges)) == (list(known), list(known.edges))


def test_edges_of_no_weight_are_ignored_where_networkx_ignores_them():
    G = nx.Graph([(0, 1, {"weight": math.nan}), (1, 2, {"weight": 2}), (0, 2, {"weight": 3})])
    known, found = (list(nx.minimum_spanning_edges(G, data=False, ignore_nan=True, backend=x)) for x in BACKENDS)
    assert found == known == [(1, 2), (0, 2)]
    G.edges[0, 1]["weight"] = 2**60
    with pytest.raises(NotImplementedError, match=r"2\*\*53"):
        list(nx.minimum_spanning_edges(G, backend="graphdask"))


def test_modularity_is_that_of_networkx(rng):
    for G in graphs(rng, weights=(1, 2.5, 0.25, 0, 3, True, 7, 0.5)):
        nodes = list(G)
        communities = [nodes[::3], tuple(nodes[1::3]), set(nodes[2::3])]
        for keywords in ({}, {"weight": None, "resolution": 0.5}, {"weight": "row", "resolution": 3}):
            if G.size(keywords.get("weight", "weight")) > 0:
                known, found = (nx.community.modularity(G, communities, **keywords, backend=x) for x in BACKENDS)
                assert math.isclose(found, known, rel_tol=1e-12, abs_tol=1e-12)
    for wrong in ([{0}], [{0, 1}, {1, 2}], [{0, 1, 2, 3}]):
        with pytest.raises(nx.community.quality.NotAPartition):
            nx.community.modularity(nx.path_graph(3), wrong, backend="graphdask")
