"""Wrong files are refused with file, line and reason; odd but valid ones are read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import FormatError, GraphdaskWarning, InputError, OverBudget, Unsupported
from graphdask.io import read_edges, read_vertex_values, write_edges

MM = "%%MatrixMarket matrix coordinate"


def read(tmp_path, content, name="g.txt", **options):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_edges(path, **options)


@pytest.mark.parametrize(
    ("name", "content", "options", "reason"),
    [
        # edge lists
        ("g.txt", "1 2\n3 -4\n", {}, r"g\.txt:2: vertex id '-4' has a sign"),
        ("g.txt", "-1 2\n", {}, r":1: vertex id '-1' has a sign"),
        ("g.txt", "1 2\n3 9223372036854775808\n", {}, r":2: vertex id '9223372036854775808' is above 2\^63 - 1"),
        ("g.txt", "1 2\n3 4.5\n", {}, r":2: vertex id '4\.5' is not an integer"),
        ("g.txt", "1.5 2\n", {}, r":1: vertex id '1\.5' is not an integer"),
        ("g.txt", "1 2\n3 a1\n", {}, r":2: vertex id 'a1' is not a number; pass ids='str'"),
        ("g.txt", "a1 2\n", {"ids": "int"}, r":1: vertex id 'a1' is not a number"),
        ("g.txt", "1 2\n3\n", {}, r":2: the line has 1 column, the lines before have 2"),
        ("g.txt", "1\n3\n", {}, r":1: the line has 1 column; an edge has a source and a target"),
        ("g.txt", "1 2\n\n# c\n3 4 5\n", {}, r":4: the line has 3 columns"),
        (
            "g.txt",
            "1 2 nan\n",
            {"weights": True},
            r":1: the weight is missing \('nan'\); fill it in, or read with weights=F",
        ),
        (
            "g.txt",
            "1 2 nan\n",
            {"format": "temporal"},
            r":1: the time is missing \('nan'\); fill it in, or leave the edge",
        ),
        ("g.txt", "1 2 1\n1 2 NA\n", {"weights": True}, r":2: the weight is missing \('NA'\)"),
        ("g.txt", "1 2 x\n", {"weights": True}, r":1: weight 'x' is not a number"),
        ("g.txt", "1 2\n", {"weights": True}, r":1: weights=True, but the file has only 2 columns"),
        ("g.txt", "1 2\n", {"weights": "time"}, r":1: the file has 2 columns, too few"),
        ("g.txt", b"\x00\x01\x02", {}, r"binary data.*0x00 at offset 0"),
        ("g.txt", bytes(range(1, 256)), {}, "binary data"),
        ("g.txt", b"PAR1abcd", {}, "Parquet file"),
        ("g.txt", "1 2\n".encode("utf-16"), {}, "UTF-16"),
        ("g.txt", b"a b\n\xff\xfe c\n", {}, r":2: .* is not UTF-8"),
        ("g.txt", "<!DOCTYPE html>\n<html>\n", {}, r":1: this looks like HTML"),
        ("g.csv", "1,2,\n", {"weights": True}, r":1: the weight is missing"),
        ("g.csv", "src,dst\n1,\n", {}, r":2: a vertex id is missing"),
        ("g.csv", "src,dst,weight\n1,2\n", {}, r":2: the header names 3 columns, the first data line has 2"),
        ("g.csv", "1,2\n3,4\n5\n", {}, r":3: the line has 1 column"),
        ("g.csv", 'a,b\n"a,b\n', {}, r":2: broken quotes"),
        ("g.csv", "src,dst\n1,2\n", {"columns": ("src", "to")}, "there is no column 'to'; the file has src, dst"),
        # compressed
        ("g.txt.gz", gzip.compress(b"1 2\n" * 999, mtime=0)[:-9], {}, "gzip data ends early: the file is truncated"),
        ("g.txt.gz", gzip.compress(b"1 2\n" * 999, mtime=0)[:20] + b"junk" * 9, {}, "gzip data is corrupt"),
        ("g.txt.xz", lzma.compress(b"1 2\n" * 999)[:-9], {}, "xz data ends early"),
        ("g.txt.xz", lzma.compress(b"1 2\n" * 999)[:30] + b"junk" * 9, {}, "xz data is corrupt"),
        ("g.txt.bz2", bz2.compress(b"1 2\n" * 999)[:-9], {}, "bzip2 data ends early"),
        ("g.txt.bz2", bz2.compress(b"1 2\n" * 999)[:20] + b"junk" * 9, {}, "bzip2 data is corrupt"),
        ("g.txt.gz", b"", {}, "empty"),
        # adjacency lists
        ("g.adj", "1 2\n2 x\n", {}, r":2: vertex id 'x'"),
        ("g.adj", "1 2 3\n2 1\n", {"directed": False}, r":1: 1 lists 3, but 3 does not list 1"),
        # Matrix Market
        ("g.mtx", "", {}, "first line must be"),
        ("g.mtx", f"{MM} pattern general\n", {}, "no size line"),
        (
            "g.mtx",
            f"{MM} pattern general\n2 2 3\n1 2\n2 1\n",
            {},
            r":2: the size line declares 3 entries, the file has 2",
        ),
        ("g.mtx", f"{MM} pattern general\n2 2 1\n1 2\n2 1\n", {}, r"declares 1 entries, the file has 2"),
        ("g.mtx", f"{MM} pattern general\n2 2 1\n1 3\n", {}, r":3: entry \(1, 3\) is outside the 2 x 2"),
        ("g.mtx", f"{MM} pattern general\n2 2 1\n0 1\n", {}, r":3: entry \(0, 1\) is outside"),
        ("g.mtx", f"{MM} pattern general\n2 3 1\n1 2\n", {}, r":2: the matrix is 2 x 3; a graph needs a square one"),
        ("g.mtx", f"{MM} real symmetric\n2 2 2\n2 1 1\n1 2 1\n", {}, r"entry \(2, 1\) is stored again as \(1, 2\)"),
        ("g.mtx", f"{MM} real skew-symmetric\n2 2 1\n1 1 1\n", {}, r"entry \(1, 1\) is on the diagonal"),
        ("g.mtx", f"{MM} real general\n2 2 1\n1 2 nan\n", {}, r":3: the value is missing \('nan'\)"),
        ("g.mtx", f"{MM} integer general\n2 2 1\n1 2 1.5\n", {}, "not all values are integers"),
        ("g.mtx", f"{MM} pattern general\n2 2 1\n1 2 5\n", {}, r":3: the line has 3 columns"),
        ("g.mtx", f"{MM} pattern general\n2 2 1\n1 2\n", {"weights": True}, "a pattern matrix has no values"),
        ("g.mtx", "%%MatrixMarket matrix coordinate quaternion general\n", {}, r":1: the banner"),
        # METIS
        ("g.graph", "", {}, "has no header"),
        ("g.graph", "% only\n", {}, "has no header"),
        ("g.graph", "3 1\n2\n1\n", {}, r":1: the header declares 3 vertices, but the file has lines for 2"),
        ("g.graph", "2 1\n2\n1\n1\n", {}, r":4: a line for vertex 3"),
        ("g.graph", "2 2\n2\n1\n", {}, r":1: the header declares 2 edges, but the lines hold 2 neighbours"),
        ("g.graph", "3 1\n2\n3\n\n", {}, r":2: vertex 1 lists 2, but 2 does not list 1"),
        ("g.graph", "2 1 1\n2 5\n1 6\n", {}, r":2: vertex 1 lists 2, .* with the same weight"),
        ("g.graph", "2 1\n3\n1\n", {}, r":2: vertex 1 lists 3, but vertices are numbered 1 to 2"),
        ("g.graph", "2 1 1\n2\n1 5\n", {}, r":2: vertex 1 has 1 numbers"),
        ("g.graph", "2 1 7\n2\n1\n", {}, r":1: fmt is 7"),
        ("g.graph", "2 1\n2\n1.5\n", {}, r":3: vertex id '1.5' is not an integer"),
        ("g.graph", "2 1\n2\n1\n", {"weights": True}, "edges have no weights"),
        # DIMACS
        ("g.gr", "", {}, "neither a p line nor an edge"),
        ("g.gr", "c only\n", {}, "neither a p line nor an edge"),
        ("g.gr", "p sp 3 2\na 1 2 5\n", {}, "the p line declares 2 edges, the file has 1"),
        ("g.gr", "p sp 2 1\na 1 3 5\n", {}, r":2: edge 1 3: the p line declares vertices 1 to 2"),
        ("g.gr", "p tw 2 1\n0 1\n", {}, r":2: edge 0 1"),
        ("g.gr", "p sp 2\n", {}, r":1: .*a p line is 'p problem vertices edges'"),
        ("g.gr", "p chess 2 1\n1 2\n", {}, r":1: the problem 'chess' is not known"),
        ("g.gr", "p tw 2 2\n1 2\np tw 2 2\n", {}, r":3: .*"),
        ("g.gr", "a 1 2 3\ne 1 2 3\n", {}, r":2: the line starts with 'e', not with 'a'"),
        ("g.gr", "1 2\n", {"weights": True}, r":1: weights=True, but the edges have no third number"),
        # binary formats
        ("g.parquet", b"no", {}, "not a readable Parquet file"),
        ("g.npz", b"no", {}, "not a readable NPZ archive"),
        ("g.npz", b"", {}, "not a readable NPZ archive"),
        ("g.gdg", b"no", {}, "not a graphdask native file"),
    ],
)
def test_refused(tmp_path, name, content, options, reason):
    with pytest.raises(FormatError, match=reason) as caught:
        read(tmp_path, content, name, **options)
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "options", "src", "dst", "weights"),
    [
        ("g.txt", "", {}, [], [], None),
        ("g.txt", "# one\n% two\n\n", {}, [], [], None),
        ("g.txt", "1 2", {}, [1], [2], None),
        ("g.txt", "\n 1\t 2 \n\n3  4\t\n", {}, [1, 3], [2, 4], None),
        ("g.txt", "1 2\r\n3 4\r\n", {}, [1, 3], [2, 4], None),
        ("g.txt", "1 2\r3 4\r", {}, [1, 3], [2, 4], None),
        ("g.txt", b"\xef\xbb\xbf1 2\n", {}, [1], [2], None),
        ("g.txt", "2147483648 9223372036854775807\n", {}, [2**31], [2**63 - 1], None),
        ("g.txt", "1 2 7\n", {}, [1], [2], None),
        ("g.txt", "1 2 7\n3 4 .5\n", {"weights": True}, [1, 3], [2, 4], [7, 0.5]),
        ("g.txt", "1 2 -inf\n", {"weights": True}, [1], [2], [-np.inf]),
        ("g.txt", "1 2 # note\n", {}, [1], [2], None),
        ("g.txt", "// x\n1 2\n", {"comment": "/"}, [1], [2], None),
        ("g.txt", "1;2\n", {}, [1], [2], None),
        ("g.txt", "a b\nc 5\n", {}, ["a", "c"], ["b", "5"], None),
        ("g.txt", "1 2\nc 5\n", {"ids": "str"}, ["1", "c"], ["2", "5"], None),
        ("g.csv", "1,2\n3,4\n", {}, [1, 3], [2, 4], None),
        ("g.csv", "x,y\n3,4\n", {}, [3], [4], None),
        ("g.csv", "weight;target;source\n.5;2;1\n", {}, [1], [2], [0.5]),
        ("g.csv", '"1","2"\n3,"4"\n', {}, [1, 3], [2, 4], None),
        ("g.csv", "when,to,w\n9,2,1\n", {"columns": ("when", "to", 2)}, [9], [2], [1]),
        ("g.csv", "\ufeffsrc,dst\r\n1,2\r\n", {}, [1], [2], None),
        ("g.tsv", "a b\tc\n", {"header": False}, ["a b"], ["c"], None),
        ("g.adj", "1 2 3\n\n2 1\n3 1\n4\n", {"directed": False}, [1, 1], [2, 3], None),
        ("g.adj", "1 2 3\n2 3\n4\n", {"directed": False}, [1, 1, 2], [2, 3, 3], None),
        ("g.mtx", f"{MM} real symmetric\n3 3 2\n2 1 1.5\n3 3 -2\n", {}, [2, 3], [1, 3], [1.5, -2]),
        ("g.mtx", f"{MM} complex hermitian\n2 2 1\n2 1 0 1\n", {"weights": False}, [2], [1], None),
        ("g.mtx", f"{MM} real general\n0 0 0\n", {}, [], [], []),
        ("g.graph", "% c\n3 2\n2 3\n1\n1\n", {}, [1, 1], [2, 3], None),
        ("g.graph", "3 1 1\n2 9\n1 9\n\n", {}, [1], [2], [9]),
        ("g.graph", "2 1 10\n5 2\n6 1\n", {}, [1], [2], None),
        ("g.graph", "2 1 11 2\n5 5 2 4\n6 6 1 4\n", {}, [1], [2], [4]),
        ("g.graph", "2 1 100\n5 2\n6 1\n\n", {}, [1], [2], None),
        ("g.gr", "c x\np sp 3 1\nc y\na 1 2 5\n", {}, [1], [2], [5]),
        ("g.gr", "p edge 3 1\ne 1 2\n", {}, [1], [2], None),
        ("g.gr", "p tw 3 0\n", {}, [], [], None),
        ("g.gr", "0 1\n", {}, [0], [1], None),
    ],
)
def test_read(tmp_path, name, content, options, src, dst, weights):
    edges = read(tmp_path, content, name, **options)
    assert edges.src.tolist() == src
    assert edges.dst.tolist() == dst
    assert (None if edges.weights is None else edges.weights.tolist()) == weights
    assert edges.report["bytes"] == (tmp_path / name).stat().st_size


def test_declared_vertices_include_isolated_ones(tmp_path):
    assert read(tmp_path, "p sp 3 1\na 1 2 5\n", "g.gr").vertices.tolist() == [1, 2, 3]
    assert read(tmp_path, "3 1\n2\n1\n\n", "g.graph").vertices.tolist() == [1, 2, 3]
    assert read(tmp_path, "7\n8 9\n", "g.adj").vertices.tolist() == [7, 8, 9]


def test_a_snap_comment_that_lies_warns(tmp_path):
    with pytest.warns(GraphdaskWarning, match="declares 5 edges, the file has 1"):
        edges = read(tmp_path, "# Nodes: 3 Edges: 5\n1 2\n")
    assert edges.report["declared_edges"] == 5


def test_a_likely_header_of_an_edge_list_warns(tmp_path):
    with pytest.warns(GraphdaskWarning, match=r"g\.txt:1: 'foo bar' is read as a header .*header=False if it is an"):
        assert read(tmp_path, "foo bar\n1 2\n").src.tolist() == [1]
    with pytest.warns(GraphdaskWarning, match="ids are read as strings because of 'foo' and 'bar', but the others are"):
        assert read(tmp_path, "foo bar\n1 2\n", header=False).src.tolist() == ["foo", "1"]


def test_temporal_columns(tmp_path):
    edges = read(tmp_path, "1 2 5 100\n", format="temporal")
    assert (edges.weights, edges.times.tolist()) == (None, [100])
    edges = read(tmp_path, "1 2 5 100\n", format="temporal", weights=True)
    assert (edges.weights.tolist(), edges.times.tolist()) == ([5], [100])


def test_ldbc_files_that_do_not_fit(tmp_path):
    (tmp_path / "g.v").write_text("1\n2\n")
    with pytest.raises(InputError, match=r"NAME\.v and NAME\.e side by side"):
        read_edges(tmp_path / "g.v")
    (tmp_path / "g.e").write_text("1 2\n2 3\n")
    with pytest.raises(FormatError, match=r"g\.e:2: the edge 2 3 names the vertex 3, which g\.v does not declare"):
        read_edges(tmp_path / "g")
    (tmp_path / "g.e").write_text("1 2\n")
    (tmp_path / "g.properties").write_text("graph.g.directed = false\n")
    assert read_edges(tmp_path / "g").directed is False
    (tmp_path / "answer").write_text("1 0\n1 2\n")
    with pytest.raises(FormatError, match=r"answer:2: vertex 1 has a second value"):
        read_vertex_values(tmp_path / "answer")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"format": "gml"}, "format='gml' is not known"),
        ({"weights": "cost"}, "weights='cost'"),
        ({"weights": 2}, "weights=2"),
        ({"ids": "float"}, "ids='float'"),
        ({"threads": 0}, "threads=0"),
        ({"delimiter": "::"}, "delimiter='::'"),
        ({"comment": "1"}, "comment='1'"),
        ({"columns": (0,)}, "columns="),
        ({"format": "metis", "directed": True}, "undirected"),
        ({"format": "metis", "ids": "str"}, "means nothing for the format metis"),
    ],
)
def test_wrong_arguments(tmp_path, options, reason):
    with pytest.raises(InputError, match=reason):
        read(tmp_path, "1 2\n", **options)


@pytest.mark.parametrize("ending", [".zst", ".lz4", ".zip", ".tar", ".tar.gz", ".ZST"])
def test_compressions_that_are_not_there_are_named(tmp_path, ending):
    path = tmp_path / f"g.txt{ending}"
    said = rf"g\.txt{ending}: files that end in {ending.removesuffix('.gz').lower()} are neither read nor written"
    G = gd.from_edges([0], [1])
    for write in (
        lambda: G.write(path), lambda: G.write(path, "edgelist"), lambda: G.write(path, "csv", files=2),
        lambda: write_edges(read_edges(tmp_path / "h.txt"), path, format="edgelist"),
    ):  # fmt: skip
        (tmp_path / "h.txt").write_text("1 2\n")
        with pytest.raises(InputError, match=said):
            write()
        assert not path.exists()
    path.write_bytes(b"\x28\xb5\x2f\xfd")
    with pytest.raises(InputError, match=said):
        read_edges(path)


def test_no_file_and_no_permission(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_edges(tmp_path / "none.txt")
    with pytest.raises(InputError, match="is a directory"):
        read_edges(tmp_path, format="edgelist")
    (tmp_path / "some").write_text("1 2\n")
    for reads in (read_edges, gd.read_graph, lambda path: gd.stream.build(path, tmp_path / "g.gdl")):
        with pytest.raises(InputError, match=r"none: no such file$"):
            reads(tmp_path / "none")
        with pytest.raises(InputError, match=r"is a folder, and none that graphdask wrote: it has no _graph"):
            reads(tmp_path)
        with pytest.raises(InputError, match="does not say its format"):
            reads(tmp_path / "some")
    with pytest.raises(InputError, match="is not a path"):
        read_edges(5)
    with pytest.raises(InputError, match="not compressed as a whole"):
        read_edges(tmp_path / "g.npz.gz")
    with pytest.raises(Unsupported, match="dense"):
        read(tmp_path, "%%MatrixMarket matrix array real general\n1 1\n1\n", "g.mtx")


@pytest.mark.parametrize(
    ("src", "dst", "weight", "reason"),
    [
        ([1, -2], [3, 4], None, "row 1: .*negative id -2"),
        (np.array([1, 2**63], np.uint64), np.array([1, 2], np.uint64), None, r"row 1: .*above 2\^63 - 1"),
        ([1.0, 2.0], [3.0, 4.0], None, "vertex ids are integers or strings"),
        ([1, 2], [3, 4], [1.0, np.nan], "row 1: .*NaN"),
    ],
)
def test_arrays_that_are_no_edges(tmp_path, src, dst, weight, reason):
    import pyarrow as pa
    from pyarrow import parquet

    arrays = {"src": np.asarray(src), "dst": np.asarray(dst)} | ({} if weight is None else {"weight": weight})
    parquet.write_table(pa.table(arrays), tmp_path / "g.parquet")
    with pytest.raises(FormatError, match=reason):
        read_edges(tmp_path / "g.parquet")
    if weight is not None:
        arrays["weights"] = arrays.pop("weight")
    np.savez(tmp_path / "g.npz", **arrays)
    with pytest.raises(FormatError, match=reason):
        read_edges(tmp_path / "g.npz")


def test_parquet_nulls_and_names(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"a": [1, None], "b": [1, 2]}), tmp_path / "g.parquet")
    with pytest.raises(FormatError, match="row 1: column 'a' is null"):
        read_edges(tmp_path / "g.parquet")
    parquet.write_table(pa.table({"x": [0, 0], "to": [1, 2], "from": [5, 6]}), tmp_path / "g.parquet")
    assert read_edges(tmp_path / "g.parquet").src.tolist() == [5, 6]
    assert read_edges(tmp_path / "g.parquet", columns=("to", "x")).src.tolist() == [1, 2]


def test_a_pipe_is_refused_at_once_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    for name in (tmp_path / "pipe.txt", "/dev/null"):
        with pytest.raises(InputError, match="is a pipe or a device; write what it holds to a file"):
            read_edges(name, format="edgelist")


def test_a_directory_is_called_one(tmp_path):
    (tmp_path / "graph.txt").mkdir()
    with pytest.raises(InputError, match=r"^\S*graph\.txt is a directory; name a file$"):
        read_edges(tmp_path / "graph.txt")


@pytest.mark.parametrize("count", [10**12, 10**30])
def test_a_header_that_declares_more_vertices_than_memory_holds_is_named(tmp_path, count):
    for name, content in (
        ("g.gr", f"p sp {count} 1\na 1 2 3\n"),
        ("g.mtx", f"{MM} pattern general\n{count} {count} 1\n1 2\n"),
    ):
        with pytest.raises(OverBudget, match=rf"g\.\w+: the header declares {count:,} vertices"):
            read(tmp_path, content, name)
