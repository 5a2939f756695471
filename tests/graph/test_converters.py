"""Graphs from SciPy, NetworkX and Dask data frames hold the edges that those hold."""

from __future__ import annotations

import dask
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

import graphdask as gd


def triples(graph):
    """Sorted (source, destination, weight) in the caller's ids; undirected edges from the smaller end."""
    src, dst, weights = (np.concatenate(c) if c[0] is not None else None for c in zip(*_pieces(graph), strict=True))
    src, dst = graph.ids.to_caller(src), graph.ids.to_caller(dst)
    weights = [1] * len(src) if weights is None else weights.tolist()
    ends = zip(src.tolist(), dst.tolist(), weights, strict=True)
    return sorted((u, v, w) if graph.directed or u <= v else (v, u, w) for u, v, w in ends)


def _pieces(graph):
    from graphdask.device.backend import get_backend

    return [graph.source.piece(rank, 3).edges(get_backend("cpu")) for rank in range(3)]


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_matrix, sp.dok_array])
def test_a_sparse_matrix_is_its_entries(make, rng):
    dense = np.where(rng.random((9, 9)) < 0.3, rng.integers(1, 9, (9, 9)), 0)
    graph = gd.from_scipy(make(dense))
    assert triples(graph) == sorted((u, v, dense[u, v]) for u, v in np.argwhere(dense).tolist())
    assert graph.num_vertices == 9
    both = gd.from_scipy(make(dense + dense.T), directed=False)
    expected = dense + dense.T
    assert triples(both) == sorted((u, v, expected[u, v]) for u, v in np.argwhere(np.triu(expected)).tolist())


def test_entries_that_are_stored_count():
    twice = sp.coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(3, 3))
    assert triples(gd.from_scipy(twice)) == [(0, 1, 1.0), (0, 1, 2.0), (1, 0, 0.0)]
    merged = gd.from_scipy(twice, multi_edges="merge", self_loops="error")
    assert triples(merged) == [(0, 1, 1.0), (1, 0, 0.0)]
    flags = gd.from_scipy(sp.csr_array(np.array([[True, True], [True, False]])), directed=False)
    assert not flags.weighted
    assert triples(flags) == [(0, 0, 1), (0, 1, 1)]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (sp.csr_array(np.array([[0, -128], [0, 0]], np.int8)), r"A\[0, 1\] = -128 has no equal at A\[1, 0\]"),
        (sp.csr_array([[0, 1], [2, 0]]), r"A\[0, 1\] = 1 has no equal at A\[1, 0\]"),
        (sp.coo_array(([0.0], ([1], [0])), shape=(2, 2)), r"A\[1, 0\] = 0.0 has no equal at A\[0, 1\]"),
        (sp.coo_array(([1, 1, 2], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)), "has no equal"),
        (sp.csr_array([[0, 1, 0], [1, 0, 0], [1, 0, 0]]), r"A\[2, 0\] = 1 has no equal at A\[0, 2\]"),
    ],
)
def test_an_undirected_matrix_is_symmetric(matrix, message):
    with pytest.raises(gd.InputError, match=message):
        gd.from_scipy(matrix, directed=False)


def test_what_is_no_square_sparse_matrix_is_refused():
    with pytest.raises(gd.InputError, match=r"A is a numpy.ndarray; from_scipy takes a scipy.sparse matrix"):
        gd.from_scipy(np.eye(3))
    with pytest.raises(gd.InputError, match=r"shape \(2, 3\); a graph's is square"):
        gd.from_scipy(sp.csr_array((2, 3)))
    with pytest.raises(gd.InputError, match="NaN"):
        gd.from_scipy(sp.csr_array([[0, np.nan], [0, 0]]))
    assert gd.from_scipy(sp.csr_array((0, 0))).num_vertices == 0
    assert gd.from_scipy(sp.csr_array((4, 4))).num_vertices == 4


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_a_networkx_graph_is_its_edges(kind):
    g = kind()
    g.add_weighted_edges_from([(5, 3, 2.0), (3, 9, 1.5), (9, 9, 4.0), (5, 3, 1.0)], weight="length")
    g.add_node(1)
    graph = gd.from_networkx(g, weight="length")
    assert graph.directed == g.is_directed()
    assert graph.vertex_ids.tolist() == [1, 3, 5, 9]
    expected = [(u, v, w) if g.is_directed() or u <= v else (v, u, w) for u, v, w in g.edges(data="length")]
    assert triples(graph) == sorted(expected)
    assert not gd.from_networkx(g).weighted


def test_networkx_nodes_are_strings_or_numbers():
    g = nx.Graph([("b", "a"), ("c", "c")])
    g.add_node("isolated")
    graph = gd.from_networkx(g)
    assert graph.vertex_ids.tolist() == ["a", "b", "c", "isolated"]
    assert triples(graph) == [("a", "b", 1), ("c", "c", 1)]
    assert gd.from_networkx(nx.Graph()).num_vertices == 0
    assert gd.from_networkx(nx.empty_graph(3)).num_vertices == 3
    for node, message in (((0, 1), "neither"), (1.5, "neither"), (True, "neither"), (-1, "negative"), (2**63, "above")):
        with pytest.raises(gd.InputError, match=message):
            gd.from_networkx(nx.Graph([(node, 4)]))
    with pytest.raises(gd.InputError, match="same kind"):
        gd.from_networkx(nx.Graph([("a", 1)]))


def test_every_networkx_edge_needs_the_weight_that_is_asked_for():
    g = nx.Graph([(0, 1, {"w": 1}), (1, 2)])
    with pytest.raises(gd.InputError, match="edge from 1 to 2 has no attribute 'w'"):
        gd.from_networkx(g, weight="w")
    with pytest.raises(gd.InputError, match="dtype object"):
        gd.from_networkx(nx.Graph([(0, 1, {"w": None})]), weight="w")


@pytest.fixture
def frames():
    pytest.importorskip("dask.dataframe", reason="needs dask[dataframe]")
    pandas = pytest.importorskip("pandas", reason="needs pandas")

    def make(npartitions=4, **columns):
        import dask.dataframe

        return dask.dataframe.from_pandas(pandas.DataFrame(columns), npartitions=npartitions)

    with dask.config.set(scheduler="synchronous"):
        yield make


def test_a_dask_frame_is_its_rows(frames, rng):
    src, dst, weight = rng.integers(0, 40, 200) * 2**33, rng.integers(0, 40, 200) * 2**33, rng.random(200)
    graph = gd.from_dask_dataframe(frames(a=src, b=dst, w=weight), "a", "b", "w")
    assert (graph.num_edges, graph.report["edges_read"]) == (200, 200)
    np.testing.assert_array_equal(graph.vertex_ids, np.unique([src, dst]))
    assert triples(graph) == sorted(zip(src.tolist(), dst.tolist(), weight.tolist(), strict=True))
    whole = gd.from_edges(src, dst, directed=False)
    found = gd.from_dask_dataframe(frames(a=src, b=dst), "a", "b", directed=False)
    for parts in (1, 3, 7):
        label = gd.connected_components(found.partition(parts, device="cpu")).verify().label
        np.testing.assert_array_equal(label, gd.connected_components(whole.partition(device="cpu")).label)


@pytest.mark.parametrize("kind", ["int64", "Int64", "int32[pyarrow]"])
@pytest.mark.parametrize(
    ("weight", "kept"),
    [("float32", np.float32), ("Float64", np.float64), ("float[pyarrow]", np.float32), ("Int8", np.int64),
     ("int32[pyarrow]", np.int32)],
)  # fmt: skip
def test_a_dask_frame_may_have_nullable_or_arrow_columns(frames, kind, weight, kept):
    import pandas

    columns = {"a": pandas.array([0, 1, 2], kind), "b": pandas.array([1, 2, 9], kind)}
    graph = gd.from_dask_dataframe(frames(2, **columns, w=pandas.array([5, 6, 7], weight)), "a", "b", "w")
    assert graph.source.weight_dtype == kept
    assert triples(graph) == [(0, 1, 5), (1, 2, 6), (2, 9, 7)]
    if kind != "int64":
        with pytest.raises(gd.InputError, match=r"a\[1\] is missing, or NaN"):
            gd.from_dask_dataframe(frames(1, a=pandas.array([0, None], kind), b=[1, 2]), "a", "b")
    if weight != "float32":
        missing = gd.from_dask_dataframe(
            frames(1, a=[0, 1], b=[1, 2], w=pandas.array([1, None], weight)), "a", "b", "w"
        )
        with pytest.raises(gd.InputError, match=r"weights\[1\] is NaN"):
            missing.partition(1, device="cpu").persist()


def test_a_dask_frame_of_strings(frames):
    graph = gd.from_dask_dataframe(frames(2, a=["x", "y", "z"], b=["y", "z", "q"]), "a", "b").partition(2, device="cpu")
    assert graph.vertex_ids.tolist() == ["q", "x", "y", "z"]
    assert gd.bfs(graph, "x").parent.tolist() == ["z", "x", "x", "y"]
    assert gd.bfs(graph, "x").depth.tolist() == [3, 0, 1, 2]


def test_a_dask_frame_with_a_number_of_vertices(frames):
    graph = gd.from_dask_dataframe(frames(a=[0, 3], b=[3, 1]), "a", "b", num_vertices=6)
    assert graph.num_vertices == 6
    with pytest.raises(gd.VertexNotFound, match="vertex 3 is not in the graph; its vertices are 0 to 2"):
        gd.from_dask_dataframe(frames(a=[0, 3], b=[3, 1]), "a", "b", num_vertices=3)


def test_a_bad_dask_frame_is_refused(frames):
    with pytest.raises(gd.InputError, match="no column 'c'; it has a, b"):
        gd.from_dask_dataframe(frames(a=[0], b=[1]), "a", "c")
    with pytest.raises(gd.InputError, match="negative"):
        gd.from_dask_dataframe(frames(a=[0, -4], b=[1, 1]), "a", "b")
    with pytest.raises(gd.InputError, match="missing"):  # by either partition: of 0.0, or of NaN
        gd.from_dask_dataframe(frames(a=[0, np.nan], b=[1, 1]), "a", "b")
    with pytest.raises(gd.InputError, match="not of one kind"):
        gd.from_dask_dataframe(frames(a=[0, 1], b=["x", "y"]), "a", "b")
    graph = gd.from_dask_dataframe(frames(a=[0, 1], b=[1, 2], w=[1.0, np.nan]), "a", "b", "w")
    with pytest.raises(gd.InputError, match="NaN"):
        gd.bfs(graph.partition(2, device="cpu"), 0)


def test_components_of_a_matrix_are_scipys(rng):
    matrix = sp.random_array((80, 80), density=0.01, rng=rng)
    count, _ = csgraph.connected_components(matrix, connection="weak")
    assert gd.connected_components(gd.from_scipy(matrix).partition(3, device="cpu")).num_components == count
