"""`graphdask stream`, and `graphdask run` and `sample` over what it made."""

from __future__ import annotations

import json

import pytest
from emulated import emulated, stand_in


@pytest.fixture
def streamed(call, path_graph):
    """The undirected path as a file to be streamed."""
    file = path_graph.with_name("path.gdl")
    result = call("stream", "build", path_graph, file, "--undirected", "--root", 10, "--memory", "1MiB")
    assert result.exit_code == 0, result.stderr
    assert "5 vertices, 3 edges, undirected; 3 layers in 1 chunk" in result.stdout
    return file


def test_a_run_over_it_gives_the_answer_and_says_what_was_read(call, streamed, tmp_path):
    output = tmp_path / "depth.csv"
    result = call("run", "bfs", streamed, "--source", 20, "--memory", "1MiB", "--output", output)
    assert result.exit_code == 0, result.stderr
    assert output.read_text() == "vertex,depth,parent\n10,1,20\n20,0,20\n30,1,20\n40,-1,-1\n50,-1,-1\n"
    for words in ("reached 3 of 5 vertices", "streamed", "distinct", "skipped", "overlap"):
        assert words in result.stdout
    record = json.loads(call("run", "pagerank", streamed, "--memory", "1MiB", "--json").stdout)
    assert record["stats"]["streamed"]["nbytes"] == record["stats"]["streamed"]["distinct"] > 0
    assert record["answer"]["highest"] == 20


@pytest.mark.slow
def test_betweenness_and_walks_stream_through_a_gpu(call, streamed, monkeypatch):
    stand_in(monkeypatch, emulated())
    result = call("run", "betweenness", streamed, "--memory", "1MiB", "--device", "cuda", "--verify", "--json")
    assert result.exit_code == 0, result.stderr
    record = json.loads(result.stdout)
    assert record["stats"]["streamed"]["device"] == "cuda"
    assert record["answer"]["highest"] == 20
    record = json.loads(call("sample", "walk", streamed, "--length", 4, "--device", "cuda", "--json").stdout)
    assert record["stats"]["streamed"]["device"] == "cuda"


def test_samples_of_it_are_those_of_the_file_it_was_made_from(call, streamed, path_graph, tmp_path):
    outputs = tmp_path / "walks.txt", tmp_path / "again.txt"
    walks = ("sample", "walk"), ("--length", 4, "--walks-per-start", 3)
    result = call(*walks[0], streamed, *walks[1], "--memory", "1MiB", "--output", outputs[0])
    assert result.exit_code == 0, result.stderr
    for words in ("1, on disk, CPU", "streamed", "distinct", "found in memory"):
        assert words in result.stdout
    assert call(*walks[0], path_graph, "--undirected", *walks[1], "--output", outputs[1]).exit_code == 0
    assert outputs[0].read_text() == outputs[1].read_text()
    record = json.loads(call("sample", "neighbors", streamed, "--seeds", "20", "--fanouts", "-1", "--json").stdout)
    assert record["placement"] == "on disk"
    assert record["stats"]["edges"] == 2


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--placement", "partitioned"), "--placement has no meaning for path.gdl"),
        (("--verify",), "--verify needs the graph in memory"),
        (("--format", "edgelist"), "--format has no meaning for path.gdl"),
        (("--scheme", "WS"), "--scheme WS is of --placement streamed"),
        (("--memory", "some"), "--memory some is no number of bytes"),
    ],
)
def test_options_of_graphs_in_memory_are_refused(call, streamed, options, reason):
    result = call("sample", "walk", streamed, *options)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.split())


def test_memory_is_of_a_file_that_is_streamed(call, path_graph):
    result = call("sample", "walk", path_graph, "--memory", "1MiB")
    assert result.exit_code == 2
    assert "--memory is for a file that is streamed" in " ".join(result.stderr.split())


def test_several_ranks_stream_it_each_within_the_memory(call, streamed):
    result = call("run", "pagerank", streamed, "--memory", "1MiB", "--partitions", 2, "--verify")
    assert result.exit_code == 0, result.stderr
    for words in ("2 (2 x CPU", "of each, of which", "streamed", "skipped", "overlap", "verified"):
        assert words in result.stdout


def test_checksums_are_compared(call, streamed):
    assert "all match" in call("stream", "check", streamed).stdout
    assert json.loads(call("stream", "check", streamed, "--json").stdout)["whole"] is True
    data = bytearray(streamed.read_bytes())
    data[100] ^= 1
    streamed.write_bytes(data)
    result = call("stream", "check", streamed)
    assert result.exit_code == 2
    assert "path.gdl: the rows of chunk 0 of out are damaged" in " ".join(result.stderr.split())


def test_info_says_what_a_file_holds_by_its_rows(call, streamed):
    file = streamed.with_name("directed.gdl")
    edges = streamed.with_name("directed.txt")
    edges.write_text("5 7\n7 5\n5 7\n7 7\n9 12\n")
    assert call("stream", "build", edges, file, "--directed").exit_code == 0
    whole, found = (json.loads(call("info", path, "--json").stdout) for path in (edges, file))
    assert {name: found["degree"][name] for name in ("out", "in")} == {
        name: whole["degree"][name] for name in ("out", "in")
    }
    assert [(each["from"], each["vertices"]) for each in found["degree"]["histogram"]] == [(0, 1), (1, 1), (2, 2)]
    shown = call("info", streamed).stdout
    assert "5 vertices, 3 edges, undirected; 3 layers in 1 chunk" in shown
    assert "degree  min 1, mean 1.2, max 2" in shown
    assert "--weights has no meaning for path.gdl" in call("info", streamed, "--weights").stderr


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--by", "random"), "--by has no meaning for path.gdl"),
        (("--exchange", "selective"), "--exchange has no meaning for path.gdl"),
        (("--allocation", "just-enough"), "--allocation has no meaning for path.gdl"),
        (("--undirected",), "--undirected has no meaning for path.gdl"),
        (("--multi-edges", "merge"), "leave --self-loops and --multi-edges out"),
        (("--memory", "some"), "--memory some is no number of bytes"),
    ],
)
def test_options_of_partitions_are_refused(call, streamed, options, reason):
    result = call("run", "components", streamed, *options)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.split())


def test_memory_is_for_what_is_streamed(call, path_graph):
    result = call("run", "components", path_graph, "--memory", "1GiB")
    assert result.exit_code == 2
    said = f"--memory is for a file that is streamed; `graphdask stream build {path_graph} {path_graph.stem}.gdl` makes"
    assert said.replace(" ", "") in "".join(result.stderr.split())  # whose lines are as wide as a terminal
    result = call("stream", "build", path_graph, path_graph.with_suffix(".bin"))
    assert result.exit_code == 2
    assert "ends in .gdl" in " ".join(result.stderr.split())


def test_convert_says_what_makes_such_a_file(call, path_graph):
    result = call("convert", path_graph, path_graph.with_suffix(".gdl"))
    assert result.exit_code == 2
    assert "`graphdask stream build" in " ".join(result.stderr.split())
