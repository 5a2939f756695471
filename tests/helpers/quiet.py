"""Whether this machine has processor time to spare, before and while a test holds a figure of seconds.

A figure that is promised for a machine with processors to spare says nothing on one that has none: there the test is
skipped, and says what was missing. Three things are looked at. Before: what share of a processor loops get that spin
on all processors at once. Meanwhile: how late a process comes that sleeps and spins by turns (a group of processes
that may take no more than its quota, a virtual machine that rests, a host that swaps), and what share of the
processors others than this process and its children take.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from typing import Any

import psutil
import pytest

SHARE = 0.9
"""Of a processor, which each of the loops has on a quiet machine."""

LATE, OTHERS = 0.1, 0.25
"""Of the time by which the probe may come late, and of the processors that others may take, on a quiet machine."""

SPIN = """
import time
begin, used = time.monotonic(), time.process_time()
while time.monotonic() - begin < 0.25:
    pass
print((time.process_time() - used) / (time.monotonic() - begin))
"""

PROBE = """
import json, select, sys, time
begin, late = time.monotonic(), 0.0
while True:
    asleep = time.monotonic()
    asked = select.select([sys.stdin], [], [], 0.02)[0]
    if not asked:
        used = time.process_time()
        while time.process_time() - used < 0.001:
            pass
        late += max(0.0, time.monotonic() - asleep - 0.021)
        continue
    if not sys.stdin.readline():
        break
    now = time.monotonic()
    print(json.dumps([now - begin, late]), flush=True)
    begin, late = now, 0.0
"""


def processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> str:
    """Why this machine is not quiet; empty where it is."""
    command = [sys.executable, "-I", "-S", "-c", SPIN]
    loops = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processors())]
    share = min(float(loop.communicate(timeout=120)[0]) for loop in loops)
    if share >= SHARE:
        return ""
    return f"one of {len(loops)} loops that spin at once had {share:.0%} of a processor, below {SHARE:.0%}"


def _taken() -> tuple[float, float]:
    """Processor seconds that have been taken on this machine, and by this process and its children."""
    times = psutil.cpu_times()._asdict()
    # what a guest takes is counted as the user's too
    everyone = sum(times.get(name, 0.0) for name in ("user", "nice", "system", "irq", "softirq", "steal"))
    own, me = 0.0, psutil.Process()
    for process in (me, *me.children(recursive=True)):
        with suppress(psutil.Error):
            own += sum(process.cpu_times()[:4])  # of its own, and of its children that have ended
    return everyone, own


class Watch:
    """Notes, while it is open, what this machine is kept from; a context manager."""

    def __enter__(self) -> Watch:
        self._before, self._others = load(), 0.0
        command = [sys.executable, "-I", "-S", "-c", PROBE]
        self._probe: Any = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._ask()
        return self

    def __exit__(self, *exception: object) -> None:
        self._probe.stdin.close()
        self._probe.wait(60)
        self._probe.stdout.close()

    def _ask(self) -> tuple[float, float, float]:
        """Seconds, how late the probe came in sum, and processor seconds of others, since the last time."""
        self._probe.stdin.write("\n")
        self._probe.stdin.flush()
        seconds, late = json.loads(self._probe.stdout.readline())
        everyone, own = _taken()
        others = max(0.0, everyone - own - self._others)
        self._others = everyone - own
        return seconds, late, others

    def disturbed(self) -> str:
        """Why the time since the last call, or since the beginning, says nothing; empty where the machine was quiet."""
        seconds, late, others = self._ask()
        before, self._before = self._before, ""
        if before:
            return before
        if late > LATE * seconds:
            return f"a process that sleeps and spins came {late:.2f} s late in {seconds:.2f} s"
        if others > OTHERS * seconds * (psutil.cpu_count() or 1):
            return f"other processes took {others:.1f} processor seconds in {seconds:.2f} s"
        return ""


def hold(seconds: float, promised: float, what: str, disturbed: str) -> None:
    """Fail where `what` took longer than promised, but skip, with the reason, where the machine was disturbed."""
    if seconds <= promised:
        return
    late = f"{what} took {seconds:.2f} s, promised are {promised:g} s"
    if disturbed:
        pytest.skip(f"{late}, but this machine was not quiet: {disturbed}")
    pytest.fail(f"{late}, and this machine was quiet meanwhile")
