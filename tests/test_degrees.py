"""Degrees counted from a graph's lineage are those that NetworkX counts."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.errors import InputError, OverBudget, Unsupported
from graphdask.graph.degrees import degree_counts

CPU = get_backend("cpu")


def as_dict(counts):
    degree, count = counts
    assert (np.diff(degree) > 0).all()
    return dict(zip(degree.tolist(), count.tolist(), strict=True))


GRAPHS = {
    "empty": (0, [], []),
    "one vertex": (1, [], []),
    "self-loops": (3, [0, 0, 2], [0, 0, 2]),
    "duplicates and isolated": (6, [0, 0, 1, 3], [1, 1, 0, 0]),
    "star": (50, [0] * 49, list(range(1, 50))),
    "path": (100, list(range(99)), list(range(1, 100))),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("budget", [1 << 40, 8000])
def test_networkx_counts_the_same(free_memory, name, budget):
    n, src, dst = GRAPHS[name]
    free_memory(budget)
    G = gd.from_edges(np.array(src, int), np.array(dst, int), num_vertices=n, directed=True)
    theirs = nx.MultiDiGraph()
    theirs.add_nodes_from(range(n))
    theirs.add_edges_from(zip(src, dst, strict=True))
    for direction, degrees in (("both", theirs.degree), ("in", theirs.in_degree), ("out", theirs.out_degree)):
        assert as_dict(degree_counts(G, direction, device="cpu")) == Counter(degree for _, degree in degrees())


def test_a_generated_graph_is_counted_in_pieces(free_memory):
    G = gd.generate.preferential_attachment(2000, 3, seed=4)
    whole = as_dict(degree_counts(G, "in", device="cpu"))
    free_memory(70_000)
    assert as_dict(degree_counts(G, "in", device="cpu")) == whole
    assert sum(k * count for k, count in whole.items()) == G.num_edges


@pytest.mark.parametrize("directed", [True, False])
def test_merged_edges_count_once_as_do_those_of_a_dynamic_graph(directed):
    n, src, dst = 7, [0, 0, 1, 3, 5, 0], [1, 1, 0, 0, 5, 1]
    kinds = {False: nx.Graph, True: nx.DiGraph}
    theirs = kinds[directed]()
    theirs.add_nodes_from(range(n))
    theirs.add_edges_from(zip(src, dst, strict=True))
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    D = gd.DynamicGraph(G.partition(2))
    merged = gd.generate.rmat(5, 8, seed=1, directed=directed, multi_edges="merge").partition(3)
    for graph, degrees in ((D, theirs), (merged, kinds[directed](zip(*merged.edges()[:2], strict=True)))):
        count = Counter(degree for _, degree in degrees.degree())
        count += Counter({0: graph.num_vertices - len(degrees)})
        assert as_dict(degree_counts(graph, device="cpu")) == count
    D.update(insert=([6, 9], [0, 6]), delete=([0, 5], [1, 5]))
    theirs.remove_edges_from([(0, 1), (5, 5)])
    theirs.add_edges_from([(6, 0), (9, 6)])
    assert as_dict(degree_counts(D)) == Counter(degree for _, degree in theirs.degree())
    if directed:
        assert as_dict(degree_counts(D, "in")) == Counter(degree for _, degree in theirs.in_degree())


def test_what_cannot_be_counted_is_refused(free_memory):
    G = gd.generate.preferential_attachment(2000, 3)
    with pytest.raises(InputError, match="direction='up'"):
        degree_counts(G, "up")
    with pytest.raises(InputError, match="not a Graph"):
        degree_counts([1, 2])
    with pytest.raises(Unsupported, match="merged"):
        degree_counts(gd.generate.preferential_attachment(2000, 3, multi_edges="merge", directed=False), "in")
    free_memory(1000)
    with pytest.raises(OverBudget, match="2,000 vertices"):
        degree_counts(G, device="cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("direction", ["both", "in", "out"])
def test_a_gpu_counts_the_same(direction):
    G = gd.generate.preferential_attachment(100_000, 4, seed=1)
    assert as_dict(degree_counts(G, direction, device="cuda")) == as_dict(degree_counts(G, direction, device="cpu"))
