"""METIS and DIMACS files that are written are those graphs when they are read, and what they cannot hold is refused."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import GraphdaskWarning, InputError, OverBudget
from graphdask.io import EdgeList, read_edges, write_edges

SRC, DST = np.array([1, 2, 5, 4]), np.array([2, 3, 1, 2])


def pairs(edges):
    weights = [None] * len(edges.src) if edges.weights is None else edges.weights.tolist()
    ends = zip(np.minimum(edges.src, edges.dst).tolist(), np.maximum(edges.src, edges.dst).tolist(), strict=True)
    return sorted((u, v, w) for (u, v), w in zip(ends, weights, strict=True))


@pytest.mark.parametrize("weights", [None, np.array([3, 0, 7, 2**40])])
@pytest.mark.parametrize("name", ["g.graph", "g.graph.gz", "g.metis"])
def test_metis_comes_back(name, weights, tmp_path):
    edges = EdgeList(SRC, DST, weights, vertices=np.arange(1, 7), directed=False)
    write_edges(edges, tmp_path / name)
    found = read_edges(tmp_path / name)
    assert pairs(found) == pairs(edges)
    assert found.directed is False
    assert found.vertices.tolist() == [1, 2, 3, 4, 5, 6]


def test_a_metis_file_by_hand(tmp_path):
    write_edges(EdgeList(np.array([1, 3]), np.array([2, 2]), np.array([5, 6]), directed=False), tmp_path / "g.graph")
    assert (tmp_path / "g.graph").read_text() == "3 2 001\n2 5\n1 5 3 6\n2 6\n"


@pytest.mark.parametrize("weights", [np.array([3, 1, 7, 2]), np.array([0.5, 1.0, 2.0, 1e-9])])
def test_dimacs_arcs_and_edges_come_back(weights, tmp_path):
    arcs = EdgeList(SRC, DST, weights, vertices=np.arange(1, 7), directed=True)
    write_edges(arcs, tmp_path / "g.gr")
    found = read_edges(tmp_path / "g.gr")
    for name in ("src", "dst", "weights", "vertices"):
        assert getattr(found, name).tolist() == getattr(arcs, name).tolist()
    assert found.directed is True
    write_edges(EdgeList(SRC, DST, directed=False), tmp_path / "g.col")
    assert (tmp_path / "g.col").read_text().startswith("p edge 5 4\ne 1 2\n")
    assert gd.read_graph(tmp_path / "g.col").edges().dst.tolist() == DST.tolist()


def test_vertices_that_are_added_and_types_that_are_lost_are_told(tmp_path):
    with pytest.warns(GraphdaskWarning, match="2 that the graph does not have are read back"):
        write_edges(EdgeList(np.array([1]), np.array([4]), directed=False), tmp_path / "g.graph")
    with pytest.warns(GraphdaskWarning, match="dimacs does not say the type of weights: int32"):
        write_edges(EdgeList(np.array([1]), np.array([2]), np.array([4], np.int32), directed=True), tmp_path / "g.gr")


def test_a_line_for_each_number_of_sparse_ids_is_refused_before_it_takes_memory(tmp_path):
    edges = EdgeList(np.array([1]), np.array([2**50]), directed=False)
    with (
        pytest.warns(GraphdaskWarning, match="are read back"),
        pytest.raises(OverBudget, match=r"a line for each number up to 1,125,899,906,842,624.*renumber"),
    ):
        write_edges(edges, tmp_path / "g.graph")


@pytest.mark.parametrize(
    ("name", "edges", "message"),
    [
        ("g.graph", EdgeList(SRC, DST, directed=True), "METIS graphs are undirected"),
        ("g.graph", EdgeList(np.array([1, 2]), np.array([1, 1]), directed=False), "no self-loops; drop them"),
        ("g.graph", EdgeList(np.array([1, 2]), np.array([2, 1]), directed=False), "no parallel edges; merge them"),
        ("g.graph", EdgeList(SRC, DST, SRC * 0.5, directed=False), "whole numbers of 0 or more"),
        ("g.graph", EdgeList(SRC - 1, DST, directed=False), "METIS counts from 1, but there is a vertex 0"),
        ("g.gr", EdgeList(SRC, DST, directed=True), "DIMACS arcs have a length; give weights"),
        ("g.gr", EdgeList(SRC, DST, SRC, directed=False), "DIMACS edges have no weights"),
        ("g.gr", EdgeList(np.array(["a"], object), np.array(["b"], object)), "DIMACS needs integer ids"),
        ("g.gr", EdgeList(SRC, DST, SRC, SRC, directed=True), "cannot hold times"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_and_nothing_is_left(name, edges, message, tmp_path):
    with pytest.raises(InputError, match=message):
        write_edges(edges, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
