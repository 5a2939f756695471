"""Every command that writes takes --overwrite."""

from __future__ import annotations

import click
import pytest

from graphdask.cli import COMMANDS, cli


def commands(group, path):
    for name in group.list_commands(None):
        found = group.get_command(None, name)
        if isinstance(found, click.Group):
            yield from commands(found, f"{path} {name}")
        else:
            yield f"{path} {name}".strip(), found


WRITES = {
    path: command
    for path, command in commands(cli, "")
    if any({"--output", "-o", "--plot"} & set(each.opts) for each in command.params)
    or path in ("convert", "stream build", "cluster start")
}


def test_all_kinds_of_commands_are_looked_at():
    assert len(COMMANDS) >= 14
    assert {path.split()[0] for path in WRITES} >= {
        *("demo", "generate", "run", "sample", "pagerank-stream", "profile", "convert", "submit", "bench", "scale"),
        *("stream", "cluster"),
    }


@pytest.mark.parametrize("path", WRITES)
def test_a_command_that_writes_takes_overwrite(path):
    assert "--overwrite" in {option for each in WRITES[path].params for option in each.opts}


@pytest.mark.parametrize("command", ["run components GRAPH --output OUT", "convert GRAPH OUT"])
def test_what_the_system_refuses_is_one_paragraph(call, path_graph, tmp_path, command):
    for out, code, said in (
        ("/dev/full", 1, "no space left on device"),
        (tmp_path / "no" / "x.csv", 2, "make it first"),
        (f"{tmp_path}/{'x' * 300}.csv", 2, "file name too long; choose a shorter name"),
    ):
        if out == "/dev/full":
            if "run" in command:
                continue  # whose name has no ending
            words = [*command.replace("GRAPH", str(path_graph)).replace("OUT", out).split(), "--format-out", "csv"]
        else:
            words = command.replace("GRAPH", str(path_graph)).replace("OUT", str(out)).split()
        result = call(*words)
        assert result.exit_code == code, result.output
        assert said in " ".join(result.stderr.split())
        assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_a_benchmark_names_no_records_that_a_full_disk_has_lost(call):
    words = ("bench", "generate", "--vertices", "2000", "--no-peers", "--repeats", "1", "--output", "/dev/full")
    result = call(*words)
    assert result.exit_code == 1, result.output
    assert "/dev/full cannot be written: no space left on device" in " ".join(result.stderr.split())
    assert "written to" not in result.output
