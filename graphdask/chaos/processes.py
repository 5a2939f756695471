"""A Dask scheduler and workers as processes of their own, which are killed and stopped, and what is left of them.

All have a name of this cluster in their environment, by which whatever they started is found.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from graphdask.chaos.patience import Patience
from graphdask.gang.watch import ask_scheduler
from graphdask.selftest.cases import Over, Wrong

MARK = "GRAPHDASK_CHAOS"
"""The variable that names the cluster of a process."""
MEMORY = 1536
"""MiB at which Dask's nanny ends a worker; one without a large graph uses a quarter of it."""
POLL = 0.05


class Processes:
    """A context manager: a scheduler, and workers whose nannies start them anew.

    Parameters
    ----------
    folder : Path
        An empty folder for their files.
    workers : int
        How many workers.
    patience : Patience
        How long to wait for them.
    """

    def __init__(self, folder: Path, workers: int, patience: Patience):
        self.folder, self.workers, self.patience = folder, workers, patience
        self.file = folder / "scheduler.json"
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.killed = False
        """Whether a process was ended by a signal."""
        self._memory = set(os.listdir("/dev/shm"))
        self._environment = {
            **os.environ,
            MARK: str(folder),
            "TMPDIR": str(self.temporary),
            "DASK_LOGGING__DISTRIBUTED": "critical",
            "PYTHONWARNINGS": "ignore",
        }

    def __enter__(self) -> Processes:
        self.scheduler = self.start("distributed.cli.dask_scheduler", *self._common, "--port", "0")
        self.patience.until(self.file.exists, "a scheduler did not start")
        self.nanny = self.start(
            "distributed.cli.dask_worker", *self._common, "--nthreads", "1", "--nworkers", str(self.workers),
            "--memory-limit", f"{MEMORY}MiB", "--local-directory", str(self.folder / "local"), "--death-timeout", "60",
        )  # fmt: skip
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End everything, and raise Wrong for what did not end by itself or left files, unless there is an error."""
        for pid in self.alive():
            _signal(pid, signal.SIGCONT)
        for process in (self.nanny, self.scheduler):
            process.terminate()
        try:
            if not isinstance(error, Over):  # else all are killed
                self.patience.until(lambda: not self.alive(), "processes left", self._said)
                self._look_for_files()
        except Wrong:
            if error is None:
                raise
        finally:
            for pid in self.alive():
                _signal(pid, signal.SIGKILL)
            for process in (self.nanny, self.scheduler):
                process.wait()

    @property
    def _common(self) -> tuple[str, ...]:
        return "--scheduler-file", str(self.file), "--no-dashboard"

    def start(self, module: str, *options: str, output: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
        """Start a module as a process of this cluster."""
        return subprocess.Popen(
            [sys.executable, "-m", module, *options],
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL, env=self._environment, text=True,
        )  # fmt: skip

    def client(self) -> Any:
        """Return a new client, which is not the default one."""
        from distributed import Client

        return Client(scheduler_file=str(self.file), set_as_default=False, timeout=self.patience.seconds)

    def await_workers(self, client: Any) -> None:
        """Wait until as many workers run as there should be, and the scheduler knows as many."""
        self.patience.until(
            lambda: len(self.pids()) == self.workers == len(ask_scheduler(client, self.patience.seconds)),
            f"{self.workers} workers are not there",
            lambda: f"{len(self.pids())} run, and the scheduler knows {list(ask_scheduler(client))}",
        )

    def pids(self) -> list[int]:
        """Return the process ids of the workers that run, sorted."""
        return sorted(pid for pid in _children(self.nanny.pid) if "spawn_main" in _command(pid))

    def alive(self) -> list[int]:
        """Return the ids of all processes of this cluster that run or are stopped."""
        mark = f"{MARK}={self.folder}".encode()
        return [pid for pid in _all() if mark in _read(pid, "environ").split(b"\0") and _state(pid) != "Z"]

    def _said(self) -> str:
        return ", ".join(f"{pid} {_state(pid)} {_command(pid)[:120]}" for pid in self.alive())

    def _look_for_files(self) -> None:
        """Raise Wrong for temporary files and named shared memory; semaphores are those of Python's processes."""
        if left := sorted(path.name for path in self.temporary.iterdir() if path.name not in DASKS):
            raise Wrong(f"temporary files left: {left}")
        watched = SHARED if self.killed else (*SHARED, "ucx")
        new = {name for name in set(os.listdir("/dev/shm")) - self._memory if name.startswith(watched)}
        if new and (left := sorted(name for name in new if not any(_maps(pid, name) for pid in _all()))):
            raise Wrong(f"shared memory left: {left}")
        shutil.rmtree(self.folder, ignore_errors=True)


SHARED = ("graphdask", "nccl", "psm_")
"""How the names of shared memory begin that graphdask and its transports may make. UCX removes a name at once, and a
process that is killed at this moment leaves it, so names of UCX count only where no process was killed."""
DASKS = ("dask-scratch-space",)


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _state(pid: int) -> str:
    """The letter of a process's state: Z where it has ended, and its parent has not taken notice."""
    return (_read(pid, "stat").rpartition(b")")[2].split() or [b"Z"])[0].decode()


def _command(pid: int) -> str:
    return _read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace")


def _maps(pid: int, name: str) -> bool:
    return f"/dev/shm/{name}".encode() in _read(pid, "maps")


def _all() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _children(pid: int) -> Iterator[int]:
    """The processes that a process started, which have not ended."""
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in _read(pid, f"task/{task.name}/children").split():
                if _state(int(child)) != "Z":
                    yield int(child)


def processors(pids: Callable[[], list[int]]) -> float:
    """Return the seconds of processors that processes have used."""
    ticks = 0
    for pid in pids():
        fields = _read(pid, "stat").rpartition(b")")[2].split()
        if len(fields) > 12:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def pause(pid: int, seconds: float) -> None:
    """Stop a process for a while."""
    _signal(pid, signal.SIGSTOP)
    time.sleep(seconds)
    _signal(pid, signal.SIGCONT)
