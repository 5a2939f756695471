"""Calls of `graphdask submit` where the batch system is programs of ours."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from graphdask.cli import cli
from graphdask.cluster.tuning import CLUSTER


@pytest.fixture
def call(tmp_path, monkeypatch, tuned) -> Callable[..., Result]:
    """Call the command line in this process, in an empty folder, where PATH has the programs of the folder `bin`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    tuned(CLUSTER, longest_pause=0.3)

    def run(*arguments: object) -> Result:
        runner = CliRunner(env={"COLUMNS": "1000"})
        return runner.invoke(cli, ["submit", *map(str, arguments)], prog_name="graphdask")

    return run
