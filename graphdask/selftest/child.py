"""A process that runs cases of one target, one after the other, and says what came of them.

    python -m graphdask.selftest.child '{"target": "readers", "seed": 1, "first": 0, ...}'

Lines of JSON go to standard output: each finding, made small, and now and then the counts. The number of the case that
runs stands in a file, so that whoever started this process knows which one it crashed in.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import resource
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from graphdask.selftest.cases import Outcome, Target, limits_of, outcome, status
from graphdask.selftest.choices import Choices, drawing
from graphdask.selftest.running import Noted, Running
from graphdask.selftest.shrinking import smallest
from graphdask.selftest.targets import target_of

LEAST = 60.0
"""Seconds for making a finding small that a short run may take, as the target allows."""
KNOWN = 5
"""Findings of one place that are counted and not made small again."""
SAID = 1.0
"""Seconds between two lines of counts."""
RUNNING = "running"
"""The file in the folder of a child that says what it runs."""
LARGEST = 2 << 20
"""KiB of memory from which on the process ends, and another takes its place: compiled code stays until then."""


@dataclass(frozen=True)
class Job:
    """What a child does."""

    target: str
    seed: int
    first: int
    """Number of its first case."""
    step: int
    """From one case to the next."""
    last: int
    """No case of this number or a larger one."""
    seconds: float
    folder: str
    """For its files, which whoever started it removes."""
    choices: tuple[int, ...] | None = None
    """The choices of the only case, in place of a seed."""
    shrink: bool = True


def main(text: str) -> None:
    """Run the cases of a job."""
    job = Job(**json.loads(text))
    end = time.monotonic() + job.seconds
    counts: Counter[str] = Counter()
    seen: Counter[tuple[str, str]] = Counter()
    folder = Path(tempfile.mkdtemp(dir=job.folder))
    os.chdir(folder)
    with open(os.devnull, "w", encoding="utf-8") as nothing, contextlib.redirect_stdout(nothing):
        target = target_of(job.target)(folder)
    limits = limits_of(target)
    _say(silence=2 * limits.wait + limits.shrinking + 60.0)
    if limits.space is not None:
        _limit(limits.space)
    counted: Any = getattr(target, "tally", None)
    tally: Counter[str] = Counter() if counted is None else counted
    if hasattr(target, "end") and job.last > job.first + 1:  # one case is run to its end
        target.end = end
    number, said, first_size, base = job.first, time.monotonic(), 0, 0
    with Running(Path(job.folder) / RUNNING) as file:
        while number < job.last and (time.monotonic() < end or number == job.first):
            file.begin(number)
            if hasattr(target, "say"):
                target.say = partial(_line, number, tally)
            made = outcome(target, _choices(job, number, file))
            counts[made.kind] += 1
            if made.found:
                seen[made.kind, made.where] += 1
                if seen[made.kind, made.where] <= KNOWN:
                    _report(job, target, number, made, seen[made.kind, made.where] == 1)
            number += job.step
            base += 1
            if base == 2000:  # from here on nothing is loaded for the first time
                first_size = status("VmRSS")
            if time.monotonic() > said + SAID:
                said = time.monotonic()
                _say(counts=counts, tally=tally, next=number)
                counts.clear()
                tally.clear()
            if status("VmRSS") > LARGEST:
                break
    _say(
        counts=counts, tally=tally, next=number, ended=True, cases=base, size=status("VmRSS"),
        first_size=first_size,
    )  # fmt: skip


def end_with_parent() -> None:
    """End this process, and those that it started, when standard input ends: whoever started it has ended."""

    def wait() -> None:
        os.read(0, 1)
        os.killpg(0, signal.SIGKILL)

    if os.getpgrp() != os.getpid():  # started by hand, in the group of something else
        return
    threading.Thread(target=wait, name="graphdask-fuzz", daemon=True).start()


def _choices(job: Job, number: int, file: Running) -> Choices:
    if job.choices is not None:
        return Noted(file, job.choices)
    return Noted(file, rng=drawing(job.target, job.seed, number))


def _report(job: Job, target: Target, number: int, made: Outcome, new: bool) -> None:
    """Say what was found, before and after it is made small."""
    _say(found=made.as_json(), number=number, small=False)
    limits = limits_of(target)
    if not new or not job.shrink or (made.kind == "hang" and not limits.hangs):
        return
    small = made

    def fails(choices: list[int]) -> list[int] | None:
        nonlocal small
        tried = outcome(target, Choices(choices))
        if (tried.kind, tried.where) != (made.kind, made.where):
            return None
        if (len(tried.taken), tried.taken) < (len(small.taken), small.taken):
            small = tried
        return tried.taken

    if hasattr(target, "end"):
        target.end = math.inf
    seconds = min(limits.shrinking, max(job.seconds, LEAST))  # a short run ends soon
    smallest(made.taken, fails, seconds, simpler=getattr(target, "simpler", None))
    _say(found=small.as_json(), number=number, small=True)


def _line(number: int, tally: Counter[str], now: str, done: str = "") -> None:
    _say(now=f"case {number}: {now}", line=done and f"case {number}: {done}", tally=tally)
    tally.clear()


def _say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def _limit(space: int) -> None:
    """Allow so many bytes of address space more than are taken."""
    taken = status("VmSize") << 10
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (taken + space, resource.getrlimit(resource.RLIMIT_AS)[1]))


if __name__ == "__main__":
    end_with_parent()
    main(sys.argv[1])
