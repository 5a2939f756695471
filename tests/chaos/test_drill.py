"""`graphdask chaos`: what is planted is found, made small and repeated; graphdask has none of it."""

from __future__ import annotations

import json
import os
import time
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphdask.chaos.drill import GRACE, Drill
from graphdask.chaos.operations import GRAPHS, OPERATIONS
from graphdask.chaos.plan import FAULTS, drawn
from graphdask.cli import cli
from graphdask.selftest.choices import Choices, drawing
from graphdask.selftest.supervision import repeat

HELPERS = str(Path(__file__).resolve().parents[1] / "helpers")
UNDISTURBED = [0, 0, 0, 0, 0, 0, 0, FAULTS.index("none"), 0, 0]
"""One worker, BFS of a path, nothing happens to it."""

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(autouse=True)
def _helpers(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", HELPERS)


@pytest.fixture
def shared_memory():
    """Removes what a drill left on purpose."""
    before = set(os.listdir("/dev/shm"))
    yield
    for name in set(os.listdir("/dev/shm")) - before:
        if name.startswith("graphdask-"):
            Path("/dev/shm", name).unlink()


@pytest.mark.slow
@pytest.mark.chaos
@pytest.mark.parametrize(
    ("name", "kind", "where"),
    [
        ("WrongBits", "wrong", "wrong bits of bfs"),
        ("Hangs", "hang", "outside"),
        ("Fails", "bare", "KeyError outside"),
        ("LeavesAFile", "wrong", "files left by bfs"),
        ("LeavesSharedMemory", "wrong", "shared memory left"),
        ("LeavesAThread", "wrong", "threads left in workers"),
        ("LeavesDescriptors", "wrong", "descriptors left in workers"),
        ("LeavesAProcess", "wrong", "processes left"),
        ("LeavesATemporaryFile", "wrong", "temporary files left"),
    ],
)
def test_what_is_planted_is_found(name, kind, where, shared_memory):
    (found,) = repeat(f"failing_drills:{name}", UNDISTURBED).findings.values()
    assert (found.outcome.kind, found.outcome.where) == (kind, where), found.outcome.said
    assert found.outcome.taken == UNDISTURBED


@pytest.mark.slow
@pytest.mark.chaos
def test_an_undisturbed_operation_is_right():
    report = repeat("graphdask.chaos.drill:Drill", UNDISTURBED)
    assert not report.findings, [each.outcome for each in report.findings.values()]
    assert report.tally == {"none/right": 1}
    (line,) = report.lines
    assert line.startswith("case 0: tcp, 1 workers, bfs of path by range: none: right (")


def test_a_step_is_given_up_a_while_after_the_end(tmp_path):
    drill = Drill(tmp_path)
    assert not drill.over()
    drill.end = time.monotonic() - 60.0
    assert not drill.over()
    drill.end -= GRACE
    assert drill.over()


@pytest.mark.slow
@pytest.mark.chaos
@pytest.mark.parametrize("fault", ["worker killed", "client killed", "scheduler ended"])
def test_a_fault_of_two_workers_is_survived(fault):
    report = repeat("graphdask.chaos.drill:Drill", [0, 1, 0, 0, 1, 0, 0, FAULTS.index(fault), 0, 10])
    assert not report.findings, [each.outcome for each in report.findings.values()]
    assert all(name.partition("/")[0] == fault for name in report.tally)


def call(*arguments: str):
    return CliRunner(env={"COLUMNS": "120"}).invoke(cli, ["chaos", *arguments], prog_name="graphdask")


def drawn_case(number: int):
    return drawn(Choices(rng=drawing("failing_drills:Planned", 5, number)), tuple(OPERATIONS), tuple(GRAPHS))


def step_of(step) -> tuple[str, str]:
    return step.operation, step.fault


@pytest.mark.slow
def test_a_finding_is_made_small_and_printed_with_a_command_that_repeats_it():
    planted = ("writing", "worker paused")
    number = next(number for number in count() if any(step_of(step) == planted for step in drawn_case(number).steps))
    result = call("--drill", "failing_drills:Planned", "--seed", "5", "--number", str(number))
    assert result.exit_code == 1, result.output
    operation, fault = list(OPERATIONS).index(planted[0]), FAULTS.index(planted[1])
    small = f"0,0,0,{operation},0,0,0,{fault},0,0"
    command = f"graphdask chaos --drill failing_drills:Planned --choices {small}"
    assert f"smallest: {command}" in result.output
    as_drawn = next(line for line in result.output.splitlines() if "as drawn: " in line).split("graphdask chaos ")[1]
    assert as_drawn.endswith(f"--seed 5 --number {number}")
    again = call(*as_drawn.split(), "--json")
    assert again.exit_code == 1
    (found,) = json.loads(again.stdout)["findings"]
    assert found["repeat"] == command
    assert call("--drill", "failing_drills:Planned", "--choices", small).exit_code == 1
    right = call("--drill", "failing_drills:Planned", "--choices", "0")
    assert right.exit_code == 0
    assert "1 cases" in right.output
    assert "  none   right 1" in right.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--number", "3", "--choices", "1"), "give one of them"),
        (("--seconds", "3", "--minutes", "1"), "give one of them"),
        (("--seconds", "0"), "0.0 is not in the range"),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments, said):
    result = call(*arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
