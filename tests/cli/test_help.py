"""What `--help` says: each command and option what it does, in whole sentences."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click

from graphdask.cli import COMMANDS, cli
from graphdask.commands.options import READ, WRITTEN
from graphdask.io import FORMATS


def commands(group: click.Group, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """All commands below a group, and what calls them."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)


ALL = dict(commands(cli))


def test_each_command_and_option_says_what_it_does():
    assert [path for path, command in ALL.items() if not command.help] == []
    unsaid = {
        path: [option.name for option in command.params if isinstance(option, click.Option) and not option.help]
        for path, command in ALL.items()
    }
    assert {path: names for path, names in unsaid.items() if names} == {}


def test_summaries_are_whole(call):
    overall = " ".join(call("--help").output.split())
    assert "Generate, sample and analyse graphs" in overall
    assert all(f"{name} {summary}" in overall for name, summary in COMMANDS.items())
    for path, group in ALL.items():
        if isinstance(group, click.Group):
            shown = " ".join(call(*path, "--help").output.split())
            assert "..." not in shown.partition("Commands:")[2]
            assert all(f"{name} {command.short_help}" in shown for name, command in group.commands.items())


def test_the_formats_that_are_named_are_those_there_are():
    assert READ.replace(" or ", ", ").split(", ") == list(FORMATS)
    assert WRITTEN.replace(" or ", ", ").split(", ") == [each.name for each in FORMATS.values() if each.writes]


def test_python_dash_m_is_the_program():
    called = [sys.executable, "-m", "graphdask", "--version"]
    assert subprocess.run(called, capture_output=True, text=True, timeout=60, check=True).stdout.startswith(
        "graphdask "
    )
