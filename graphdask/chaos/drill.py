"""The drill: every call returns the right bits or raises an error of graphdask within its time, whatever happens.

After a fault the next calls are right again, for this client and for a new one, and workers hold no more threads,
descriptors and shared memory than before. When a cluster has ended, no process, file or shared memory is left.
"""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

import dask

from graphdask.chaos.faults import Fault
from graphdask.chaos.held import grown, held
from graphdask.chaos.operations import GRAPHS, OPERATIONS, Answer, Operations
from graphdask.chaos.patience import Patience
from graphdask.chaos.plan import Plan, Step, drawn, simpler
from graphdask.chaos.processes import Processes, processors
from graphdask.errors import GraphdaskError
from graphdask.selftest.cases import Limits, Wrong
from graphdask.selftest.choices import Choices

SETTINGS = {
    "graphdask.heartbeat-interval": 0.2,
    "graphdask.heartbeat-timeout": 12.0,
    "graphdask.recovery-timeout": 12.0,
    "graphdask.lock-timeout": 60.0,
    "graphdask.exchange-timeout": 30.0,
    "graphdask.deadline": 60.0,
    "graphdask.progress": False,
    "graphdask.device": "cpu",
}
CALL = 120.0
"""Seconds without work after which a call is late, by these settings: two runs, and the waits between them."""
STARTS = 120.0
"""Seconds without work after which a process that starts or ends is late."""
ASK = 2.0
"""Seconds between questions to workers; to answer is work of theirs, which would put off when they are late."""
GRACE = 120.0
"""Seconds after the end of the time asked for in which a step may come to its end, on a busy machine."""
RECOVERS = 5
"""Calls of which one is right: before a fault on a busy machine, and after it."""


class Drill:
    """A target of `graphdask.selftest`: cases are sessions with a cluster."""

    limits = Limits(seconds=3600.0, wait=600.0, memory=2048, space=None, shrinking=300.0, ends=60.0, hangs=True)
    operations = OPERATIONS
    call_seconds = CALL
    process_seconds = STARTS

    def __init__(self, folder: Path):
        self.folder = folder
        self.say: Callable[..., None] = lambda now, done="": None
        self.end = math.inf
        self.tally: Counter[str] = Counter()
        """How often came what of a fault: `FAULT/OUTCOME`."""
        kept, written = folder / "kept", folder / "written"
        kept.mkdir(exist_ok=True)
        written.mkdir(exist_ok=True)
        self.calls = Operations(written, kept, self.operations)
        self._answers: dict[tuple[str, str], Answer] = {}
        self._processes: Processes | None = None
        self._called: Patience | None = None

    @staticmethod
    def simpler(choices: list[int]) -> Iterator[list[int]]:
        """Return choices to try in place of those of a case that fails."""
        return simpler(choices)

    def plan(self, choices: Choices) -> Plan:
        """Return the case of some choices."""
        return drawn(choices, tuple(self.operations), tuple(GRAPHS))

    def late(self) -> bool:
        """Whether the call that is made now is late."""
        return self._called is not None and self._called.late

    def over(self) -> bool:
        """Whether the time for all cases has been over for so long that a step is given up."""
        return time.monotonic() > self.end + GRACE

    @contextmanager
    def settings(self, transport: str) -> Iterator[None]:
        """Settings of calls over a transport."""
        with dask.config.set({**SETTINGS, "graphdask.comm": transport}):
            yield

    def answer(self, step: Step) -> Answer:
        """Return the answer of an operation in this process."""
        key = step.operation, step.graph
        if key not in self._answers:
            self._answers[key] = self.calls.call(step.operation, self.calls.graph(step.graph), None)
        return self._answers[key]

    def call(self, step: Step, client: Any) -> Answer:
        """Call the operation of a step."""
        return self.calls.call(step.operation, self.calls.graph(step.graph, step.division, step.fresh), client)

    def run(self, choices: Choices) -> str:
        plan = self.plan(choices)
        with self.settings(plan.transport):
            return self._session(plan)

    def _session(self, plan: Plan) -> str:
        """Go through a case; return what came of it."""
        for step in plan.steps:
            self.answer(step)
        self.calls.forget()
        said = [f"{plan.transport}, {plan.workers} workers"]
        try:
            folder = Path(tempfile.mkdtemp(dir=self.folder))
            with Processes(folder, plan.workers, self._patience(self.process_seconds)) as processes:
                self._processes = processes
                with processes.client() as client:
                    for step in plan.steps:
                        if len(said) > 1 and time.monotonic() > self.end:
                            break
                        began = time.monotonic()
                        self.say(f"{said[0]}, {step}")
                        processes.await_workers(client)
                        said.append(f"{step}: {self._step(plan, step, processes, client)}")
                        self.say("", f"{said[0]}, {said[-1]} ({time.monotonic() - began:.0f} s)")
        except Wrong as error:
            raise Wrong(f"{error}\n  {plan}\n  so far: {'; '.join(said)}") from error
        finally:
            self._processes = self._called = None
        return "; ".join(said)

    def _patience(self, seconds: float) -> Patience:
        return Patience(seconds, lambda: processors(self._processes.alive) if self._processes else 0.0)

    def _step(self, plan: Plan, step: Step, processes: Processes, client: Any) -> str:
        """A fault during calls, and what came of them."""
        self._until_right(step, client, "before a fault")  # compiles kernels, builds partitions
        began = time.monotonic()
        self._came(step, client)
        span = time.monotonic() - began
        before = self._held(client)
        with self._other(plan, step, processes) as other, Fault(
            step, processes, client, other, step.moment * span
        ) as fault:  # fmt: skip
            came = [self._came(step, client)]
            while not fault.over:
                came.append(self._came(step, client))
            if step.scheduler:
                if self._came(step, client) == "right":
                    raise Wrong(f"an answer without a scheduler, of {step.operation}")
            elif "right" not in came[-1:]:
                came += self._until_right(step, client, f"after {step.fault}")
        for each in {each.partition(":")[0] for each in came}:
            self.tally[f"{step.fault}/{each}"] += 1
        if step.scheduler:
            return _shortened(came)
        processes.await_workers(client)
        with processes.client() as next_client:
            self._until_right(step, next_client, f"for the next client after {step.fault}")
        self._await_less(before, client)
        return _shortened(came)

    def _until_right(self, step: Step, client: Any, when: str) -> list[str]:
        """What came of calls until the first right one."""
        came: list[str] = []
        while not came or came[-1] != "right":
            if len(came) == RECOVERS:
                raise Wrong(f"no right answer {when}: {came}")
            came.append(self._came(step, client))
        return came

    def _came(self, step: Step, client: Any) -> str:
        """What a call gave: right, or its error."""
        try:
            with self._watched():
                found = self.call(step, client)
        except GraphdaskError as error:
            return f"{type(error).__name__}: {str(error)[:200]}"
        if not found.agrees(self.answer(step)):
            raise Wrong(f"wrong bits of {step.operation}: {step}")
        return "right"

    def _held(self, client: Any) -> dict[int, dict[str, int]]:
        """What workers hold, by their process ids; it may be late as a call is."""
        with self._watched():
            return dict(client.run(held, on_error="ignore").values())

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Let what is done here be late."""
        self._called = self._patience(self.call_seconds)
        try:
            yield
        finally:
            self._called = None

    def _await_less(self, before: dict[int, dict[str, int]], client: Any) -> None:
        """Wait until workers hold no more than before; some of it ends a little later."""
        now: Callable[[], str] = lambda: grown(before, self._held(client))  # noqa: E731
        if found := now():
            kind = found.partition(":")[0]
            self._patience(self.limits.ends).until(lambda: not now(), f"{kind} left in workers", now, ASK)

    @contextmanager
    def _other(self, plan: Plan, step: Step, processes: Processes) -> Iterator[subprocess.Popen[str] | None]:
        """Another client, which has begun its call, of faults of a client; in the end what it said is judged."""
        if not step.fault.startswith("client"):
            yield None
            return
        given = {
            "target": f"{type(self).__module__}:{type(self).__name__}",
            "scheduler": str(processes.file),
            "folder": tempfile.mkdtemp(dir=processes.folder),
            "transport": plan.transport,
            "step": asdict(step),
        }
        process = processes.start("graphdask.chaos.client", json.dumps(given), output=subprocess.PIPE)
        assert process.stdout is not None
        try:
            with self._watched():
                begun = process.stdout.readline()
            if not begun:
                raise Wrong(f"another client did not begin: exit status {process.wait()}")
            yield process
            if step.fault == "client paused":
                with self._watched():
                    said = process.stdout.read().strip()
                if process.wait() or not said or said == "wrong bits":
                    raise Wrong(f"another client, paused, gave {said or 'nothing'}, exit status {process.returncode}")
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()
            process.stdout.close()


def _shortened(came: list[str]) -> str:
    """Outcomes in their order, each with how often it came one after the other."""
    runs = [(each, len(list(alike))) for each, alike in groupby(came)]
    return ", ".join(each if times == 1 else f"{times} times {each}" for each, times in runs)
