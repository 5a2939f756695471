"""GraphML and GEXF are read as NetworkX reads them, and refused where they are no graph of edges."""

from __future__ import annotations

import io

import networkx as nx
import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import FormatError, InputError
from graphdask.io import EdgeList, read_edges, write_edges

WRITERS = {"g.graphml": nx.write_graphml, "g.gexf": nx.write_gexf}


def drawn(kind, weighted, names):
    g = nx.gnm_random_graph(12, 20, seed=3, directed=kind.is_directed(kind()))
    g = kind(g) if kind.is_multigraph(kind()) else g
    g.add_edge(2, 2)
    g.add_edge(1, 0)
    if g.is_multigraph():
        g.add_edge(1, 0)
    g.add_node(40)
    if weighted:
        for number, (*_, data) in enumerate(g.edges(data=True)):
            data["weight"] = number + 0.5 if weighted == "floats" else number
    return nx.relabel_nodes(g, str) if not names else nx.relabel_nodes(g, lambda v: f"n{v} & <\u00e4>")


def triples(g):
    directed = g.is_directed()
    found = []
    for u, v, data in g.edges(data=True):
        ends = (str(u), str(v)) if directed else tuple(sorted((str(u), str(v))))
        found.append((*ends, data.get("weight")))
    return sorted(found, key=str)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
@pytest.mark.parametrize(("weighted", "names"), [("", False), ("floats", True), ("integers", False)])
def test_what_networkx_writes_is_the_same_graph(name, kind, weighted, names, tmp_path):
    g = drawn(kind, weighted, names)
    WRITERS[name](g, tmp_path / name)
    G = gd.read_graph(tmp_path / name)
    assert G.directed == g.is_directed()
    assert sorted(map(str, G.vertex_ids.tolist())) == sorted(map(str, g.nodes))
    assert (G.vertex_ids.dtype == object) == names
    src, dst, weights = G.edges()
    values = [None] * len(src) if weights is None else weights.tolist()
    ours = [
        ((str(u), str(v)) if G.directed else tuple(sorted((str(u), str(v))))) + (w,)
        for u, v, w in zip(src.tolist(), dst.tolist(), values, strict=True)
    ]
    assert sorted(ours, key=str) == triples(g)


@pytest.mark.parametrize("name", ["g.graphml", "g.gexf", "g.graphml.gz"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_what_is_written_comes_back(name, dtype, tmp_path):
    weights = np.array([1, 2**20, 7]).astype(dtype)
    edges = EdgeList(
        np.array([5, 1, 1]), np.array([1, 1, 9]), weights, np.array([10, 20, 2**40]), np.array([1, 3, 5, 9]), False
    )
    write_edges(edges, tmp_path / name)
    found = read_edges(tmp_path / name)
    assert (found.src.tolist(), found.dst.tolist()) == (edges.src.tolist(), edges.dst.tolist())
    assert found.weights.tolist() == weights.tolist()
    kept = dtype if "graphml" in name else {"i": "int64", "f": "float64"}[np.dtype(dtype).kind]
    assert found.weights.dtype == kept  # GEXF does not say how wide they are
    assert found.vertices.tolist() == [1, 3, 5, 9]
    assert found.directed is False
    assert read_edges(tmp_path / name, weights="time").times.tolist() == [10, 20, 2**40]
    assert read_edges(tmp_path / name, weights=False).weights is None
    assert read_edges(tmp_path / name, ids="str").src.tolist() == ["5", "1", "1"]
    with (tmp_path / name).open("rb") as file:
        assert gd.read_graph(file, format=None if "gz" not in name else "graphml").num_edges == 3


NODES = '<node id="a"/><node id="b"/>'
ONE = '<edge source="a" target="b"/>'


def graphml(inside, keys="", default="directed"):
    return f'<?xml version="1.0"?>\n<graphml>{keys}\n<graph edgedefault="{default}">\n{inside}\n</graph></graphml>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<graphml><graph>", r"g.graphml:1: this is no well-formed XML: no element found"),
        ("<graphml></graphml>", "there is no graph in it"),
        (graphml('<node/>'), "g.graphml:4: an element has no id"),
        (graphml('<edge source="a"/>'), ":4: an element has no target"),
        (graphml("<hyperedge/>"), "has a hyperedge"),
        (graphml(NODES + '<node id="c"><graph edgedefault="directed"/></node>'), "several graphs, or one in another"),
        (graphml(ONE, default="sideways"), "'sideways' is no direction of edges"),
        (graphml(ONE + '<edge source="a" target="b" directed="false"/>'), "some edges have a direction and others"),
        ('<!DOCTYPE g [<!ENTITY x "y">]>' + graphml(NODES), ":1: the file declares the entity 'x'"),
        (
            graphml(ONE + '\n<edge source="b" target="a"><data key="w">2</data></edge>',
                    '<key id="w" for="edge" attr.name="weight" attr.type="int"/>'),
            ":4: the edge has no weight, and others have one",
        ),
        (
            graphml('<edge source="b" target="a"><data key="w">two</data></edge>',
                    '<key id="w" for="edge" attr.name="weight" attr.type="int"/>'),
            "weight 'two' is not a number",
        ),
        (
            graphml('<edge source="b" target="a"><data key="w">nan</data></edge>',
                    '<key id="w" for="edge" attr.name="weight" attr.type="double"/>'),
            "weight 'nan' is not a number",
        ),
    ],
)  # fmt: skip
def test_what_is_no_graph_is_refused_with_its_line(text, message, tmp_path):
    path = tmp_path / "g.graphml"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        gd.read_graph(path)


def test_defaults_of_keys_and_directions_that_the_caller_says(tmp_path):
    key = '<key id="w" for="edge" attr.name="weight" attr.type="double"><default>3</default></key>'
    path = tmp_path / "g.graphml"
    path.write_text(graphml(ONE + '<edge source="b" target="a" directed="false"><data key="w">2</data></edge>', key))
    G = gd.read_graph(path, directed=True)
    assert G.edges().weights.tolist() == [3.0, 2.0]
    with pytest.raises(FormatError, match="weights were asked for, but no edge has one"):
        gd.read_graph(io.StringIO(graphml(ONE)), format="graphml", weights=True)
    with pytest.raises(FormatError, match="vertex id 'a' is not a number"):
        gd.read_graph(io.StringIO(graphml(ONE)), format="graphml", ids="int")
    with pytest.raises(InputError, match="delimiter=',' means nothing for the format graphml"):
        gd.read_graph(path, delimiter=",")
    assert gd.read_graph(io.StringIO(graphml(ONE))).vertex_ids.tolist() == ["a", "b"]  # by its first lines


def test_ids_that_only_look_like_numbers_are_names(tmp_path):
    for ids, numbers in ((("1", "20"), True), (("01", "2"), False), (("-1", "2"), False), (("9" * 30, "2"), False)):
        text = graphml(f'<edge source="{ids[0]}" target="{ids[1]}"/>')
        found = gd.read_graph(io.StringIO(text), format="graphml")
        assert (found.vertex_ids.dtype != object) == numbers
