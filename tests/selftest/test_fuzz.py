"""`graphdask fuzz`: every kind of finding is found, made small and repeated; the targets have none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from graphdask.algorithms.triangles import Triangles
from graphdask.cli import cli
from graphdask.errors import GraphdaskError, InputError
from graphdask.selftest import cases, readers
from graphdask.selftest.child import Job
from graphdask.selftest.choices import Choices, drawing
from graphdask.selftest.leftovers import new_folder
from graphdask.selftest.supervision import fuzz, repeat
from graphdask.selftest.targets import TARGETS, target_of
from graphdask.verify.table import VERIFIERS, verifier_of

HELPERS = str(Path(__file__).resolve().parents[1] / "helpers")


@pytest.fixture(autouse=True)
def _helpers(monkeypatch):
    """Children find the targets of the tests, and say nothing of NumPy's warnings."""
    monkeypatch.setenv("PYTHONPATH", HELPERS)


def quietly(report) -> None:
    pass


def only(report):
    (found,) = report.findings.values()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind", "where"),
    [
        ("Fails", "wrong", "above 700"),
        ("Raises", "bare", "KeyError outside"),
        ("Leaves", "left", "descriptors"),
        ("LeavesAThread", "left", "threads"),
        ("TakesMemory", "memory", "peak"),
    ],
)
def test_what_fails_is_made_small_and_can_be_repeated(name, kind, where):
    target = f"failing_targets:{name}"
    report = fuzz([target], 600.0, 1, quietly, count=30)
    found = only(report)
    assert (found.outcome.kind, found.outcome.where) == (kind, where)
    if kind != "memory":  # which takes long to try
        assert found.outcome.taken == [1, 701]
    assert found.times > 1
    counts = report.counts[target]
    assert counts[kind] == found.times or found.times == 5
    assert sum(counts.values()) == 30
    again = only(repeat(target, found.outcome.taken))
    assert (again.outcome.kind, again.outcome.where) == (kind, where)
    assert not repeat(target, [1, 700]).findings


@pytest.mark.slow
def test_a_case_that_ends_its_process_is_made_small_and_others_follow():
    target = "failing_targets:Crashes"
    report = fuzz([target], 600.0, 1, quietly, count=4)
    found = only(report)
    assert (found.outcome.kind, found.outcome.where) == ("crash", "ended by SIGSEGV")
    assert found.outcome.taken[1:] == sorted(found.outcome.taken[1:]) or len(found.outcome.taken) < 8
    assert "Segmentation fault" in found.outcome.said
    assert sum(report.counts[target].values()) >= found.times
    assert only(repeat(target, found.outcome.taken)).outcome.kind == "crash"


@pytest.mark.parametrize(("name", "slow"), [("Spins", "seconds"), ("Waits", "wait")])
def test_a_case_without_an_end_is_ended(name, slow, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(HELPERS)
    target = target_of(f"failing_targets:{name}")(tmp_path)
    target.limits = cases.Limits(**{slow: 0.2})
    assert cases.outcome(target, Choices([1, 701])).kind == "hang"
    assert cases.outcome(target, Choices([1, 700])).kind == "refused"


def test_a_target_with_a_clock_of_its_own_says_what_is_late_and_what_is_given_up(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(HELPERS)
    target = target_of("failing_targets:Waits")(tmp_path)
    target.limits = cases.Limits(look=0.1)
    seen = []
    target.late = lambda: seen.append(1) or len(seen) == 3
    assert cases.outcome(target, Choices([1, 701])).kind == "hang"
    assert len(seen) == 3
    target.over = lambda: True
    made = cases.outcome(target, Choices([1, 701]))
    assert (made.kind, made.found, len(seen)) == ("unfinished", False, 3)


@pytest.mark.slow
def test_a_target_that_never_begins_is_an_error():
    with pytest.raises(GraphdaskError, match=r"no case of .* was run: .* exit status 1: (.|\n)*no target"):
        fuzz(["failing_targets:NeverBegins"], 1.0, 0, quietly)
    with pytest.raises(InputError, match="'nothing' is not fuzzed; what is: readers, constructors"):
        target_of("nothing")


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_is_found(name, rng):
    report = fuzz([name], 10.0, int(rng.integers(2**31)), quietly)
    assert not report.findings, [(each.outcome, each.number) for each in report.findings.values()]
    assert sum(report.counts[name].values()) > 0


def call(*arguments: str):
    return CliRunner(env={"COLUMNS": "100"}).invoke(cli, ["fuzz", *arguments], prog_name="graphdask")


@pytest.mark.slow
def test_a_finding_is_printed_with_a_command_that_repeats_it():
    result = call("--only", "failing_targets:Fails", "--seconds", "1", "--seed", "5")
    assert result.exit_code == 1, result.output
    assert "smallest: graphdask fuzz --only failing_targets:Fails --choices 1,701" in result.output
    drawn = next(line for line in result.output.splitlines() if "as drawn: " in line).split("graphdask fuzz ")[1]
    again = call(*drawn.split(), "--json")
    assert again.exit_code == 1
    (found,) = json.loads(again.stdout)["findings"]
    assert found["repeat"].endswith("--choices 1,701")
    assert call("--only", "failing_targets:Fails", "--choices", "1,701").exit_code == 1
    right = call("--only", "failing_targets:Fails", "--choices", "1,3")
    assert right.exit_code == 0
    assert "1 cases" in right.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--number", "3"), "are of one target; name it"),
        (("--only", "readers", "--number", "3", "--choices", "1"), "give one of them"),
        (("--seconds", "3", "--minutes", "1"), "give one of them"),
        (("--only", "writers"), "'writers' is not fuzzed"),
        (("--seconds", "0"), "0.0 is not in the range"),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments, said):
    result = call(*arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


@pytest.mark.slow
def test_all_targets_make_cases_of_choices(tmp_path, rng):
    """In this process, a few of each."""
    for name in ("constructors", "verifiers"):
        target = target_of(name)(tmp_path)
        for number in range(5):
            choices = Choices(rng=drawing(name, int(rng.integers(2**31)), number))
            found = cases.outcome(target, choices)
            assert not found.found, found
            assert cases.outcome(target, Choices(found.taken)).kind == found.kind


@pytest.mark.slow
def test_a_verifier_that_accepts_everything_is_found(tmp_path, monkeypatch):
    target = target_of("verifiers")(tmp_path)
    target.algorithms = {"triangles": target.algorithms["triangles"]}
    verifier_of(Triangles())
    # A planted error: a verifier that accepts everything.
    monkeypatch.setitem(VERIFIERS, Triangles, lambda *arguments: None)
    found = [cases.outcome(target, Choices(rng=drawing("any", 0, number))) for number in range(12)]
    assert {each.where for each in found if each.found} == {"triangles.count missed"}


@pytest.mark.slow
def test_a_reader_that_does_not_check_is_found(tmp_path, monkeypatch):
    target = target_of("readers")(tmp_path)
    native = next(number for number, each in enumerate(target.files) if each.path.name == "e.gdg")
    # A planted error: a reader that does not check.
    monkeypatch.setattr(readers, "_read", lambda file: (np.zeros(1),))
    (found,) = {cases.outcome(target, Choices([native, 0, 0, 0, at, 3])).where for at in range(200, 220)}
    assert found == ".gdg damage accepted"


@pytest.mark.slow
def test_a_child_ends_with_whoever_started_it(tmp_path):
    """And what it has started ends too."""
    job = Job("failing_targets:Waits", 0, 0, 1, 1, 0.0, str(tmp_path), (1, 701), False)
    with subprocess.Popen(
        [sys.executable, "-m", "graphdask.selftest.child", json.dumps(asdict(job))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, text=True,
    ) as child:  # fmt: skip
        assert "silence" in child.stdout.readline()
        assert child.poll() is None
        child.stdin.close()
        assert child.wait(60) == -signal.SIGKILL


def test_a_run_removes_what_a_killed_one_has_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = "from graphdask.selftest.leftovers import new_folder; print(new_folder(), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", made], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as killed:  # fmt: skip
        left = Path(killed.stdout.readline().strip())
        assert left.parent == tmp_path
        mine = new_folder()
        assert left.exists()  # its process runs
        killed.kill()
        killed.wait()
        (tmp_path / "graphdask-fuzz-abcdefgh").mkdir()
        again = new_folder()
    assert sorted(tmp_path.iterdir()) == sorted([mine, again, tmp_path / "graphdask-fuzz-abcdefgh"])


@pytest.mark.slow
def test_an_interrupted_run_prints_what_has_come_of_its_cases():
    with subprocess.Popen(
        [sys.executable, "-m", "graphdask", "fuzz", "--minutes", "30", "--only", "failing_targets:Tallies"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": HELPERS},
    ) as run:  # fmt: skip
        assert "case 0: done" in run.stderr.readline()
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=120)
    assert run.returncode == 130
    assert "interrupted" in err
    assert "none   right 1" in out
    assert "0 cases in" in out
