"""`graphdask run modularity FILE --labels FILE`: communities that a file names."""

from __future__ import annotations

import json

import networkx as nx
import pytest

GROUPS = {"a": "one", "b": "one", "c": "one", "d": "two", "e": "two", "f": "two"}
EDGES = [("a", "b", 1.5), ("b", "c", 2), ("c", "a", 1), ("d", "e", 3), ("e", "f", 1), ("f", "d", 2), ("c", "d", 0.25)]


@pytest.fixture
def letters(tmp_path):
    file = tmp_path / "letters.csv"
    file.write_text("".join(f"{a},{b},{c}\n" for a, b, c in EDGES))
    return file


def named(folder, groups=GROUPS, head="vertex,label"):
    file = folder / "groups.csv"
    file.write_text(f"{head}\n" + "".join(f"{v},{group}\n" for v, group in groups.items()))
    return file


def expected(weight="weight", resolution=1.0):
    graph = nx.Graph()
    graph.add_weighted_edges_from(EDGES)
    return nx.community.modularity(graph, [set("abc"), set("def")], weight=weight, resolution=resolution)


@pytest.mark.parametrize("head", ["vertex,label", "vertex,group"])
@pytest.mark.parametrize(
    ("options", "asked"),
    [((), {}), (("--no-weights",), {"weight": None}), (("--resolution", 0.5), {"resolution": 0.5}),
     (("--partitions", 3, "--verify"), {})],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::graphdask.errors.GraphdaskWarning")
def test_it_is_the_modularity_of_networkx(call, letters, tmp_path, head, options, asked):
    found = call(
        "run", "modularity", letters, "--undirected", "--labels", named(tmp_path, head=head), *options, "--json"
    )
    assert found.exit_code == 0, found.output
    answer = json.loads(found.stdout)["answer"]
    assert answer["modularity"] == pytest.approx(expected(**asked), rel=1e-12)
    assert answer["communities"] == 2


@pytest.mark.parametrize("ending", ["csv", "txt", "npz", "parquet"])
def test_labels_are_what_another_command_wrote(call, letters, tmp_path, ending):
    groups = tmp_path / f"groups.{ending}"
    made = call("run", "louvain", letters, "--undirected", "--output", groups, "--json")
    assert made.exit_code == 0, made.output
    found = call("run", "modularity", letters, "--undirected", "--labels", groups, "--json")
    assert found.exit_code == 0, found.output
    answers = [json.loads(each.stdout)["answer"] for each in (made, found)]
    assert answers[0]["modularity"] == answers[1]["modularity"] == pytest.approx(expected(), rel=1e-12)
    shown = call("run", "modularity", letters, "--undirected", "--labels", groups).stdout
    assert f"modularity {expected():.4f}, 2 communities" in shown


@pytest.mark.parametrize(
    ("groups", "head", "words"),
    [
        ({"a": 1, "b": 1}, "vertex,label", "labels has no label of 4 of 6 vertices, the first 'c'"),
        (GROUPS | {"z": "one"}, "vertex,label", "'z' is not in the graph"),
        (GROUPS, "node,label", "there is no column vertex; columns: node, label"),
        (
            {v: f"{g},1" for v, g in GROUPS.items()},
            "vertex,group,size",
            "no column is called label; columns: group, size",
        ),
    ],
)
def test_a_file_that_does_not_label_each_vertex_once_is_refused(call, letters, tmp_path, groups, head, words):
    found = call("run", "modularity", letters, "--undirected", "--labels", named(tmp_path, groups, head))
    assert found.exit_code == 2
    assert words in " ".join(found.stderr.split())


def test_a_vertex_may_not_be_named_twice(call, letters, tmp_path):
    file = named(tmp_path)
    file.write_text(file.read_text() + "a,two\n")
    found = call("run", "modularity", letters, "--undirected", "--labels", file)
    assert found.exit_code == 2
    assert "names a vertex twice" in " ".join(found.stderr.split())


def test_what_cannot_be_a_file_of_labels_is_refused_before_the_graph_is_read(call, tmp_path):
    graph = tmp_path / "none.csv"
    for name, words in (("groups.dat", "ends in one of .parquet"), ("groups.csv", "no such file")):
        found = call("run", "modularity", graph, "--labels", tmp_path / name)
        assert found.exit_code == 2
        assert words in " ".join(found.stderr.split())
    assert "--labels" in call("run", "modularity", letters_of(graph)).stderr


def letters_of(file):
    file.write_text("a,b,1\n")
    return file


def test_a_directed_graph_is_refused(call, letters, tmp_path):
    found = call("run", "modularity", letters, "--labels", named(tmp_path))
    assert found.exit_code == 2
    assert "undirected" in found.stderr
