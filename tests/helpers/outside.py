"""What stands outside graphdask as a test wants it: the machine, and calls that fail."""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numba
import pytest


class Clock:
    """What a module takes for `time`: the time passes by `now` alone, and where the module sleeps."""

    def __init__(self, now: float) -> None:
        self.now = now

    def time(self) -> float:
        return self.now

    monotonic = perf_counter = time

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


class Host:
    """What the operating system says of this machine."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

    def cores(self, count: int) -> None:
        """This process may use so many cores."""
        self._patch.setattr(os, "sched_getaffinity", lambda process: set(range(count)))

    def free_disk(self, size: int | None) -> None:
        """Every disk has so many free bytes; None: nobody knows."""
        blocks = SimpleNamespace(f_bavail=size or 0, f_frsize=1, f_blocks=0 if size is None else size + 1)
        self._patch.setattr(os, "statvfs", lambda folder: blocks)
        self._patch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(size, 0, size))

    def temporary_folder(self, folder: Path) -> None:
        """Temporary files are made in a folder."""
        self._patch.setattr(tempfile, "tempdir", str(folder))

    def numba(self, **settings: Any) -> None:
        """Numba is configured so, as by its environment variables, which it has read by then."""
        for name, value in settings.items():
            self._patch.setattr(numba.config, name, value)

    def clock(self, module: ModuleType, now: float = 0.0) -> Clock:
        """A module has another clock: were it that of all, clients of Dask in this process would wait for ever."""
        clock = Clock(now)
        # Were it the time of all, clients of Dask in this process would wait for ever.
        self._patch.setattr(module, "time", clock)
        return clock

    def terminal(self) -> io.StringIO:
        """Somebody watches standard error; what they see."""
        shown = io.StringIO()
        self._patch.setattr(shown, "isatty", lambda: True)
        self._patch.setattr(sys, "stderr", shown)
        return shown

    def without(self, *modules: str) -> None:
        """Some modules are not installed."""
        for name in modules:
            self._patch.setitem(sys.modules, name, None)


class Faults:
    """Calls that fail, until `over`."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self._ended: list[bool] = []

    def __call__(
        self, owner: Any, name: str, error: BaseException | type[BaseException], when: Callable[..., Any] | None = None
    ) -> None:
        """Let a function fail: always, or where `when` of its arguments is true."""
        function, ended = getattr(owner, name), self._ended

        def failing(*given: Any, **named: Any) -> Any:
            if not ended and (when is None or when(*given, **named)):
                raise error
            return function(*given, **named)

        # What fails is what a test names.
        self._patch.setattr(owner, name, failing)

    def over(self) -> None:
        """Let all functions do again what they did."""
        self._ended.append(True)
        self._ended = []
