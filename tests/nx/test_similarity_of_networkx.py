"""Jaccard coefficients of the backend of NetworkX: NetworkX's own, in its order, with its exceptions."""

from __future__ import annotations

from itertools import product

import networkx as nx
import pytest


@pytest.fixture(autouse=True)
def settings():
    """NetworkX says with a warning that it keeps converted graphs; the tests know."""
    nx.config.warnings_to_ignore.add("cache")
    yield
    nx.config.warnings_to_ignore.discard("cache")


def graph():
    G = nx.gnm_random_graph(30, 60, seed=2)
    G.add_nodes_from("ab")
    G.add_edge(3, 3)
    return G


def test_coefficients_are_those_of_networkx():
    G = graph()
    for pairs in ([], list(product(G, repeat=2)), {("a", 3), (3, "b")}, ([1, 2],)):
        known, found = (nx.jaccard_coefficient(G, pairs, backend=x) for x in ("networkx", "graphdask"))
        assert [(*row, type(row[-1])) for row in found] == [(*row, type(row[-1])) for row in known]


@pytest.mark.parametrize("pairs", [[(0, 99)], [(99, 0)], [(0, 1, 2)], [([], 0)]])
def test_what_is_wrong_raises_what_networkx_raises(pairs):
    raised = []
    for backend in ("networkx", "graphdask"):
        with pytest.raises((nx.NodeNotFound, ValueError)) as found:
            nx.jaccard_coefficient(graph(), pairs, backend=backend)
        raised.append((found.type, str(found.value)))
    assert raised[0] == raised[1]


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [None, iter([(0, 1)])])
def test_other_pairs_stay_with_networkx(pairs):
    with pytest.raises(NotImplementedError, match="for the given arguments"):
        nx.jaccard_coefficient(graph(), pairs, backend="graphdask")
