"""What is asked of every batch system: its programs called with a deadline, and what it says of a job."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass

from graphdask.errors import CommunicationError, DeadlineExceeded, InputError, MissingDependency

CALL_SECONDS = 120.0
"""How long a program of a batch system may take."""


@dataclass(frozen=True)
class State:
    """What a batch system says of a job."""

    name: str
    """As the batch system calls it; UNKNOWN where it does not know the job, or any more."""
    over: bool
    detail: str = ""
    """Why it waits, or where it runs."""
    exit_code: int | None = None
    """128 and the signal, where one ended it."""

    def __str__(self) -> str:
        return f"{self.name.lower().replace('_', ' ')}{f' ({self.detail})' if self.detail else ''}"


UNKNOWN = State("UNKNOWN", True)


def need(program: str, system: str) -> str:
    """The path of a program, or MissingDependency."""
    path = shutil.which(program)
    if path is None:
        raise MissingDependency(
            f"there is no {program} on PATH: this host submits no jobs to {system}; log in where it does, or load its "
            f"module"
        )
    return path


def call(arguments: list[str], system: str) -> subprocess.CompletedProcess[str]:
    """Call a program of a batch system.

    Raises
    ------
    MissingDependency
        Where there is no such program.
    DeadlineExceeded
        Where it does not answer.
    """
    program = need(arguments[0], system)
    try:
        return subprocess.run(
            [program, *arguments[1:]], capture_output=True, text=True, timeout=CALL_SECONDS, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise DeadlineExceeded(f"{arguments[0]} did not answer within {CALL_SECONDS:.0f} s") from None


def refused(program: str, done: subprocess.CompletedProcess[str]) -> InputError | CommunicationError:
    """The error for a job that was not taken, in the batch system's own words."""
    lines = [line.removeprefix(f"{program}: ").removeprefix("error: ") for line in done.stderr.splitlines()]
    words = "; ".join(line.strip() for line in lines if line.strip()) or f"exit code {done.returncode}"
    if "contact" in words.lower() or "connect" in words.lower():
        return CommunicationError(f"{program} cannot reach its daemon: {words}")
    return InputError(f"{program} refused the job: {words}")
