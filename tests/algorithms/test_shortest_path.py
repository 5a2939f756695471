"""Paths between two vertices are as short as NetworkX's, and follow the smallest parents."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from graphs import GRAPHS
from reference import adjacency, lightest, search, shortest

import graphdask as gd

NAMES = ("one vertex", "only self-loops", "isolated vertices", "star inward", "cycle", "short path",
         "sparse random, directed", "sparse random, undirected", "scale-free")  # fmt: skip


def back(parent, target):
    """The path along parents."""
    path = [int(target)] if parent[target] >= 0 else []
    while path and parent[path[-1]] != path[-1]:
        path.append(int(parent[path[-1]]))
    return path[::-1]


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("name", NAMES)
def test_paths_are_shortest_and_along_the_smallest_parents(name, parts, rng):
    n, src, dst, directed = GRAPHS[name]()
    weights = rng.integers(0, 5, len(src))
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed).partition(parts, "random", device="cpu")
    by_weight = lightest(n, src, dst, weights, directed)
    judge = nx.DiGraph()
    judge.add_nodes_from(range(n))
    u, v = np.repeat(np.arange(n), np.diff(by_weight.indptr)), by_weight.indices
    judge.add_weighted_edges_from(zip(u.tolist(), v.tolist(), by_weight.data.tolist(), strict=True))
    for source, target in rng.integers(0, n, (6, 2)).tolist():
        parent = {True: shortest(by_weight, source)[1], False: search(adjacency(n, src, dst, directed), source)[1]}
        for weighted in (None, True, False):
            path = gd.shortest_path(graph, source, target, weighted=weighted)
            assert path.dtype == np.int64
            path, by = path.tolist(), None if weighted is False else "weight"
            assert path == back(parent[weighted is not False], target)
            if not nx.has_path(judge, source, target):
                assert path == []
                continue
            assert path[0] == source
            assert path[-1] == target
            assert (
                nx.path_weight(judge, path, "weight") == nx.shortest_path_length(judge, source, target, "weight")
                if by
                else len(path) - 1 == nx.shortest_path_length(judge, source, target)
            )


def test_names_come_back():
    graph = gd.from_edges(["a", "b", "x"], ["b", "c", "y"])
    assert gd.shortest_path(graph, "a", "c").tolist() == ["a", "b", "c"]
    assert gd.shortest_path(graph, "b", "b").tolist() == ["b"]
    assert gd.shortest_path(graph, "a", "y").tolist() == []


def test_what_has_no_path_to_look_for_is_refused():
    graph = gd.from_edges([10, 20], [20, 40])
    with pytest.raises(gd.VertexNotFound, match="source 15 is not in the graph"):
        gd.shortest_path(graph, 15, 20)
    with pytest.raises(gd.VertexNotFound, match="target 15 is not in the graph"):
        gd.shortest_path(graph, 10, 15)
    with pytest.raises(gd.InputError, match="weighted=True, but the graph has no weights"):
        gd.shortest_path(graph, 10, 20, weighted=True)
    for ends in (([10, 20], 40), (10, [20, 40])):
        with pytest.raises(gd.InputError, match=r"=\[\d\d, \d\d\] is not one vertex"):
            gd.shortest_path(graph, *ends)
