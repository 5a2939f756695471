"""A batch job as plain data, and the script that runs it: a scheduler, workers, one graphdask command.

The script is the same for every batch system, except for its header and for the command that starts a process on each
task. The scheduler and the command run beside the script, on the first host of the job. The other hosts read the
address of the scheduler from the scheduler file in the job's folder, which all hosts have to see. The environment of
whoever submits the job reaches all of them. Workers are set up as those of `graphdask.cluster.local`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from graphdask.cluster import encryption, shell
from graphdask.errors import InputError, MissingDependency, OutputExists, WriteError
from graphdask.io.opening import small_text

DESCRIPTION = "job.json"
"""The job and its number, in its folder."""
SCRIPT = "job.sh"
RESULT = "result.txt"
"""What the command wrote on standard output."""
EXIT_CODE = "exit-code"
"""Written last, by the script."""
OUT_OF_TIME = "out-of-time"
"""Exists once the script was notified that its time ends."""

TIMED_OUT = 124
"""Exit code of a job that met its time limit, as that of `timeout`."""
SCHEDULER_SECONDS = 120
"""How long the scheduler of a job may take to start."""
MINUTES = re.compile(r"(?:(?P<days>[0-9]{1,5})-)?(?P<numbers>[0-9]{1,8}(?::[0-9]{1,8}){0,2})")
NO_DASHBOARD = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
"""The HTTP servers, which Dask starts all the same, are for this host alone; a worker's would be for every network."""
CONNECT = "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"
LISTS, NUMBERS = ("command", "directives", "setup"), ("workers", "gpus_per_task", "cpus_per_task")
"""Fields of a job that are not texts."""
REUSE = "DASK_DISTRIBUTED__SCHEDULER__REUSE_BROADCAST_COMM"
"""As `graphdask.cluster.local.REUSED` says."""


@dataclass(frozen=True)
class Job:
    """What to run, on what."""

    folder: str
    """Absolute; of the script, the logs and the result. Every host of the job sees it."""
    command: tuple[str, ...]
    """Arguments of graphdask."""
    system: str = "slurm"
    """`slurm` or `pbs`."""
    workers: int | None = 1
    """Of the Dask cluster that the command runs on; None: the command needs no cluster."""
    gpus_per_task: int = 0
    """Workers, each with its GPU, that one task starts; 0: workers without GPUs, one a task."""
    cpus_per_task: int | None = None
    """Default: one for each of its workers."""
    time: str | None = None
    """Limit, as Slurm writes it; None: that of the partition."""
    partition: str | None = None
    """Or queue."""
    account: str | None = None
    directives: tuple[str, ...] = ()
    """More of the header's, such as --qos=high."""
    setup: tuple[str, ...] = ()
    """Shell lines before anything else, such as module load cuda."""
    interface: str | None = None
    """Network that scheduler and workers listen on."""
    tls: bool = True
    """Encrypt Dask's messages (`graphdask.cluster.encryption`)."""
    image: str | None = None
    """Apptainer image whose Python is used."""
    python: str = sys.executable
    directory: str = "."
    """Where the command runs: relative names are looked up there."""
    number: str | None = None
    """What the batch system calls the job, once it is submitted."""

    @property
    def tasks(self) -> int:
        """How many tasks the batch system starts."""
        return 1 if self.workers is None else self.workers // max(1, self.gpus_per_task)

    @property
    def cores(self) -> int:
        """Cores of a task."""
        return max(1, self.gpus_per_task) if self.cpus_per_task is None else self.cpus_per_task

    def path(self, name: str) -> Path:
        """A file of the job's folder."""
        return Path(self.folder, name)

    @property
    def log(self) -> Path:
        """What script and command write on standard error."""
        return self.path(f"job-{self.number}.log")

    def checked(self) -> Job:
        """Return self, or raise what is wrong with it.

        Raises
        ------
        InputError
            For numbers that do not fit each other, and a time that cannot be read.
        """
        if self.workers is not None and self.workers < 1:
            raise InputError(f"workers={self.workers} must be 1 or more")
        if self.gpus_per_task < 0 or self.cores < 1:
            raise InputError(f"{self.gpus_per_task} GPUs and {self.cores} cores a task: not less than 0 and 1, please")
        if self.workers is not None and self.gpus_per_task and self.workers % self.gpus_per_task:
            raise InputError(
                f"{self.workers} workers with a GPU each cannot be divided into tasks of {self.gpus_per_task} GPUs"
            )
        if self.time is not None:
            seconds_of(self.time)
        self._check_texts()
        if self.image is not None and "://" not in self.image and not Path(self.directory, self.image).exists():
            raise InputError(f"image {self.image}: no such file; apptainer build makes one, of cluster/graphdask.def")
        return self

    def need(self) -> None:
        """Raise MissingDependency for workers on GPUs without dask-cuda, where the job is to use this Python."""
        if self.gpus_per_task and self.image is None and self.python == sys.executable:
            need_dask_cuda()

    def _check_texts(self) -> None:
        """Raise InputError for a text that is not one line, or that its place in the script cannot hold."""
        shell.path("--output", self.folder)
        shell.path("the working folder", self.directory)
        shell.path("python", self.python)
        for option, value in (("--partition", self.partition), ("--account", self.account)):
            if value is not None:
                shell.name(option, value)
        if self.interface is not None:
            shell.network("--interface", self.interface)
        for option, lines in (("--directive", self.directives), ("--setup", self.setup)):
            for each in lines:
                shell.line(option, each)
        shell.words(self.command)
        if self.number is not None:
            shell.job_number(self.number)
        if self.image is not None:
            shell.name("--image", self.image, shell.LONGEST_PATH)
            for option, folder in zip(("--output", "XDG_CONFIG_HOME"), _seen_in_the_image(self), strict=False):
                if any(mark in folder for mark in ',:"'):
                    raise InputError(f"{option} {folder!r} has a comma, colon or quote, which apptainer --bind divides")
        if self.system == "slurm" and "\\" in self.folder:
            raise InputError(f"--output {self.folder!r} has a backslash, at which Slurm names no logs by their job")
        if self.system == "pbs" and ":" in self.folder:
            raise InputError(f"--output {self.folder!r} has a colon, before which PBS reads the name of a host")

    def save(self) -> None:
        """Write the description into the folder, whole or not at all."""
        text = json.dumps(asdict(self), indent=1)
        part = self.path(DESCRIPTION + ".part")
        try:
            part.write_text(text + "\n")
            part.replace(self.path(DESCRIPTION))
        except OSError as error:
            part.unlink(missing_ok=True)
            raise WriteError(error.errno, f"the job cannot be kept: {error.strerror}", self.folder) from None


def load(folder: str | os.PathLike[str]) -> Job:
    """The job of a folder.

    Raises
    ------
    InputError
        Where there is none.
    """
    path = Path(folder, DESCRIPTION)
    try:
        found = json.loads(small_text(path))
        values = {field.name: found[field.name] for field in fields(Job)}
    except FileNotFoundError:
        raise InputError(f"{folder} is not the folder of a job: there is no {DESCRIPTION} in it") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{path} does not describe a job ({error!r:.200})") from None
    for name, value in values.items():
        if not _has_type(name, value):
            raise InputError(f"{path} does not describe a job ({name} is {value!r})")
    for name in LISTS:
        values[name] = tuple(values[name])
    job = replace(Job(**values), folder=os.path.abspath(folder))  # the folder may have been moved
    if job.number is not None:
        shell.job_number(job.number)
    return job


def _has_type(name: str, value: object) -> bool:
    """Whether a value of a description is of its field's type."""
    if name in LISTS:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if name in NUMBERS:
        return (value is None and name != "gpus_per_task") or (isinstance(value, int) and not isinstance(value, bool))
    if name == "tls":
        return isinstance(value, bool)
    return isinstance(value, str) or (value is None and name not in ("folder", "system", "python", "directory"))


def need_dask_cuda() -> None:
    """Raise MissingDependency where dask-cuda is not installed."""
    import importlib.util

    if importlib.util.find_spec("dask_cuda") is None:
        raise MissingDependency('a worker for each GPU needs dask-cuda: pip install "graphdask[cuda13]" (or cuda12)')


def seconds_of(time: str) -> int:
    """Seconds of a time limit as Slurm writes it: minutes, M:S, H:M:S, D-H, D-H:M or D-H:M:S.

    >>> seconds_of("90"), seconds_of("1:30"), seconds_of("1:00:00"), seconds_of("1-2")
    (5400, 90, 3600, 93600)
    """
    found = MINUTES.fullmatch(time)
    if found is None:
        raise InputError(f"time {time!r} is not minutes, M:S, H:M:S, D-H, D-H:M or D-H:M:S")
    numbers = [int(each) for each in found["numbers"].split(":")]
    if found["days"] is not None:
        hours, minutes, seconds = (*numbers, 0, 0)[:3]
        total = int(found["days"]) * 86400 + hours * 3600 + minutes * 60 + seconds
    elif len(numbers) == 1:
        total = numbers[0] * 60
    else:
        hours, minutes, seconds = (0, *numbers)[-3:]
        total = hours * 3600 + minutes * 60 + seconds
    if total == 0:
        raise InputError(f"time {time!r} is no time at all")
    return total


def clock(seconds: int) -> str:
    """A time limit as every batch system reads it: `26:00:00`."""
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def network(interface: str | None, tls: bool) -> list[str]:
    """Where scheduler and workers listen, and how."""
    return [
        *(["--interface", shell.network("--interface", interface)] if interface else []),
        *(["--protocol", "tls"] if tls else []),
    ]


def scheduler_arguments(interface: str | None = None, tls: bool = False) -> list[str]:
    """Arguments of Python for a scheduler on any free port, without a dashboard."""
    arguments = ["-m", "dask", "scheduler", "--port", "0", *NO_DASHBOARD]
    return arguments + network(interface, tls)


def worker_arguments(gpu: bool, interface: str | None = None, tls: bool = False, number: int = 1) -> list[str]:
    """Arguments of Python for workers with one thread each and no memory limit of Dask's.

    There are `number` of them, or one for each GPU that is visible. A nanny starts a worker again that dies.
    """
    arguments = ["-m", "dask", *(["cuda"] if gpu else []), "worker", "--nthreads", "1", "--memory-limit", "0"]
    if gpu:
        arguments += ["--device-memory-limit", "0"]
    else:
        arguments += ["--nworkers", str(number), "--death-timeout", str(SCHEDULER_SECONDS)]
    return [*arguments, *NO_DASHBOARD, *network(interface, tls)]


def script(job: Job, header: list[str], start_workers: str) -> str:
    """The text of a job's script.

    Parameters
    ----------
    job : Job
    header : list of str
        Lines for the batch system.
    start_workers : str
        Shell words that start the command after them in every task.
    """
    python = shell.words(_python(job), "--image" if job.image else "python")
    needed = "graphdask, dask_cuda, cupy" if job.gpus_per_task else "graphdask"
    lines = [
        "#!/bin/bash",
        *header,
        "# Written by graphdask submit. Its --resume FOLDER follows this job, or submits it again.",
        f"folder={shell.words([job.folder], '--output')}",
        f"limit={seconds_of(job.time) if job.time else 0}",
        FUNCTIONS,
        f'rm -f "$folder"/{{scheduler.json,{EXIT_CODE},{OUT_OF_TIME}}} "$folder"/worker*.log',
        f"cd -- {shell.words([job.directory], 'the working folder')} || end 1",
        "trap out_of_time USR1",
        "trap told_to_end TERM",
        f"export {CONNECT}=${{{CONNECT}:-60s}} {REUSE}=${{{REUSE}:-true}} GRAPHDASK_STEPS=lines",
        *_encryption(job),
        *(shell.line("--setup", each) for each in job.setup),
        f"if ! {python} -c 'import {needed}'; then",
        f'  say {shell.words([job.image or job.python])} "on $(hostname) cannot import {needed}"; end 1',
        "fi",
        *(_cluster(job, python, start_workers) if job.workers is not None else []),
        f'{python} -m graphdask.cli {shell.words(arguments(job))} > "$folder/{RESULT}" & command=$!',
        *([WATCH] if job.workers is not None else []),
        FINISH,
    ]
    return "\n".join(lines) + "\n"


def _python(job: Job) -> list[str]:
    if job.image is None:
        return [job.python, "-P"]
    return [
        "apptainer",
        "exec",
        *(["--nv"] if job.gpus_per_task else []),
        *(word for folder in _seen_in_the_image(job) for word in ("--bind", folder)),
        job.image,
        "python",
        "-P",
    ]


def _seen_in_the_image(job: Job) -> list[str]:
    own = encryption.own_folder() if job.tls and job.workers is not None else None
    return [job.folder] if own is None else [job.folder, str(own)]


def _encryption(job: Job) -> list[str]:
    """Lines that set for all processes of the job how they encrypt."""
    if job.workers is None:
        return []
    found = encryption.variables(encryption.settings(job.tls))
    return [shell.export(name, value) for name, value in found.items()]


def arguments(job: Job) -> list[str]:
    """The arguments of graphdask in the job."""
    if job.workers is None:
        return list(job.command)
    number = [] if any(each.startswith("--workers") for each in job.command) else ["--workers", str(job.workers)]
    return [*job.command, "--scheduler-file", str(job.path("scheduler.json")), *number]


def _cluster(job: Job, python: str, start_workers: str) -> list[str]:
    file = '--scheduler-file "$folder/scheduler.json"'
    scheduler = shell.words(scheduler_arguments(job.interface, job.tls))
    worker = shell.words(worker_arguments(bool(job.gpus_per_task), job.interface, job.tls))
    hidden = "" if job.gpus_per_task else "env CUDA_VISIBLE_DEVICES= "
    return [
        f'{python} {scheduler} {file} > "$folder/scheduler.log" 2>&1 & scheduler=$!',
        f"for try in {{1..{SCHEDULER_SECONDS * 5}}}; do",
        '  [ -s "$folder/scheduler.json" ] && break',
        '  kill -0 "$scheduler" 2>/dev/null || break',
        "  sleep 0.2 & wait $!",
        "done",
        'if [ ! -s "$folder/scheduler.json" ]; then',
        '  say "the scheduler did not start; the end of $folder/scheduler.log:"',
        '  tail -n 5 "$folder/scheduler.log" >&2; end 1',
        "fi",
        f'{hidden}{start_workers} {python} {worker} {file} > "$folder/workers.log" 2>&1 & workers=$!',
    ]


FUNCTIONS = f"""\
scheduler= workers= command=
say() {{ echo "error: $*" >&2; }}
out_of_time() {{
  touch "$folder/{OUT_OF_TIME}"
  [ -z "$command" ] && end {TIMED_OUT}
  kill -TERM "$command" 2>/dev/null
}}
told_to_end() {{
  # What is told so as its time ends, and what is told so because somebody cancels it, differ in when.
  if [ "$limit" -gt 0 ] && [ $((SECONDS + 60)) -ge "$limit" ]; then out_of_time; else end 143; fi
}}
running() {{
  for each in $command $scheduler $workers; do kill -0 "$each" 2>/dev/null && return 0; done
  return 1
}}
end() {{
  code=$1
  trap '' TERM USR1
  if [ -e "$folder/{OUT_OF_TIME}" ]; then code={TIMED_OUT}; fi
  for each in $command $scheduler; do kill -TERM "$each" 2>/dev/null; done
  for try in {{1..50}}; do running || break; sleep 0.2; done  # workers end when their scheduler does
  kill -TERM $workers 2>/dev/null
  for try in {{1..50}}; do running || break; sleep 0.2; done
  kill -KILL $command $scheduler $workers 2>/dev/null
  echo "$code" > "$folder/{EXIT_CODE}.part" && mv "$folder/{EXIT_CODE}.part" "$folder/{EXIT_CODE}"
  exit "$code"
}}"""
"""Shell functions of the script. An interrupted `wait` returns, so that traps are heeded at once."""

WATCH = f"""\
while kill -0 "$command" 2>/dev/null && kill -0 "$workers" 2>/dev/null; do sleep 0.2 & wait $!; done
if kill -0 "$command" 2>/dev/null && [ ! -e "$folder/{OUT_OF_TIME}" ]; then
  say "the workers have ended; the last lines of their logs in $folder:"
  tail -q -n 3 "$folder"/worker*.log >&2
  end 1
fi"""
"""While the command runs, so do the workers."""

FINISH = '''\
while :; do  # a signal to this script ends its wait
  wait "$command"; code=$?
  kill -0 "$command" 2>/dev/null || break
done
end "$code"'''


def write(job: Job, text: str, overwrite: bool = False) -> Path:
    """Make the folder, and write the script and the description into it.

    Raises
    ------
    OutputExists
        Where the folder has a job already, without `overwrite=True`, or holds anything else.
    InputError
        Where it cannot be made or written.
    WriteError
        Where it is full.
    """
    import errno

    folder = Path(job.folder)
    if (folder / DESCRIPTION).exists():
        if load(folder).number is not None and not overwrite:
            raise OutputExists(
                f"{folder} has a job already; --resume {folder} follows it or submits it again, pass overwrite=True to "
                f"replace it, or name another folder",
                folder,
            )
    elif folder.is_dir() and any(folder.iterdir()):
        raise OutputExists(f"{folder} is there and holds no job; name another folder, or an empty one", folder)
    path = folder / SCRIPT
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in (RESULT, EXIT_CODE, OUT_OF_TIME):  # of the job that is submitted again
            (folder / left).unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise WriteError(error.errno, f"the job cannot be written: {error.strerror}", str(folder)) from None
        raise InputError(f"the job's folder {folder} cannot be written: {error.strerror}; name another") from None
    job.save()
    return path
