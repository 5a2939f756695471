"""Every path that a command takes says what `-` is: a stream, or nothing, which is said with what to do."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from base_commands import commands

from graphdask.commands.options import Number, Numbers, Scheme, Whole
from graphdask.commands.paths import STREAM, PathName
from graphdask.commands.scale import Names

STREAMS = {
    ("info", "FILE"): "standard input",
    ("convert", "IN"): "standard input",
    ("run", "FILE"): "standard input",
    ("convert", "OUT"): "standard output",
    ("run", "--output"): "standard output",
    ("generate", "--output"): "standard output",
}
"""Of commands, without the name of an algorithm, and their parameters; where `-` is a stream."""

NO_PATHS = {
    "--account", "--algorithm", "--chunk", "--columns", "--comment", "--communicator", "--delimiter",
    "--edge-columns", "--vertex-columns", "--every",
    "--device-memory", "--directive", "--drill", "--experiment", "--format", "--format-in", "--format-out", "--host",
    "--interface", "--memory", "--method", "--mpi", "--na-values", "--pair", "--partition", "--partition-by", "--pbs",
    "--personalize", "--root", "--sampler", "--scaling", "--scheduler", "--seeds", "--setup", "--slurm", "--source",
    "--sources", "--ssh", "--starts", "--stop", "--suite", "--targets", "--time", "--vertices", "COMMAND ...",
    "[ALGORITHM]...",
}  # fmt: skip
"""Parameters that are text, and no path."""

NO_TEXT = (click.Choice, click.types.BoolParamType, click.types.IntParamType, click.types.FloatParamType)


def called(parameter: click.Parameter) -> str:
    """`--output` or `FILE`."""
    return parameter.opts[0] if isinstance(parameter, click.Option) else str(parameter.metavar)


TEXTS = [
    (name, command, parameter)
    for name, command in commands()
    for parameter in command.params
    if not isinstance(parameter.type, (*NO_TEXT, Whole, Number, Numbers, Scheme, Names))
]
PATHS = [each for each in TEXTS if isinstance(each[2].type, PathName)]


def test_every_parameter_that_is_text_is_a_path_or_known_to_be_none():
    """A new one fails here until it is decided what `-` is for it."""
    unknown = {
        (" ".join(name), called(parameter))
        for name, _, parameter in TEXTS
        if not isinstance(parameter.type, PathName) and called(parameter) not in NO_PATHS
    }
    assert unknown == set()


def test_what_is_known_to_be_no_path_is_there():
    assert {called(parameter) for _, _, parameter in TEXTS} >= NO_PATHS


def test_a_name_of_files_and_folders_is_a_path():
    named = {
        (" ".join(name), called(parameter))
        for name, _, parameter in TEXTS
        if parameter.metavar in ("FILE", "DIR", "FOLDER", "PATH", "IN", "OUT") and (name, _, parameter) not in PATHS
    }
    assert named == set()


def test_streams_are_where_the_table_has_them():
    found = {(name[0], called(parameter)): parameter.type.stream for name, _, parameter in PATHS}
    assert {key: stream for key, stream in found.items() if stream} == STREAMS


@pytest.mark.parametrize(
    ("name", "command", "parameter"), PATHS, ids=[" ".join([*name, called(each)]) for name, _, each in PATHS]
)
def test_a_dash_is_a_stream_or_refused_with_what_to_do(name, command, parameter, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    context = click.Context(command)
    if parameter.type.stream:
        assert parameter.type.convert("-", parameter, context) == STREAM
    else:
        with pytest.raises(click.BadParameter, match=r"'-' is no stream here.*\./- names one that is called -"):
            parameter.type.convert("-", parameter, context)
    assert Path(parameter.type.convert("./-", parameter, context)) == tmp_path / "-"
    assert Path(parameter.type.convert("graph.txt", parameter, context)) == Path("graph.txt")
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("sample", "walk", "graph.txt", "--length", "2", "--output", "-"),
        ("sample", "neighbors", "graph.txt", "--seeds-file", "-"),
        ("sample", "edges", "-"),
        ("sample", "nodes", "--count", "1", "graph.txt", "--output=-"),
        ("sample", "run", "-", "graph.txt"),
        ("stream", "build", "graph.txt", "-"),
        ("stream", "build", "-", "graph.gdl"),
        ("stream", "check", "-"),
        ("profile", "bfs", "-", "--source", "1"),
        ("profile", "bfs", "graph.txt", "--source", "1", "--output", "-"),
        ("demo", "--output", "-"),
        ("bench", "io", "--output", "-"),
        ("bench", "sample", "--graph", "-"),
        ("scale", "run", "--output", "-"),
        ("scale", "plot", "-"),
        ("submit", "--slurm", "--output", "-", "info", "graph.txt"),
        ("generate", "er", "--vertices", "3", "--edges", "1", "--plot", "-"),
        ("pagerank-stream", "graph.txt", "--output", "-"),
        ("doctor", "--scheduler-file", "-"),
    ],
    ids=lambda each: " ".join(each[:3]),
)
def test_commands_refuse_a_dash_that_is_no_stream_and_write_nothing(call, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    Path("graph.txt").write_text("1 2\n")
    result = call(*arguments)
    assert result.exit_code == 2
    assert "'-' is no stream here" in " ".join(result.stderr.split())
    assert [each.name for each in tmp_path.iterdir()] == ["graph.txt"]


def test_a_job_has_no_standard_input(call):
    result = call("submit", "--slurm", "--dry-run", "run", "components", "-")
    assert result.exit_code == 2
    assert "FILE -: a job has no standard input or output" in " ".join(result.stderr.split())


def test_a_file_that_is_called_dash_is_read_and_written(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("-").write_text("1 2\n2 3\n")
    result = call("convert", "./-", "graph.csv", "--format-in", "edgelist")
    assert result.exit_code == 0, result.stderr
    assert Path("graph.csv").read_text() == '"src","dst"\n1,2\n2,3\n'
