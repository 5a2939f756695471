"""`convert` keeps the columns that are named, and refuses those that a file does not have."""

from __future__ import annotations

import json

import pytest

import graphdask as gd


@pytest.fixture
def roads(tmp_path):
    G = gd.from_edges(
        [5, 9], [9, 7], [1.0, 2.0], edge_columns={"km": [3, 4], "name": ["x", "y"]},
        vertex_columns={"id": [9, 5], "city": ["a", "b"]},
    )  # fmt: skip
    G.write(tmp_path / "roads.gdg")
    return tmp_path / "roads.gdg"


@pytest.mark.parametrize("name", ["out.gdg", "out.graphml", "out.gexf", "out.parquet", "out.csv"])
def test_columns_are_kept_by_name_or_all(name, roads, call, tmp_path):
    out = tmp_path / name
    both = name not in ("out.parquet", "out.csv")
    told = json.loads(call("convert", roads, out, "--edge-columns", "all", "--vertex-columns", "city", "--json").stdout)
    assert told["edge_columns"] == ["km", "name"]
    assert told["vertex_columns"] == ["city"]
    G = gd.read_graph(out, edge_columns=True, vertex_columns=both)
    assert G.to_arrow().to_pydict() == {
        "src": [5, 9],
        "dst": [9, 7],
        "weight": [1, 2],
        "km": [3, 4],
        "name": ["x", "y"],
    }
    if both:
        assert G.to_arrow("vertices").to_pydict() == {"vertex": [5, 7, 9], "city": ["b", None, "a"]}
    call("convert", roads, out, "--edge-columns", "km", "--overwrite")
    assert list(gd.read_graph(out, edge_columns=True).edge_columns) == ["km"]
    call("convert", roads, out, "--overwrite")
    assert not gd.read_graph(out, edge_columns=True).edge_columns


def test_renumbered_vertices_keep_their_columns(roads, call, tmp_path):
    call("convert", roads, tmp_path / "out.gdg", "--renumber", "--edge-columns", "all", "--vertex-columns", "all")
    G = gd.read_graph(tmp_path / "out.gdg", edge_columns=True, vertex_columns=True)
    assert G.to_arrow("vertices").to_pydict() == {"vertex": [0, 1, 2], "city": ["b", None, "a"]}
    assert G.edge_column("km").tolist() == [3, 4]


def test_columns_that_are_not_there_are_refused(roads, call, tmp_path):
    failed = call("convert", roads, tmp_path / "out.gdg", "--edge-columns", "km,z")
    assert failed.exit_code == 2
    assert "there is no column 'z'; the file has km, name" in " ".join(failed.stderr.split())
    assert not (tmp_path / "out.gdg").exists()
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    failed = call("convert", tmp_path / "g.mtx", tmp_path / "out.gdg", "--edge-columns", "all")
    assert failed.exit_code == 2
    assert "matrixmarket holds no columns of edges" in " ".join(failed.stderr.split())


def test_a_streamed_graph_keeps_them_both_ways(roads, call, tmp_path):
    asked, stored = ("--edge-columns", "all", "--vertex-columns", "city"), tmp_path / "roads.gdl"
    assert json.loads(call("stream", "build", roads, stored, *asked, "--json").stdout)["edge_columns"] == ["km", "name"]
    for command in (("stream", "check"), ("info",)):
        said = " ".join(call(*command, stored).stdout.split())
        assert "columns of edges km, name" in said
        assert "columns of vertices city" in said
    told = json.loads(call("convert", stored, tmp_path / "back.gdg", *asked, "--json").stdout)
    assert (told["in"]["format"], told["edge_columns"], told["vertex_columns"]) == ("layered", ["km", "name"], ["city"])
    G, H = (gd.read_graph(path, edge_columns=True, vertex_columns=["city"]) for path in (roads, tmp_path / "back.gdg"))
    assert gd.same_graph(G, H)
    assert G.to_arrow().equals(H.to_arrow())
    assert G.to_arrow("vertices").equals(H.to_arrow("vertices"))
    call("convert", stored, tmp_path / "plain.csv")
    assert gd.read_graph(tmp_path / "plain.csv").num_edges == 2
    failed = call("convert", stored, tmp_path / "out.csv", "--edge-columns", "z")
    assert "there is no column 'z'; there are km, name" in " ".join(failed.stderr.split())
    failed = call("convert", stored, tmp_path / "out.csv", "--undirected")
    assert "--undirected has no meaning for roads.gdl" in " ".join(failed.stderr.split())
