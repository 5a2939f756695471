"""`graphdask sample run`: samplers of the caller's own from a Python file; pools of frontier sampling; vertices."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet
import pytest

SPECS = """\
import graphdask as gd
from bounds import LEAST

def heavy(e):
    return e.weight if e.weight > LEAST else 0.0

spec = gd.sample.Spec(edge_bias=heavy, depth=2, replace=True)
hops = gd.sample.Spec(neighbor_size=[-1, 1])
number = 7
"""
FUNCTIONS = """\
def edge_bias(e):
    return e.weight

def update(e):
    return e.destination if e.depth == 0 else -1
"""


@pytest.fixture
def square(tmp_path):
    """The undirected cycle of a, b, c, d, with weights."""
    file = tmp_path / "square.csv"
    file.write_text("a,b,1\nb,c,2\nc,d,3\nd,a,4\n")
    return file


@pytest.fixture
def specs(tmp_path):
    (tmp_path / "bounds.py").write_text("LEAST = 1.5\n")
    file = tmp_path / "specs.py"
    file.write_text(SPECS)
    return file


def rows(path):
    return [line.split() for line in path.read_text().splitlines()[1:]]


@pytest.mark.slow
def test_a_spec_of_a_file_is_run(call, square, specs, tmp_path):
    output = tmp_path / "edges.txt"
    options = ("--undirected", "--weights", "--seeds", "b,c", "--verify", "--output", output)
    result = call("sample", "run", f"{specs}:spec", square, *options, "--depth", 1, "--instances", 3)
    assert result.exit_code == 0, result.output
    found = rows(output)
    assert [(row[0], row[-1]) for row in found] == [("b", "0"), ("c", "1"), ("b", "2")]
    assert {tuple(row[:2]) for row in found if row[0] == "b"} == {("b", "c")}  # the other edge weighs too little
    deeper = call("sample", "run", f"{specs}:spec", square, *options[:-2], "--json")
    assert json.loads(deeper.stdout)["answer"] == "4 edges"


@pytest.mark.slow
def test_functions_of_a_file_make_a_spec_with_the_options(call, square, tmp_path):
    file, output = tmp_path / "mine.py", tmp_path / "edges"
    file.write_text(FUNCTIONS)
    options = ("--undirected", "--weights", "--seeds", "a,c", "--neighbor-size", "-1", "--depth", 5, "--pool-size", 2)
    result = call("sample", "run", file, square, *options, "--workers", 2, "--verify", "--output", output)
    assert result.exit_code == 0, result.output
    table = pyarrow.parquet.read_table(output).to_pylist()
    assert {(row["src"], row["dst"]) for row in table if row["hop"] == 0} == {
        ("a", "b"), ("a", "d"), ("c", "b"), ("c", "d"),
    }  # fmt: skip
    assert {row["hop"] for row in table} == {0, 1}
    assert {row["instance"] for row in table} == {0}


def test_samples_of_functions_are_written_in_chunks(call, square, tmp_path):
    file, output = tmp_path / "mine.py", tmp_path / "edges"
    file.write_text("def neighbor_size(v):\n    return v.degree - 1\n")
    result = call("sample", "run", file, square, "--undirected", "--depth", 1, "--chunk", 3, "--output", output)
    assert result.exit_code == 0, result.output
    assert "4 rows in 2 chunks" in result.stdout
    assert pyarrow.parquet.read_table(output).column("src").to_pylist() == ["a", "b", "c", "d"]


def said(result, code=2):
    assert result.exit_code == code, result.output
    return " ".join(result.stderr.replace("\n", " ").split())


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (":missing", (), "has no 'missing'; its Specs are spec, hops"),
        (":number", (), "specs.py:9: number is a int, not a gd.sample.Spec number = 7"),
        (":heavy", (), "specs.py:4: heavy is a function, not a gd.sample.Spec def heavy(e):"),
        (":LEAST", (), "specs.py:2: LEAST is a float, not a gd.sample.Spec from bounds import LEAST"),
        (":spec", ("--neighbor-size", 2), "--neighbor-size is for the functions of a file"),
        (":hops", ("--depth", 3), "--depth 3, but neighbor_size has 2 numbers"),
        (
            "",
            ("--depth", 3),
            "has none of the functions vertex_bias, edge_bias, update, neighbor_size; it has gd, LEAST",
        ),
        (":spec", ("--pool-size", 3), "4 vertices make no pools of --pool-size 3"),
        (":spec", ("--no-weights",), "specs.py:4: heavy asks for the weight of an edge, but this graph has no weights"),
    ],
)
def test_what_a_file_has_instead_is_said(call, square, specs, name, options, message):
    assert message in said(call("sample", "run", f"{specs}{name}", square, "--undirected", *options))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("def edge_bias(e)\n    return 1\n", (), "mine.py:1: expected ':' (SyntaxError) def edge_bias(e)"),
        ("first = 1\nraise KeyError('x')\n", (), "mine.py:2: raises KeyError: 'x' raise KeyError('x')"),
        ("import no_such_module_of_mine\n", (), "mine.py:1: raises ModuleNotFoundError: No module named"),
        (FUNCTIONS, (), "give --depth, how many steps there are"),
        ("def edge_bias(e):\n    x = e.wait\n    return x\n", ("--depth", 1), "mine.py:2: there is no field e.wait"),
        ("def edge_bias(e):\n    return -1\n", ("--depth", 1, "--select", "inverse"),
         "mine.py:1: edge_bias returned a bias that is negative"),
        ("def neighbor_size(v):\n    return 1\n", ("--depth", 1, "--neighbor-size", 2),
         "mine.py:1: neighbor_size is there already, so leave --neighbor-size out"),
        ("import graphdask as gd\nspec = gd.sample.Spec(depth=-1)\n", (),
         "mine.py:2: raises InputError: depth=-1 is not a whole number from 0 to 2,147,483,647 spec = gd.sample.Spec("),
        (FUNCTIONS, ("--depth", 1, "--edge-bound", "-2"), "--edge-bound -2 must be above 0"),
    ],
)  # fmt: skip
def test_a_file_that_fails_is_named_with_its_line(call, square, tmp_path, text, options, message):
    file = tmp_path / "mine.py"
    file.write_text(text)
    assert message in said(call("sample", "run", file, square, "--undirected", *options))


def test_a_sampler_is_a_python_file(call, square, tmp_path):
    assert "no such file" in said(call("sample", "run", tmp_path / "none.py", square))
    assert "is no sampler: give a Python file" in said(call("sample", "run", "spec", square))


@pytest.mark.parametrize("instances", [10**13, 2**63, 10**30])
def test_instances_that_no_memory_holds_are_refused(call, square, tmp_path, instances):
    done = call("sample", "frontier", square, "--instances", instances, "--output", tmp_path / "edges.npz")
    assert done.exit_code == (1 if instances < 2**63 else 2)
    assert "GiB may be used" in done.stderr if instances < 2**63 else "is not a whole number" in done.stderr


def test_pools_of_frontier_sampling(call, square, tmp_path):
    text, arrays = tmp_path / "edges.txt", tmp_path / "edges.npz"
    options = ("--undirected", "--starts", "a,c,b,d", "--pool-size", 2, "--instances", 3, "--length", 5, "--verify")
    result = call("sample", "frontier", square, *options, "--output", text)
    assert result.exit_code == 0, result.output
    assert "3 pools of 5 edges on average" in result.stdout
    assert call("sample", "frontier", square, *options, "--output", arrays).exit_code == 0
    with np.load(arrays) as found:
        assert found["src"].shape == (3, 5)
        assert found["src"][0, 0] in "ac"
        assert found["src"][1, 0] in "bd"
        edges = [
            (str(i), src, dst) for i in range(3) for src, dst in zip(found["src"][i], found["dst"][i], strict=True)
        ]
    assert [tuple(row) for row in rows(text)] == edges
    whole = call("sample", "frontier", square, "--undirected", "--length", 2, "--partitions", 2, "--json")
    assert json.loads(whole.stdout)["answer"] == "1 pool of 2 edges on average"
    refused = call("sample", "frontier", square, "--number", 3, "--pool-size", 2)
    assert "3 vertices make no pools of --pool-size 2" in said(refused)


def test_pools_end_where_no_edge_is_left(call, tmp_path):
    file, output = tmp_path / "chain.txt", tmp_path / "edges.txt"
    file.write_text("10 20\n20 30\n")
    assert call("sample", "frontier", file, "--starts", 10, "--length", 9, "--output", output).exit_code == 0
    assert rows(output) == [["0", "10", "20"], ["0", "20", "30"]]


def test_vertices_of_the_whole_graph(call, square, tmp_path):
    results = {}
    for name in ("nodes.txt", "nodes.npz", "nodes"):
        result = call("sample", "nodes", square, "--count", 3, "--seed", 5, "--output", tmp_path / name)
        assert result.exit_code == 0, result.output
        assert "3 vertices" in result.stdout
    results["txt"] = [row[0] for row in rows(tmp_path / "nodes.txt")]
    with np.load(tmp_path / "nodes.npz") as found:
        results["npz"] = found["vertex"].tolist()
    results["parquet"] = pyarrow.parquet.read_table(tmp_path / "nodes").column("vertex").to_pylist()
    assert len(set(results["txt"])) == 3
    assert set(results["txt"]) < set("abcd")
    assert results["npz"] == results["parquet"] == results["txt"]
    record = json.loads(call("sample", "nodes", square, "--count", 0, "--json").stdout)
    assert (record["sampler"], record["answer"]) == ("nodes", "0 vertices")
    assert "--count 5 vertices are asked for, and the graph has 4" in said(
        call("sample", "nodes", square, "--count", 5)
    )
    refused = call("sample", "nodes", square, "--count", 1, "--output", tmp_path / "nodes")
    assert "exists; add --overwrite to replace it" in said(refused)


@pytest.mark.slow
def test_every_method_can_be_asked_for(call, square, tmp_path):
    file = tmp_path / "functions.py"
    file.write_text("def edge_bias(e):\n    return 2 if e.destination_degree > 1 else 1\n")
    for method in ("auto", "inverse", "rejection", "reservoir", "alias", "repeated", "updated", "bipartite"):
        done = call("sample", "run", file, square, "--select", method, "--depth", 1, "--output", tmp_path / method)
        assert done.exit_code == 0, done.output
    assert "'table' is not one of 'auto', 'inverse'" in said(call("sample", "run", file, square, "--select", "table"))
