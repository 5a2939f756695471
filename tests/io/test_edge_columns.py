"""Columns of edges and of vertices come back from files as they were written, and as pyarrow and pandas read them."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from tables_of_columns import same_columns, table_of_types

import graphdask as gd
from graphdask.errors import FormatError, GraphdaskWarning, InputError
from graphdask.io import EdgeList, read_edges, write_edges

EDGES, VERTICES = 60, 12
KEEPS_BOTH = {
    "parquet folder": ("graph", "parquet"),
    "native": ("graph.gdg", None),
    "native folder": ("graph", "native"),
}
KEEPS_EDGES = {"parquet": ("graph.parquet", None)} | KEEPS_BOTH
SHAPES = {
    "directed": {},
    "undirected": {"directed": False},
    "merged": {"multi_edges": "merge"},
    "no loops": {"self_loops": "drop", "directed": False},
}


def ends(names=False):
    rng = np.random.default_rng(7)
    found = rng.integers(0, VERTICES, (2, EDGES))
    return np.array([f"v{n}" for n in range(VERTICES)], object)[found] if names else found


def made(vertices=True, names=False, **options):
    src, dst = ends(names)
    ids = [f"v{n}" for n in range(VERTICES)] if names else list(range(VERTICES))
    columns = table_of_types(VERTICES, 5).append_column("id", pa.array(ids)) if vertices else None
    return gd.from_edges(src, dst, edge_columns=table_of_types(EDGES), vertex_columns=columns, **options)


def written(G, tmp_path, format):
    name, named = format
    G.write(tmp_path / name, named)
    return tmp_path / name


@pytest.mark.parametrize("format", KEEPS_EDGES.values(), ids=list(KEEPS_EDGES))
@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
@pytest.mark.parametrize("names", [False, True], ids=["numbers", "names"])
def test_columns_of_every_type_come_back(format, shape, names, tmp_path):
    G = made(vertices=format in KEEPS_BOTH.values(), names=names, **shape)
    file = written(G, tmp_path, format)
    H = gd.read_graph(file, edge_columns=True, vertex_columns=format in KEEPS_BOTH.values())
    assert gd.same_graph(G, H)
    assert same_columns(H.to_arrow(), G.to_arrow())
    assert same_columns(H.to_arrow("vertices"), G.to_arrow("vertices"))
    assert H.edge_columns == G.edge_columns
    some = gd.read_graph(file, edge_columns=["list", "int8"])
    assert same_columns(some.to_arrow(), G.to_arrow(columns=["list", "int8"]))
    assert not gd.read_graph(file).edge_columns


@pytest.mark.parametrize("format", KEEPS_EDGES.values(), ids=list(KEEPS_EDGES))
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_partitions_change_neither_edges_nor_columns(format, parts, tmp_path):
    G = made(vertices=False)
    H = gd.read_graph(written(G.partition(parts), tmp_path, format), edge_columns=True).partition(parts)
    assert same_columns(H.to_arrow(), G.to_arrow())
    rows, others = (gd.sample.neighbors(each, [0, 1, 2], [2, 2]).edge.tolist() for each in (G.partition(parts), H))
    assert rows == others


@pytest.mark.parametrize("format", KEEPS_EDGES.values(), ids=list(KEEPS_EDGES))
def test_an_empty_graph_keeps_its_columns(format, tmp_path):
    G = gd.from_edges([], [], edge_columns=table_of_types(0), vertex_columns={"id": [], "s": []})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphdaskWarning)
        file = written(G, tmp_path, format)
    H = gd.read_graph(file, edge_columns=True)
    assert gd.same_graph(G, H)
    assert same_columns(H.to_arrow(), G.to_arrow())


@pytest.mark.parametrize("files", [2, 3, 7])
def test_several_files_are_read_in_their_order_with_the_categories_of_all(files, tmp_path):
    G = made(vertices=False, weights=np.arange(EDGES))
    table = G.to_arrow()
    bounds = [EDGES * k // files for k in range(files + 1)]
    words = [f"w{n % 5}" for n in range(EDGES)]
    for k in range(files):
        part = table.slice(bounds[k], bounds[k + 1] - bounds[k]).drop_columns(["category", "ordered"])
        own = pa.array(words[bounds[k] : bounds[k + 1]]).dictionary_encode()
        parquet.write_table(part.append_column("category", own), tmp_path / f"{k}.parquet")
    H = gd.read_graph(tmp_path / "*.parquet", edge_columns=["category", "int64", "list"])
    assert gd.same_graph(G, H)
    assert H.to_arrow()["category"].to_pylist() == words
    assert same_columns(H.to_arrow(columns=["int64", "list"]), G.to_arrow(columns=["int64", "list"]))
    G.write(tmp_path / "folder", "parquet", files=files)
    assert len(list((tmp_path / "folder").glob("part-*.parquet"))) == files
    assert same_columns(gd.read_graph(tmp_path / "folder", edge_columns=True).to_arrow(), table)


def test_files_of_other_columns_or_types_are_refused(tmp_path):
    for name, columns in {"a": {"x": [1]}, "b": {"y": [1]}, "c": {"x": ["one"]}, "d": {"x": [0.5]}}.items():
        parquet.write_table(pa.table({"src": [0], "dst": [1], **columns}), tmp_path / f"{name}.parquet")
    with pytest.raises(InputError, match=r"a.parquet has the column 'x' and .*b.parquet has none"):
        gd.read_graph(tmp_path / "[ab].parquet", edge_columns=True)
    with pytest.raises(InputError, match=r"'x' is int64 in one file and string in .*c.parquet"):
        gd.read_graph(tmp_path / "[ac].parquet", edge_columns=True)
    H = gd.read_graph(tmp_path / "[ad].parquet", edge_columns=["x"])
    assert H.edge_column("x").tolist() == [1.0, 0.5]


def test_a_file_of_pandas_gives_the_columns_that_pandas_reads(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({
        "source": rng.integers(0, 9, 40), "target": rng.integers(0, 9, 40), "w": rng.random(40),
        "time": pd.to_datetime("2026-01-01") + pd.to_timedelta(rng.integers(0, 99, 40), unit="h"),
        "kind": pd.Categorical(rng.choice(["a", "b"], 40)), "n": pd.array([1, None] * 20, "Int64"),
    })  # fmt: skip
    frame.to_parquet(tmp_path / "calls.parquet")
    G = gd.read_graph(tmp_path / "calls.parquet", edge_columns=True)
    expected = pd.read_parquet(tmp_path / "calls.parquet")
    assert G.weighted
    assert G.report["columns"] == ["source", "target", "w"]
    pd.testing.assert_frame_equal(G.to_frame()[["time", "kind", "n"]], expected[["time", "kind", "n"]])
    plain = gd.read_graph(tmp_path / "calls.parquet")
    assert plain.report["unread_columns"] == 2  # kind and n
    both = gd.read_graph(tmp_path / "calls.parquet", edge_columns=["w", "kind"])
    assert both.weighted
    assert both.edge_column("w").tolist() == expected.w.tolist()
    edges = read_edges(tmp_path / "calls.parquet", edge_columns=["kind"], weights="time")
    assert edges.times.tolist() == (expected.time.astype("datetime64[s]").astype(int)).tolist()
    assert edges.edge_columns["kind"].to_pylist() == expected.kind.tolist()


def test_columns_named_as_weights_times_and_ends_come_back_as_columns(tmp_path):
    columns = {name: [n, n + 1] for n, name in enumerate(["w", "time", "source", "target", "type", "id"])}
    G = gd.from_edges([0, 1], [1, 2], edge_columns=columns)
    G.write(tmp_path / "graph.parquet")
    H = gd.read_graph(tmp_path / "graph.parquet", edge_columns=True)
    assert not H.weighted
    assert gd.same_graph(G, gd.read_graph(tmp_path / "graph.parquet"))
    assert same_columns(H.to_arrow(), G.to_arrow())
    assert pd.read_parquet(tmp_path / "graph.parquet").columns.tolist() == ["src", "dst", *columns]


@pytest.mark.parametrize("name", ["g.parquet", "g.csv", "g.gdg", "folder"])
def test_all_columns_of_a_file_without_any_are_none(name, tmp_path):
    G = gd.from_edges([0, 1], [1, 2], [1.5, 2.5])
    G.write(tmp_path / name, "parquet" if name == "folder" else None)
    H = gd.read_graph(tmp_path / name, edge_columns=True)
    assert gd.same_graph(G, H)
    assert not H.edge_columns
    assert "unread_columns" not in H.report


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_files_of_which_one_has_no_columns_are_refused(order, tmp_path):
    for name, text in zip(order, ("src,dst\n0,1\n", "src,dst,x\n1,2,3\n"), strict=True):
        (tmp_path / f"{name}.csv").write_text(text)
    with pytest.raises(InputError, match=r"has the column 'x' and .* has none of this name"):
        gd.read_graph(tmp_path / "*.csv", edge_columns=True)


def test_what_a_file_does_not_hold_is_refused(tmp_path):
    file = tmp_path / "graph.parquet"
    parquet.write_table(pa.table({"src": [0], "dst": [1], "x": [2], "edge": [3]}), file)
    assert list(gd.read_graph(file, edge_columns=True).edge_columns) == ["x"]
    for given, error, message in (
        (["y"], FormatError, "edge_columns: there is no column 'y'; the file has src, dst, x, edge"),
        (["edge"], InputError, "'edge' is what graphdask calls a column of its own"),
        (["x", "x"], InputError, "names the column 'x' twice"),
        ("x", InputError, "edge_columns='x' is not a list of names of columns, True for all, or None"),
        (3, InputError, "edge_columns=3 is not"),
    ):
        with pytest.raises(error, match=message):
            gd.read_graph(file, edge_columns=given)
    with pytest.raises(InputError, match=r"vertex_columns=True: parquet holds no columns of vertices"):
        gd.read_graph(file, vertex_columns=True)
    (tmp_path / "graph.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    with pytest.raises(InputError, match=r"edge_columns=\['x'\]: matrixmarket holds no columns of edges; .*parquet"):
        gd.read_graph(tmp_path / "graph.mtx", edge_columns=["x"])
    gd.read_graph(file).write(tmp_path / "plain", "parquet")
    gd.read_graph(file).write(tmp_path / "plain.gdg")
    for plain in (tmp_path / "plain", tmp_path / "plain.gdg"):
        assert not gd.read_graph(plain, vertex_columns=True).vertex_columns
        with pytest.raises(FormatError, match="vertex_columns: there is no column 'name'; the file has none"):
            gd.read_graph(plain, vertex_columns=["name"])


def test_columns_that_a_file_does_not_keep_are_named_in_a_warning(tmp_path):
    months = pa.array([pa.MonthDayNano([1, 2, 3]), None])
    columns = pa.table({"span": months, "x": [1, 2]})
    G = gd.from_edges([0, 1], [1, 2], edge_columns=columns, vertex_columns={"name": ["a", "b", "c"]})
    with pytest.warns(GraphdaskWarning, match="the edge columns span and the vertex columns name are not written"):
        G.write(tmp_path / "graph.parquet")
    assert list(gd.read_graph(tmp_path / "graph.parquet", edge_columns=True).edge_columns) == ["x"]
    with pytest.warns(GraphdaskWarning, match="the edge columns span, x and the vertex columns name are not written"):
        G.write(tmp_path / "graph.txt")


def test_a_native_file_of_other_columns_is_read_as_before(tmp_path):
    G = made()
    G.write(tmp_path / "graph.gdg")
    edges = read_edges(tmp_path / "graph.gdg")
    assert edges.edge_columns is None
    assert edges.vertex_columns is None
    assert edges.src.tolist() == ends()[0].tolist()
    table = read_edges(tmp_path / "graph.gdg", vertex_columns=["int8"]).vertex_columns
    assert table.column_names == ["vertex", "int8"]
    assert table["vertex"].to_pylist() == list(range(VERTICES))


def test_several_native_files_have_a_row_for_each_vertex_once(tmp_path):
    names = {"id": [0, 1, 2], "name": ["a", "b", "c"], "x": [1.0, float("nan"), 2.0]}
    gd.from_edges([0, 1], [1, 2], vertex_columns=names).write(tmp_path / "1.gdg")
    gd.from_edges(
        [2, 1],
        [5, 0],
        vertex_columns={**names, "id": [2, 1, 5], "name": ["c", "b", "f"], "x": [2.0, float("nan"), 0.0]},
    ).write(tmp_path / "2.gdg")
    H = gd.read_graph(tmp_path / "*.gdg", vertex_columns=True)
    assert H.to_frame("vertices").name.tolist() == ["a", "b", "c", "f"]
    gd.from_edges([2], [1], vertex_columns={"id": [2, 1], "name": ["z", "b"], "x": [2.0, float("nan")]}).write(
        tmp_path / "3.gdg"
    )
    with pytest.raises(InputError, match="the files have different rows of the vertex 2"):
        gd.read_graph(tmp_path / "*.gdg", vertex_columns=True)


def test_damaged_columns_of_a_native_file_are_refused(tmp_path):
    file = tmp_path / "graph.gdg"
    made().write(file)
    data = bytearray(file.read_bytes())
    place = data.index(b"k1, ")
    data[place] ^= 1
    file.write_bytes(data)
    gd.read_graph(file)
    with pytest.raises(FormatError, match="_columns is damaged: the checksum"):
        gd.read_graph(file, edge_columns=True, vertex_columns=True)


def test_a_damaged_statement_of_columns_is_refused(tmp_path):
    file = tmp_path / "graph.parquet"
    made(vertices=False).write(file)
    table = parquet.read_table(file)
    stated = table.schema.metadata[b"graphdask"].replace(b'"columns": "', b'"columns": "!')
    parquet.write_table(table.replace_schema_metadata({b"graphdask": stated}), file)
    with pytest.raises(FormatError, match="the columns that graphdask stated are damaged"):
        gd.read_graph(file, edge_columns=True)


FLAT = {
    "int64": pa.array([5, None, 2**62]), "float64": pa.array([-0.0, 1.0, None]), "bool": pa.array([True, None, False]),
    "string": pa.array(["NA", "", None]), "words": pa.array(['a "b", c', "#x", " d"]),
    "date": pa.array([0, None, 3], pa.date32()),
    "time": pa.array([0, None, 3], pa.timestamp("s")), "clock": pa.array([0, None, 3], pa.time32("s")),
    "nothing": pa.nulls(3), "float_nan": pa.array([float("inf"), 0.5, 2.0]), "a \"name\"": pa.array([1, 2, 3]),
}  # fmt: skip
"""Columns that CSV gives back as they were."""


@pytest.mark.parametrize("name", ["graph.csv", "graph.csv.gz", "graph/"])
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0], [3, 2, 1]], ids=["unweighted", "floats", "integers"])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("names", [False, True], ids=["numbers", "names"])
def test_csv_keeps_columns(name, weights, directed, names, tmp_path):
    src, dst = (["a", "b", "b"], ["b", "b", "c"]) if names else ([0, 1, 1], [1, 1, 2])
    G = gd.from_edges(src, dst, weights, directed=directed, edge_columns=FLAT)
    G.write(f"{tmp_path}/{name}", "csv")
    H = gd.read_graph(tmp_path / name, edge_columns=True)
    assert gd.same_graph(G, H)
    assert same_columns(H.to_arrow(columns=list(FLAT)), G.to_arrow())
    some = gd.read_graph(tmp_path / name, edge_columns=["words", "time"])
    assert some.edge_column("words").tolist() == FLAT["words"].to_pylist()
    assert not gd.read_graph(tmp_path / name).edge_columns
    if name == "graph.csv":
        frame = pd.read_csv(tmp_path / name, keep_default_na=False, na_values={"int64": [""]})
        assert frame.words.tolist() == FLAT["words"].to_pylist()
        assert list(frame.columns)[-len(FLAT) :] == list(FLAT)


def test_csv_keeps_values_whose_types_it_does_not_say(tmp_path):
    columns = table_of_types(EDGES)
    G = gd.from_edges(*ends(), edge_columns=columns)
    with pytest.warns(GraphdaskWarning) as said:
        G.write(tmp_path / "graph.csv")
    texts = [str(each.message) for each in said]
    assert any("the edge columns duration, binary, list, struct are not written" in text for text in texts)
    assert any(
        "the types of the columns int8, uint64, float32, large_string, category, ordered," in text for text in texts
    )
    H = gd.read_graph(tmp_path / "graph.csv", edge_columns=True)
    for name in ("int8", "category", "ordered", "date64", "timestamp_ns", "string", "bool", "float64", "decimal"):
        assert H.to_arrow()[name].to_pylist() == columns[name].to_pylist(), name
    assert np.array_equal(H.edge_column("float32").astype(np.float32), columns["float32"].to_numpy())


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".txt.gz"])
def test_a_text_gives_the_columns_that_pandas_reads(suffix, tmp_path):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({
        "source": rng.integers(0, 9, 400), "target": rng.integers(0, 9, 400), "weight": rng.random(400),
        "day": pd.to_datetime("2026-01-01") + pd.to_timedelta(rng.integers(0, 99, 400), unit="D"),
        "kind": rng.choice(["a", "b"], 400), "n": rng.integers(0, 9, 400),
    })  # fmt: skip
    file = tmp_path / f"calls{suffix}"
    frame.to_csv(file, index=False, sep="," if suffix == ".csv" else "\t")
    G = gd.read_graph(file, edge_columns=["day", "kind", "n"], weights=True)
    assert G.edges().weights.tolist() == frame.weight.tolist()
    assert G.edge_column("n").tolist() == frame.n.tolist()
    assert G.edge_column("kind").tolist() == frame.kind.tolist()
    assert (G.edge_column("day").astype("datetime64[ns]") == frame.day.to_numpy()).all()
    assert list(gd.read_graph(file, edge_columns=True).edge_columns) == ["day", "kind", "n"]


def test_rows_of_text_are_those_of_the_edges(tmp_path):
    file = tmp_path / "graph.csv"
    file.write_text("a,b,x\n# one\n0,1,5\n\n1,2,6\n   \n# 3,4,7\n2,3,8\n")
    G = gd.read_graph(file, edge_columns=["x"], comment="#", header=True)
    assert G.to_arrow().to_pydict() == {"src": [0, 1, 2], "dst": [1, 2, 3], "x": [5, 6, 8]}
    (tmp_path / "snap.txt").write_text("# Undirected graph\n# FromNodeId ToNodeId Sign\n0 1 -1\n# more\n1 2 1\n")
    G = gd.read_graph(tmp_path / "snap.txt", edge_columns=["Sign"])
    assert G.edge_column("Sign").tolist() == [-1, 1]
    assert not G.directed
    file.write_text("0,1,5\n1,2,6\n")
    with pytest.raises(FormatError, match="the file has no header that names its columns; header=True"):
        gd.read_graph(file, edge_columns=True)
    file.write_bytes(b"\xef\xbb\xbfsrc,dst,x\r\n0,1,5\r\n1,2,\r\n")
    assert gd.read_graph(file, edge_columns=True).to_arrow()["x"].to_pylist() == [5, None]
    for number, part in enumerate(["src,dst,x\n0,1,\n", "src,dst,x\n1,2,7\n", "src,dst,x\n"]):
        (tmp_path / f"part{number}.csv").write_text(part)
    assert gd.read_graph(tmp_path / "part*.csv", edge_columns=True).to_arrow()["x"].to_pylist() == [None, 7]
    (tmp_path / "one.txt").write_text("src dst x\n0 1 5\n1  2 6\n")
    with pytest.raises(FormatError, match="edge_columns: CSV parse error"):
        gd.read_graph(tmp_path / "one.txt", edge_columns=["x"])


def test_names_that_csv_would_read_as_others_are_warned_of(tmp_path):
    columns = {"w": [1, 2], "directed": [0, 1], "target": [3, 4], "code": ["1", "2"]}
    G = gd.from_edges([0, 1], [1, 2], edge_columns=columns, directed=False)
    with pytest.warns(GraphdaskWarning) as said:
        G.write(tmp_path / "graph.csv")
    texts = " ".join(str(each.message) for each in said)
    assert "the edge columns directed, target are not written" in texts
    assert "that w are no weights; read it with weights=False" in texts
    assert "the types of the columns code" in texts
    H = gd.read_graph(tmp_path / "graph.csv", edge_columns=True, weights=False)
    assert list(H.edge_columns) == ["w", "code"]
    assert gd.same_graph(G, H)


XML = {
    "long": pa.array([5, None, 2**62]), "int": pa.array([1, -2, None], pa.int32()),
    "double": pa.array([0.1, None, float("inf")]),
    "float": pa.array([0.5, None, 2.0], pa.float32()), "boolean": pa.array([True, False, None]),
    "string": pa.array([" <a> & \"b\"\r\n", "", None]), "a <name>": pa.array(["x", "y", "z"]),
}  # fmt: skip
"""Columns that GraphML and GEXF give back as they were."""


@pytest.mark.parametrize("name", ["g.graphml", "g.gexf", "g.graphml.gz"])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("names", [False, True], ids=["numbers", "names"])
def test_graphml_and_gexf_keep_columns(name, directed, names, tmp_path):
    src, dst = (["a", "b", "b"], ["b", "b", "c"]) if names else ([0, 1, 1], [1, 1, 2])
    people = XML | {"id": ["c", "a", "z"] if names else [2, 0, 9]}
    G = gd.from_edges(src, dst, [1.5, 2.0, 3.0], directed=directed, edge_columns=XML, vertex_columns=people)
    G.write(tmp_path / "g.gdg")
    write_edges(read_edges(tmp_path / "g.gdg", edge_columns=True, vertex_columns=True), tmp_path / name)
    H = gd.read_graph(tmp_path / name, edge_columns=True, vertex_columns=True)
    assert gd.same_graph(G, H)
    assert same_columns(H.to_arrow(), G.to_arrow())
    assert same_columns(H.to_arrow("vertices"), G.to_arrow("vertices"))
    plain = gd.read_graph(tmp_path / name)
    assert not plain.edge_columns
    assert not plain.vertex_columns
    some = gd.read_graph(tmp_path / name, edge_columns=["boolean"], vertex_columns=["string"])
    assert some.edge_column("boolean").tolist() == [True, False, None]
    if not name.endswith(".gz"):
        read = nx.read_graphml if name == "g.graphml" else nx.read_gexf
        by_networkx = read(tmp_path / name)
        first = "a" if names else "0"
        assert {data["long"] for *_, data in by_networkx.edges(data=True) if "long" in data} == {5, 2**62}
        assert by_networkx.nodes[first]["int"] == -2


@pytest.mark.parametrize("name", ["g.graphml", "g.gexf"])
def test_attributes_of_networkx_are_columns(name, tmp_path):
    g = nx.DiGraph()
    g.add_node("a", age=7, city="x")
    g.add_node("b", age=8)
    g.add_edge("a", "b", weight=2.5, kind="road", open=True, km=3)
    g.add_edge("b", "a", weight=1.5, km=4)
    (nx.write_graphml if name == "g.graphml" else nx.write_gexf)(g, tmp_path / name)
    G = gd.read_graph(tmp_path / name, edge_columns=["kind", "open", "km"], vertex_columns=["age", "city"])
    rows = dict(zip(G.to_arrow()["src"].to_pylist(), G.to_arrow().to_pylist(), strict=True))
    assert rows["a"] == {"src": "a", "dst": "b", "weight": 2.5, "kind": "road", "open": True, "km": 3}
    assert rows["b"] == {"src": "b", "dst": "a", "weight": 1.5, "kind": None, "open": None, "km": 4}
    assert G.vertex_column("age").tolist() == [7, 8]
    assert G.vertex_column("city").tolist() == ["x", None]
    with pytest.raises(FormatError, match="vertex_columns: there is no column 'kind'; the file has "):
        gd.read_graph(tmp_path / name, vertex_columns=["kind"])


def test_defaults_and_bad_values_of_graphml(tmp_path):
    text = (
        '<graphml><key id="d" for="all" attr.name="n" attr.type="int"><default>4</default></key>'
        '<graph edgedefault="directed"><node id="0"><data key="d">7</data></node><node id="1"/>'
        '<edge source="0" target="1"/><edge source="1" target="0"><data key="d">{}</data></edge></graph></graphml>'
    )
    (tmp_path / "g.graphml").write_text(text.format(5))
    G = gd.read_graph(tmp_path / "g.graphml", edge_columns=["n"], vertex_columns=True)
    assert G.edge_column("n").tolist() == [4, 5]
    assert G.vertex_column("n").tolist() == [7, 4]
    for value, message in (("x", "'x' of the column 'n' is no int"), (2**70, "does not fit 64 bits")):
        (tmp_path / "g.graphml").write_text(text.format(value))
        with pytest.raises(FormatError, match=message):
            gd.read_graph(tmp_path / "g.graphml", edge_columns=True)


@pytest.mark.parametrize("name", ["g.graphml", "g.gexf"])
def test_what_xml_does_not_keep_is_warned_of_or_refused(name, tmp_path):
    columns = table_of_types(3).select(["int8", "list", "date"]).append_column("w", pa.array([1, 2, 3]))
    edges = EdgeList(np.array([0, 1, 2]), np.array([1, 2, 0]), edge_columns=columns)
    with pytest.warns(GraphdaskWarning) as said:
        write_edges(edges, tmp_path / name)
    texts = " ".join(str(each.message) for each in said)
    assert "the edge columns list are not written" in texts
    assert "no types for the edge columns int8, date" in texts
    assert "does not say that w are no weights; read it with weights=False" in texts
    H = gd.read_graph(tmp_path / name, edge_columns=True, weights=False)
    assert H.edge_column("w").tolist() == [1, 2, 3]
    assert H.edge_column("int8").tolist() == columns["int8"].to_pylist()
    assert H.edge_column("date").tolist() == [
        None if each is None else str(each) for each in columns["date"].to_pylist()
    ]
    bad = EdgeList(np.array([0]), np.array([1]), edge_columns=pa.table({"s": ["a\x01"]}))
    with pytest.raises(InputError, match="row 0 of the column 's' has a character that XML cannot hold"):
        write_edges(bad, tmp_path / f"other-{name}")
    assert not (tmp_path / f"other-{name}").exists()
