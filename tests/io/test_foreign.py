"""Texts that are no lists of edges are refused by what they are; columns that are not the ends of edges are told."""

from __future__ import annotations

import networkx
import pytest

import graphdask as gd
from graphdask.errors import FormatError, GraphdaskWarning

GRAPH = networkx.path_graph(4, networkx.DiGraph)
TEXTS = {
    "HTML or XML": [
        "\n".join(networkx.generate_graphml(GRAPH)),
        "\n".join(networkx.generate_gexf(GRAPH)),
        "<!DOCTYPE html>\n<html lang='en'>\n",
        "<Error><Code>AccessDenied</Code> <Message>Access Denied</Message></Error>\n",
        '<svg width="1">\n<g x="1">\n',
    ],
    "GML": ["\n".join(networkx.generate_gml(GRAPH)), 'Creator "igraph"\nVersion 1\ngraph\n[\n'],
    "Pajek": ["\n".join(networkx.generate_pajek(GRAPH)), '*vertices 3\n1 "a"\n*arcs\n1 2\n'],
    "JSON": ["[1, 2]\n[2, 3]\n", "[[1, 2], [2, 3]]", "{\n", "[\n[1, 2],\n"],
    "DOT of Graphviz": ["digraph G {\n a -> b;\n b -> c;\n}\n", "strict graph {\n a -- b\n}\n"],
    "a list of Python": ["(1, 2)\n(2, 3)\n", "[(1, 2), (2, 3)]\n"],
    "GDF of GUESS": ["nodedef>name VARCHAR,label VARCHAR\na,A\nedgedef>node1 VARCHAR,node2 VARCHAR\na,b\n"],
    "DL of UCINET": ["dl n=3 format=edgelist1\nlabels:\na,b,c\ndata:\n1 2\n"],
    "DIMACS": ["p edge 3 2\ne 1 2\ne 2 3\n"],
    "Matrix Market": ["%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 2 1\n"],
    "RDF": ["<http://a> <http://p> <http://b> .\n<http://b> <http://p> <http://c> .\n", "@prefix ex: <http://x> .\n"],
    "ARFF of Weka": ["@relation graph\n@attribute s numeric\n"],
    "TSPLIB": ["NAME : berlin52\nTYPE : TSP\n"],
    "SQL": ["INSERT INTO edges VALUES (1, 2);\nINSERT INTO edges VALUES (2, 3);\n"],
    "RTF": ["{\\rtf1\\ansi 1 2\n"],
    "a pointer of Git LFS, not the file": ["version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n"],
    "the answer of a server, not the file": ["404: Not Found\n", "503 Service Unavailable\n", "403 Forbidden\n"],
}


@pytest.mark.parametrize("name", ["g.txt", "g.csv"])
@pytest.mark.parametrize(("what", "text"), [(what, text) for what, texts in TEXTS.items() for text in texts])
def test_a_text_of_another_format_is_named(what, text, name, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError, match=f"this looks like {what}, not a list of edges; "):
        gd.read_graph(tmp_path / name)


@pytest.mark.parametrize(
    "line",
    ["[deleted] bob", "<unk> the", "<http://a> <http://b>", "(a) (b)", "graph theory", "creator made", "p q", "dl x",
     "name: b", "{a b}", "404 found", "version 2", "*a b", "@user @other", "select a"],
)  # fmt: skip
def test_names_that_begin_as_other_formats_do_are_names(line, tmp_path):
    (tmp_path / "g.txt").write_text(f"x y\n{line}\n")
    G = gd.read_graph(tmp_path / "g.txt", ids="str")
    (tmp_path / "g.txt").write_text(f"{line}\nx y\n")
    if not line.startswith(("name: b", "404", "version")):
        assert gd.read_graph(tmp_path / "g.txt", header=False).num_edges == 2
    assert sorted(gd.read_graph(tmp_path / "g.txt", ids="str", header=False).vertex_ids) == sorted(G.vertex_ids)


def test_graphs_of_such_names_come_back(tmp_path):
    names = ["{", "[[1", "<html", "(1", "graph", "*Vertices", "@prefix", "p", "nodedef>", "<a><b>"]
    for first in names:
        for name in ("g.txt", "g.csv", "g.txt.gz"):
            G = gd.from_edges([first, "x"], ["y", first])
            G.write(tmp_path / name, overwrite=True)
            assert list(gd.read_graph(tmp_path / name).vertex_ids) == list(G.vertex_ids)


@pytest.mark.parametrize("sign", ["->", "--", "-", "=>", "<->", "→", "|", "<-"])
@pytest.mark.parametrize(("one", "other", "third"), [("a", "b", "c"), ("1", "2", "3")])
def test_signs_between_the_ends_of_edges_are_no_vertices(sign, one, other, third, tmp_path):
    path = tmp_path / "g.txt"
    path.write_text(f"{one} {sign} {other}\n{other} {sign} {third}\n")
    with pytest.raises(FormatError, match=r"g\.txt:1: column 2 is '.+' in each line.*columns=\(0, 2\)"):
        gd.read_graph(path)
    assert gd.read_graph(path, columns=(0, 2)).num_vertices == 3
    assert gd.read_graph(path, ids="str", na_values=()).num_vertices == 3  # two sources, and the sign


def test_relations_between_the_ends_of_edges_are_reported(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("ann likes bob\nbob likes cleo\ncleo knows ann\n")
    with pytest.warns(GraphdaskWarning, match=r"'ann likes bob' is read as an edge .*pass columns=\(0, 2\)"):
        gd.read_graph(path)
    path.write_text("ann bob friend\nbob cleo friend\ncleo ann foe\n")  # as most files have it
    assert gd.read_graph(path).num_vertices == 3


@pytest.mark.parametrize("text", ["01234 2345\n1234 777\n", "1 2\n3 04\n", "007 7\n"])
def test_ids_that_lose_zeros_are_reported(text, tmp_path):
    path = tmp_path / "g.txt"
    path.write_text(text)
    with pytest.warns(GraphdaskWarning, match=r"ids are numbers, so that '0\d+' .*pass ids='str' to keep"):
        G = gd.read_graph(path)
    assert G.num_vertices == len({int(token) for token in text.split()})
    assert gd.read_graph(path, ids="int").num_vertices == G.num_vertices
    assert gd.read_graph(path, ids="str").num_vertices == len(set(text.split()))


@pytest.mark.parametrize("text", ["0 1\n1 2\n", "0 00\n"])
def test_zero_itself_loses_nothing(text, tmp_path):
    (tmp_path / "g.txt").write_text(text)
    gd.read_graph(tmp_path / "g.txt")


@pytest.mark.parametrize("word", ["none", "nil", "NaT", "[NULL]", "undefined", "#REF!", "#DIV/0!", "-", "?", "<none>"])
@pytest.mark.parametrize("row", [1, 3])
def test_missing_ids_of_other_languages_and_tables_are_an_error(word, row, tmp_path):
    rows = [["a", "b"], ["b", "c"], ["c", "a"], ["a", "c"]]
    rows[row][1] = word
    (tmp_path / "g.csv").write_text("source,target\n" + "".join(",".join(each) + "\n" for each in rows))
    with pytest.raises(FormatError, match=rf"g\.csv:{row + 2}: a vertex id is missing"):
        gd.read_graph(tmp_path / "g.csv")
    assert word in gd.read_graph(tmp_path / "g.csv", ids="str").vertex_ids
    assert word in gd.read_graph(tmp_path / "g.csv", na_values=()).vertex_ids
