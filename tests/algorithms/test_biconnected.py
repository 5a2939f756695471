"""Articulation points, bridges and biconnected components are NetworkX's."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from graphs import GRAPHS

import graphdask as gd

PARTS = (1, 3)


def graphs(rng):
    """Graphs of the shapes that matter: edges, and NetworkX's graph of them without self-loops."""
    made = [GRAPHS[name]()[:3] for name in ("duplicates both ways", "only self-loops", "star outward", "binary tree",
                                            "complete", "sparse random, undirected", "scale-free")]  # fmt: skip
    made.append((14, *np.array(nx.barbell_graph(5, 4).edges()).T))
    made += [(60, *rng.integers(0, 60, (2, count))) for count in (40, 60, 80, 110)]
    for n, src, dst in made:
        g = nx.MultiGraph()
        g.add_nodes_from(range(n))
        g.add_edges_from(
            (u, v, row) for row, (u, v) in enumerate(zip(src.tolist(), dst.tolist(), strict=True)) if u != v
        )
        yield n, src, dst, g


@pytest.mark.parametrize("parts", PARTS)
def test_answers_are_networkxs(parts, rng):
    for n, src, dst, g in graphs(rng):
        G = gd.from_edges(src, dst, num_vertices=n, directed=False).partition(parts, "random", device="cpu")
        assert gd.articulation_points(G).verify().points.tolist() == sorted(nx.articulation_points(nx.Graph(g)))
        found = gd.bridges(G).verify()
        ends = list(zip(found.source.tolist(), found.destination.tolist(), strict=True))
        assert sorted(ends) == sorted(tuple(sorted(edge[:2])) for edge in nx.bridges(g))
        assert ends == [(min(src[row], dst[row]), max(src[row], dst[row])) for row in found.row.tolist()]
        without = g.copy()
        without.remove_edges_from(ends)
        assert all({found.label[v] for v in part} == {min(part)} for part in nx.connected_components(without))


@pytest.mark.parametrize("parts", PARTS)
def test_components_are_networkxs(parts, rng):
    for n, src, dst, g in graphs(rng):
        G = gd.from_edges(src, dst, num_vertices=n, directed=False).partition(parts, "random", device="cpu")
        found = gd.biconnected_components(G).verify()
        expected = sorted(map(sorted, nx.biconnected_components(nx.Graph(g))))
        labels, vertices = found.memberships()
        assert sorted(vertices[labels == label].tolist() for label in np.unique(labels)) == expected
        assert found.num_components == len(expected)
        sets = {}
        assert len(found.edge_label) == len(src)
        for row, label in enumerate(found.edge_label.tolist()):
            if src[row] == dst[row]:
                assert label == -1
            else:
                sets.setdefault(label, set()).update((int(src[row]), int(dst[row])))
        assert sorted(map(sorted, sets.values())) == expected


def test_names_of_vertices_are_kept():
    G = gd.from_edges(["b", "a", "c", "c"], ["a", "c", "b", "d"], directed=False)
    assert gd.articulation_points(G).points.tolist() == ["c"]
    bridges = gd.bridges(G)
    assert (bridges.source.tolist(), bridges.destination.tolist(), bridges.row.tolist()) == (["c"], ["d"], [3])
    found = gd.biconnected_components(G)
    assert found.edge_label.tolist() == ["b", "b", "b", "d"]
    assert (found.label.tolist(), found.parent.tolist()) == ([None, "b", "b", "d"], ["a", "a", "a", "c"])


@pytest.mark.parametrize("parts", [1, 3])
def test_every_row_has_a_label_of_its_edge(parts):
    for self_loops in ("keep", "drop"):
        G = gd.from_edges([0, 1, 2, 3, 3], [1, 2, 2, 3, 3], num_vertices=5, directed=False, self_loops=self_loops)
        found = gd.biconnected_components(G.partition(parts)).verify()
        assert found.edge_label.tolist() == [1, 2, -1, -1, -1]
    G = gd.from_edges(["a", "a"], ["b", "a"], directed=False).partition(parts)
    assert gd.biconnected_components(G).edge_label.tolist() == ["b", None]


def test_merged_edges_may_be_bridges():
    G = gd.from_edges([0, 1, 1], [1, 0, 2], directed=False)
    assert gd.bridges(G).row.tolist() == [2]
    assert gd.bridges(gd.from_edges([0, 1, 1], [1, 0, 2], directed=False, multi_edges="merge")).row.tolist() == [0, 2]
