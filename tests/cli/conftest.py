"""Calls of the command line: in this process through click, or as a process of its own."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from graphdask.cli import cli


@pytest.fixture
def call() -> Callable[..., Result]:
    """Call the command line in this process; the terminal is 80 columns wide."""

    def run(*arguments: object) -> Result:
        return CliRunner(env={"COLUMNS": "80"}).invoke(cli, [str(each) for each in arguments], prog_name="graphdask")

    return run


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Call the command line in this process with bytes on standard input, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(data: bytes, *arguments: object) -> Result:
        runner = CliRunner(env={"COLUMNS": "80"})
        return runner.invoke(cli, [str(each) for each in arguments], prog_name="graphdask", input=data)

    return run


@pytest.fixture(scope="session")
def program_path() -> str:
    """The installed program. The first process of a user that draws makes Matplotlib's list of fonts, and is told so on
    standard error where that takes more than 5 s: let it be this one."""
    import matplotlib.font_manager  # noqa: F401

    path = shutil.which("graphdask", path=sysconfig.get_path("scripts"))
    assert path is not None, "the script graphdask is not installed beside this interpreter"
    return path


@pytest.fixture
def program(program_path: str, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """Start the installed program in an empty folder."""

    def run(*arguments: object) -> subprocess.CompletedProcess:
        return subprocess.run(
            [program_path, *map(str, arguments)], capture_output=True, text=True, cwd=tmp_path, timeout=400
        )

    return run


@pytest.fixture
def path_graph(tmp_path: Path) -> Path:
    """The undirected path 10 - 20 - 30, and the edge 40 - 50 beside it."""
    file = tmp_path / "path.txt"
    file.write_text("# a comment\n10 20\n20 30\n40 50\n")
    return file
