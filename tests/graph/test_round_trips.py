"""Graphs go to SciPy and NetworkX and come back as they were; the objects are those that these libraries make."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from edge_sets import GRAPHS, counted

import graphdask as gd
from graphdask.errors import InputError


def same_edges(found: nx.Graph, known) -> bool:
    src, dst, *weights = zip(*found.edges(data="weight"), strict=True) if found.size() else ([], [], [])
    weights = weights[0] if known.graph.weighted and found.size() else None
    return counted(np.array(src, object), np.array(dst, object), weights, known.graph.directed) == known.edges


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", GRAPHS)
def test_networkx_has_the_same_graph_and_gives_it_back(name, parts):
    known = GRAPHS[name]()
    G = known.graph.partition(parts, "random").persist()
    g = G.to_networkx()
    assert list(g) == known.vertices
    assert g.is_directed() == G.directed
    assert g.is_multigraph() == (max(_pairs(known).values(), default=1) > 1)
    assert same_edges(g, known)
    assert gd.same_graph(gd.from_networkx(g, "weight" if G.weighted and g.size() else None), _weights_if(G, g))


def _pairs(known):
    pairs: dict = {}
    for (u, v, _), count in known.edges.items():
        pairs[u, v] = pairs.get((u, v), 0) + count
    return pairs


def _weights_if(G, g):
    """A graph without edges has no weights in NetworkX."""
    return G if g.size() or not G.weighted else gd.from_edges([], [], vertices=G.vertex_ids, directed=G.directed)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", GRAPHS)
def test_scipy_has_the_same_matrix_and_gives_it_back(name, parts):
    known = GRAPHS[name]()
    G = known.graph.partition(parts, "random").persist()
    A = G.to_scipy()
    place = {vertex: number for number, vertex in enumerate(known.vertices)}
    expected = np.zeros((len(place), len(place)))
    for (u, v, weight), count in known.edges.items():
        for i, j in {(u, v), (u, v) if G.directed else (v, u)}:
            expected[place[i], place[j]] += count * (1 if weight is None else weight)
    assert A.dtype == (G.source.weight_dtype if G.weighted else bool)
    np.testing.assert_allclose(A.astype(np.float64).toarray(), expected, rtol=1e-6)
    A.check_format(full_check=True)
    numbered = gd.from_edges(
        *(G.ids.to_internal(end) for end in G.edges("cpu")[:2]), G.edges("cpu").weights, len(G), G.directed
    )
    assert gd.same_graph(gd.from_scipy(A, G.directed), numbered)


def test_objects_of_the_libraries_come_back_as_they_were():
    A = sp.random_array((30, 30), density=0.1, rng=np.random.default_rng(5), format="csr")
    assert (gd.from_scipy(A).partition(3).to_scipy() != A).nnz == 0
    g = nx.gnm_random_graph(30, 60, seed=2, directed=True)
    g.add_edge(4, 4)
    assert nx.utils.graphs_equal(gd.from_networkx(g).partition(3).to_networkx(), g)
    m = nx.MultiGraph([("a", "b", {"w": 2}), ("a", "b", {"w": 3}), ("c", "c", {"w": 1})])
    m.add_node("z")
    found = gd.from_networkx(m, "w").to_networkx("w")
    assert sorted(found.edges(data="w")) == sorted(m.edges(data="w"))
    assert set(found) == set(m)


def test_a_simple_graph_of_parallel_edges_is_refused():
    G = gd.from_edges(["a", "b"], ["b", "a"], directed=False)
    with pytest.raises(InputError, match="multigraph=False, but there are parallel edges from 'a' to 'b'"):
        G.to_networkx(multigraph=False)
    merged = gd.from_edges(["a", "b"], ["b", "a"], directed=False, multi_edges="merge").to_networkx(multigraph=False)
    assert type(merged) is nx.Graph
    assert type(merged.to_directed()) is nx.DiGraph
    assert type(gd.from_edges([0], [1]).to_networkx(multigraph=True)) is nx.MultiDiGraph


def test_an_attribute_may_have_any_name():
    g = gd.from_edges([0], [1], [2.5]).to_networkx("length")
    assert g.edges[0, 1] == {"length": 2.5}
