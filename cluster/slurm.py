"""Slurm: the script of a job, and the calls that submit, query and cancel it.

The scheduler and the command run in the batch step, on the first node; `srun` starts the workers, a task each. Slurm is
asked for its warning, SIGUSR1 to the script ahead of the time limit, at which the command is ended in order.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from graphdask.cluster import batch, scripts, shell
from graphdask.cluster.batch import UNKNOWN, State
from graphdask.cluster.scripts import Job

NAME = "Slurm"
WARNING_SECONDS = 10
"""Ahead of the limit. Slurm looks every half minute, and warns up to a minute earlier."""
LIVE = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "REQUEUED", "REQUEUE_HOLD",
        "REQUEUE_FED", "RESIZING", "SIGNALING", "STAGE_OUT", "RESV_DEL_HOLD", "SPECIAL_EXIT")  # fmt: skip
"""States of a job that goes on, or is to."""
NO_REASON = ("None", "(null)", "")


def script(job: Job) -> str:
    """The text of the job's script, for `sbatch`."""
    log = job.folder.replace("%", "%%")
    options = {
        "job-name": shell.label(["graphdask", *job.command[:2]], 64),
        "ntasks": job.tasks,
        "cpus-per-task": job.cores,
        "gpus-per-task": job.gpus_per_task or None,
        "time": scripts.clock(scripts.seconds_of(job.time)) if job.time else None,
        "partition": job.partition,
        "account": job.account,
        "chdir": job.directory,
        "output": f"{log}/job-%j.log",
        "signal": f"B:USR1@{WARNING_SECONDS}",
    }
    header = [shell.directive("#SBATCH", f"--{name}", value) for name, value in options.items() if value is not None]
    header += [shell.directive("#SBATCH", line) for line in job.directives]
    per_task = [f"--cpus-per-task={job.cores}"]
    if job.gpus_per_task:
        per_task.append(f"--gpus-per-task={job.gpus_per_task}")
    workers = ["srun", f"--ntasks={job.tasks}", *per_task, "--kill-on-bad-exit=0", "--wait=0"]
    return scripts.script(job, header, shell.words([*workers, f"--output={log}/worker-%t.log"]))


def need() -> None:
    """Raise MissingDependency where this host submits no jobs."""
    batch.need("sbatch", NAME)


def submit(path: Path) -> str:
    """Submit a script; its number.

    Raises
    ------
    MissingDependency
        Without `sbatch`.
    InputError
        Where Slurm refuses it, with Slurm's words.
    CommunicationError
        Where slurmctld cannot be reached.
    """
    done = batch.call(["sbatch", "--parsable", str(path)], NAME)
    if done.returncode != 0:
        raise batch.refused("sbatch", done)
    return done.stdout.strip().split(";")[0]  # then comes the name of the cluster, where there are several


def look(number: str) -> State:
    """What Slurm says of a job: slurmctld for some minutes after its end, then the accounts, where they are kept."""
    done = batch.call(["scontrol", "--oneliner", "show", "job", number], NAME)
    if done.returncode == 0 and done.stdout.strip():
        return read_state(done.stdout.splitlines()[-1])
    if "Invalid job id" not in done.stderr:
        raise batch.refused("scontrol", done)
    if shutil.which("sacct") is None:
        return UNKNOWN
    accounts = batch.call(["sacct", "-X", "-n", "-P", "-j", number, "-o", "State,ExitCode"], NAME)
    rows = accounts.stdout.split("\n") if accounts.returncode == 0 else []
    if not rows or "|" not in rows[0]:
        return UNKNOWN
    name, _, code = rows[0].partition("|")
    return read_state(f"JobState={name.split()[0]} ExitCode={code}")


def read_state(line: str) -> State:
    """What a line of `scontrol --oneliner show job` says.

    >>> read_state("JobId=7 JobState=TIMEOUT Reason=TimeLimit Requeue=1 ExitCode=0:15 NodeList=n1")
    State(name='TIMEOUT', over=True, detail='', exit_code=143)
    """
    found = dict(re.findall(r"(?:^|\s)(JobState|Reason|ExitCode|NodeList)=(\S*)", line))
    name = found.get("JobState", "UNKNOWN")
    over = name not in LIVE
    reason, nodes = found.get("Reason", ""), found.get("NodeList", "")
    detail = "" if over else reason if reason not in NO_REASON else f"on {nodes}" if nodes not in NO_REASON else ""
    code, _, number = found.get("ExitCode", "").partition(":")
    exit_code = int(code) or (128 + int(number) if number not in ("", "0") else 0) if over and code else None
    return State(name, over, detail, exit_code)


def cancel(number: str) -> None:
    """End a job; one that has ended already stays as it is."""
    done = batch.call(["scancel", number], NAME)
    if done.returncode != 0 and "Invalid job id" not in done.stderr:
        raise batch.refused("scancel", done)
