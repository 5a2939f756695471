"""Graphs with types of vertices and edges: numbers, ids, the graphs of one type, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import graphdask as gd
from graphdask.errors import InputError, VertexNotFound

RATES = (["ann", "bob", "ann", "eve"], [30, 10, 10, 20])
KNOWS = (["bob", "bob"], ["ann", "zoe"])


@pytest.fixture
def graph():
    return gd.from_frames({("user", "rates", "item"): RATES, ("user", "knows", "user"): KNOWS}, reverse=True)


def test_numbers_stand_type_after_type_in_ascending_order_of_ids(graph):
    assert graph.vertex_types == ("user", "item")
    assert graph.edge_types == (("user", "rates", "item"), ("item", "rev_rates", "user"), ("user", "knows", "user"))
    assert [graph.count(name) for name in graph.vertex_types] == [4, 3]
    assert graph.ids_of("user").tolist() == ["ann", "bob", "eve", "zoe"]
    assert graph.ids_of("item").tolist() == [10, 20, 30]
    assert graph.number("item", [30, 10]).tolist() == [6, 4]
    assert graph.named("item", [6, 4, -1]).tolist() == [30, 10, -1]
    assert graph.named("user", [[3, -1]]).tolist() == [["zoe", None]]
    assert graph.number("user", []).tolist() == []
    src, dst, _ = graph.edges()
    assert src.tolist() == [0, 1, 0, 2, 6, 4, 4, 5, 1, 1]
    assert dst.tolist() == [6, 4, 4, 5, 0, 1, 0, 2, 0, 3]
    assert graph.rows_of("knows") == slice(8, 10)
    assert pickle.loads(pickle.dumps(graph)).edge_types == graph.edge_types


@pytest.mark.parametrize("parts", [1, 3])
def test_algorithms_run_on_it_as_on_any_graph(graph, parts):
    depth = gd.bfs(graph.partition(parts), graph.number("user", "bob")).depth
    assert depth.tolist() == [1, 0, -1, 1, 1, -1, 2]
    plain = gd.from_edges(*graph.edges()[:2], num_vertices=7)
    assert depth.tolist() == gd.bfs(plain, 1).depth.tolist()


def test_what_has_no_directions_or_types_is_a_plain_graph(graph):
    for found in (graph.to_undirected(), graph.without_types()):
        assert type(found) is gd.Graph
        assert found.num_edges == 10
    assert gd.connected_components(graph.to_undirected()).label.tolist() == [0, 0, 2, 0, 0, 2, 0]
    assert graph.degrees("in").tolist() == np.bincount(graph.edges().dst, minlength=7).tolist()
    with pytest.raises(InputError, match=r"has no types of vertices and edges; give it G.without_types\(\)"):
        gd.DynamicGraph(graph)
    assert gd.DynamicGraph(graph.without_types()).num_vertices == 7


def test_reversed_edges_have_the_types_of_reversed_edges(graph):
    turned = graph.reverse()
    assert turned.edge_types == (
        ("item", "rev_rates", "user"), ("user", "rates", "item"), ("user", "rev_knows", "user"),
    )  # fmt: skip
    for kind, other in zip(graph.edge_types, turned.edge_types, strict=True):
        one, two = graph.of_type(kind).edges(), turned.of_type(other).edges()
        assert (one.src.tolist(), one.dst.tolist()) == (two.dst.tolist(), two.src.tolist())
    assert gd.same_graph(turned.reverse(), graph)
    clash = gd.from_frames({("a", "x", "a"): ([1], [2]), ("a", "rev_rev_x", "a"): ([2], [1])})
    with pytest.raises(InputError, match=r"would both be \('a', 'rev_x', 'a'\)"):
        clash.reverse()


def test_a_graph_of_one_type_has_all_vertices_and_rows_of_its_own_table(graph):
    rates = graph.of_type("rates")
    assert (rates.num_vertices, rates.num_edges) == (7, 4)
    assert rates.edges().src.tolist() == [0, 1, 0, 2]
    assert graph.of_type(("user", "rates", "item")) is rates
    assert graph.partition(2).of_type("rates").plan.parts == 2
    turned = graph.of_type("rev_rates").edges()
    assert (turned.src == rates.edges().dst).all()
    assert (turned.dst == rates.edges().src).all()


def test_tables_are_frames_arrow_pairs_or_arrays_of_two_rows():
    src, dst, weight = np.array([1, 2, 2]), np.array([5, 5, 6]), np.array([0.5, 1.0, 2.0])
    frame = pd.DataFrame({"u": src, "v": dst, "w": weight})
    tables = [frame, pa.Table.from_pandas(frame), frame.convert_dtypes()]
    for table in tables:
        other = {"u": dst, "v": src, "w": weight + 4}
        G = gd.from_frames({("a", "x", "b"): table, ("b", "y", "a"): other}, "u", "v", "w")
        assert G.edges().src.tolist() == [0, 1, 1, 2, 2, 3]
        assert G.of_type("x").edges().weights.tolist() == weight.tolist()
        assert G.of_type("y").edges().weights.tolist() == (weight + 4).tolist()
        assert G.edges().weights.tolist() == [*weight, *weight + 4]
    G = gd.from_frames({("a", "x", "b"): np.stack([src, dst])})
    assert G.edges().dst.tolist() == [2, 2, 3]
    G = gd.from_frames({("a", "x", "b"): frame}, "u", "v", "w", reverse=True)
    assert G.edges().weights.tolist() == [0.5, 1.0, 2.0] * 2


def test_isolated_vertices_by_number_or_by_ids():
    G = gd.from_frames({("a", "x", "b"): ([3], ["p"])}, vertices={"a": 5, "b": ["q", "p", "r"]})
    assert [G.count("a"), G.count("b")] == [5, 3]
    assert (G.edges().src.tolist(), G.edges().dst.tolist()) == ([3], [5])
    assert gd.from_frames({("a", "x", "a"): ([], [])}).num_vertices == 0
    assert repr(G) == "<TypedGraph: vertices 5 a, 3 b; edges 1 a x b>"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({},), "one at least"),
        (({"rates": RATES},), "'rates' is no type of edges; it is a tuple"),
        (({("a", "x", "b"): ([1, 2], [3])},), "2 sources and 1 destinations"),
        (({("a", "x", "b"): pd.DataFrame({"src": [1]})},), r"has no column 'dst'; it has src"),
        (({("a", "x", "b"): 3},), "it is a data frame of pandas"),
        (
            ({("a", "x", "b"): ([1], ["p"]), ("b", "y", "a"): ([2], [1])},),
            r"ids of vertices of type 'b' are not of one kind: the destinations",
        ),
        (({("a", "x", "b"): ([-1], [3])},), "is negative"),
    ],
)
def test_tables_that_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        gd.from_frames(*arguments)


def test_names_that_are_refused(graph):
    one = {("a", "x", "b"): ([1], [2])}
    with pytest.raises(InputError, match="which no type of edges has"):
        gd.from_frames(one, vertices={"c": 3})
    with pytest.raises(VertexNotFound, match="vertex of type 'a' 1 is not in the graph"):
        gd.from_frames(one, vertices={"a": 1})
    with pytest.raises(InputError, match="reverse=True makes the type"):
        gd.from_frames({("a", "x", "b"): ([1], [2]), ("b", "rev_x", "a"): ([2], [1])}, reverse=True)
    with pytest.raises(InputError, match="reverse='yes' is neither True nor False"):
        gd.from_frames(one, reverse="yes")
    with pytest.raises(InputError, match="reverse: 'y' is no type of edges of this graph"):
        gd.from_frames(one, reverse=["y"])
    with pytest.raises(InputError, match="no type of vertices of this graph; there are user, item"):
        graph.number("shop", [1])
    with pytest.raises(VertexNotFound, match="vertex of type 'item' 11"):
        graph.number("item", [10, 11])
    with pytest.raises(InputError, match="whole numbers from 4 to 6"):
        graph.named("item", [3])
    with pytest.raises(InputError, match="is no type of edges of this graph"):
        graph.of_type("likes")
    twice = gd.from_frames({("a", "x", "b"): ([1], [2]), ("b", "x", "a"): ([2], [1])})
    with pytest.raises(InputError, match="'x' names 2 types of edges"):
        twice.of_type("x")


def test_edges_within_a_type_are_reversed_where_they_are_named():
    tables = {("user", "rates", "item"): RATES, ("user", "knows", "user"): KNOWS}
    both = gd.from_frames(tables, reverse=["knows", ("user", "rates", "item")])
    assert both.edge_types[1:3] == (("item", "rev_rates", "user"), ("user", "knows", "user"))
    one, other = (both.to_frame(of_type=name) for name in ("knows", "rev_knows"))
    assert one.src.tolist() == other.dst.tolist()
    assert one.dst.tolist() == other.src.tolist()
    assert gd.from_frames(tables, reverse=["knows"]).edge_types[2:] == (("user", "rev_knows", "user"),)
    assert gd.same_graph(both.reverse().reverse(), both)


def test_the_same_content_is_that_of_each_type(graph):
    def made(rates=RATES, knows=KNOWS, name="rates", **options):
        return gd.from_frames(
            {("user", "knows", "user"): knows, ("user", name, "item"): rates}, reverse=True, **options
        )

    assert gd.same_graph(graph, made())
    assert gd.same_graph(graph.partition(3), made((RATES[0][::-1], RATES[1][::-1])))
    others = {
        "names of types": made(name="likes"),
        "ids": made((RATES[0], [31, 10, 10, 20])),
        "edges": made((RATES[0], [30, 10, 20, 10])),
        "counts": made(vertices={"item": [10, 20, 30, 40]}),
        "no types": graph.without_types(),
    }
    assert [name for name, other in others.items() if gd.same_graph(graph, other) or gd.same_graph(other, graph)] == []


def test_the_same_weights_are_those_of_each_type():
    frame = pd.DataFrame({"u": [1, 2, 2], "v": [5, 5, 6], "w": [0.5, 1.0, 2.0]})

    def made(weight, values=(0.5, 1.0, 2.0)):
        tables = {("a", "x", "b"): frame.assign(w=values), ("b", "y", "a"): {"u": [5], "v": [1], "w": [0.0]}}
        return gd.from_frames(tables, "u", "v", weight)

    assert gd.same_graph(made("w"), made("w"))
    assert not gd.same_graph(made("w"), made("w", (0.5, 1.0, 3.0)))
    assert not gd.same_graph(made("w"), made(None))


def test_negatives_of_a_graph_with_types_name_their_vertices(graph):
    pairs = np.stack([graph.number("user", RATES[0]), graph.number("item", RATES[1])])
    of_type = {name: np.arange(7) // 4 == place for place, name in enumerate(graph.vertex_types)}
    users, items = of_type["user"].astype(int), of_type["item"].astype(int)
    for given, sides in (
        ("binary", "src_weight= and dst_weight="),
        ({"mode": "binary", "src_weight": users}, "give NegativeSampling dst_weight="),
        ({"mode": "triplet", "dst_weight": "degree"}, "give NegativeSampling dst_weight="),
    ):
        with pytest.raises(InputError, match=sides):
            gd.sample.LinkNeighborLoader(graph, [2], pairs, neg_sampling=given)
    with pytest.raises(InputError, match="names no type of edges; TypedLinkNeighborLoader"):
        gd.sample.LinkNeighborLoader(graph, [2], (("user", "rates", "item"), pairs))
    kinds = gd.sample.NegativeSampling("binary", 3, users, items)
    for batch in gd.sample.LinkNeighborLoader(graph, [2], pairs, neg_sampling=kinds, batch_size=4):
        src, dst = batch.n_id[batch.edge_label_index]
        assert users[src].all()
        assert items[dst].all()
        assert len(src) == 16


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**63 - 1])
def test_whole_weights_that_no_float_is_are_refused_beside_floats(value):
    def made(whole, other):
        tables = {("a", "x", "b"): {"src": [1, 2], "dst": [1, 2], "w": whole}}
        return gd.from_frames(tables | {("a", "y", "b"): {"src": [1], "dst": [2], "w": other}}, weight="w")

    with pytest.raises(
        InputError, match=rf"weight='w': row 1 of \('a', 'x', 'b'\) is {value}, which no float is, and we"
    ):
        made([1, value], [0.5])
    assert made([1, value], [3]).edges().weights.tolist() == [1, value, 3]
    assert made([1, 2**60], [0.5]).edges().weights.tolist() == [1, 2.0**60, 0.5]
    assert made(np.array([1, 2], np.int32), np.array([0.5], np.float32)).edges().weights.tolist() == [1, 2, 0.5]
