"""Ego graphs and trusses of the backend of NetworkX: NetworkX's own, with all attributes."""

from __future__ import annotations

import networkx as nx
import pytest

ROOT = (1, "b")


@pytest.fixture(autouse=True)
def settings():
    """NetworkX says with a warning that it keeps converted graphs; the tests know."""
    nx.config.warnings_to_ignore.add("cache")
    yield
    nx.config.warnings_to_ignore.discard("cache")


def graph(directed=False, loops=False, multi=False):
    """Nodes of several kinds; weights on some of the edges."""
    kind = {(0, 0): nx.Graph, (1, 0): nx.DiGraph, (0, 1): nx.MultiGraph, (1, 1): nx.MultiDiGraph}[directed, multi]
    G = kind(title="t")
    G.add_nodes_from((number, "b") for number in range(30))
    G.add_node(ROOT, colour="red")
    random = nx.gnm_random_graph(30, 80, seed=4, directed=directed)
    G.add_edges_from(((u, "b"), (v, "b"), {"weight": u % 5} if v % 4 else {}) for u, v in random.edges)
    if multi:
        G.add_edges_from(list(G.edges(keys=False))[::3])
    if loops:
        G.add_edge(ROOT, ROOT)
    return G


@pytest.mark.parametrize("multi", [False, True], ids=["simple", "multi"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_ego_graphs_are_those_of_networkx_with_all_attributes(directed, multi):
    G = graph(directed, loops=True, multi=multi)
    for keywords in (
        {}, {"radius": 0}, {"radius": 1.5, "center": False}, {"radius": 2, "undirected": True}, {"radius": None},
        {"radius": 3, "distance": "weight"},
    ):  # fmt: skip
        known, found = (nx.ego_graph(G, ROOT, **keywords, backend=x) for x in ("networkx", "graphdask"))
        assert nx.utils.graphs_equal(found, known), keywords


@pytest.mark.parametrize("k", [-1, 2, 3, 4, 9])
def test_trusses_are_those_of_networkx_with_all_attributes(k):
    G = graph()
    G.add_edges_from(((number, "b"), (number + 1, "b"), {"weight": 3}) for number in (1, 4, 7, 10, 13))
    known, found = (nx.k_truss(G, k, backend=x) for x in ("networkx", "graphdask"))
    assert nx.utils.graphs_equal(found, known)


def test_what_is_wrong_raises_what_networkx_raises():
    for function, G, keywords in (
        (nx.ego_graph, nx.path_graph(3), {"n": 9}),
        (nx.ego_graph, nx.path_graph(3), {"n": 9, "undirected": True}),
        (nx.ego_graph, nx.path_graph(3), {"n": 9, "distance": "weight"}),
        (nx.k_truss, nx.Graph([(0, 0)]), {"k": 3}),
        (nx.k_truss, nx.DiGraph([(0, 1)]), {"k": 3}),
    ):
        raised = []
        for backend in ("networkx", "graphdask"):
            with pytest.raises(nx.NetworkXException) as found:
                function(G, **keywords, backend=backend)
            raised.append((found.type, str(found.value)))
        assert raised[0] == raised[1], raised
