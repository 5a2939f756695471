"""What is written reads back the same, nothing is half-written, and other programs read it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from tables_of_columns import string_array

from graphdask.errors import FormatError, GraphdaskWarning, InputError, Unsupported
from graphdask.io import FORMATS, EdgeList, detect_format, read_edges, write_edges

NAMES = ["g.txt", "g.txt.gz", "g.el.xz", "g.csv", "g.csv.bz2", "g.parquet", "g.npz", "g.gdg"]


def graph(**fields) -> EdgeList:
    rng = np.random.default_rng(0)
    return EdgeList(rng.integers(0, 2**40, 500), rng.integers(0, 2**63 - 1, 500), **fields)


def equal(a: EdgeList, b: EdgeList, vertices: bool = True) -> None:
    for name in ("src", "dst", "weights", "times", *(["vertices"] if vertices else [])):
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None), name
        if x is not None:
            np.testing.assert_array_equal(x, y)
            assert x.dtype.kind == y.dtype.kind


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "weights",
    [None, np.random.default_rng(1).normal(size=500) * 1e-9, np.arange(500) - 9],
    ids=["none", "real", "integer"],
)
@pytest.mark.parametrize("times", [None, np.arange(500) + 10**9], ids=["plain", "temporal"])
def test_round_trip(tmp_path, name, weights, times):
    edges = graph(weights=weights, times=times, directed=False)
    write_edges(edges, tmp_path / name)
    back = read_edges(tmp_path / name)
    equal(edges, back)
    assert back.directed is False
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", NAMES)
def test_strings_round_trip(tmp_path, name):
    ids = string_array(["a1", "Zürich", "b", "7", "x-y"])
    edges = EdgeList(ids, ids[::-1].copy(), directed=True)
    if "csv" in name:
        with pytest.warns(GraphdaskWarning, match="'7' is one that looks like a number"):
            write_edges(edges, tmp_path / name)
    else:
        write_edges(edges, tmp_path / name)
    back = read_edges(tmp_path / name)
    equal(edges, back)
    unique = np.unique(back.src)
    assert unique[np.searchsorted(unique, back.dst)].tolist() == edges.dst.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_the_empty_graph_round_trips(tmp_path, name):
    nothing = np.empty(0, np.int64)
    write_edges(EdgeList(nothing, nothing), tmp_path / name)
    assert read_edges(tmp_path / name).num_edges == 0


@pytest.mark.parametrize("name", ["g.npz", "g.gdg"])
def test_isolated_vertices_round_trip(tmp_path, name):
    edges = EdgeList(np.array([1]), np.array([5]), vertices=np.arange(10))
    write_edges(edges, tmp_path / name)
    equal(edges, read_edges(tmp_path / name))


def test_lost_vertices_are_reported(tmp_path):
    edges = EdgeList(np.array([1]), np.array([5]), vertices=np.arange(10))
    with pytest.warns(GraphdaskWarning, match="8 vertices without edges are not written"):
        write_edges(edges, tmp_path / "g.csv")


def test_csv_quotes(tmp_path):
    ids = string_array(["a,b", 'say "x"', "plain"])
    write_edges(EdgeList(ids, ids), tmp_path / "g.csv")
    assert read_edges(tmp_path / "g.csv").src.tolist() == ids.tolist()


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(
    "weights", [None, np.array([3, -1, 7]), np.array([0.1, 1e300, -2.5])], ids=["pattern", "integer", "real"]
)
def test_matrix_market_is_what_scipy_reads(tmp_path, directed, weights):
    edges = EdgeList(np.array([1, 5, 2]), np.array([2, 1, 4]), weights, vertices=np.arange(1, 7), directed=directed)
    write_edges(edges, tmp_path / "g.mtx")
    matrix = scipy.io.mmread(tmp_path / "g.mtx", spmatrix=False).toarray()
    expected = np.zeros((6, 6))
    expected[edges.src - 1, edges.dst - 1] = 1 if weights is None else weights
    if not directed:
        expected = expected + expected.T
    np.testing.assert_array_equal(matrix, expected)
    back = read_edges(tmp_path / "g.mtx")
    assert back.directed is directed
    assert {frozenset(e) for e in zip(back.src, back.dst, strict=True)} == {
        frozenset(e) for e in zip(edges.src, edges.dst, strict=True)
    }


def test_matrix_market_does_not_shift_ids(tmp_path):
    with pytest.raises(InputError, match="counts from 1, but there is a vertex 0"):
        write_edges(EdgeList(np.array([0]), np.array([1])), tmp_path / "g.mtx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("directed", [True, False])
def test_networkx_reads_gexf_and_graphml(tmp_path, directed):
    edges = EdgeList(
        np.array([1, 2, 3]),
        np.array([2, 3, 3]),
        np.array([0.5, 2.0, 1.5]),
        np.array([10, 20, 30]),
        np.arange(1, 6),
        directed,
    )
    for name, read in (("g.gexf", nx.read_gexf), ("g.graphml", nx.read_graphml), ("g.graphml.gz", nx.read_graphml)):
        write_edges(edges, tmp_path / name)
        g = read(tmp_path / name)
        assert g.is_directed() is directed
        assert sorted(g.nodes) == ["1", "2", "3", "4", "5"]
        assert g.number_of_edges() == 3
        assert next(iter(g.get_edge_data("2", "3").values())) == 2.0 or g["2"]["3"]["weight"] == 2.0
        assert g["2"]["3"]["time"] == 20


def test_markup_in_ids_is_escaped(tmp_path):
    ids = string_array(['<a & "b">', "c"])
    write_edges(EdgeList(ids, ids[::-1].copy()), tmp_path / "g.graphml")
    assert set(nx.read_graphml(tmp_path / "g.graphml").nodes) == {'<a & "b">', "c"}


def test_drawings_of_large_graphs_are_refused(tmp_path):
    many = np.zeros(1_000_001, np.int64)
    for name in ("g.gexf", "g.graphml"):
        with pytest.raises(Unsupported, match="1,000,001 edges are more than 1,000,000"):
            write_edges(EdgeList(many, many), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("1 2\n")
    with pytest.raises(InputError, match="cannot stand in an edge list"):
        write_edges(EdgeList(string_array(["a b"]), string_array(["c"])), path, overwrite=True)
    assert path.read_text() == "1 2\n"
    assert [p.name for p in tmp_path.iterdir()] == ["g.txt"]
    with pytest.raises(InputError, match="cannot be written"):
        write_edges(graph(), tmp_path / "no" / "g.txt")
    with pytest.raises(Unsupported, match="does not write adjlist"):
        write_edges(graph(), tmp_path / "g.adjlist")


def test_native_is_mapped_and_aligned(tmp_path):
    edges = graph(weights=np.ones(500, np.float32))
    write_edges(edges, tmp_path / "g.gdg")
    back = read_edges(tmp_path / "g.gdg")
    for array in (back.src, back.dst, back.weights):
        assert isinstance(array, np.memmap)
        assert array.offset % 64 == 0
    assert back.weights.dtype == np.float32


@pytest.mark.parametrize("keep", [0, 3, 10, 31, 100, -1])
def test_a_truncated_native_file_is_refused(tmp_path, keep):
    write_edges(graph(), tmp_path / "g.gdg")
    data = (tmp_path / "g.gdg").read_bytes()
    (tmp_path / "t.gdg").write_bytes(data[:keep])
    with pytest.raises(FormatError, match=r"t\.gdg: .*(truncated|not a graphdask)"):
        read_edges(tmp_path / "t.gdg")


def test_a_damaged_native_header_is_refused(tmp_path):
    write_edges(graph(), tmp_path / "g.gdg")
    data = bytearray((tmp_path / "g.gdg").read_bytes())
    data[60] ^= 1
    (tmp_path / "g.gdg").write_bytes(data)
    with pytest.raises(FormatError, match="checksum"):
        read_edges(tmp_path / "g.gdg")


def test_scipy_sparse_archive(tmp_path):
    matrix = scipy.sparse.random_array((20, 20), density=0.2, rng=np.random.default_rng(3), format="csr")
    scipy.sparse.save_npz(tmp_path / "a.npz", matrix)
    back = read_edges(tmp_path / "a.npz")
    rebuilt = scipy.sparse.coo_array((back.weights, (back.src, back.dst)), (20, 20)).toarray()
    np.testing.assert_array_equal(rebuilt, matrix.toarray())
    scipy.sparse.save_npz(tmp_path / "s.npz", (matrix + matrix.T).tocsr())
    once = read_edges(tmp_path / "s.npz", directed=False)
    assert (once.src <= once.dst).all()


def test_every_format_is_found_by_its_suffixes():
    for known in FORMATS.values():
        for suffix in known.suffixes:
            assert detect_format(f"dir.x/name{suffix}") == known.name
            assert detect_format(f"name{suffix.upper()}.gz") == known.name
    with pytest.raises(InputError, match="does not say its format"):
        detect_format("graph.xyz")


def test_importing_io_loads_nothing_heavy():
    code = "import sys, json, graphdask.io; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout))
    assert not loaded & {"pandas", "scipy", "numba", "distributed", "dask", "pyarrow"}


def test_gz_is_known_by_its_content(tmp_path):
    (tmp_path / "g.txt").write_bytes(gzip.compress(b"1 2\n"))
    (tmp_path / "h.txt.gz").write_bytes(b"1 2\n")
    assert read_edges(tmp_path / "g.txt").num_edges == read_edges(tmp_path / "h.txt.gz").num_edges == 1
