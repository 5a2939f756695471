"""Files made by others read with the counts that their sources state; expected values from SciPy and NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.io

from graphdask.errors import FormatError
from graphdask.io import read_edges, read_vertex_values


@pytest.mark.parametrize(
    ("name", "options", "vertices", "edges"),
    [
        ("social/soc-Slashdot0902.txt.gz", {}, 82168, 948464),
        ("social/email-Eu-core.txt.gz", {}, 1005, 25571),
        ("web/web-NotreDame.txt.gz", {"threads": 1}, 325729, 1497134),
        ("road/NY.gr.xz", {}, 264346, 365050),
        ("road/BAY.gr.xz", {}, 321270, 397415),
        ("road/bremen_dist.gr", {}, 40461, 86475),
        ("temporal/sx-askubuntu-a2q.txt.gz", {"format": "temporal"}, 137517, 280102),
        ("temporal/CollegeMsg.txt", {"weights": "time"}, 1899, 59835),
        ("formats/PGPgiantcompo.graph", {}, 10680, 24316),
        ("formats/jazz.graph", {}, 198, 2742),
    ],
)
def test_counts_are_those_of_the_source(shared_data, name, options, vertices, edges):
    graph = read_edges(shared_data / name, **options)
    assert graph.num_edges == edges
    ids = np.unique(np.concatenate([graph.src, graph.dst]))
    assert len(ids if graph.vertices is None else graph.vertices) == vertices
    assert graph.src.dtype == graph.dst.dtype == np.int64
    assert (graph.times is not None) == ("temporal" in name)


def test_what_the_files_say_of_themselves(shared_data):
    slashdot = read_edges(shared_data / "social/soc-Slashdot0902.txt.gz")
    assert slashdot.directed is True
    assert slashdot.report["declared_vertices"] == 82168
    assert slashdot.report["comments"] == 4
    ny = read_edges(shared_data / "road/NY.gr.xz")
    assert ny.directed is False
    assert ny.vertices[[0, -1]].tolist() == [1, 264346]
    bremen = read_edges(shared_data / "road/bremen_dist.gr")
    assert bremen.directed is True
    assert bremen.weights[:3].tolist() == [172, 146, 61]
    temporal = read_edges(shared_data / "temporal/CollegeMsg.txt")
    assert temporal.weights is None
    assert temporal.report["unread_columns"] == 1


@pytest.mark.parametrize("name", ["ldbc-directed-example-unweighted", "matrix_int8", "sample2", "skew_fp32"])
def test_matrices_are_those_that_scipy_reads(shared_data, name):
    path = shared_data / f"formats/{name}.mtx"
    graph = read_edges(path)
    expected = scipy.io.mmread(path, spmatrix=False).tocoo()
    values = np.ones(graph.num_edges) if graph.weights is None else graph.weights
    key = sorted(zip(graph.src - 1, graph.dst - 1, values, strict=True))
    assert key == sorted(zip(expected.row, expected.col, expected.data, strict=True))
    assert len(graph.vertices) == expected.shape[0]
    assert graph.report.get("infinite_weights", 0) == (2 if name == "skew_fp32" else 0)


def test_the_awkward_matrices(shared_data):
    # comments between the entries, which SciPy refuses
    west = read_edges(shared_data / "formats/west0067_jumbled.mtx")
    assert west.num_edges == 294
    assert (west.src[0], west.dst[0], west.weights[0]) == (47, 45, -0.8242248)
    with pytest.raises(FormatError, match="a pattern matrix cannot be hermitian"):
        read_edges(shared_data / "formats/mangled5.mtx")
    both = read_edges(shared_data / "formats/sample2.mtx", directed=False)
    assert both.num_edges == 14


def test_metis_graph_is_the_one_in_its_lines(shared_data):
    lines = (shared_data / "formats/jazz.graph").read_text().splitlines()[1:]
    expected = nx.Graph((u, int(v)) for u, line in enumerate(lines, 1) for v in line.split())
    graph = read_edges(shared_data / "formats/jazz.graph")
    assert nx.utils.edges_equal(
        nx.Graph(zip(graph.src.tolist(), graph.dst.tolist(), strict=True)).edges, expected.edges
    )
    assert (graph.src <= graph.dst).all()


@pytest.mark.parametrize(
    "stem", ["example/example-directed", "example/example-undirected", "sssp/dir-input", "sssp/undir-input"]
)
@pytest.mark.parametrize("ending", ["", ".v", ".e"])
def test_ldbc_pair_by_either_name(shared_data, stem, ending):
    graph = read_edges(shared_data / "ldbc-graphalytics" / f"{stem}{ending}")
    expected = np.loadtxt(shared_data / "ldbc-graphalytics" / f"{stem}.e")
    np.testing.assert_array_equal(np.column_stack([graph.src, graph.dst, graph.weights]), expected)
    np.testing.assert_array_equal(graph.vertices, np.loadtxt(shared_data / "ldbc-graphalytics" / f"{stem}.v"))


def test_ldbc_adjacency_lists(shared_data):
    folder = shared_data / "ldbc-graphalytics"
    for name, directed in (("bfs/dir-input", None), ("bfs/undir-input", False), ("ffm/undir-input", False)):
        graph = read_edges(folder / name, format="adjlist", directed=directed)
        expected = nx.read_adjlist(
            folder / name, nodetype=int, create_using=nx.Graph if directed is False else nx.DiGraph
        )
        assert graph.vertices.tolist() == sorted(expected.nodes)
        assert graph.num_edges == expected.number_of_edges()


def test_ldbc_answers_keep_unreachable_as_it_stands(shared_data):
    folder = shared_data / "ldbc-graphalytics/example"
    ids, depth = read_vertex_values(folder / "example-directed-BFS")
    assert depth.dtype == np.int64
    assert depth[ids == 2] == 9223372036854775807
    ids, distance = read_vertex_values(folder / "example-directed-SSSP")
    assert distance[ids == 2] == np.inf
    assert distance[ids == 3] == 0.5
