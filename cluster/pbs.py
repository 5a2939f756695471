"""PBS (OpenPBS, PBS Professional): the script of a job, and the calls that submit, query and cancel it.

The scheduler and the command run in the script, on the first host; `mpiexec` starts the workers, a task each. PBS sends
SIGTERM both when the time ends and when somebody deletes the job; the script distinguishes them by the time of the
signal.
"""

from __future__ import annotations

import re
from pathlib import Path

from graphdask.cluster import batch, scripts, shell
from graphdask.cluster.batch import UNKNOWN, State
from graphdask.cluster.scripts import Job

NAME = "PBS"
STATES = {"Q": "PENDING", "H": "HELD", "W": "WAITING", "T": "MOVING", "S": "SUSPENDED", "B": "RUNNING", "R": "RUNNING",
          "E": "ENDING", "F": "COMPLETED", "X": "COMPLETED", "C": "COMPLETED", "M": "MOVED"}  # fmt: skip
OVER = ("COMPLETED", "MOVED")
DELETED, OVER_WALLTIME = 271, -29
"""Exit codes: 256 and SIGTERM; PBS's own for a job above its time."""


def script(job: Job) -> str:
    """The text of the job's script, for `qsub`."""
    chunk = f"{job.tasks}:ncpus={job.cores}:mpiprocs=1"
    if job.gpus_per_task:
        chunk += f":ngpus={job.gpus_per_task}"
    options: list[tuple[str, object]] = [
        ("-N", shell.label(["graphdask", *job.command[:2]], 15)),
        ("-l", f"select={chunk}"),
        ("-j", "oe"),
        ("-o", job.folder + "/pbs.log"),
        ("-l", f"walltime={scripts.clock(scripts.seconds_of(job.time))}" if job.time else None),
        ("-q", job.partition),
        ("-A", job.account),
    ]
    header = [shell.directive("#PBS", flag, value) for flag, value in options if value is not None]
    header += [shell.directive("#PBS", line) for line in job.directives]
    # PBS brings a job's output when it has ended; the script writes a log of its own that can be followed.
    header.append(f'exec > {shell.words([job.folder])}/"job-$PBS_JOBID.log" 2>&1')
    return scripts.script(job, header, shell.words(["mpiexec", "-n", str(job.tasks)]))


def need() -> None:
    """Raise MissingDependency where this host submits no jobs."""
    batch.need("qsub", NAME)


def submit(path: Path) -> str:
    """Submit a script, with this environment; its number.

    Raises
    ------
    MissingDependency
        Without `qsub`.
    InputError
        Where PBS refuses it, with its words.
    CommunicationError
        Where its server cannot be reached.
    """
    done = batch.call(["qsub", "-V", str(path)], NAME)
    if done.returncode != 0:
        raise batch.refused("qsub", done)
    return done.stdout.strip()


def look(number: str) -> State:
    """What PBS says of a job, also of one that has ended where it keeps their history."""
    done = batch.call(["qstat", "-x", "-f", number], NAME)
    if done.returncode == 0:
        return read_state(done.stdout)
    if "Unknown Job" in done.stderr or "Job has finished" in done.stderr:
        return UNKNOWN
    raise batch.refused("qstat", done)


def read_state(text: str) -> State:
    """What `qstat -x -f` says.

    >>> read_state("Job Id: 7.host\\n    job_state = F\\n    Exit_status = 271\\n")
    State(name='CANCELLED', over=True, detail='', exit_code=143)
    """
    found = dict(re.findall(r"^\s+(job_state|Exit_status|comment|exec_host) = (.*)$", text, re.MULTILINE))
    name = STATES.get(found.get("job_state", ""), "UNKNOWN")
    if name not in (*OVER, "UNKNOWN"):
        place = f"on {found['exec_host']}" if name == "RUNNING" and "exec_host" in found else found.get("comment", "")
        return State(name, False, place)
    code = int(found["Exit_status"]) if "Exit_status" in found else None
    if code == OVER_WALLTIME:
        return State("TIMEOUT", True)
    if code == DELETED:
        return State("CANCELLED", True, exit_code=143)
    if code is not None and code > 256:
        code = 128 + code - 256
    return State(name, True, exit_code=code)


def cancel(number: str) -> None:
    """End a job; one that has ended already stays as it is."""
    done = batch.call(["qdel", number], NAME)
    if done.returncode != 0 and "has finished" not in done.stderr and "Unknown Job" not in done.stderr:
        raise batch.refused("qdel", done)
