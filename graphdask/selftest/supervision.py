"""Children that run cases: started, watched, and started again after one that crashed, hung or grew too large."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from graphdask.errors import GraphdaskError
from graphdask.selftest.cases import Limits, Outcome
from graphdask.selftest.child import RUNNING, Job
from graphdask.selftest.leftovers import new_folder
from graphdask.selftest.running import running
from graphdask.selftest.shrinking import smallest

SILENCE = 300.0
"""Seconds without a word after which a child that starts is taken to hang. It says how long it may be silent from then
on: it says something once a second, but while a case runs or a finding is made small."""
RETRIES = 60
"""Processes that are started to make a case small in which one crashes."""
FOREVER = 1 << 62


@dataclass
class Finding:
    """A case that fails, and how often others failed alike."""

    target: str
    number: int
    outcome: Outcome
    times: int = 1


@dataclass
class Report:
    """What came of all cases."""

    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By target: what became of its cases."""
    findings: dict[tuple[str, str, str], Finding] = field(default_factory=dict)
    """By target, kind and place."""
    tally: Counter[str] = field(default_factory=Counter)
    """What targets have counted."""
    lines: list[str] = field(default_factory=list)
    """What targets have said while cases ran, and has not been shown."""
    now: str = ""
    """What a target does now, if it says so."""
    growth: dict[str, float] = field(default_factory=dict)
    """By target: the memory of the child that ran longest, at its end over that after its first cases, less 1."""

    def add(self, target: str, number: int, made: Outcome, small: bool) -> bool:
        """Take in a finding; whether it is the first of its place."""
        key = target, made.kind, made.where
        known = self.findings.get(key)
        if known is None:
            self.findings[key] = Finding(target, number, made)
            return True
        if small:
            known.outcome, known.number = made, number
        else:
            known.times += 1
        return False


def fuzz(
    targets: Sequence[str],
    seconds: float,
    seed: int,
    said: Callable[[Report], None],
    first: int = 0,
    count: int = FOREVER,
) -> Report:
    """Run cases of the targets, one target after the other in turns, and return what came of them.

    Parameters
    ----------
    targets : sequence of str
        Names of `graphdask.selftest.targets.TARGETS`.
    seconds : float
        For all of them together, in equal shares.
    seed : int
    said : function
        Called with the report now and then.
    first, count : int
        The number of the first case of each target, and how many of each there are at most.
    """
    report = Report()
    for target in targets:
        end, number = time.monotonic() + seconds / len(targets), first
        while number < first + count and (time.monotonic() < end or number == first):
            job = Job(target, seed, number, 1, first + count, max(end - time.monotonic(), 0.0), "")
            number = _run(job, report, said)
    return report


def repeat(target: str, choices: Sequence[int], said: Callable[[Report], None] = lambda report: None) -> Report:
    """Run one case, given by its choices."""
    report = Report()
    _run(Job(target, 0, 0, 1, 1, 0.0, "", tuple(choices), False), report, said)
    return report


def _run(job: Job, report: Report, said: Callable[[Report], None]) -> int:
    """Run one child to its end; returns the number of the case to go on with."""
    folder = new_folder()
    try:
        return _watch(job, folder, report, said)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _watch(job: Job, folder: Path, report: Report, said: Callable[[Report], None]) -> int:
    given = {**asdict(job), "folder": str(folder)}
    with open(folder / "errors", "w+", encoding="utf-8", errors="replace") as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", "graphdask.selftest.child", json.dumps(given)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True,
            env=_environment(folder),
        )  # fmt: skip
        try:
            following, ended = _listen(child, job, report, said)
            if ended:
                return following
            killed = child.poll() is None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            code = child.wait()
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.close()
            child.stdout.close()
        errors.seek(max(0, errors.tell() - 3000))
        return _crashed(job, folder, report, "hang" if killed else "crash", code, errors.read())


def _environment(folder: Path) -> dict[str, str]:
    """Files that a child forgets, and those of processes that it starts, go into its folder."""
    return {**os.environ, "TMPDIR": str(folder), "PYTHONFAULTHANDLER": "1", "CUDA_VISIBLE_DEVICES": ""}


def _listen(child: subprocess.Popen[str], job: Job, report: Report, said: Callable[[Report], None]) -> tuple[int, bool]:
    """Take in what a child says; the case that follows, and whether it came to its end."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        assert child.stdout is not None
        with suppress(ValueError):  # closed
            for line in child.stdout:
                lines.put(line)
        lines.put("")

    threading.Thread(target=read, name="graphdask-fuzz", daemon=True).start()
    following, silence = job.first, SILENCE
    while True:
        try:
            line = lines.get(timeout=silence)
        except queue.Empty:
            return following, False
        if not line:
            with suppress(subprocess.TimeoutExpired):  # it closed its output, and may not have ended yet
                child.wait(10)
            return following, False
        if not line.startswith("{"):
            continue
        what = json.loads(line)
        if "silence" in what:
            silence = what["silence"]
        elif "now" in what:
            report.now = what["now"]
            report.tally.update(what["tally"])
            report.lines += [what["line"]] if what["line"] else []
            said(report)
        elif "found" in what:
            report.add(job.target, what["number"], Outcome(**what["found"]), what["small"])
            said(report)
        else:
            following = what["next"]
            report.counts[job.target].update(what["counts"])
            report.tally.update(what["tally"])
            said(report)
            if what.get("ended"):
                _note_growth(report, job.target, what)
                return following, True


def _note_growth(report: Report, target: str, what: dict[str, Any]) -> None:
    if what["first_size"] and what["cases"] > 4000:
        report.growth[target] = what["size"] / what["first_size"] - 1


def _crashed(job: Job, folder: Path, report: Report, kind: str, code: int, errors: str) -> int:
    """Take in the end of a child within a case, and make the case small."""
    number, choices = running(folder / RUNNING)
    if number is None:
        raise GraphdaskError(f"no case of {job.target} was run: a process for it {_ended(code)}: {errors}")
    said = _ended(code) if kind == "crash" else "no answer"
    made = Outcome(kind, said, f"{said}\n{errors}", choices)
    report.counts[job.target][kind] += 1
    if report.add(job.target, number, made, False) and job.shrink and kind == "crash":
        made = Outcome(kind, said, made.said, _small(job.target, choices))
        report.add(job.target, number, made, True)
    return number + job.step


def _ended(code: int) -> str:
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit status {code}"


def _small(target: str, choices: list[int]) -> list[int]:
    def fails(candidate: list[int]) -> list[int] | None:
        found = repeat(target, candidate).findings.values()
        return candidate if any(each.outcome.kind == "crash" for each in found) else None

    return smallest(choices, fails, 10 * Limits.shrinking, RETRIES)
