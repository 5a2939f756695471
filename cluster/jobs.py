"""A batch job from its folder to its result: submit it, follow it, and take up what was interrupted."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from graphdask.cluster import encryption, pbs, scripts, slurm
from graphdask.cluster.batch import State
from graphdask.cluster.scripts import EXIT_CODE, OUT_OF_TIME, RESULT, TIMED_OUT, Job
from graphdask.cluster.tuning import CLUSTER
from graphdask.errors import CommunicationError, DeadlineExceeded, InputError, JobFailed

SYSTEMS: dict[str, ModuleType] = {"slurm": slurm, "pbs": pbs}
"""Each has `need`, `script`, `submit`, `look` and `cancel`."""
FIRST_PAUSE = 0.3
"""Seconds between two requests for the state of a job, where something happens."""
SETTLE_SECONDS = 20.0
"""How long the files of a job that has ended may take to come over a network file system."""
TAIL = 3
"""Lines of a log that an error repeats."""
TERMINATED = 143
"""Exit code of a script that was asked to end, and not because its time does."""

Say = Callable[[str], None]


def system_of(job: Job) -> ModuleType:
    """The module of the job's batch system."""
    if job.system not in SYSTEMS:
        raise InputError(f"system={job.system!r} is not one of {', '.join(SYSTEMS)}")
    return SYSTEMS[job.system]


def script(job: Job, *, complete: bool = True) -> str:
    """The text of the job's script; `complete`: only where this host has what its workers need."""
    system = system_of(job.checked())
    if complete:
        job.need()
    return str(system.script(job))


def submit(job: Job, *, overwrite: bool = False) -> Job:
    """Write a job's folder and submit it.

    Parameters
    ----------
    job : Job
    overwrite : bool
        Replace a job of the same folder that has ended. Default: raise OutputExists.

    Returns
    -------
    Job
        With its number.

    Raises
    ------
    InputError
        For options that do not fit, a folder that cannot be written, and what the batch system refuses, in its words.
    MissingDependency
        Where this host submits no jobs, where workers on GPUs lack dask-cuda, and where a certificate has to be made
        and the package `cryptography` is not there.
    WriteError
        Where the disk is full.
    """
    system, text = system_of(job), script(job)
    system.need()
    encryption.prepare(job.tls and job.workers is not None)
    if overwrite:
        _ended(job)
    path = scripts.write(job, text, overwrite)
    job = replace(job, number=system.submit(path))
    job.save()
    return job


def _ended(job: Job) -> None:
    """Raise InputError where the folder of a job has one that waits or runs."""
    if not job.path(scripts.DESCRIPTION).exists():
        return
    old = scripts.load(job.folder)
    if old.number is None:
        return
    state = system_of(old).look(old.number)
    if not state.over:
        raise InputError(
            f"{job.folder} has job {old.number}, which is {state}; cancel it first, or name another folder"
        )


def follow(job: Job, say: Say) -> str:
    """Wait for a job and pass on what happens: its states, and the lines that it logs.

    Returns
    -------
    str
        What the command wrote on standard output.

    Raises
    ------
    JobFailed
        Where it did not end well; with the job's exit code.
    CommunicationError
        Where the batch system stays away; the job goes on.
    """
    assert job.number is not None
    system, log = system_of(job), Log(job.log)
    seen, pause = "", FIRST_PAUSE
    while True:
        state = _looked(system, job)
        news = str(state) != seen
        if news:
            seen = str(state)
            say(f"job {job.number}: {seen}")
        for line in log.more():
            news = True
            say(line)
        if state.over:
            break
        pause = FIRST_PAUSE if news else min(CLUSTER.longest_pause, pause * 1.2)
        time.sleep(pause)
    code = _settled(job, state)
    for line in log.more(rest=True):
        say(line)
    return outcome(job, state, code)


def _looked(system: ModuleType, job: Job) -> State:
    """What the batch system says; it may be away for a while."""
    deadline = time.monotonic() + CLUSTER.away_seconds
    while True:
        try:
            state: State = system.look(job.number)
            return state
        except (CommunicationError, DeadlineExceeded) as error:
            if time.monotonic() > deadline:
                again = f"graphdask submit --resume {job.folder} follows it again"
                raise CommunicationError(f"job {job.number} goes on, but {error}; {again}") from None
            time.sleep(CLUSTER.longest_pause)


def _settled(job: Job, state: State) -> int | None:
    """The exit code that the script left; None where it was killed before it could."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        code = exit_code(job)
        # A script that was killed leaves none, and its batch system says so.
        if code is not None or state.name not in ("COMPLETED", "UNKNOWN") or time.monotonic() > deadline:
            return code
        time.sleep(FIRST_PAUSE)


def exit_code(job: Job) -> int | None:
    """What the script left in the folder."""
    try:
        return int(job.path(EXIT_CODE).read_text())
    except (OSError, ValueError):
        return None


def outcome(job: Job, state: State, code: int | None) -> str:
    """The result of a job that has ended, or JobFailed with the reason."""
    if code == 0 and state.name in ("COMPLETED", "UNKNOWN"):
        return job.path(RESULT).read_text()
    again = f"graphdask submit --resume {job.folder}"
    if (code == TIMED_OUT and job.path(OUT_OF_TIME).exists()) or state.name in ("TIMEOUT", "DEADLINE"):
        limit = f" of {job.time}" if job.time else ""
        raise failed(
            f"job {job.number} met its time limit{limit}; {again} submits it again, with --time for another limit",
            TIMED_OUT,
        )
    if state.name == "CANCELLED" or code == TERMINATED:
        raise failed(f"job {job.number} was cancelled; {again} submits it again", 1)
    last = tail(job.log)
    words = f"; the end of {job.log}: {' | '.join(last)}" if last else f"; {job.log} has nothing to say"
    code = code or state.exit_code or 1
    signal = f", killed by signal {code - 128}" if code > 128 else ""
    name = "failed" if state.name in ("FAILED", "COMPLETED", "UNKNOWN") else f"failed: {state}"
    raise failed(f"job {job.number} {name}, exit code {code}{signal}{words}", code)


def failed(message: str, code: int) -> JobFailed:
    """The error, with the exit code."""
    error = JobFailed(message)
    error.exit_code = code
    return error


def tail(path: Path) -> list[str]:
    """The last lines of a log that say something."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4096))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    return [line.strip() for line in text.splitlines() if line.strip()][-TAIL:]


class Log:
    """The lines of a log as they come. A log that became shorter, for example of a restarted job, is read again."""

    def __init__(self, path: Path):
        self.path, self.position, self.part = path, 0, b""

    def more(self, rest: bool = False) -> list[str]:
        """The lines since the last call; with `rest`, also one that has no end."""
        try:
            with self.path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < self.position:
                    self.position, self.part = 0, b""
                file.seek(self.position)
                new = file.read()
        except FileNotFoundError:
            return []
        self.position += len(new)
        *lines, self.part = (self.part + new).split(b"\n")
        if rest and self.part:
            lines, self.part = [*lines, self.part], b""
        return [line.decode(errors="replace") for line in lines]


def cancel(job: Job) -> None:
    """Have the batch system end a job."""
    if job.number is not None:
        system_of(job).cancel(job.number)


def resume(job: Job, **changes: object) -> Job:
    """Take up a job: one that waits or runs, or has its result, as it is; any other is submitted again.

    A command that skips what is there already goes on from it; others begin anew.

    Raises
    ------
    InputError
        For changes to a job that need not be submitted again.
    """
    if job.number is not None:
        state = system_of(job).look(job.number)
        if not state.over or exit_code(job) == 0:
            if changes:
                names = ", ".join(f"--{name.replace('_', '-')}" for name in changes)
                found = "has its result" if state.over else f"is {state}"
                raise InputError(f"job {job.number} {found}; leave {names} out, or cancel it first")
            return job
    job = replace(job, number=None, **changes)  # type: ignore[arg-type]
    job.save()
    return submit(job)
