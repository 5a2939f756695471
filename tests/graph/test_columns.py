"""Columns of edges and of vertices come back as they were given, and belong to the right edges and vertices."""

import pickle

import narwhals
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from column_kinds import column_kinds

import graphdask as gd
from graphdask.errors import GraphdaskWarning, InputError, VertexNotFound

EDGES = 60


def values():
    return column_kinds(EDGES)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(7)
    made = pd.DataFrame({"a": rng.integers(0, 12, EDGES), "b": rng.integers(0, 12, EDGES)} | values())
    made.loc[::7, "nullable_int"] = pd.NA
    return made


def as_narwhals(frame):
    return narwhals.from_native(frame)


def as_mapping(frame):
    return {name: frame[name] for name in frame.columns}


def as_reader(frame):
    return pa.Table.from_pandas(frame).to_reader(max_chunksize=17)


def as_views(frame):
    table = pa.Table.from_pandas(frame)
    table = table.set_column(table.column_names.index("text"), "text", table["text"].cast(pa.string_view()))
    coded = table["category"].combine_chunks()
    coded = pa.DictionaryArray.from_arrays(coded.indices, coded.dictionary.cast(pa.string_view()))
    return table.set_column(table.column_names.index("category"), "category", coded)


ROUTES = {
    "pandas": lambda frame: frame,
    "arrow": pa.Table.from_pandas,
    "reader": as_reader,
    "views": as_views,
    "narwhals": as_narwhals,
    "mapping": as_mapping,
}
KINDS = tuple(values())


@pytest.mark.parametrize("route", ROUTES)
def test_every_type_comes_back_by_every_route(frame, route):
    G = gd.from_frame(ROUTES[route](frame), "a", "b", edge_columns=list(KINDS))
    assert list(G.edge_columns) == list(KINDS)
    found = G.to_arrow(columns=list(KINDS))
    assert found.num_rows == EDGES
    for name in KINDS:
        assert found[name].to_pylist() == pa.chunked_array([pa.array(frame[name], from_pandas=True)]).to_pylist(), name
    assert G.to_arrow()["src"].to_pylist() == frame.a.tolist()


def test_a_pandas_frame_comes_back_with_its_types(frame):
    names = [name for name in KINDS if name != "date"]
    G = gd.from_frame(frame, "a", "b", edge_columns=names)
    given = frame.rename(columns={"a": "src", "b": "dst"})[["src", "dst", *names]]
    pd.testing.assert_frame_equal(G.to_frame(columns=names), given)


def arrow_of(frame, names):
    return pa.Table.from_pandas(frame[list(names)], preserve_index=False).to_pylist()


FILES = ["g.parquet", "g.gdg", "g.npz", "parts/"]


@pytest.mark.parametrize("name", FILES)
def test_every_type_is_written_and_read_again(frame, name, tmp_path):
    G = gd.from_frame(frame, "a", "b", edge_columns=list(KINDS))
    people = frame[list(KINDS)].assign(id=np.arange(EDGES))
    H = gd.from_frame(frame, "a", "b", vertex_columns=people)
    options = {"format": "parquet", "files": 1} if name.endswith("/") else {}
    G.write(f"{tmp_path}/{name}", **options)
    found = gd.read_graph(f"{tmp_path}/{name}", edge_columns=True)
    pd.testing.assert_frame_equal(found.to_frame(), G.to_frame())
    if name != "g.parquet":
        H.write(f"{tmp_path}/vertices{name}", **options)
        found = gd.read_graph(f"{tmp_path}/vertices{name}", vertex_columns=True)
        pd.testing.assert_frame_equal(found.to_frame("vertices"), H.to_frame("vertices"))


def test_parts_of_any_format_that_can_keep_them(frame, tmp_path):
    G = gd.from_frame(frame, "a", "b", edge_columns=list(KINDS), vertex_columns={"n": np.arange(12)})
    for name in ("parquet", "native", "npz"):
        G.write(f"{tmp_path}/{name}/", name, files=3)
        found = gd.read_graph(f"{tmp_path}/{name}/", edge_columns=True, vertex_columns=True)
        pd.testing.assert_frame_equal(found.to_frame(), G.to_frame())
        pd.testing.assert_frame_equal(found.to_frame("vertices"), G.to_frame("vertices"))


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_every_type_is_there_for_samples_and_subgraphs_and_after_batches(frame, parts):
    given = frame.rename(columns={"a": "src", "b": "dst"})[["src", "dst", *KINDS]]
    G = gd.from_frame(given, edge_columns=list(KINDS)).partition(parts)
    s = gd.sample.neighbors(G, G.vertex_ids, fanouts=[-1])
    part = gd.subgraph(G, [1, 3, 5, 7])
    for found, rows in ((s.to_frame(columns=list(KINDS)), s.edge), (part.to_graph().to_frame(), part.edge)):
        expected = given[list(KINDS)].iloc[rows].reset_index(drop=True)
        assert arrow_of(found, KINDS) == arrow_of(expected, KINDS)
        assert [str(found[name].dtype) for name in KINDS if name not in ("nullable_int", "date")] == [
            str(expected[name].dtype) for name in KINDS if name not in ("nullable_int", "date")
        ]
    D = gd.DynamicGraph(G)
    D.update(insert=([90, 91, 92], [91, 92, 93]), columns=given[list(KINDS)].iloc[[8, 9, 10]])
    found = D.to_frame().query("src >= 90").sort_values("src")
    assert arrow_of(found, KINDS) == arrow_of(given.iloc[[8, 9, 10]], KINDS)


def test_networkx_takes_columns_as_attributes_and_gives_them_back(frame):
    names = ["int64", "text", "time", "list", "decimal", "nullable_int"]
    people = pd.DataFrame({"id": np.arange(12), "score": [None, *np.arange(11) / 2]})
    G = gd.from_frame(frame, "a", "b", weight="int8", edge_columns=names, vertex_columns=people)
    g = G.to_networkx("w")
    rows = G.to_frame()[names].to_dict("records")
    found = {}
    for u, v, facts in g.edges(data=True):
        found.setdefault((u, v), []).append(dict(facts))
    for a, b, weight, row in zip(frame.a, frame.b, frame.int8, rows, strict=True):
        facts = found[a, b].pop(0)
        assert facts.pop("w") == weight
        assert facts.keys() == {
            name for name in names if isinstance(row[name], list | np.ndarray) or not pd.isna(row[name])
        }
        for name, value in facts.items():
            assert (value == row[name]).all() if name == "list" else value == row[name], name
    scores = dict(g.nodes(data="score"))
    assert scores.pop(0) is None
    assert scores == dict(zip(people.id[1:], people.score[1:], strict=True))
    H = gd.from_networkx(g, "w", edge_columns=names, vertex_columns=True)
    order = ["src", "dst", "weight", "int64"]
    one, other = (each.to_frame().sort_values(order, ignore_index=True) for each in (G, H))
    assert (
        one[["int64", "text", "time", "nullable_int"]]
        .astype(str)
        .equals(other[["int64", "text", "time", "nullable_int"]].astype(str))
    )
    assert H.vertex_column("score")[1:].tolist() == people.score[1:].tolist()
    assert gd.from_networkx(g).edge_columns == {}
    assert all(not facts for *_, facts in gd.from_networkx(g).to_networkx().edges(data=True))
    assert G.to_networkx(edge_columns=["int64"], vertex_columns=False).number_of_edges() == EDGES
    with pytest.raises(InputError, match="edge_columns: none has an attribute 'no'; there are "):
        gd.from_networkx(g, edge_columns=["no"])
    with pytest.raises(InputError, match="edge_columns: 'int64' is the name of another attribute"):
        G.to_networkx("int64", edge_columns=["int64"])
    weighted = gd.from_frame(frame, "a", "b", weight="int8", edge_columns=["time"]).to_networkx("time")
    assert sorted(weight for *_, weight in weighted.edges(data="time")) == sorted(frame.int8)
    with pytest.raises(InputError, match="vertex_columns: there is no column 'no'; there are score"):
        G.to_networkx(vertex_columns=["no"])


def test_columns_of_pandas_own_types_are_objects_of_these(frame):
    G = gd.from_frame(frame, "a", "b", edge_columns=["period", "interval"])
    assert G.edge_column("period").tolist() == frame.period.tolist()
    assert G.edge_column("interval", [3, 1]).tolist() == frame.interval[[3, 1]].tolist()


def test_inserted_values_may_be_sparse():
    sparse = pd.DataFrame({"k": pd.arrays.SparseArray([0, 0, 5])})
    D = gd.DynamicGraph(gd.from_edges([0, 1, 2], [1, 2, 3], edge_columns=sparse))
    D.update(insert=([7], [8]), columns={"k": pd.Series(pd.arrays.SparseArray([4]))})
    assert sorted(D.to_frame().k) == [0, 0, 4, 5]


def test_a_dask_frame_keeps_its_edges_with_the_workers(frame):
    dd = pytest.importorskip("dask.dataframe")
    names = ["int64", "float64", "time", "nullable_int", "text"]
    parts = dd.from_pandas(frame[["a", "b", *names]], npartitions=4)
    G = gd.from_frame(parts, "a", "b", edge_columns=names)
    assert type(G.source).__name__ == "ChunkSource"
    assert_right(G.partition(3), frame, "int64")
    merged = gd.from_frame(parts, "a", "b", edge_columns=names, multi_edges="merge")
    assert_right(merged.partition(2), frame, "int64")
    assert G.to_frame().text.isna().tolist() == frame.text.isna().tolist()


def assert_right(G, frame, name):
    """Each edge of samples and of the graph has the values of its row."""
    s = gd.sample.neighbors(G, G.vertex_ids, fanouts=[-1])
    assert len(s.edge)
    assert s.column(name).tolist() == frame[name].to_numpy()[s.edge].tolist()
    assert s.to_frame(columns=[name])[name].tolist() == frame[name].to_numpy()[s.edge].tolist()
    ends = {tuple(sorted(pair)) if not G.directed else pair for pair in zip(s.src, s.dst, strict=True)}
    given = [(a, b) if G.directed else tuple(sorted((a, b))) for a, b in zip(frame.a, frame.b, strict=True)]
    assert all(given[row] in ends for row in s.edge)
    kept = G.to_frame()
    by_row = frame.loc[np.unique(s.edge)]
    assert kept[name].tolist() == by_row[name].tolist()
    assert kept.src.tolist() == by_row.a.tolist()
    assert kept.dst.tolist() == by_row.b.tolist()


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("multi_edges", ["keep", "merge"])
def test_values_belong_to_their_edges(frame, parts, directed, multi_edges):
    options = {"directed": directed, "multi_edges": multi_edges, "self_loops": "drop"}
    G = gd.from_frame(frame, "a", "b", weight="int8", edge_columns=["int64"], **options)
    assert_right(G.partition(parts), frame, "int64")
    assert_right(G.to_undirected(multi_edges="merge").partition(parts), frame, "int64")


def test_of_merged_edges_the_lightest_row_stays():
    columns = {"k": ["a", "b", "c", "d"]}
    G = gd.from_edges([0, 1, 0, 0], [1, 0, 1, 1], [3, 1, 2, 2], multi_edges="merge", edge_columns=columns)
    assert G.to_frame().k.tolist() == ["b", "c"]
    U = gd.from_edges([0, 1, 0, 0], [1, 0, 1, 1], [3, 1, 2, 2], edge_columns=columns).to_undirected(multi_edges="merge")
    assert U.to_frame().k.tolist() == ["b"]


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_a_dynamic_graph_has_values_of_inserted_edges(parts):
    G = gd.from_edges([0, 1, 2], [1, 2, 3], edge_columns={"t": [1, 2, 3], "k": pd.Categorical(["x", "y", "x"])})
    D = gd.DynamicGraph(G.partition(parts))
    assert D.edge_columns == G.edge_columns
    assert D.to_frame().t.tolist() == [1, 2, 3]
    D.update(insert=([3, 0], [0, 1]), columns={"t": [4, 5], "k": ["z", "y"]})
    D.update(insert=([7], [0]), delete=([1], [2]))
    expected = {(0, 1): (5, "y"), (2, 3): (3, "x"), (3, 0): (4, "z"), (7, 0): (None, None)}
    table = D.to_arrow().to_pylist()
    assert {(row["src"], row["dst"]): (row["t"], row["k"]) for row in table} == expected
    s = gd.sample.neighbors(D, D.vertex_ids, fanouts=[-1])
    columns = s.src.tolist(), s.dst.tolist(), s.column("t"), s.column("k")
    assert {(u, v): (t, k) for u, v, t, k in zip(*columns, strict=True)} == expected
    assert G.to_frame().t.tolist() == [1, 2, 3]


def test_insertions_refuse_columns_that_do_not_fit():
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2], edge_columns={"t": [1, 2]}))
    with pytest.raises(InputError, match="no edge column 'u'; it has t"):
        D.update(insert=([0], [2]), columns={"u": [1]})
    with pytest.raises(InputError, match="2 rows; one for each of the 1 entries"):
        D.update(insert=([0], [2]), columns={"t": [1, 2]})
    with pytest.raises(InputError, match="columns\\['t'\\] is of the type"):
        D.update(insert=([0], [2]), columns={"t": ["x"]})
    assert (D.version, D.num_edges) == (0, 2)


def test_subgraphs_keep_columns(frame):
    people = pd.DataFrame({"who": [3, 1, 40], "score": [0.5, 1.5, 2.5]})
    G = gd.from_frame(frame, "a", "b", edge_columns=["int64", "text"], vertex_columns=people, vertex_id="who")
    for found in (gd.subgraph(G, [1, 3, 5, 7, 40]), gd.ego_graph(G, 3), gd.k_core(G.to_undirected(), 2)):
        H = found.to_graph()
        rows = frame.loc[found.edge]
        assert H.to_frame().int64.tolist() == rows.int64.tolist()
        assert H.to_frame().text.isna().tolist() == rows.text.isna().tolist()
        score = dict(zip(people.who, people.score, strict=True))
        expected = [score.get(v) for v in H.vertex_ids]
        assert H.to_arrow("vertices")["score"].to_pylist() == expected
    assert H.reverse().edge_columns == H.edge_columns


def test_vertex_columns_are_of_all_vertices():
    table = pa.table({"id": ["z", "a", "b"], "score": [1, 2, 3]})
    G = gd.from_edges(["a", "b"], ["b", "c"], vertex_columns=table)
    assert G.vertex_ids.tolist() == ["a", "b", "c", "z"]
    assert G.to_frame("vertices").score.tolist() == [2, 3, pd.NA, 1]
    assert G.vertex_column("score", ["z", "c"]).tolist() == [1, None]
    r = gd.bfs(G, "a")
    assert r.to_frame(columns=["score"]).score.tolist() == [2, 3, pd.NA, 1]
    assert list(r.to_frame()) == ["vertex", "depth", "parent"]
    D = gd.DynamicGraph(G)
    D.update(insert=(["aa"], ["a"]))
    assert D.to_arrow("vertices").to_pydict() == {"vertex": ["a", "aa", "b", "c", "z"], "score": [2, None, 3, None, 1]}
    plain = gd.from_edges([0, 1], [1, 2], vertex_columns={"score": [7, 8, 9]})
    assert plain.vertex_column("score", [2]).tolist() == [9]


def test_steps_of_walks_have_values():
    G = gd.from_edges([0, 1], [1, 2], edge_columns={"t": [10, 20], "name": ["x", "y"]})
    w = gd.sample.random_walk(G, [0, 1], 2)
    assert w.column("t").tolist() == [[10, 20], [20, None]]
    assert w.to_frame(columns=["name"]).name.tolist() == [["x", "y"], ["y", None]]


def test_minibatches_find_values_by_row():
    G = gd.from_edges([0, 0, 1], [2, 1, 2], edge_columns={"t": [7, 8, 9]})
    (batch,) = gd.sample.NeighborLoader(G, [-1], [0, 1], batch_size=2)
    assert G.edge_column("t", batch.e_id).tolist() == (np.asarray(batch.e_id) + 7).tolist()


def test_a_pickled_graph_has_its_columns(frame):
    G = gd.from_frame(frame, "a", "b", edge_columns=["time"])
    assert pickle.loads(pickle.dumps(G)).to_arrow().equals(G.to_arrow())


def test_an_empty_graph_has_columns():
    G = gd.from_edges([], [], edge_columns={"t": []}, vertex_columns={"id": [], "s": []})
    assert (G.to_arrow().num_rows, G.to_arrow("vertices").num_rows) == (0, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edge_columns": ["nope"]}, "no column 'nope'; it has"),
        ({"edge_columns": "time"}, "not a list of names"),
        ({"edge_columns": ["time", "time"]}, "'time' twice"),
        ({"src": "text"}, r"column 'text'\[7\] is missing"),
        ({"src": "time"}, "column 'time' is of the type timestamp"),
        ({"dst": "uint64"}, "above the largest vertex id"),
        ({"weight": "nullable_int"}, "column 'nullable_int'.*missing"),
        ({"vertex_columns": pd.DataFrame({"x": [1]})}, "no column 'id'.*vertex_id="),
        ({"vertex_columns": pd.DataFrame({"id": [1, 2, 1], "x": 1})}, "row 2 repeats the vertex 1"),
        ({"vertex_columns": pd.DataFrame({"id": ["a"], "x": 1})}, "not of one kind"),
        ({"vertex_columns": {"x": [1, 2]}}, "2 rows; one for each of the"),
    ],
)
def test_bad_columns_are_named(frame, change, message):
    with pytest.raises(InputError, match=message):
        gd.from_frame(frame, **{"src": "a", "dst": "b"} | change)


def test_a_column_of_several_kinds_is_refused_with_its_first_bad_row():
    mixed = pd.DataFrame({"a": [0, 1, 2], "b": [1, 2, 3], "c": pd.Series([1, 2, "x"], dtype=object)})
    assert gd.from_frame(mixed, "a", "b").num_edges == 3
    with pytest.raises(InputError, match=r"'c'.*object.*row 2 holds 'x'"):
        gd.from_frame(mixed, "a", "b", edge_columns=["c"])
    with pytest.raises(InputError, match=r"'c'.*row 2 holds 'x'"):
        gd.from_edges(mixed.a, mixed.b, edge_columns={"c": mixed.c})
    with pytest.raises(InputError, match="calls a column of its own"):
        gd.from_edges(mixed.a, mixed.b, edge_columns={"src": mixed.a})
    with pytest.raises(InputError, match="2 rows; one for each of the 3 edges"):
        gd.from_edges(mixed.a, mixed.b, edge_columns={"c": [1, 2]})
    with pytest.raises(VertexNotFound):
        gd.from_edges([0], [1], num_vertices=2, vertex_columns={"id": [5], "x": [1]})


def test_questions_about_columns_that_are_not_there_list_those_that_are():
    G = gd.from_edges([0, 1], [1, 2], edge_columns={"t": [1, 2]})
    for ask in (lambda: G.edge_column("x"), lambda: G.to_frame(columns=["x"])):
        with pytest.raises(InputError, match="no column 'x'; there are t"):
            ask()
    with pytest.raises(InputError, match="there are none"):
        G.vertex_column("t")
    with pytest.raises(InputError, match="kind='x' is not one of edges, vertices"):
        G.to_arrow("x")


def test_ids_as_categories_and_nullable_numbers():
    frame = pd.DataFrame(
        {"a": pd.Categorical(["x", "y"]), "b": pd.Categorical(["y", "z"]), "n": pd.array([1, 2], "Int64")}
    )
    assert gd.from_frame(frame, "a", "b").vertex_ids.tolist() == ["x", "y", "z"]
    assert gd.from_frame(frame, "n", "n").vertex_ids.tolist() == [1, 2]


def test_writing_says_that_columns_are_left_out(tmp_path):
    G = gd.from_edges([0, 1], [1, 2], edge_columns={"t": [1, 2]}, vertex_columns={"s": [1, 2, 3]})
    with pytest.warns(GraphdaskWarning, match="edge columns t and the vertex columns s"):
        G.write(tmp_path / "g.txt")


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_samplers_read_a_column_by_name(parts):
    rng = np.random.default_rng(2)
    src, dst, times = rng.integers(0, 20, (3, 200))
    columns = {"time": times, "date": times.astype("datetime64[s]"), "late": times > 9, "name": times.astype(str)}
    options = {"multi_edges": "merge", "self_loops": "drop"}
    G = gd.from_edges(src, dst, edge_columns=columns, **options)
    kept = G.to_frame().time.to_numpy()
    plain = gd.from_edges(src, dst, **options)

    def drawn(graph, column, limit):
        s = gd.sample.temporal_neighbors(graph.partition(parts), range(10), [3, 2], seed_times=limit, times=column)
        return s.src.tolist(), s.dst.tolist(), s.edge.tolist()

    assert drawn(G, "time", 12) == drawn(G, "date", 12) == drawn(plain, kept, 12)
    assert drawn(G, "late", 0) == drawn(plain, (kept > 9).astype(int), 0)
    assert all(times[row] <= 12 for row in drawn(G, "time", 12)[2])
    walks = gd.sample.metapath_walk(G.partition(parts), [0, 1], 3, metapath=[1, 0], edge_types="late").walks
    other = gd.sample.metapath_walk(plain, [0, 1], 3, metapath=[1, 0], edge_types=(kept > 9).astype(int)).walks
    assert walks.tolist() == other.tolist()
    options = {"num_neighbors": [2], "input_nodes": range(5), "batch_size": 5, "input_time": 9}
    loaders = [gd.sample.NeighborLoader(graph, times=by, **options) for graph, by in ((G, "time"), (plain, kept))]
    assert len({tuple(batch.e_id.tolist()) for loader in loaders for batch in loader}) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x", "have no such column; columns of numbers or dates are t, gone"),
        ("name", "of the type .*string; columns"),
        ("gone", "row 1 of the column is missing"),
    ],
)
def test_samplers_refuse_columns_without_numbers(name, message):
    G = gd.from_edges([0, 1], [1, 2], edge_columns={"t": [1, 2], "name": ["a", "b"], "gone": [1, None]})
    with pytest.raises(InputError, match=message):
        gd.sample.temporal_neighbors(G, [0], [1], seed_times=5, times=name)


def test_categories_of_views_take_inserted_values(frame):
    D = gd.DynamicGraph(gd.from_frame(as_views(frame), "a", "b", edge_columns=["category", "text"]))
    D.update(insert=([70], [71]), columns={"category": ["new"], "text": ["other"]})
    last = D.to_frame().iloc[-1]
    assert (last.src, last.dst, last.category, last.text) == (70, 71, "new", "other")
