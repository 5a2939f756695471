"""`-` as a file to write: data alone on standard output, what else there is to say on standard error."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import networkx
import pytest

from graphdask.commands.columns import TEXTS
from graphdask.io import FORMATS, read_edges, streams

EDGES = b"ann bob 0.5\nbob cid 1.5\ncid ann 4\n"
GRAPH = [("ann", "bob", 0.5), ("bob", "cid", 1.5), ("cid", "ann", 4.0)]


@pytest.fixture
def shell(program_path, tmp_path) -> Callable[..., subprocess.CompletedProcess]:
    """Run a line of Bash, in which `graphdask` is the installed program, in an empty folder."""

    def run(line: str) -> subprocess.CompletedProcess:
        environment = os.environ | {"PATH": f"{Path(program_path).parent}{os.pathsep}{os.environ['PATH']}"}
        return subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path, timeout=300, env=environment
        )

    return run


def said(result) -> str:
    """Standard error on one line."""
    return " ".join(result.stderr.split())


def test_what_a_stream_takes_are_the_texts_that_are_written():
    assert {name for name, known in FORMATS.items() if known.writes and known.compressed} == set(streams.WRITES)


@pytest.mark.parametrize("format", [*streams.WRITES])
def test_a_stream_gets_the_bytes_that_a_file_gets(pipe, format):
    data = b"1 2 0.5\n2 3 1.5\n"
    options = ["--format-in", "edgelist", "--format-out", format]
    options += ["--undirected", "--no-weights"] if format == "metis" else ["--directed"]
    assert pipe(data, "convert", "-", "out", *options).exit_code == 0
    result = pipe(data, "convert", "-", "-", *options)
    assert result.exit_code == 0, result.stderr
    assert result.stdout_bytes == Path("out").read_bytes()
    assert "written standard output" in said(result)


def test_an_edge_list_is_the_default_and_keeps_everything(pipe):
    made = pipe(EDGES, "convert", "-", "-", "--undirected")
    again = pipe(made.stdout_bytes, "convert", "-", "-")
    Path("graph.txt").write_bytes(again.stdout_bytes)
    edges = read_edges("graph.txt")
    assert list(zip(edges.src, edges.dst, edges.weights, strict=True)) == GRAPH
    assert edges.directed is False


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_input_comes_out_plain(pipe, pack):
    result = pipe(pack(EDGES), "convert", "-", "-", "--format-out", "csv")
    rows = list(csv.reader(io.StringIO(result.stdout)))
    assert rows[0] == ["src", "dst", "weight"]
    assert [(a, b, float(w)) for a, b, w in rows[1:]] == GRAPH


@pytest.mark.parametrize("format", ["parquet", "npz", "native", "ldbc"])
def test_a_format_that_no_stream_holds_is_refused_by_name(pipe, format):
    convert = pipe(EDGES, "convert", "-", "-", "--format-out", format)
    generate = pipe(b"", "generate", "er", "--vertices", "3", "--edges", "1", "--output", "-", "--format", format)
    for result in (convert, generate):
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"{format} is no format for standard output, which takes edgelist, csv" in said(result)


def test_the_record_goes_to_standard_error_where_the_data_are_on_standard_output(pipe):
    result = pipe(EDGES, "convert", "-", "-", "--format-out", "csv", "--json")
    assert result.stdout.splitlines()[0] == '"src","dst","weight"'
    assert json.loads(result.stderr.splitlines()[-1])["out"]["file"] == "standard output"


def test_a_name_that_the_format_cannot_hold_is_refused_before_anything_is_written(pipe):
    result = pipe(b'a,"b c"\nc,d\n', "convert", "-", "-", "--format-in", "csv", "--no-header")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the id 'b c' cannot stand in an edge list" in said(result)


@pytest.mark.parametrize("kind", TEXTS)
def test_run_writes_the_rows_that_a_file_gets(pipe, kind):
    arguments = ("run", "bfs", "-", "--source", "ann", "--format", "edgelist")
    assert pipe(EDGES, *arguments, "--output", f"out.{kind}").exit_code == 0
    result = pipe(EDGES, *arguments, "--output", "-", "--output-format", kind)
    assert result.exit_code == 0, result.stderr
    assert result.stdout_bytes == Path(f"out.{kind}").read_bytes()
    assert "BFS" in result.stderr


def test_run_writes_csv_by_default_with_the_depths_of_networkx(pipe):
    result = pipe(EDGES, "run", "bfs", "-", "--source", "bob", "--output", "-", "--json")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    graph = networkx.DiGraph([each[:2] for each in GRAPH])
    expected = networkx.single_source_shortest_path_length(graph, "bob")
    assert {row["vertex"]: int(row["depth"]) for row in rows} == dict(expected)
    assert json.loads(result.stderr.splitlines()[-1])["output"] == "standard output"


def test_the_format_of_a_named_output_is_not_said_twice(pipe):
    result = pipe(EDGES, "run", "components", "-", "--output", "a.csv", "--output-format", "txt")
    assert result.exit_code == 2
    assert "--output-format is for --output -; the name of a file says its format" in said(result)


@pytest.mark.parametrize("command", [("convert", "-", "-"), ("run", "components", "-", "--output", "-")])
def test_nothing_on_standard_output_is_overwritten(pipe, command):
    result = pipe(EDGES, *command, "--overwrite")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--overwrite is for files and folders" in said(result)


@pytest.mark.parametrize("option", [("--files", "2"), ("--overwrite",)])
def test_options_of_files_are_refused_for_a_generated_stream(pipe, option):
    result = pipe(b"", "generate", "er", "--vertices", "3", "--edges", "1", "--output", "-", *option)
    assert result.exit_code == 2
    assert f"{option[0]} is for files and folders, and --output - is standard output; leave it out" in said(result)


@pytest.mark.parametrize("format", ["edgelist", "csv"])
def test_generate_gives_the_bytes_of_a_file(pipe, format):
    arguments = ("generate", "er", "--vertices", "100", "--edges", "300", "--seed", "7", "--format", format)
    assert pipe(b"", *arguments, "--output", "graph.txt").exit_code == 0
    result = pipe(b"", *arguments, "--output", "-")
    assert result.exit_code == 0, result.stderr
    assert result.stdout_bytes == Path("graph.txt").read_bytes()
    assert "written" in result.stderr


@pytest.mark.slow
def test_a_graph_goes_through_a_pipe_of_commands(shell):
    made = shell(
        "set -o pipefail; graphdask generate er --vertices 200 --edges 400 --output - 2>generate.err | gzip |"
        " graphdask convert - - --format-out csv 2>convert.err | tee graph.csv |"
        " graphdask run components - --format csv --undirected --workers 2 --output - 2>run.err"
    )
    assert made.returncode == 0
    rows = list(csv.DictReader(io.StringIO(made.stdout)))
    assert set(rows[0]) == {"vertex", "label"}


@pytest.mark.slow
def test_the_answer_through_a_pipe_is_that_of_networkx(shell, tmp_path):
    made = shell(
        "set -o pipefail; graphdask generate er --vertices 200 --edges 150 --output - | tee graph.txt |"
        " graphdask run components - --format edgelist --output -"
    )
    assert made.returncode == 0, made.stderr
    found = {int(row["vertex"]): int(row["label"]) for row in csv.DictReader(io.StringIO(made.stdout))}
    lines = [line.split() for line in (tmp_path / "graph.txt").read_text().splitlines() if not line.startswith("#")]
    graph = networkx.Graph([(int(a), int(b)) for a, b in lines])
    graph.add_nodes_from(range(200))
    expected = {v: min(part) for part in networkx.connected_components(graph) for v in part}
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "graphdask convert big.txt -",
        "graphdask convert big.txt - --format-out csv --ids str",
        "graphdask convert big.txt - --format-out matrixmarket",
        "graphdask run components big.txt --output -",
        "graphdask generate rmat --scale 15 --output -",
        "cat big.txt | graphdask convert - -",
    ],
)
def test_a_reader_that_ends_early_ends_the_command_quietly(shell, tmp_path, command):
    (tmp_path / "big.txt").write_text("".join(f"{n} {n + 1}\n" for n in range(1, 100_000)))
    made = shell(f"{{ {command}; echo status $? >&2; }} | head -1")
    assert len(made.stdout.splitlines()) == 1
    assert made.stderr.splitlines()[-1] == "status 141"
    for word in ("Traceback", "Exception ignored", "Broken pipe", "error:"):
        assert word not in made.stderr


@pytest.mark.parametrize("command", ["info graph.txt", "info graph.txt --json", "--help", "run --help"])
def test_tables_too_end_quietly_where_nobody_reads_them(shell, tmp_path, command):
    (tmp_path / "graph.txt").write_text("1 2\n")
    made = shell(f"{{ graphdask {command}; echo status $? >&2; }} | exec 0<&-")
    assert made.stderr.splitlines()[-1] == "status 141"
    assert made.stderr.splitlines()[:-1] == []


def test_errors_too_end_quietly_where_nobody_reads_them(shell):
    made = shell("{ graphdask info nosuch.txt 2>&1; echo status $? >&2; } | exec 0<&-")
    assert made.stderr.splitlines() == ["status 2"]


@pytest.mark.slow
def test_a_full_disk_is_one_paragraph(shell, tmp_path):
    (tmp_path / "graph.txt").write_text("1 2\n")
    made = shell("graphdask convert graph.txt - >/dev/full")
    assert made.returncode == 1
    assert said(made) == "error: standard output cannot be written: no space left on device; what it has is not whole"


def test_no_standard_output_is_said(shell, tmp_path):
    (tmp_path / "graph.txt").write_text("1 2\n")
    made = shell("graphdask convert graph.txt - >&-")
    assert made.returncode == 2
    assert said(made) == "error: standard output is closed; give it a reader, or name a file"


@pytest.mark.slow
def test_what_libraries_print_does_not_reach_the_data(shell, tmp_path):
    """A line that is printed to the descriptor itself, as a library in C does, is on standard error."""
    (tmp_path / "graph.txt").write_text("1 2\n")
    (tmp_path / "loud.py").write_text(
        "import os, graphdask.io.streams_out as s\n"
        "write = s.write_stream\n"
        "s.write_stream = lambda *a: (print('printed'), os.write(1, b'from C\\n'), write(*a))\n"
        "from graphdask.cli import main\n"
        "main()\n"
    )
    made = shell("python loud.py convert graph.txt - --format-out csv")
    assert made.stdout == '"src","dst"\n1,2\n'
    assert {"printed", "from C"} <= set(made.stderr.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_a_path_that_leads_to_standard_output_is_the_same_as_a_dash(shell, pipe, name):
    line = "generate er --vertices 4 --edges 3 --seed 1 --output"
    dash, path = pipe(b"", *line.split(), "-"), shell(f"graphdask {line} {name}")
    assert dash.exit_code == path.returncode == 0, path.stderr
    assert path.stdout == dash.stdout
    assert "total" in path.stderr


@pytest.mark.slow
def test_so_it_is_where_standard_output_is_a_file(shell, tmp_path):
    shell("graphdask generate er --vertices 4 --edges 3 --output /dev/stdout > graph.txt")
    assert read_edges(tmp_path / "graph.txt").num_edges == 3


@pytest.mark.slow
def test_a_link_whose_name_says_the_format_is_a_file_of_that_format(shell, tmp_path):
    (tmp_path / "graph.csv").symlink_to("/dev/stdout")
    result = shell("graphdask generate er --vertices 4 --edges 3 --output graph.csv")
    assert result.stdout.startswith('"src","dst"'), result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run bfs graph.txt --source 0 --output", "convert graph.txt"])
def test_other_commands_take_it_as_well(shell, pipe, tmp_path, command):
    (tmp_path / "graph.txt").write_text("0 1\n1 2\n")
    dash, path = pipe(b"", *command.split(), "-"), shell(f"graphdask {command} /dev/stdout")
    assert dash.exit_code == path.returncode == 0, path.stderr
    assert path.stdout == dash.stdout != ""
