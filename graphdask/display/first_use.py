"""Messages to a person about compilation: one when it becomes long, and one with its duration after the call.

They go to standard error if a person watches. They never go to standard output, because data may stream there.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from graphdask.display.notebook import bar_class, is_watched
from graphdask.display.tuning import DISPLAY
from graphdask.kernels.common.compiling import NOTHING, Compiled, account, forget, observe, process, since

_open = threading.local()


def write(text: str) -> None:
    """Write a line to standard error, above a progress bar if there is one."""
    bar_class().write(text, file=sys.stderr)


def in_words(compiled: Compiled, whole: float) -> str:
    """Return a text of what was compiled in a call that took `whole` seconds."""
    kernels = "1 kernel" if compiled.kernels == 1 else f"{compiled.kernels:,} kernels"
    return f"compiled {kernels} in {compiled.seconds:.1f} s of {whole:.1f} s; the next call does not"


class FirstUse:
    """Context manager around a call that reports what is compiled in it, or does nothing.

    Inside another one of the same thread, it leaves the report to that one.

    Parameters
    ----------
    label : str
        The name of the call, with which a line begins.
    show : bool, optional
        Whether to report. Default: if a person watches.
    write : callable, optional
        A function that writes a line. Default: write to standard error.
    """

    def __init__(self, label: str, show: bool | None, write: Callable[[str], None] = write):
        self.label, self.show, self._write = label, is_watched(show), write
        self.spent = NOTHING
        """What was compiled, in this process or by workers; once the call is over."""
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._reported = self._inner = False

    def __enter__(self) -> FirstUse:
        self._before, self._started, self._process = account(), time.perf_counter(), process()
        outer = getattr(_open, "outermost", None)
        self._inner, self._outer = outer is not None or not self.show, outer
        if not self._inner:
            _open.outermost = self
            observe(self._changed)
        return self

    def __exit__(self, kind: Any, *exception: Any) -> None:
        own, here = since(self._before), process()
        kernels, seconds = here.kernels - self._process.kernels, here.seconds - self._process.seconds
        self.spent = max(own, Compiled(kernels, seconds), key=lambda compiled: compiled.seconds)
        if self._inner:
            return
        _open.outermost = None
        forget(self._changed)
        self._changed(False)
        if kind is None and self.spent.seconds > DISPLAY.compiling:
            with suppress(OSError, ValueError):  # nobody reads it
                self._write(f"{self.label}: {in_words(self.spent, time.perf_counter() - self._started)}")

    def elsewhere(self, seconds: float) -> None:
        """Take in for how many seconds workers have compiled; any thread may call it."""
        if self._outer is not None:
            self._outer.elsewhere(seconds)
        elif not self._inner and seconds > DISPLAY.compiling:
            self._print()

    def _changed(self, begins: bool) -> None:
        """Called by each thread of this process that begins to compile, or has ended."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if not begins or self._reported:
                return
            left = DISPLAY.compiling - (process().seconds - self._process.seconds)
            if left > 0:
                self._timer = threading.Timer(left, self._print)
                self._timer.daemon = True
                self._timer.start()
                return
        self._print()

    def _print(self) -> None:
        with self._lock:
            if self._reported:
                return
            self._reported = True
        with suppress(OSError, ValueError):
            self._write(f"{self.label}: compiling kernels, which this machine uses for the first time ...")
