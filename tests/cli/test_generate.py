"""`graphdask generate`: what it writes is the graph that was asked for; what cannot be is refused at once."""

from __future__ import annotations

import json

import pytest
from edge_sets import attached, edges_of

import graphdask as gd
from graphdask.commands.generate import GENERATORS
from graphdask.results import writing

PA = ("generate", "pa", "--vertices", "200", "--degree", "3", "--p", "0.3", "--seed", "2", "--device", "cpu")


@pytest.mark.parametrize(
    ("output", "further"),
    [
        ("g.txt", []),
        ("g.parquet", []),
        ("g.txt.gz", ["--multi-edges", "merge"]),
        ("g.gdg", ["--files", "3"]),
        ("g", ["--format", "csv"]),
        ("g.parquet/", ["--multi-edges", "merge", "--files", "2"]),
    ],
)
def test_what_is_written_reads_back(output, further, call, tmp_path):
    result = call(*PA, "--output", f"{tmp_path}/{output}", *further, "--json")
    assert result.exit_code == 0, result.output
    known = attached(200, 3, merge="merge" in further, p=0.3, seed=2)
    record = json.loads(result.stdout)
    assert (record["vertices"], record["edges"]) == (200, known.edges.total())
    found = gd.read_graph(f"{tmp_path}/{output}")
    assert edges_of(found) == known.edges
    assert found.num_vertices == 200
    assert call("info", f"{tmp_path}/{output}").exit_code == 0
    converted = call("convert", f"{tmp_path}/{output}", tmp_path / "again.gdg")
    assert converted.exit_code == 0, converted.output
    assert edges_of(gd.read_graph(tmp_path / "again.gdg")) == known.edges


@pytest.mark.parametrize("options", [["--method", "queue"], ["--multi-edges", "redraw"]])
def test_vertices_with_distinct_targets_are_written(options, call, tmp_path):
    result = call(*PA, *options, "--output", f"{tmp_path}/g.parquet", "--files", "2")
    assert result.exit_code == 0, result.output
    named = {options[0][2:].replace("-", "_"): options[1]}
    expected = gd.generate.preferential_attachment(200, 3, 0.3, 2, **named).partition(device="cpu")
    found = edges_of(gd.read_graph(f"{tmp_path}/g.parquet"))
    assert found == edges_of(expected)
    assert set(found.values()) == {1}


def test_without_output_every_edge_is_made_and_dropped(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    record = json.loads(call(*PA, "--json").stdout)
    edges = 3 + 3 * 197
    assert (record["edges"], record["bytes"], record["self_loops"]) == (edges, 8 * edges, 0)
    assert record["edges_per_second"] == pytest.approx(edges / record["seconds"])
    result = call(*PA)
    assert result.exit_code == 0
    assert "594 edges made and dropped" in result.stdout
    assert "not written (--output)" in result.stdout
    assert not list(tmp_path.iterdir())


def test_the_table_says_what_was_written(call, tmp_path):
    result = call(*PA, "--output", tmp_path / "g.txt")
    assert result.exit_code == 0
    words = " ".join(result.stdout.split())
    for part in ("Preferential attachment: vertices 200", "generate, write", "594, undirected", "edgelist, one file"):
        assert part in words


def test_degrees_are_drawn(call, tmp_path):
    result = call(*PA, "--plot", tmp_path / "g.png", "--json")
    assert result.exit_code == 0, result.output
    assert [step["step"] for step in json.loads(result.stdout)["steps"]] == ["generate, partition", "plot"]
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_workers_write_a_folder(call, tmp_path):
    result = call(*PA, "--workers", "2", "--output", f"{tmp_path}/g.csv/", "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert (record["workers"], record["files"]) == (2, 2)
    assert [step["step"] for step in record["steps"]] == ["start cluster", "generate, write"]
    assert edges_of(gd.read_graph(tmp_path / "g.csv")) == attached(200, 3, p=0.3, seed=2).edges


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing option '--vertices'"),
        (["--vertices", "3"], "--vertices 3 vertices are too few: --degree 4 needs at least 5"),
        (["--vertices", "100", "--p", "1.5"], "not a probability"),
        (["--vertices", "100", "--seed", "-1"], "not a whole number from 0"),
        (["--vertices", "100", "--degree", "0"], "at least 1"),
        (["--vertices", "100", "--multi-edges", "lose"], "'lose' is not one of"),
        (["--vertices", "100", "--format", "csv"], "give --output as well"),
        (["--vertices", "100", "--files", "2"], "give --output as well"),
        (["--vertices", "100", "--overwrite"], "give --output as well"),
        (["--vertices", "100", "--output", "graph"], "does not say its format"),
        (["--vertices", "100", "--output", "graph.doc"], "does not say its format"),
        (["--vertices", "100", "--output", "graph.mtx"], "not matrixmarket"),
        (["--vertices", "100", "--output", "nosuch/graph.txt"], "no directory"),
        (["--vertices", "100", "--output", "there.txt"], "exists; add --overwrite"),
        (["--vertices", "100", "--plot", "degrees.doc"], "ends in .png"),
        (["--vertices", "100", "--plot", "nosuch/degrees.png"], "no directory"),
        (["--vertices", "100", "--workers", "0"], "not in the range"),
    ],
)
def test_bad_input_is_refused_before_any_work(arguments, message, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.txt").write_text("1 2\n")
    result = call("generate", "pa", *arguments)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["there.txt"]


def test_what_fails_on_the_way_exits_with_1_and_leaves_nothing(call, tmp_path, fault):
    fault(writing, "open_part", OSError(28, "No space left on device"))
    result = call(*PA, "--output", tmp_path / "g.txt")
    assert result.exit_code == 1
    assert "no space left on device; nothing is left of it" in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir())


RMAT = ("rmat", "--scale", "6", "--edge-factor", "4", "--seed", "3")


@pytest.mark.parametrize(
    ("arguments", "graph"),
    [
        (RMAT, lambda: gd.generate.rmat(6, 4, 3)),
        ((*RMAT, "--no-permute", "--self-loops", "drop", "--directed", "--a", "0.45", "--b", "0.15", "--c", "0.15"),
         lambda: gd.generate.rmat(6, 4, 3, a=0.45, b=0.15, c=0.15, permute=False, self_loops="drop", directed=True)),
        ((*RMAT, "--multi-edges", "merge"), lambda: gd.generate.rmat(6, 4, 3, multi_edges="merge")),
        (("er", "--vertices", "90", "--edges", "70"), lambda: gd.generate.erdos_renyi(90, 70)),
        (("er", "--vertices", "40", "--p", "0.1", "--directed"),
         lambda: gd.generate.erdos_renyi(40, p=0.1, directed=True)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("output", ["g.txt", "g.parquet/"])
def test_other_generators_write_their_graphs(arguments, graph, output, call, tmp_path):
    result = call("generate", *arguments, "--device", "cpu", "--output", f"{tmp_path}/{output}", "--json")
    assert result.exit_code == 0, result.output
    expected, found = graph().partition(device="cpu"), gd.read_graph(f"{tmp_path}/{output}")
    assert edges_of(found) == edges_of(expected)
    assert edges_of(found).total() == json.loads(result.stdout)["edges"]
    assert (found.num_vertices, found.directed) == (expected.num_vertices, expected.directed)


@pytest.mark.parametrize("arguments", [("rmat", "--scale", "0"), ("rmat", "--scale", "63"), ("er", "--vertices", "9"),
                                       ("er", "--vertices", "9", "--edges", "99"), ("rmat",), ("er",)])  # fmt: skip
def test_arguments_that_other_generators_refuse_are_bad_input(arguments, call):
    result = call("generate", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_every_generator_has_a_function_and_help(call):
    for generator in GENERATORS:
        assert hasattr(gd.generate, generator.function)
        result = call("generate", generator.name, "--help")
        assert result.exit_code == 0
        assert "--output" in result.stdout
