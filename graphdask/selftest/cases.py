"""A case: it is run, and what comes of it is an answer, an error of graphdask, or a finding.

A finding is an error that is none of graphdask's, a wrong answer, more memory than a small input may take, or what is
left after it: open files, threads. A child that crashed or hung is a finding of `supervision.py`.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from graphdask.errors import GraphdaskError, not_too_long, shown
from graphdask.selftest.choices import Choices


@dataclass(frozen=True)
class Limits:
    """What a case of a target may take."""

    seconds: float = 30.0
    """Of processors."""
    wait: float = 120.0
    """Seconds until a case that waits is taken to hang, on a machine that is busy with other things too."""
    look: float = 1.0
    """Seconds between two checks whether a case of a target with a clock of its own is late."""
    memory: int = 512
    """MiB by which it may raise the memory that the process had at most."""
    space: int | None = 6 << 30
    """Bytes of address space; None for no limit, which processes that a case starts would have too."""
    shrinking: float = 20.0
    """Seconds for making a finding small."""
    ends: float = 0.0
    """Seconds within which what was opened is closed."""
    hangs: bool = False
    """Whether a case that hangs is made small too: another one can be run after it in the same process."""


class Wrong(AssertionError):
    """An answer that is not right."""


class Late(BaseException):
    """A case takes too long; no handler of errors catches it."""


class Over(BaseException):
    """The time for all cases has been over for long; no handler of errors catches it."""


class Target(Protocol):
    """What is fuzzed.

    These attributes may be there too: `limits`, of class `Limits`; `late()`, which says whether a case that runs takes
    too long, in place of `limits.wait`; `simpler(choices)`, which yields choices to try in place of those that fail;
    `tally`, a Counter, which is summed up over all cases and shown; `say`, which is replaced by what shows what a case
    does now, and a line of what it has done; `end`, which is set to the time, of `time.monotonic`, after which no step
    of a case begins; and `over()`, which says whether a case is given up because that was long ago.
    """

    def __init__(self, folder: Path):
        """Prepare valid inputs in an empty folder."""

    def run(self, choices: Choices) -> str:
        """Run a case, and return what it was in a few words.

        Raises
        ------
        Wrong
            If its answer is wrong. Any error that is none of graphdask's is a finding too.
        """


@dataclass
class Outcome:
    """What came of a case."""

    kind: str
    """answered, refused or unfinished; of a finding bare, wrong, memory, left, hang or crash."""
    where: str = ""
    """Of a finding: what distinguishes it from others."""
    said: str = ""
    """Of a finding: the error, and where it came from."""
    taken: list[int] = field(default_factory=list)
    """The choices of the case."""
    case: str = ""
    """What the case was, in a few words."""

    @property
    def found(self) -> bool:
        return self.kind not in ("answered", "refused", "unfinished")

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def outcome(target: Target, choices: Choices) -> Outcome:
    """Run a case and return what came of it. Runs in the main thread of a process of its own."""
    limits = limits_of(target)
    before, held = _peak(reset=True), _held()
    with _alarms(limits, getattr(target, "late", None), getattr(target, "over", bool)):
        made = _tried(target, choices)
    made.taken = choices.taken
    if not made.found and made.kind != "unfinished":
        grown = _peak() - before
        if grown > limits.memory:
            return Outcome("memory", "peak", f"the memory grew by {grown:,} MiB", choices.taken, made.case)
        end = time.monotonic() + limits.ends
        while (left := _left(held)) and time.monotonic() < end:
            time.sleep(0.1)
        if left:
            return Outcome("left", left.split(":")[0], left, choices.taken, made.case)
    return made


def limits_of(target: Any) -> Limits:
    """Return what a case of a target may take."""
    limits: Limits = getattr(target, "limits", Limits())
    return limits


def _tried(target: Target, choices: Choices) -> Outcome:
    try:
        return Outcome("answered", case=target.run(choices))
    except GraphdaskError as error:
        text = str(error)
        if len(text) > 3000:
            return Outcome("bare", "long message", f"a message of {len(text):,} characters: {not_too_long(text)}")
        return Outcome("refused", case=type(error).__name__)
    except Wrong as error:
        return Outcome("wrong", str(error).split(":")[0], not_too_long(str(error)))
    except Over:
        return Outcome("unfinished")
    except Late as error:
        return Outcome("hang", _place(error), _trace(error))
    except MemoryError as error:
        return Outcome("memory", f"MemoryError {_place(error)}", _trace(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Outcome("bare", f"{type(error).__name__} {_place(error)}", _trace(error))


PACKAGE = Path(__file__).resolve().parents[1]
TESTS = (PACKAGE / "selftest", PACKAGE / "chaos")
"""Folders whose lines are not those of a fault."""


def _place(error: BaseException) -> str:
    """The innermost line of graphdask."""
    frames = traceback.extract_tb(error.__traceback__)
    mine = [
        each for each in frames if (path := Path(each.filename)).is_relative_to(PACKAGE) and path.parent not in TESTS
    ]
    return f"{Path(mine[-1].filename).name}:{mine[-1].lineno}" if mine else "outside"


def _trace(error: BaseException) -> str:
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    return f"{type(error).__name__}: {not_too_long(shown(error))}\n" + "".join(lines)[-2500:]


@contextmanager
def _alarms(limits: Limits, own: Callable[[], bool] | None, over: Callable[[], bool]) -> Iterator[None]:
    def late(*_: object) -> None:
        raise Late

    def look(*_: object) -> None:
        given_up = over()
        if given_up or own is None or own():
            signal.setitimer(signal.ITIMER_REAL, 0)  # once
            raise Over if given_up else Late

    waits = (limits.wait, 0.0) if own is None else (limits.look, limits.look)
    timers = (
        (signal.SIGALRM, look, signal.ITIMER_REAL, waits),
        (signal.SIGPROF, late, signal.ITIMER_PROF, (limits.seconds, 0.0)),
    )
    usual = [signal.signal(number, handler) for number, handler, _, _ in timers]
    for _, _, timer, times in timers:
        signal.setitimer(timer, *times)
    try:
        yield
    finally:
        for _, _, timer, _ in timers:
            signal.setitimer(timer, 0)
        for (number, *_), before in zip(timers, usual, strict=True):
            signal.signal(number, before)


def _peak(reset: bool = False) -> int:
    """The most memory that the process had so far, or since it was last reset; MiB."""
    if reset:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
    return status("VmHWM") >> 10


def status(name: str, pid: int | str = "self") -> int:
    """A number of `/proc/PID/status`, of memory in KiB; 0 where there is none."""
    with suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as lines:
        for line in lines:
            if line.startswith(name):
                return int(line.split()[1])
    return 0


def _descriptors() -> set[str]:
    with suppress(OSError):
        return set(os.listdir("/proc/self/fd"))
    return set()


def _threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread.name not in OTHERS}


OTHERS = ("tqdm_monitor", "Dask-Callback-Thread_0")
"""Threads that other packages keep."""
WATCHED: dict[str, Callable[[], set[str]]] = {"descriptors": _descriptors, "threads": _threads}


def _held() -> dict[str, int]:
    return {name: len(count()) for name, count in WATCHED.items()}


def _left(held: dict[str, int]) -> str:
    """What is open that was not before the case; empty for nothing."""
    if all(len(count()) <= held[name] for name, count in WATCHED.items()):
        return ""
    gc.collect()
    for name, count in WATCHED.items():
        if len(now := count()) > held[name]:
            return f"{name}: {len(now)} after the case, {held[name]} before it: {sorted(now)[:20]}"
    return ""
