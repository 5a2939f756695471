"""A third column is the weights of what takes weights, unless it cannot be or --no-weights says otherwise; and said."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest

import graphdask as gd

EDGES = "1 2 5\n2 3 0.5\n1 3 9\n3 4 2\n"


@pytest.fixture
def weighted(tmp_path):
    file = tmp_path / "weighted.txt"
    file.write_text(EDGES)
    return file


def expected(file, weight):
    graph = nx.read_weighted_edgelist(file, create_using=nx.DiGraph, nodetype=int)
    return max(nx.single_source_dijkstra_path_length(graph, 1, weight=weight).values())


def answer(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("ending", ["txt", "csv", "txt.gz"])
def test_sssp_uses_the_third_column_and_says_so(call, weighted, tmp_path, ending):
    file = tmp_path / f"graph.{ending}"
    if ending == "csv":
        file.write_text(EDGES.replace(" ", ","))
    elif ending == "txt.gz":
        import gzip

        file.write_bytes(gzip.compress(EDGES.encode()))
    else:
        file.write_text(EDGES)
    found = answer(call("run", "sssp", file, "--source", 1, "--json"))
    assert found["answer"]["max_distance"] == expected(weighted, "weight")
    assert (found["weights"], found["weighted"]) == ("used", True)
    assert "weights     used: the third column" in call("run", "sssp", file, "--source", 1).stdout


@pytest.mark.filterwarnings("ignore::graphdask.errors.GraphdaskWarning")
def test_no_weights_counts_hops(call, weighted):
    found = answer(call("run", "sssp", weighted, "--source", 1, "--no-weights", "--json"))
    assert found["answer"]["max_distance"] == expected(weighted, None)
    assert found["weights"] == "ignored"
    assert "ignored (--no-weights)" in call("run", "sssp", weighted, "--source", 1, "--no-weights").stdout


def test_pagerank_uses_them_unless_it_is_unweighted(call, weighted, tmp_path):
    graph = nx.read_weighted_edgelist(weighted, create_using=nx.DiGraph, nodetype=int)
    for options, weight, status in (((), "weight", "used"), (("--unweighted",), None, "ignored")):
        found = answer(call("run", "pagerank", weighted, *options, "--json"))
        assert found["answer"]["highest_rank"] == pytest.approx(
            max(nx.pagerank(graph, weight=weight, tol=1e-12, max_iter=1000).values()), abs=1e-8
        )
        assert found["weights"] == status


def test_an_algorithm_without_weights_says_that_it_ignores_them(call, weighted):
    said = call("run", "bfs", weighted, "--source", 1).stdout
    assert "weights     ignored: bfs does not use them" in said
    found = answer(call("run", "bfs", weighted, "--source", 1, "--weights", "--json"))
    assert found["weights"] == "ignored"


@pytest.mark.filterwarnings("ignore::graphdask.errors.GraphdaskWarning")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 2 1082040961\n2 3 1082155839\n", "looks like Unix times; --weights takes it"),
        ("1 2 1082040961000\n2 3 1082155839123\n", "looks like Unix times"),
        ("1 2 friend\n2 3 foe\n", "the third column has no numbers"),
        ("source target score\n1 2 3\n2 3 4\n", "1 further column of source, target, score is not read"),
        ("1 2\n2 3\n", "weights     none"),
    ],
)
def test_what_is_no_weight_is_not_taken_and_named(call, tmp_path, text, reason):
    file = tmp_path / "graph.txt"
    file.write_text(text)
    said = call("run", "sssp", file, "--source", 1)
    assert said.exit_code == 0, said.output
    assert reason in " ".join(said.stdout.split()).replace("weights none", "weights     none")
    assert answer(call("run", "sssp", file, "--source", 1, "--json"))["weights"] == "none"
    assert answer(call("info", file, "--json"))["weights_read"] == "none"


@pytest.mark.parametrize("command", ["run", "profile"])
def test_sssp_warns_of_a_graph_without_weights_unless_they_are_left_out_on_purpose(call, weighted, tmp_path, command):
    file = tmp_path / "plain.txt"
    file.write_text("1 2\n2 3\n")
    warning = "sssp counts every edge as 1"
    assert call(command, "sssp", file, "--source", 1).stderr.count(warning) == 1
    for path, option in ((weighted, None), (weighted, "--no-weights"), (file, "--no-weights")):
        said = call(command, "sssp", path, "--source", 1, *([option] if option else []))
        assert said.exit_code == 0, said.output
        assert warning not in said.stderr


def test_info_names_the_weights_and_who_uses_them(call, weighted):
    said = call("info", weighted).stdout
    assert "float64, 0.5 to 9, mean 4.125; the third column, used by betweenness" in " ".join(said.split())
    assert "ignored (--no-weights)" in call("info", weighted, "--no-weights").stdout
    assert answer(call("info", weighted, "--json"))["weights_read"] == "used"


@pytest.mark.slow
def test_profile_and_samplers_take_them_by_the_same_rule(call, weighted):
    assert answer(call("profile", "sssp", weighted, "--source", 1, "--json"))["weights"] == "used"
    assert answer(call("sample", "walk", weighted, "--bias", "weight", "--json"))["weights"] == "used"
    assert answer(call("sample", "walk", weighted, "--json"))["weights"] == "ignored"


def test_a_streamed_file_keeps_them(call, weighted, tmp_path):
    assert answer(call("stream", "build", weighted, tmp_path / "graph.gdl", "--json"))["weights"] is not None
    found = answer(call("run", "sssp", tmp_path / "graph.gdl", "--source", 1, "--json"))
    assert found["answer"]["max_distance"] == expected(weighted, "weight")


def test_convert_keeps_them(call, weighted, tmp_path):
    said = call("convert", weighted, tmp_path / "graph.parquet").stdout
    assert "the third column is written as weights" in said
    assert gd.read_graph(tmp_path / "graph.parquet").weighted


def test_in_python_they_are_asked_for(weighted):
    assert not gd.read_graph(weighted).weighted
    G = gd.read_graph(weighted, weights="auto")
    assert sorted(G.edges()[2].tolist()) == [0.5, 2, 5, 9]
    assert G.report["third_column"] == "weights"
    with pytest.raises(gd.errors.InputError, match="weights='maybe'"):
        gd.read_graph(weighted, weights="maybe")


def test_times_are_found_where_a_sampler_needs_them(call, tmp_path):
    file = tmp_path / "messages.txt"
    file.write_text("1 2 1082040961\n2 3 1082155839\n")
    found = answer(call("sample", "temporal", file, "--time", 1082155840, "--verify", "--json"))
    assert (found["weights"], found["weighted"]) == ("used", True)


def test_betweenness_uses_them_unless_an_option_says_otherwise(call, tmp_path):
    file = tmp_path / "triangle.txt"
    file.write_text("1 2 1\n2 3 1\n1 3 5\n")
    graph = nx.read_weighted_edgelist(file, nodetype=int)
    for options, weight, status in (
        ((), "weight", "used"), (("--no-weights",), None, "ignored"), (("--unweighted",), None, "ignored"),
        (("--weights", "--weighted"), "weight", "used"),
    ):  # fmt: skip
        found = answer(call("run", "betweenness", file, "--undirected", *options, "--verify", "--json"))
        assert found["answer"]["score"] == max(nx.betweenness_centrality(graph, None, False, weight).values())
        assert found["weights"] == status
    said = call("run", "betweenness", file, "--no-weights", "--weighted")
    assert said.exit_code != 0
    assert "--weighted needs weights" in said.stderr
    call("stream", "build", file, tmp_path / "triangle.gdl", "--undirected")
    for options, score in (((), 1), (("--unweighted",), 0)):
        found = answer(call("run", "betweenness", tmp_path / "triangle.gdl", *options, "--verify", "--json"))
        assert found["answer"]["score"] == score


@pytest.mark.slow
def test_similarity_goes_by_them_unless_it_is_unweighted(call, weighted, tmp_path):
    G = gd.read_graph(weighted, weights=True)
    for number, (options, weight) in enumerate(
        (((), "weight"), (("--unweighted",), None), (("--weighted",), "weight"))
    ):
        file = tmp_path / f"pairs{number}.npz"
        result = call("sample", "jaccard", weighted, *options, "--output", file)
        assert result.exit_code == 0, result.output
        expected = gd.jaccard(G, weight=weight)
        with np.load(file) as found:
            assert found["score"].tolist() == expected.score.tolist()
    assert gd.jaccard(G).score.tolist() != gd.jaccard(G, weight=None).score.tolist()
    result = call("sample", "jaccard", weighted, "--no-weights", "--weighted", "--output", tmp_path / "none.npz")
    assert result.exit_code != 0
    assert "--weighted needs weights, and the graph has none; leave it out to count neighbours" in " ".join(
        result.stderr.split()
    )
