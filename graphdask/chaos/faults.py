"""Faults, each begun by a thread at a moment of a call: what is done to which process, and what ends it."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Any

from graphdask.chaos.plan import Step
from graphdask.chaos.processes import MEMORY, Processes, pause
from graphdask.selftest.cases import Wrong, status

PAUSE = 2.0
"""Seconds for which a process is paused."""
SIGNALS = {
    "worker killed": signal.SIGKILL,
    "worker ended": signal.SIGTERM,
    "worker crashed": signal.SIGSEGV,
    "worker stopped": signal.SIGSTOP,
    "two workers killed": signal.SIGKILL,
    "scheduler ended": signal.SIGTERM,
    "scheduler killed": signal.SIGKILL,
    "client killed": signal.SIGKILL,
}
SPARE = 1 << 20
"""Bytes that a worker can still have when it is refused more."""
BLOCK = 64 << 20
FILLED = 20.0
"""Seconds after which a worker that was not ended gives its memory back."""


class Fault:
    """A context manager: the fault of a step happens `delay` seconds after it is entered, and is over when it is left.

    Parameters
    ----------
    step : Step
    processes : Processes
    client : distributed.Client
        Reaches the workers whose memory is filled.
    other : Popen, optional
        The other client, of faults of a client.
    delay : float
        Seconds.
    """

    def __init__(
        self, step: Step, processes: Processes, client: Any, other: subprocess.Popen[str] | None, delay: float
    ):
        self.step, self._processes, self._client, self._other = step, processes, client, other
        pids = processes.pids()
        if not pids:
            raise Wrong("no workers before a fault")
        first = step.victim % len(pids)
        self._victims = [pids[first], pids[(first + 1) % len(pids)]] if step.fault.startswith("two") else [pids[first]]
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self._limits: dict[int, tuple[int, int]] = {}
        self._thread = threading.Thread(target=self._happen, args=(delay,), name="graphdask-chaos", daemon=True)

    def __enter__(self) -> Fault:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        for pid in self._victims:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        for pid, limits in self._limits.items():
            with suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_AS, limits)
        if error is None and self._error is not None:
            raise self._error

    @property
    def over(self) -> bool:
        """Whether it has happened. A worker that is stopped, or refused memory, remains so."""
        return not self._thread.is_alive()

    def _happen(self, delay: float) -> None:
        if self._ended.wait(delay):  # the call raised
            return
        try:
            self._do(self.step.fault)
        except ProcessLookupError:
            pass  # it has ended of itself
        except BaseException as error:
            self._error = error

    def _do(self, fault: str) -> None:
        victims = self._victims
        self._processes.killed |= fault.endswith(("killed", "ended", "crashed", "filled"))
        if fault.startswith("scheduler"):
            victims = [self._processes.scheduler.pid]
        elif self._other is not None:
            victims = [self._other.pid]
        if fault.endswith("paused"):
            pause(victims[0], PAUSE)
        elif fault == "memory refused":
            limits = resource.prlimit(victims[0], resource.RLIMIT_AS)
            self._limits[victims[0]] = limits
            taken = status("VmSize", victims[0]) << 10
            resource.prlimit(victims[0], resource.RLIMIT_AS, (taken + SPARE, limits[1]))
        elif fault == "memory filled":
            self._client.run(fill, victims[0], on_error="ignore")
        elif fault != "none":
            for pid in set(victims):
                with suppress(ProcessLookupError):
                    os.kill(pid, SIGNALS[fault])


def fill(victim: int) -> None:
    """Fill the memory of the worker that runs in this process, until its nanny ends it."""
    if os.getpid() != victim:
        return

    def work() -> None:
        held: list[bytes] = []
        end = time.monotonic() + FILLED
        while time.monotonic() < end:
            if len(held) * BLOCK < MEMORY << 20:
                held.append(b"\1" * BLOCK)
            else:
                time.sleep(0.05)

    threading.Thread(target=work, name="fill", daemon=True).start()
