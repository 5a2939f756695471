"""Edge betweenness by the backend of NetworkX is NetworkX's own, with its keys, samples and exceptions."""

from __future__ import annotations

import networkx as nx
import pytest

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


@pytest.fixture(autouse=True)
def no_warning_of_kept_graphs():
    nx.config.warnings_to_ignore.add("cache")
    yield
    nx.config.warnings_to_ignore.discard("cache")


def both(G, **options):
    return (nx.edge_betweenness_centrality(G, **options, backend=x) for x in ("networkx", "graphdask"))


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_networkx(kind):
    G = kind([(2, "b"), ("b", 1), (1, 2), (1, "c"), ("c", 1), (2, "b"), ("c", "d"), ("d", "d"), (5, 6)])
    for number, (*_, data) in enumerate(G.edges(data=True)):
        data["length"] = 1 + number % 3
    for weight in (None, "length"):
        for options in ({}, {"normalized": False}, {"k": 3, "seed": 5}, {"k": 3, "seed": 5, "normalized": False}):
            known, found = both(G, weight=weight, **options)
            assert list(found) == list(known)
            assert found == pytest.approx(known, rel=1e-12, abs=1e-15)


def test_exceptions_are_those_of_networkx():
    for k, kind in ((0, ZeroDivisionError), (9, ValueError)):
        for backend in ("networkx", "graphdask"):
            with pytest.raises(kind):
                nx.edge_betweenness_centrality(nx.path_graph(3), k=k, backend=backend)
    for G in (nx.Graph(), nx.Graph([(0, 0)])):
        known, found = both(G)
        assert found == known
