"""`graphdask submit --slurm|--pbs ... COMMAND ...`: a command as a job of a cluster, followed to its result."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import click

from graphdask.commands import stream
from graphdask.commands.options import Numbers
from graphdask.commands.paths import FILE, STREAM, TEXT
from graphdask.errors import InputError, JobFailed, MissingDependency

OURS = ("--workers", "--scheduler", "--scheduler-file")
"""Options of a command that `submit` gives it."""
AGAIN = ("time", "partition", "account", "directives")
"""Options that a job submitted again may have anew."""

OF_SSH = ("workers", "gpus_per_task", "interface", "tls")
OF_MPI = ("gpus_per_task", "interface", "tls")
"""Options of clusters that are not queued for."""


@click.command("submit", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--slurm", "system", flag_value="slurm", help="Submit with sbatch.")
@click.option("--pbs", "system", flag_value="pbs", help="Submit with qsub.")
@click.option("--mpi", "system", flag_value="mpi", help="Be one of the ranks that mpiexec or srun starts: scheduler, "
              "command, workers.")  # fmt: skip
@click.option("--ssh", "hosts", metavar="HOST,...", help="Run here, with workers on these hosts.")
@click.option("--workers", type=click.IntRange(min=1), help="Workers of the job's Dask cluster.  [default: 1]")
@click.option("--gpus-per-task", type=click.IntRange(min=0), help="1: a GPU for each worker. More: so many workers, "
              "with a GPU each, share a task and see each other's GPUs.  [default: 0]")  # fmt: skip
@click.option(
    "--cpus-per-task", type=click.IntRange(min=1), help="Cores of a task.  [default: one for each of its workers]"
)
@click.option("--time", metavar="T", help="Limit: minutes, H:M:S or D-H:M:S; default: the partition's.")
@click.option("--partition", metavar="NAME", help="Or queue; default: the cluster's.")
@click.option("--account", metavar="NAME", help="Whom the job is charged to.")
@click.option("--directive", "directives", multiple=True, metavar="TEXT",
              help="A further option of the batch system, such as --qos=high; may be repeated.")  # fmt: skip
@click.option("--setup", multiple=True, metavar="LINE", help="A shell line before anything else, such as 'module load "
              "cuda'; may be repeated.")  # fmt: skip
@click.option("--interface", metavar="NAME", help="Network of the cluster's messages, such as ib0.")
@click.option("--tls/--no-tls", default=None, help="Encrypt Dask's messages, with the certificates of its "
              "configuration (distributed.comm.tls) or one that is made here.  [default: tls]")  # fmt: skip
@click.option("--image", metavar="FILE", type=TEXT, help="Apptainer image that has graphdask; default: this Python.")
@click.option("--output", "folder", type=FILE, metavar="FOLDER",
              help="For script, logs, result; all hosts see it; default: graphdask-jobs/DATE-TIME.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace a job of that folder that has ended; default: refuse.")
@click.option("--dry-run", is_flag=True, help="Print the script and submit nothing.")
@click.option("--detach", is_flag=True, help="Submit and return; --resume follows the job later.")
@click.option("--resume", type=FILE, metavar="FOLDER",
              help="Follow the job of this folder, or submit it again where it ended without a result.")  # fmt: skip
@click.argument("arguments", metavar="COMMAND ...", nargs=-1, type=click.UNPROCESSED)
def command(
    system: str | None,
    hosts: str | None,
    folder: Path | None,
    overwrite: bool,
    dry_run: bool,
    detach: bool,
    resume: Path | None,
    arguments: tuple[str, ...],
    **options: Any,
) -> None:
    """Run a graphdask command as a job, and show its result.

    graphdask submit --slurm --workers 4 --gpus-per-task 1 --time 30 run bfs graph.parquet

    The job starts a Dask cluster of its own and runs the command on it. Its states and its log come on standard error,
    what the command prints on standard output, and its exit code is this one's; 124: it met its time limit. Ctrl-C
    cancels the job; where this command ends in another way, the job goes on, and --resume FOLDER follows it. A job that
    met its limit is submitted again with --resume FOLDER: a command that skips what it finds finished goes on from
    there, any other begins anew.

    mpiexec -n 6 graphdask submit --mpi run bfs graph.parquet

    graphdask submit --ssh host1,host2 --workers 4 run bfs graph.parquet

    Dask's messages are encrypted, and nobody gets in without the certificate: one that Dask's configuration names, or
    the user's own, which all hosts find in ~/.config/graphdask/tls. Graph data are encrypted where they go by TCP, and
    not where they go over UCX or NCCL; neither is used where Dask's configuration has
    distributed.comm.require-encryption, or graphdask.allow-insecure-ucx: false.

    With --mpi and --ssh nothing is queued. Of the ranks, 0 is the scheduler, 1 runs the command, the others are
    workers; hosts are reached by ssh without a password and have the same Python in the same place.
    """
    from graphdask.cluster import jobs, scripts

    given = {name: value for name, value in options.items() if value not in (None, ())}
    if hosts is not None and system is not None:
        raise InputError(f"--ssh and --{system} are two places for one job; give one of them")
    if overwrite and folder is None:
        raise InputError("--overwrite replaces the job of a folder; give --output as well")
    if resume is not None:
        system = system or hosts
        _only_for_resume(system, folder, dry_run, arguments, given)
        job = jobs.resume(scripts.load(resume), **given)
    elif system == "mpi" or hosts is not None:
        if dry_run or detach or folder is not None:
            raise InputError("--dry-run, --detach and --output are for jobs that are queued, with --slurm or --pbs")
        raise click.exceptions.Exit(_at_once(hosts, arguments, given))
    else:
        if system is None:
            raise InputError("which cluster? --slurm, --pbs, --mpi, --ssh HOSTS, or --resume FOLDER")
        folder = folder or Path("graphdask-jobs", time.strftime("%Y%m%d-%H%M%S"))
        for option, chosen in (("--detach", detach), ("--overwrite", overwrite)):
            if dry_run and chosen:
                raise InputError(f"{option} is of a job that is submitted, and --dry-run submits none; leave one out")
        arguments, given = _sized(arguments, given)
        job = scripts.Job(os.path.abspath(folder), arguments, system, directory=os.getcwd(), **given)
        if dry_run:
            click.echo(jobs.script(job, complete=False), nl=False)
            _warn_of_missing(job)
            return
        job = jobs.submit(job, overwrite=overwrite)
    try:
        _say(f"job {job.number}: its folder is {job.folder}")
        if detach:
            click.echo(job.number)
            return
        result = jobs.follow(job, _say)
    except KeyboardInterrupt:
        jobs.cancel(job)
        raise _interrupted(job.number) from None
    click.echo(result, nl=False)


def _at_once(hosts: str | None, arguments: tuple[str, ...], given: dict[str, Any]) -> int:
    """Run the command on a cluster that is started for it, over SSH or of MPI's ranks; its exit code."""
    from graphdask.cluster.launchers import file_of_ranks, mpi_cluster, ssh_cluster

    way, takes = ("ssh", OF_SSH) if hosts is not None else ("mpi", OF_MPI)
    for name in given:
        if name not in takes:
            raise InputError(f"--{way} has no use for {_option(name)}")
    gpus = given.get("gpus_per_task", 0)
    if gpus > 1:
        raise InputError(f"--{way} gives each worker its GPU: --gpus-per-task 1")
    arguments, sized = _sized(arguments, given)
    if sized["workers"] is None:
        raise InputError("that command runs in one process; call it without submit")
    how = {name: given[name] for name in ("interface", "tls") if name in given}
    if hosts is not None:
        cluster = ssh_cluster(hosts.split(","), _at_least(given, sized, hosts), gpu=bool(gpus), **how)
    else:
        cluster = mpi_cluster(file_of_ranks(), bool(gpus), **how)
    with cluster as client:
        where = ["--scheduler", client.scheduler.address]
        if not any(each.startswith("--workers") for each in arguments):
            where += ["--workers", str(len(client.nthreads()))]
        return _program().main([*arguments, *where], prog_name="graphdask", standalone_mode=False) or 0


def _at_least(given: dict[str, Any], sized: dict[str, Any], hosts: str) -> int:
    """Workers over SSH: as many as were asked for, or one on each host."""
    return int(given.get("workers") or max(sized["workers"], hosts.count(",") + 1))


def _option(name: str) -> str:
    return "--" + ("directive" if name == "directives" else name.replace("_", "-"))


def _warn_of_missing(job: Any) -> None:
    """Say what the job that was only written would lack."""
    from graphdask.commands.speaking import say

    try:
        job.need()
    except MissingDependency as error:
        say("warning", f"the job could not run with this Python: {error}")


def _say(line: str) -> None:
    click.echo(line, err=True)


def _interrupted(number: str | None) -> JobFailed:
    error = JobFailed(f"interrupted; job {number} is cancelled")
    error.exit_code = 130
    return error


def _only_for_resume(
    system: str | None, folder: Path | None, dry_run: bool, arguments: tuple[str, ...], given: dict[str, Any]
) -> None:
    """Refuse what a job that exists has already."""
    more = {name: value for name, value in given.items() if name not in AGAIN}
    if system or folder or dry_run or arguments or more:
        names = ", ".join(map(_option, AGAIN))
        raise InputError(f"--resume takes the job as it was submitted, and only {names} and --detach besides")


def _sized(arguments: tuple[str, ...], given: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The command and the options of its job: without workers for a command that runs in one process.

    The command's own arguments are read as the command line does, so that a mistake shows before a job is submitted. A
    command that takes several numbers of workers, as `scale run` does, says itself how many there are to be at most.
    """
    if not arguments:
        raise InputError("which command? submit ... run bfs graph.txt, for one")
    if arguments[0] == "submit":
        raise InputError("a job that submits jobs is none of submit's")
    chosen = _parsed(_program(), arguments)
    types = {parameter.name: parameter.type for parameter in chosen.command.params}
    for parameter in chosen.command.params:
        if chosen.params.get(parameter.name or "") == STREAM:
            named = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.make_metavar(chosen)
            raise InputError(f"{named} -: a job has no standard input or output; name a file that the job's host sees")
    several = isinstance(types.get("workers"), Numbers)
    for each in arguments:
        if each.split("=")[0] in OURS[several:]:
            raise InputError(f"{each}: the job has a cluster of its own; give submit --workers before the command")
    alone = "scheduler_file" not in types or str(chosen.params.get("path", "")).endswith(stream.ENDING)
    gpus = given.get("gpus_per_task", 0)
    if alone:
        if "workers" in given or gpus:
            raise InputError(f"{chosen.command_path} runs in one process here; leave --workers and --gpus-per-task out")
        for name in ("interface", "tls"):
            if name in given:
                raise InputError(
                    f"--{name} is of the messages of a cluster, and {chosen.command_path} runs in one process here; "
                    "leave it out"
                )
        return arguments, {**given, "workers": None}
    if chosen.params.get("device") == "cuda" and not gpus:
        raise InputError("--device cuda needs workers with GPUs; give submit --gpus-per-task 1")
    least = max(1, gpus)
    if several:
        least = max(chosen.params["workers"])
        if given.get("workers", least) < least:
            raise InputError(f"the command is to run on {least} workers; give submit --workers {least}, or none")
        if not any(each.startswith(OURS[0]) for each in arguments):
            arguments = (*arguments, OURS[0], ",".join(map(str, chosen.params["workers"])))
    return arguments, {**given, "workers": given.get("workers", least)}


def _program() -> click.Group:
    """The group of all commands, by which this one was called."""
    above = click.get_current_context().parent
    assert above is not None
    assert isinstance(above.command, click.Group)
    return above.command


def _parsed(group: click.Group, arguments: tuple[str, ...]) -> click.Context:
    """The context of the command that the arguments call, with its options read."""
    rest = list(arguments)
    context = click.Context(group, info_name="graphdask")
    while isinstance(context.command, click.Group):
        name, found, rest = context.command.resolve_command(context, rest)
        assert found is not None
        if isinstance(found, click.Group):
            if not rest:
                raise InputError(f"which of them? {context.command_path} {name} --help")
            context = click.Context(found, info_name=name, parent=context)
        else:
            context = found.make_context(name, rest, parent=context)
    return context
