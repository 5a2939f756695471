"""Whatever text is given for any option or argument of any command is taken, or refused in a paragraph.

Each parameter of a valid call is given each odd text. A run of the tests draws some of these pairs, by its seed;
GRAPHDASK_FUZZ=all runs all of them.
"""

from __future__ import annotations

import itertools
import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import scaling
from base_commands import ODD, REFUSED, UNABLE, VARIED, base, nothing_started, parameters, varied, write_files
from click.testing import CliRunner, Result

import graphdask as gd
from graphdask.cli import COMMANDS, cli

PAIRS = 10
"""Drawn of each command."""
LONGEST = 4000
"""Characters of what is said."""

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The working directory, two levels below one in which nothing else may appear: a path may lead one up."""
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    (inner / "scaling.jsonl").write_text("".join(f"{json.dumps(scaling.measured(size))}\n" for size in (1,)))
    gd.stream.build(gd.from_edges([0, 1], [1, 2]), inner / "stored.gdl")
    return inner


def invoked(words: list[str], folder: Path) -> Result:
    write_files(folder)
    with nothing_started(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CliRunner(env={"COLUMNS": "80"}).invoke(cli, words, prog_name="graphdask")


def fault(words: list[str], folder: Path) -> str:
    """What is wrong with how a call ends; empty for nothing."""
    result = invoked(words, folder)
    said, where = result.stderr.strip(), " ".join(map(repr, words))[:400]
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return f"{where}: {result.exception!r}"
    if result.exit_code not in (0, 1, 2):
        return f"{where}: exit code {result.exit_code}"
    if "graphdask did not expect this" in said or "Traceback" in result.output:
        return f"{where}: {said[-300:]}"
    if result.exit_code and (not said or "\n\n" in said or len(said) > LONGEST):
        return f"{where}: what is said has {len(said):,} characters and {said.count(chr(10) * 2) + 1} paragraphs"
    return ""


def test_every_command_is_varied_or_left_out_with_a_reason():
    assert {name.split()[0] for name in VARIED} | UNABLE.keys() == COMMANDS.keys()


@pytest.mark.parametrize("name", VARIED)
def test_no_text_of_an_option_leads_to_a_traceback(name, folder, rng):
    command = VARIED[name]
    words = base(name, command)
    result = invoked(words, folder)
    assert result.exit_code == 0 or REFUSED in result.stderr, result.output
    every = list(itertools.product(parameters(command), ODD))
    if os.environ.get("GRAPHDASK_FUZZ") != "all" and len(every) > PAIRS:
        every = [every[place] for place in rng.choice(np.arange(len(every)), PAIRS, replace=False)]
    faults = [found for pair in every if (found := fault(varied(command, words, *pair), folder))]
    assert not faults, "\n".join(faults)
    assert [path.name for path in folder.parents[1].iterdir()] == ["outer"]
