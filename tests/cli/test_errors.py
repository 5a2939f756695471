"""Every error is one paragraph on standard error that says what to do, and an exit code."""

from __future__ import annotations

import gzip

import pytest

from graphdask.commands.speaking import explain, in_options
from graphdask.errors import DeadlineExceeded, InputError, PeerLost, VerificationError
from graphdask.graph import construct


def paragraph(result) -> str:
    """The one paragraph of an error, its lines joined; nothing else may have been said."""
    lines = result.stderr.strip().splitlines()
    assert lines[0].startswith("error:")
    assert not any(line.startswith("error:") or not line.strip() for line in lines[1:])
    assert all(len(line) <= 80 or " " not in line for line in lines)
    assert result.stdout == ""
    return " ".join(lines)


def test_a_file_that_is_not_there_is_bad_input(call):
    result = call("info", "nosuch.txt")
    assert result.exit_code == 2
    assert paragraph(result) == "error: nosuch.txt: no such file"


def test_a_damaged_line_is_named_with_file_and_line(call, tmp_path):
    file = tmp_path / "graph.txt"
    file.write_text("1 2\n3 x\n")
    result = call("run", "components", file)
    assert result.exit_code == 2
    assert "graph.txt:2:" in paragraph(result)


def test_a_truncated_file_is_bad_input(call, tmp_path):
    file = tmp_path / "graph.txt.gz"
    file.write_bytes(gzip.compress(b"1 2\n" * 1000)[:-12])
    result = call("info", file)
    assert result.exit_code == 2
    assert "truncated" in paragraph(result)


def test_a_source_that_is_no_vertex_is_named_with_the_vertices_that_there_are(call, path_graph):
    result = call("run", "bfs", path_graph, "--source", "60")
    assert result.exit_code == 2
    assert "source 60 is not in the graph; it has 5 vertices with ids between 10 and 50" in paragraph(result)


@pytest.mark.parametrize("source", ["abc", "1.5", "10 20", ""])
def test_a_source_that_is_no_number_is_bad_input_where_the_ids_are_numbers(call, path_graph, source):
    result = call("run", "bfs", path_graph, "--source", source)
    assert result.exit_code == 2
    assert f"--source {source!r} is not a whole number" in paragraph(result)


@pytest.mark.parametrize("source", [2**63, 2**64 - 1, 2**64, -(2**63) - 1])
def test_a_source_beyond_64_bits_is_no_vertex(call, path_graph, source):
    result = call("run", "bfs", path_graph, f"--source={source}")
    assert result.exit_code == 2
    assert f"source {source} is not in the graph" in paragraph(result)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "bfs", "graph.txt"], "Missing option '--source'; see graphdask run bfs --help"),
        (["run", "bfs", "graph.txt", "--source", "1", "--bogus"], "No such option '--bogus'; see graphdask run bfs"),
        (["frobnicate"], "No such command 'frobnicate'; see graphdask --help"),
        (["--bogus"], "No such option '--bogus'; see graphdask --help"),
        (["run", "components", "graph.txt", "--workers", "0"], "0 is not in the range x>=1"),
        (["demo", "--vertices", "1e3.5"], "'1e3.5' is not a whole number"),
        (["demo", "--vertices", "inf"], "'inf' is not a whole number"),
        (["demo", "--vertices", "-4"], "-4 is too small"),
    ],
)
def test_wrong_usage_names_what_is_wrong_and_where_help_is(call, arguments, message):
    result = call(*arguments)
    assert result.exit_code == 2
    assert message in paragraph(result)


@pytest.mark.parametrize("output", ["out.foo", "out", "nodir/out.csv", "."])
def test_an_output_that_cannot_be_written_is_refused_before_any_work(call, output, tmp_path):
    result = call("run", "components", tmp_path / "nosuch.txt", "--output", output)
    assert result.exit_code == 2
    assert output in paragraph(result)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--scheduler-file", "nosuch.json", "no such scheduler file; start the scheduler with: dask scheduler"),
        ("--scheduler", "foo://bar", "unknown address scheme 'foo'"),
        ("--scheduler", "tcp://localhost", "port"),
        ("--scheduler", "http://localhost:8786", "unknown address scheme 'http'"),
    ],
)
def test_a_scheduler_that_cannot_be_named_is_bad_input(call, path_graph, option, value, message):
    result = call("run", "components", path_graph, option, value)
    assert result.exit_code == 2
    assert message in paragraph(result)


def test_a_scheduler_file_of_something_else_is_bad_input(call, path_graph):
    result = call("run", "components", path_graph, "--scheduler-file", path_graph)
    assert result.exit_code == 2
    assert "is not a scheduler file" in paragraph(result)


def test_both_ways_to_name_a_scheduler_are_one_too_many(call, path_graph):
    result = call("run", "components", path_graph, "--scheduler-file", "s.json", "--scheduler", "tcp://a:1")
    assert result.exit_code == 2
    assert "give one of them" in paragraph(result)


def test_a_scheduler_that_does_not_answer_fails_within_its_deadline(monkeypatch):
    from graphdask.cluster.local import connect
    from graphdask.errors import CommunicationError

    with pytest.raises(CommunicationError, match="did not answer within"), connect("tcp://127.0.0.1:1", timeout=0.5):
        pass


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("x"), 2),
        (VerificationError("x"), 3),
        (PeerLost("x"), 1),
        (DeadlineExceeded("x"), 1),
        (FileNotFoundError(2, "No such file or directory", "x"), 2),
        (PermissionError(13, "Permission denied", "x"), 2),
        (IsADirectoryError(21, "Is a directory", "x"), 2),
        (OSError(28, "No space left on device", "x"), 1),
        (MemoryError(), 1),
        (KeyboardInterrupt(), 130),
        (ZeroDivisionError("division by zero"), 1),
    ],
)
def test_every_error_has_its_exit_code(error, code):
    message, found = explain(error)
    assert found == code
    assert message


def test_a_wrong_answer_ends_with_3_and_writes_nothing(call, path_graph, tmp_path, watched):
    from graphdask.algorithms.bfs import BreadthFirstSearch

    watched(BreadthFirstSearch, "result", answer=lambda columns: columns["depth"].__iadd__(1))
    output = tmp_path / "depth.csv"
    result = call("run", "bfs", path_graph, "--source", "10", "--verify", "--output", output)
    assert result.exit_code == 3
    assert "BFS" in paragraph(result)
    assert not output.exists()


@pytest.mark.parametrize("place", ["before", "after"])
def test_debug_shows_the_traceback_before_or_after_the_command(call, place):
    arguments = ["--debug", "info", "nosuch.txt"] if place == "before" else ["info", "nosuch.txt", "--debug"]
    result = call(*arguments)
    assert result.exit_code == 2
    assert "Traceback (most recent call last)" in result.stderr
    assert result.stderr.strip().endswith("error: nosuch.txt: no such file")


def test_an_error_that_nobody_expected_points_to_debug(call, path_graph, fault):
    fault(construct, "read_graph", ZeroDivisionError("division by zero"))
    result = call("info", path_graph)
    assert result.exit_code == 1
    assert "ZeroDivisionError: division by zero" in paragraph(result)
    assert "--debug" in paragraph(result)


def test_errors_name_options_as_the_command_line_does():
    assert in_options("pass format= one of csv, npz") == "pass --format one of csv, npz"
    assert in_options("by='metis' needs pymetis") == "--by metis needs pymetis"
    assert in_options("say directed=False") == "say --undirected"
    assert in_options("weighted=False leaves them aside") == "--unweighted leaves them aside"
    assert in_options("take allocation=0.25 or allocation='just-enough'") == (
        "take --allocation 0.25 or --allocation just-enough"
    )
    assert in_options("standby=3, x.format=2") == "standby=3, x.format=2"


@pytest.mark.slow
def test_wrong_input_to_the_program_itself_is_one_paragraph(program):
    done = program("run", "bfs", "nosuch.txt", "--source", "0", "--workers", "1")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "error: nosuch.txt: no such file\n"


def test_a_result_never_overwrites_the_graph_that_it_was_computed_from(call, tmp_path):
    file = tmp_path / "graph.txt"
    file.write_text("1 2\n")
    for name in (file, tmp_path / "." / "graph.txt"):
        result = call("run", "components", file, "--output", name)
        assert result.exit_code == 2
        assert "graph.txt is the graph to read; name another file to write" in paragraph(result)
    assert file.read_text() == "1 2\n"


def test_a_folder_that_refuses_files_is_bad_input_and_named_as_the_caller_named_it(call, path_graph):
    result = call("run", "components", path_graph, "--output", "/proc/out.csv")
    assert result.exit_code == 2
    assert "/proc/out.csv cannot be written" in paragraph(result)


def test_an_id_above_63_bits_is_refused_with_the_option_that_keeps_it_as_a_name(call, tmp_path):
    file = tmp_path / "graph.txt"
    file.write_text(f"1 2\n2 {2**63}\n")
    out = tmp_path / "out.csv"
    for command in (("info", file), ("run", "bfs", file, "--source", "1"), ("convert", file, out)):
        refused = call(*command)
        assert refused.exit_code == 2
        assert "graph.txt:2: vertex id '9223372036854775808' is above 2^63 - 1; pass --ids str" in paragraph(refused)
        assert call(*command, "--ids", "str").exit_code == 0
    assert str(2**63) in out.read_text()


@pytest.mark.parametrize("command", ["run components GRAPH", "sample walk GRAPH", "demo", "cluster start"])
def test_more_workers_than_this_host_can_run_are_refused_at_once(call, path_graph, command):
    result = call(*command.replace("GRAPH", str(path_graph)).split(), "--workers", 100_000)
    assert result.exit_code == 2
    assert "--workers 100000 are too many for this host" in paragraph(result)
