"""What a graph with types keeps of them: in subgraphs, tables, graphs of NetworkX, files; and its columns."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import graphdask as gd
from graphdask.errors import GraphdaskWarning, InputError, VertexNotFound

RATES, KNOWS = ("user", "rates", "item"), ("user", "knows", "user")
USERS = [3, 5, 7, 9, 11]


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(3)
    rates = pd.DataFrame(
        {"src": rng.choice(USERS, 30), "dst": rng.integers(5, 12, 30), "w": rng.random(30), "stars": np.arange(30) % 5}
    )
    knows = pd.DataFrame({"src": rng.choice(USERS, 12), "dst": rng.choice(USERS, 12), "w": rng.random(12)})
    return {RATES: rates, KNOWS: knows.assign(since=pd.date_range("2026-01-01", periods=12), stars=7)}


@pytest.fixture(scope="module")
def users():
    return pd.DataFrame({"id": USERS[::-1], "age": [50, 40, 30, 20, 10], "name": list("edcba")})


@pytest.fixture(scope="module")
def graph(tables, users):
    return gd.from_frames(
        tables, weight="w", vertices={"user": users, "item": range(5, 13)}, edge_columns=["stars", "since"]
    )


@pytest.fixture(scope="module")
def reference(tables):
    """The same graph, made by NetworkX of the tables."""
    g = nx.MultiDiGraph()
    g.add_nodes_from(("user", id) for id in USERS)
    g.add_nodes_from(("item", id) for id in range(5, 13))
    for kind, table in tables.items():
        for row in table.itertuples():
            g.add_edge((kind[0], row.src), (kind[2], row.dst), type=kind, weight=row.w)
    return g


def listed(g):
    return sorted((u, v, facts["type"], facts["weight"]) for u, v, facts in g.edges(data=True))


def test_nodes_of_networkx_are_pairs_of_type_and_id(graph, reference):
    found = graph.to_networkx()
    assert list(found) == list(reference)
    assert listed(found) == listed(reference)
    assert found.nodes["item", 7] == {"type": "item", "id": 7}
    simple = gd.from_frames({("a", "x", "b"): (["p"], [1]), ("b", "y", "a"): ([1], ["p"])}).to_networkx()
    assert type(simple) is nx.DiGraph
    assert simple.edges[("b", 1), ("a", "p")] == {"type": ("b", "y", "a")}
    with pytest.raises(InputError, match=r"parallel edges from \('user', \d+\) to"):
        graph.to_networkx(multigraph=False)
    with pytest.raises(InputError, match="weight='type' is the attribute"):
        graph.to_networkx("type")


@pytest.mark.parametrize("parts", [1, 3])
def test_a_subgraph_has_the_types_and_edges_of_networkx_subgraph(graph, reference, parts):
    kept = {"user": [9, 3, 11, 3], "item": [12, 6, 8]}
    found = graph.partition(parts).subgraph(kept)
    assert isinstance(found, gd.TypedGraph)
    nodes = [(name, id) for name, ids in kept.items() for id in ids]
    assert listed(found.to_networkx()) == listed(reference.subgraph(nodes))
    assert [found.ids_of(name).tolist() for name in found.vertex_types] == [[3, 9, 11], [6, 8, 12]]
    assert found.vertex_column("user", "name").tolist() == ["a", "d", "e"]
    numbers = np.concatenate([graph.number(name, ids) for name, ids in kept.items()])
    assert gd.same_graph(graph.subgraph(numbers), found)
    assert gd.same_graph(gd.subgraph(graph, numbers).to_graph(), found)
    rows = [row for row, (u, v) in enumerate(zip(*graph.edges()[:2], strict=True)) if {u, v} <= set(numbers.tolist())]
    every = graph.to_frame()
    assert found.to_frame().equals(every.iloc[rows].reset_index(drop=True).astype(found.to_frame().dtypes))


def test_a_subgraph_without_vertices_of_a_type_keeps_the_type(graph):
    found = graph.subgraph({"item": [12]})
    assert repr(found) == "<TypedGraph: vertices 0 user, 1 item; edges 0 user rates item, 0 user knows user>"
    assert found.subgraph({}).num_vertices == 0
    assert gd.ego_graph(graph, graph.number("user", [3])).to_graph().edge_types == graph.edge_types
    with pytest.raises(VertexNotFound, match="vertex of type 'item' 4 is not in the graph"):
        graph.subgraph({"item": [4]})
    with pytest.raises(InputError, match="'shop' is no type of vertices"):
        graph.subgraph({"shop": [4]})


def test_tables_have_types_and_the_ids_of_the_caller(graph, tables):
    found = graph.to_frame()
    assert list(found) == ["src_type", "src", "edge_type", "dst_type", "dst", "weight", "stars", "since"]
    for kind, table in tables.items():
        own = found[found.edge_type == kind[1]]
        assert set(own.src_type) | set(own.dst_type) == {kind[0], kind[2]}
        assert own.src.tolist() == table.src.tolist()
        assert own.dst.tolist() == table.dst.tolist()
        assert own.weight.tolist() == table.w.tolist()
        assert own.stars.tolist() == table.stars.tolist()
        one = graph.to_frame(of_type=kind[1])
        assert one.drop(columns="weight").equals(table[["src", "dst", *([] if kind == RATES else ["stars", "since"])]]
                                                 if kind == KNOWS else table[["src", "dst", "stars"]])  # fmt: skip
    assert found.since[:30].isna().all()
    vertices = graph.to_frame("vertices", ["age"])
    assert vertices.vertex.tolist() == [*USERS, *range(5, 13)]
    assert vertices.vertex_type.tolist() == ["user"] * 5 + ["item"] * 8
    assert vertices.age.tolist()[:5] == [10, 20, 30, 40, 50]
    assert vertices.age.isna().tolist() == [False] * 5 + [True] * 8
    assert graph.head(3).equals(found.iloc[:3, :6])
    assert graph.head(35).edge_type.tolist() == ["rates"] * 30 + ["knows"] * 5


def test_ids_of_two_kinds_are_objects_in_pandas_and_refused_by_arrow():
    mixed = gd.from_frames({("a", "x", "b"): (["p", "q"], [7, 7])})
    assert mixed.to_frame().dst.tolist() == [7, 7]
    assert mixed.to_frame("vertices").vertex.tolist() == ["p", "q", 7]
    assert mixed.to_arrow("vertices", of_type="b").to_pydict() == {"vertex": [7]}
    assert mixed.to_frame("vertices", of_type="a").vertex.tolist() == ["p", "q"]
    with pytest.raises(InputError, match="whole numbers and those of others strings"):
        mixed.to_arrow()
    with pytest.raises(InputError, match="kind='types' is not one of edges, vertices"):
        mixed.to_frame("types")
    with pytest.raises(InputError, match="of_type: 'x' is no type of vertices"):
        mixed.to_frame("vertices", of_type="x")


def test_writing_names_what_a_file_does_not_have(graph, tmp_path):
    with pytest.warns(GraphdaskWarning) as caught:
        graph.write(tmp_path / "graph.txt")
    text = " ".join(str(each.message) for each in caught)
    assert "the types of vertices and edges and the ids of user, item are not written" in text
    assert "the edge columns stars, since and the vertex columns age, name are not written" in text
    with pytest.warns(GraphdaskWarning, match="the types of vertices and edges"):
        gd.stream.build(gd.from_frames({("a", "x", "b"): ([1], [2])}), tmp_path / "graph.gdl").close()


def test_columns_of_edges_and_vertices_are_those_of_their_types(graph, tables):
    assert graph.vertex_column("user", "age").tolist() == [10, 20, 30, 40, 50]
    assert graph.vertex_column("user", "name", [9, 3]).tolist() == ["d", "a"]
    assert graph.edge_column("rates", "stars").tolist() == tables[RATES].stars.tolist()
    assert graph.edge_column(KNOWS, "since", [4, 1]).tolist() == tables[KNOWS].since.to_numpy()[[4, 1]].tolist()
    assert list(graph.edge_columns) == ["stars", "since"]
    assert list(graph.of_type("rates").edge_columns) == ["stars"]
    with pytest.raises(InputError, match="there is no column 'since'; there are stars"):
        graph.edge_column("rates", "since")
    with pytest.raises(InputError, match="vertices of type 'item' have no column 'age'; they have none"):
        graph.vertex_column("item", "age")
    with pytest.raises(VertexNotFound, match="vertex of type 'user' 4"):
        graph.vertex_column("user", "age", [4])
    s = gd.sample.random_walk(graph, graph.number("user", USERS), 3, edge_rows=True)
    assert s.column("stars").shape == s.edge.shape
    weighted = graph.with_weights("stars")
    assert weighted.of_type("rates").edges().weights.tolist() == tables[RATES].stars.tolist()
    assert weighted.of_type("knows").edges().weights.tolist() == [7] * 12


def test_reversed_types_have_the_columns_of_their_edges(tables):
    G = gd.from_frames(tables, weight="w", reverse=True, edge_columns={"rates": ["stars"], KNOWS: ["since"]})
    assert G.edge_column("rev_rates", "stars").tolist() == tables[RATES].stars.tolist()
    assert G.reverse().edge_column("rev_rates", "stars").tolist() == tables[RATES].stars.tolist()
    assert G.columns_of_edges[KNOWS] == ("since",)


@pytest.mark.parametrize("made", [dict, pd.DataFrame, pa.table, lambda t: pa.table(t).to_reader()])
def test_tables_of_vertices_are_of_any_library(made):
    users = made({"key": ["b", "a"], "age": [2, 1]})
    G = gd.from_frames({("u", "x", "v"): made({"src": ["a"], "dst": [4], "t": [9]})}, edge_columns=["t"],
                       vertices={"u": users, "v": 6}, vertex_id="key")  # fmt: skip
    assert G.vertex_column("u", "age").tolist() == [1, 2]
    assert G.edge_column("x", "t").tolist() == [9]
    assert G.count("v") == 6


def test_ids_alone_may_be_a_series():
    for ids in (pd.Series([4, 2]), pa.array([4, 2]), pa.chunked_array([[4], [2]]), pd.DataFrame({"id": [4, 2]})):
        assert gd.from_frames({("u", "x", "v"): ([2], [2])}, vertices={"u": ids}).ids_of("u").tolist() == [2, 4]


ONE = {("a", "x", "b"): pd.DataFrame({"src": [1], "dst": [2], "w": [1.0], "vertex": [1], "edge": [1]})}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vertices": {"a": pd.DataFrame({"key": [1]})}}, r"vertices\['a'\] has no column 'id' of the .*vertex_id="),
        ({"vertices": {"a": pd.DataFrame({"id": [1, 3, 1]})}}, r"vertices\['a'\]: row 2 repeats the vertex 1"),
        ({"vertices": {"a": pd.DataFrame({"id": ["p"]})}}, r"type 'a' are not of one kind: vertices\['a'\] has str"),
        ({"vertices": {"a": ["p"]}}, r"vertices\['a'\] has strings such as 'p', the sources of .* whole numbers such"),
        ({"vertices": {"a": pd.DataFrame({"id": [1], "vertex": [1]})}}, "'vertex' is what graphdask calls a column"),
        ({"vertex_id": 3}, "vertex_id=3 is not text"),
        ({"edge_columns": ["t"]}, "no type of edges has a column 't'"),
        ({"edge_columns": {"x": ["t"]}}, r"the edges of \('a', 'x', 'b'\) have no column 't'; they have src, dst"),
        ({"edge_columns": {"y": ["t"]}}, "edge_columns: 'y' is no type of edges of this graph"),
        ({"edge_columns": ["edge"]}, "'edge' of .* is what graphdask calls a column"),
        ({"edge_columns": "w"}, "edge_columns='w' is not a list of names"),
        ({"weight": 3}, "weight=3 is not text"),
    ],
)
def test_columns_that_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        gd.from_frames(ONE, **options)


def test_weights_are_of_all_types_or_of_none():
    with pytest.raises(InputError, match=r"weight='w' is no column of the edges of \('b', 'y', 'a'\); all types have"):
        gd.from_frames(ONE | {("b", "y", "a"): ([2], [1])}, weight="w")
    with pytest.raises(InputError, match=r"'t' is of the type int64 for .* and string for .*; convert one"):
        gd.from_frames(
            {
                ("a", "x", "b"): {"src": [1], "dst": [2], "t": [3]},
                ("b", "y", "a"): {"src": [2], "dst": [1], "t": ["s"]},
            },
            edge_columns=["t"],
        )


def test_an_id_in_place_of_a_number_is_told_how_to_become_one():
    named = gd.from_frames({("a", "x", "b"): (["p"], ["q"])})
    many = gd.from_frames({("a", "x", "b"): ([1000], [2])})
    for call in (lambda: gd.bfs(named, "p"), lambda: gd.sample.random_walk(named, ["p"], 2),
                 lambda: gd.bfs(many, 1000), lambda: many.neighbors(1000), lambda: many.subgraph([1000]),
                 lambda: gd.bfs(named, ("a", "p"))):  # fmt: skip
        with pytest.raises(InputError, match=r"G.number\(type, ids\) gives the numbers of ids of a type: a, b"):
            call()
