"""Typed errors. Each message says what was wrong, with which value, and what to do about it.

`exit_code` is what the command line returns: 1 failed, 2 bad input or usage, 3 verification failed.
"""

from __future__ import annotations

import os
import re
import sys
from contextvars import ContextVar
from typing import Any

LONGEST = 2000
"""Characters of a message about what the caller gave; the middle of a longer one is left out."""


def shown(value: Any) -> str:
    """A value as an error names it: short, also where it cannot say itself what it is."""
    try:
        text = repr(value)
    except Exception:  # of whatever a caller gives; NumPy's times without a unit are such
        return f"a {type(value).__name__} that cannot be shown"
    text = re.sub(r"\s*\n\s*", " ", text)  # of tables and matrices
    return text if len(text) <= 300 else f"{text[:300]}..."


def not_too_long(text: str) -> str:
    """A message without the middle of a long one."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"


def outside() -> int:
    """The `stacklevel` of a warning that names the line, outside this package, which called it."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("graphdask", "contextlib"):
        frame, level = frame.f_back, level + 1
    return level


class GraphdaskError(Exception):
    """Base of every error that graphdask raises on purpose."""

    exit_code = 1


NAMES: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("graphdask-names", default=())
"""Paths of temporary files, and what the caller named in place of each, for warnings of this thread or task."""


class GraphdaskWarning(UserWarning):
    """Something the caller should know that does not make the answer wrong."""

    def __init__(self, *args: object):
        super().__init__(*(_named(each) if isinstance(each, str) else each for each in args))


def _named(text: str) -> str:
    for path, name in NAMES.get():
        text = text.replace(path, name)
    return text


class InputError(GraphdaskError, ValueError):
    """The caller's arguments or data are not valid."""

    exit_code = 2

    def __str__(self) -> str:
        return not_too_long(super().__str__())


class ArgumentError(InputError, TypeError):
    """A function was called with an argument that it does not have, or without one that it needs."""


class FormatError(InputError):
    """A file does not hold what its format promises.

    Parameters
    ----------
    reason : str
        What is wrong, with the offending value.
    path : path-like, optional
        The file.
    line : int, optional
        The line, counted from 1.
    """

    def __init__(self, reason: str, path: str | os.PathLike[str] | None = None, line: int | None = None):
        self.reason, self.path, self.line = reason, None if path is None else os.fspath(path), line
        super().__init__(reason, self.path, line)

    def __str__(self) -> str:
        place = "" if self.path is None else self.path
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
        return not_too_long(f"{place}: {self.reason}" if place else self.reason)


class FunctionError(InputError):
    """A function that the caller gave cannot be translated, or failed on a vertex or edge.

    Parameters
    ----------
    reason : str
        What is wrong, with what is allowed.
    path : str, optional
        The file of the function.
    line : int, optional
        The line, counted from 1.
    source : str, optional
        The text of that line.
    """

    def __init__(self, reason: str, path: str | None = None, line: int | None = None, source: str | None = None):
        self.reason, self.path, self.line, self.source = reason, path, line, source
        super().__init__(reason, path, line, source)

    def __str__(self) -> str:
        place = "" if self.path is None else f"{self.path}:{self.line}: " if self.line else f"{self.path}: "
        return not_too_long(f"{place}{self.reason}" + (f"\n    {self.source.strip()}" if self.source else ""))


class VertexNotFound(InputError, LookupError):
    """A vertex id that the graph does not have."""


class Unsupported(InputError, NotImplementedError):
    """A combination of arguments that cannot work, refused with the reason."""


class MissingDependency(GraphdaskError, ImportError):
    """An optional package is needed; the message names the extra that installs it."""

    exit_code = 2


class OverBudget(MemoryError, GraphdaskError):  # in this order, or Dask's way of pickling cannot make one
    """A call would need more memory than there is, or than it was given; raised before that is allocated."""


class WriteError(OSError, GraphdaskError):
    """A file could not be written to its end; nothing is left of it."""


class OutputExists(InputError, FileExistsError):
    """What is to be written is there already, and `overwrite=True` was not given, or would not help.

    Parameters
    ----------
    reason : str
        What is there, and what to do.
    path : path-like, optional
        The output.
    """

    def __init__(self, reason: str, path: str | os.PathLike[str] | None = None):
        self.path = None if path is None else os.fspath(path)
        super().__init__(reason)

    def __reduce__(self) -> Any:
        return type(self), (self.args[0], self.path)


class VerificationError(GraphdaskError, AssertionError):
    """A result breaks an invariant; the message names the first vertex or edge that does."""

    exit_code = 3


class CommunicationError(GraphdaskError, ConnectionError):
    """The exchange between workers failed."""


class PeerLost(CommunicationError):
    """A worker of the gang died, stopped, or became unreachable."""


class SchedulerLost(PeerLost):
    """The Dask scheduler died, stopped, or became unreachable: nothing can be run again on its workers."""


class StaleMessage(CommunicationError):
    """A message of another gang, run or superstep arrived."""


class DeadlineExceeded(GraphdaskError, TimeoutError):
    """A wait passed its deadline."""


class JobFailed(GraphdaskError):
    """A batch job ended without a result; raised with the exit code of the job in `exit_code`."""


class WrongWorker(GraphdaskError):
    """A gang task found itself on a worker that it was not meant for."""


class KernelError(GraphdaskError, RuntimeError):
    """A kernel failed; the message names it and the reason."""
