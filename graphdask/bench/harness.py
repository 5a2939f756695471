"""What the benchmarks share: calls that are timed, packages that may be missing, and records.

A benchmark is a generator of records, which `recorded` makes a function. What is timed is a whole call, from the
caller's arguments until the devices of this process have finished, without compilation. The first call, which compiles
and fills caches, is not counted.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from graphdask.device.backend import cuda_device_count
from graphdask.errors import InputError, VerificationError
from graphdask.kernels.common.compiling import Timer, clock

Record = dict[str, Any]
T = TypeVar("T")
CLOCK = "call"
"""What is compared is timed by: whole calls, from the caller's arguments to the answer, where it was computed."""
MANY, BRIEF = 50, 0.2
"""Times that a brief call is repeated, unless these take so many seconds together."""


@dataclass
class Runs:
    """The runs of a call, without the first."""

    first: float = 0.0
    """Seconds of the first one, without compilation."""
    compiled: float = 0.0
    """Seconds of compilation in it."""
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    """Seconds of all cores."""
    result: Any = None
    """Of the last one."""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def recorded(benchmark: Callable[..., Iterator[Record]]) -> Callable[..., list[Record]]:
    """Make a function of a generator of records: it returns them all, and calls `each`, if given, with every record as
    soon as it is there."""

    @functools.wraps(benchmark)
    def run(*arguments: Any, each: Callable[[Record], Any] | None = None, **options: Any) -> list[Record]:
        records = []
        for record in benchmark(*arguments, **options):
            records.append(record)
            if each is not None:
                each(record)
        return records

    return run


def finish() -> None:
    """Wait until the GPUs of this process have done what they were given; nothing where it uses none."""
    cupy = sys.modules.get("cupy")
    if cupy is None or not hasattr(cupy, "get_default_memory_pool"):
        return
    for number in range(cuda_device_count()):
        with cupy.cuda.Device(number):
            cupy.cuda.runtime.deviceSynchronize()


def timed_call(call: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds of a call, and what it returns."""
    began = clock()
    result = call()
    finish()
    return clock() - began, result


def repeat(
    call: Callable[[], Any], repeats: int, *, oftener: bool = False, before: Callable[[], Any] | None = None,
    each: Callable[[Any, float], Any] | None = None,
) -> Runs:  # fmt: skip
    """Time a call `repeats` times after a first one.

    Parameters
    ----------
    call : callable
        What it returns is let go before it is called again, but for that of the last call.
    repeats : int
    oftener : bool
        Whether a brief call is repeated MANY times, unless `repeats` is 1.
    before : callable, optional
        Called before each run that counts.
    each : callable, optional
        Called with the result and the seconds of each run that counts.
    """
    timer, runs = Timer(), Runs()
    runs.result = call()
    runs.first, runs.compiled = timer.seconds, timer.compiled.seconds
    while len(runs.seconds) < repeats or (oftener and is_brief(runs.seconds, repeats)):
        runs.result = None
        if before is not None:
            before()
        worked = time.process_time()
        seconds, runs.result = timed_call(call)
        runs.cpu.append(time.process_time() - worked)
        runs.seconds.append(seconds)
        if each is not None:
            each(runs.result, seconds)
    return runs


def is_brief(seconds: Sequence[float], repeats: int) -> bool:
    """Whether calls take so little that their median is better known by more of them."""
    return repeats > 1 and len(seconds) < MANY and sum(seconds) < BRIEF


def missing(*packages: str) -> str:
    """Why packages cannot be measured; empty if they are all installed."""
    return next((f"{name} is not installed" for name in packages if importlib.util.find_spec(name) is None), "")


def versions(*packages: str) -> Record:
    """The versions of what is measured, and the machine."""
    return {
        "version": ", ".join(map(importlib.metadata.version, packages)), "cores": os.cpu_count(),
        "machine": platform.processor() or platform.machine(),
    }  # fmt: skip


def of_file(runs: Runs, nbytes: int, edges: int) -> Record:
    """What is recorded of reading or writing a file of edges."""
    seconds, megabytes = runs.median, nbytes / 1e6
    return {
        "seconds": seconds, "mb_per_s": megabytes / seconds, "medges_per_s": edges / seconds / 1e6, "edges": edges,
        "file_mb": megabytes,
    }  # fmt: skip


def check_columns(name: str, found: Any, expected: Any) -> None:
    """Raise VerificationError if a result is not the expected one."""
    for column in found.columns:
        if not np.array_equal(found._column(column), expected._column(column)):
            raise VerificationError(f"{name}: {column} is not what it is in memory")


def suite_of(suites: Mapping[tuple[str, str], T], suite: str, device: str) -> tuple[T, str]:
    """Return a suite by its name and device, and the device; "auto" is a GPU where there is one."""
    device = ("cuda" if cuda_device_count() else "cpu") if device == "auto" else device
    if (suite, device) not in suites:
        raise InputError(f"suite={suite!r} is not one of {', '.join(sorted({name for name, _ in suites}))}")
    return suites[suite, device], device
