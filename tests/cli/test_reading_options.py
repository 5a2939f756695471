"""`--header`, `--skip-rows`, `--na-values`, `--columns`, `--delimiter` and `--comment` of every command that reads a
text."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def text(tmp_path):
    """A file of names: a line to skip, and a line that is a header or an edge."""
    path = tmp_path / "words.txt"
    path.write_text("junk\nfrom to\nwolf sheep\nsheep NULL\n")
    return path


def found(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


READ = ("--skip-rows", "1", "--na-values", "")


@pytest.mark.parametrize(("header", "edges"), [("--header", 2), ("--no-header", 3)])
def test_info_run_and_sample(call, text, header, edges):
    info = found(call("info", text, *READ, header, "--json"))
    assert (info["edges"], info["report"]["header"]) == (edges, ["from", "to"] if header == "--header" else False)
    run = found(call("run", "components", text, *READ, header, "--json"))
    assert run["edges"] == edges
    nodes = found(call("sample", "nodes", text, "--count", "1", *READ, header, "--json"))
    assert nodes["vertices"] == edges + (2 if header == "--no-header" else 1)


@pytest.mark.parametrize(("header", "edges"), [("--header", 2), ("--no-header", 3)])
def test_convert_and_stream_build(call, text, tmp_path, header, edges):
    converted = found(call("convert", text, tmp_path / "g.gdg", *READ, header, "--json"))
    assert converted["edges"] == edges
    built = found(call("stream", "build", text, tmp_path / "g.gdl", *READ, header, "--json"))
    assert built["edges"] == edges
    refused = call("info", tmp_path / "g.gdl", header)
    assert refused.exit_code == 2
    assert f"{header} has no meaning for g.gdl" in " ".join(refused.stderr.split())


CROSSED = ("--columns", "to,from,w", "--delimiter", "tab", "--comment", "!", "--json")


@pytest.fixture
def crossed(tmp_path):
    """A file whose columns, separator and comments nobody can tell from it."""
    path = tmp_path / "crossed.csv"
    path.write_text("! ours\nkind\tfrom,to\tfrom\tto\tw\na\tb\t1\t2\t8\n#\tc\t2\t3\t9\n")
    return path


@pytest.mark.slow
def test_columns_delimiter_and_comment(call, crossed, tmp_path):
    info = found(call("info", crossed, *CROSSED))
    assert (info["edges"], info["vertices"], info["weighted"]) == (2, 3, True)
    run = found(call("run", "sssp", crossed, "--source", "3", *CROSSED))
    assert run["answer"]["reached"] == 3
    assert found(call("sample", "nodes", crossed, "--count", "1", *CROSSED))["vertices"] == 3
    assert found(call("sample", "edges", crossed, "--count", "1", *CROSSED))["vertices"] == 3
    assert found(call("convert", crossed, tmp_path / "c.txt", *CROSSED))["edges"] == 2
    assert (tmp_path / "c.txt").read_text().splitlines()[-2:] == ["2\t1\t8", "3\t2\t9"]
    assert found(call("stream", "build", crossed, tmp_path / "c.gdl", *CROSSED))["edges"] == 2
    result = call("pagerank-stream", crossed, *CROSSED, "--batches", "1", "--preload", "0.5", "--no-error")
    assert result.exit_code == 0, result.stderr
    by_position = call("convert", crossed, "-", "--columns", "3,2", *CROSSED[2:-1])
    assert by_position.stdout.splitlines()[-2:] == ["2\t1\t8", "3\t2\t9"]


@pytest.mark.parametrize("option", ["--columns", "--delimiter", "--comment"])
def test_what_is_streamed_takes_none_of_them(call, crossed, tmp_path, option):
    assert call("stream", "build", crossed, tmp_path / "c.gdl", *CROSSED).exit_code == 0
    refused = call("run", "bfs", tmp_path / "c.gdl", "--source", "1", option, "a,b")
    assert refused.exit_code == 2
    assert f"{option} has no meaning for c.gdl" in " ".join(refused.stderr.split())


def test_pagerank_stream(call, tmp_path):
    path = tmp_path / "times.txt"
    path.write_text("junk\na b c\n" + "".join(f"{k} {k + 1} {k}\n" for k in range(10)))
    result = call("pagerank-stream", path, "--skip-rows", "1", "--header", "--batches", "1", "--no-error", "--json")
    assert result.exit_code == 0, result.stderr


def test_what_was_decided_is_shown(call, tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("source,target\nann,bob\n")
    lines = call("info", path).stdout.splitlines()
    assert any("header" in line and "source, target (its words name the ends of an edge)" in line for line in lines)
    path.write_text("1,2\n")
    assert any(
        "header" in line and "none ('1' is no name of a column)" in line
        for line in call("info", path).stdout.splitlines()
    )


def test_messages_speak_of_options(call, text, tmp_path):
    missing = call("info", text, "--skip-rows", "1", "--header")
    assert missing.exit_code == 2
    said = " ".join(missing.stderr.split())
    assert "words.txt:4: a vertex id is missing ('NULL')" in said
    assert "--ids str or --na-values ''" in said
    path = tmp_path / "pair.txt"
    path.write_text("start end\nwolf sheep\n")
    said = " ".join(call("info", path).stderr.split())
    assert "pair.txt:1: 'start end' is read as a header" in said
    assert "pass --header to keep it so, --no-header if it is an edge" in said
    (tmp_path / "arrows.txt").write_text("a --> b\nb --> c\n")
    said = " ".join(call("info", tmp_path / "arrows.txt").stderr.split())
    assert "pass --columns 0,2, or --ids str" in said
    (tmp_path / "four.csv").write_text("id,weight,x,y\n1,1,2,3\n2,1,3,4\n")
    assert "name them with --columns" in " ".join(call("info", tmp_path / "four.csv").stderr.split())
    (tmp_path / "hash.csv").write_text("1,2\n#3,4\n")
    assert "or pass --comment ''" in " ".join(call("info", tmp_path / "hash.csv").stderr.split())
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    refused = call("run", "components", tmp_path / "g.mtx", "--skip-rows", "1")
    assert refused.exit_code == 2
    assert "--skip-rows 1 means nothing for the format matrixmarket" in " ".join(refused.stderr.split())


@pytest.mark.parametrize("name", ["a\tb", "#a", "a\nb"])
def test_results_refuse_names_that_text_cannot_hold(call, tmp_path, name):
    import graphdask as gd

    gd.from_edges([name], ["b"]).write(tmp_path / "g.gdg")
    for ending in ("txt", "csv", "npz", "parquet"):
        result = call("run", "components", tmp_path / "g.gdg", "--output", tmp_path / f"out.{ending}")
        assert (result.exit_code == 2) == (ending == "txt"), result.stderr
        assert (tmp_path / f"out.{ending}").exists() == (ending != "txt")
    sampled = call("sample", "walk", tmp_path / "g.gdg", "--length", "1", "--output", tmp_path / "walks.txt")
    assert sampled.exit_code == 2
    assert "cannot stand in text" in " ".join(sampled.stderr.split())
