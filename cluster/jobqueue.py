"""dask-jobqueue with the workers that graphdask wants: a cluster of Slurm jobs from a notebook, or a job that is one.

`slurm_cluster` submits a job for each worker; `slurm_runner` makes a scheduler, a client and workers of the tasks of a
job that runs already, `srun -n 6 python analysis.py`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from graphdask.cluster import encryption, shell
from graphdask.cluster.clients import connected
from graphdask.cluster.local import wait_for_workers
from graphdask.cluster.scripts import NO_DASHBOARD, clock, need_dask_cuda, seconds_of
from graphdask.errors import InputError, MissingDependency

START_SECONDS = 600.0
"""How long jobs may wait in the queue."""
LEAST_TASKS = 3
"""Scheduler, client, one worker."""


def _jobqueue() -> Any:
    try:
        import dask_jobqueue.slurm
    except ImportError as error:
        raise MissingDependency(f'this needs dask-jobqueue ({error}): pip install "graphdask[slurm]"') from None
    return dask_jobqueue.slurm


@contextmanager
def slurm_cluster(
    workers: int,
    *,
    gpu: bool = False,
    memory: str = "4GB",
    time: str = "30",
    partition: str | None = None,
    account: str | None = None,
    interface: str | None = None,
    directives: Sequence[str] = (),
    tls: bool = True,
    timeout: float = START_SECONDS,
) -> Iterator[Any]:
    """Start workers, a Slurm job each, and yield a `distributed.Client` for them; the scheduler is this process.

    Parameters
    ----------
    workers : int
    gpu : bool
        A GPU and `dask cuda worker` for each.
    memory : str
        What a job asks Slurm for.
    time : str
        Limit of a job, as Slurm writes it.
    partition, account, interface : str, optional
    directives : sequence of str
        More of a job's header, such as --qos=high.
    tls : bool
        Encrypt Dask's messages, with the certificates that Dask's configuration names on every host, or one of the
        user's own in a folder that all hosts see.
    timeout : float
        Seconds within which all workers must be there.

    Raises
    ------
    InputError
        For certificates that cannot be used, and without TLS where Dask's configuration requires encryption.
    MissingDependency
        Without dask-jobqueue or, for GPUs, dask-cuda; where a certificate has to be made, without
        `cryptography`.
    DeadlineExceeded
        Where the workers do not come in time.
    """
    if workers < 1:
        raise InputError(f"workers={workers} must be 1 or more")
    settings: dict[str, Any] = {"cores": 1, "processes": 1, "memory": memory, "walltime": clock(seconds_of(time))}
    settings |= {"python": shell.words([sys.executable], "python")}
    settings |= {"queue": _word("partition", partition), "account": _word("account", account)}
    shell.name("memory", memory)
    if interface is not None:
        shell.network("interface", interface)
    more = [shell.directive("#SBATCH", each).removeprefix("#SBATCH ") for each in directives]
    if gpu:
        need_dask_cuda()
        settings["worker_command"] = "dask cuda worker"
        more.append("--gpus-per-task=1")
    slurm, encrypted = _jobqueue(), encryption.settings(tls)

    import dask.config

    scheduler = {"dashboard": False, "dashboard_address": "127.0.0.1:0", "interface": interface}
    encryption.prepare(tls)
    # `dask cuda worker` does not know that option; what is said last of the memory counts.
    with (
        dask.config.set({"jobqueue.slurm.death-timeout": None if gpu else 120} | encrypted),
        slurm.SLURMCluster(
            **settings, **_encryption(tls), interface=interface,
            job_extra_directives=more, worker_extra_args=["--memory-limit", "0", *NO_DASHBOARD],
            scheduler_options=scheduler,
        ) as cluster,
    ):  # fmt: skip
        cluster.scale(workers)
        with closing(connected(cluster, set_as_default=False)) as client:
            wait_for_workers(client, workers, timeout, "squeue says what the jobs wait for")
            yield client


@contextmanager
def slurm_runner(
    *, gpu: bool = False, interface: str | None = None, tls: bool = True,
    scheduler_file: str = "scheduler-{job_id}.json",
) -> Iterator[Any]:  # fmt: skip
    """In a Slurm job of several tasks: task 0 is the scheduler, 1 goes on with the client, the others are workers.

    Tasks other than 1 do not come back from this call.

    Parameters
    ----------
    gpu : bool
        `dask_cuda.CUDAWorker` on the GPU of each task; `srun --gpus-per-task=1`.
    interface : str, optional
    tls : bool
        Encrypt Dask's messages, with the certificates that Dask's configuration names on every host, or one of the
        user's own in a folder that all hosts see.
    scheduler_file : str
        Where all tasks see it.

    Raises
    ------
    InputError
        Outside a Slurm job, with fewer than 3 tasks, for certificates that cannot be used, and without TLS where Dask's
        configuration requires encryption.
    MissingDependency
        Without dask-jobqueue or, for GPUs, dask-cuda; where a certificate has to be made, without
        `cryptography`.
    """
    slurm = _jobqueue()
    if gpu:
        need_dask_cuda()
    tasks = os.environ.get("SLURM_NTASKS") if "SLURM_PROCID" in os.environ else None
    if tasks is None or int(tasks) < LEAST_TASKS:
        found = "this is none" if tasks is None else f"this has {tasks}"
        raise InputError(f"slurm_runner is for a job of {LEAST_TASKS} tasks or more, and {found}: srun -n 4 python ...")

    import dask.config
    from distributed import rpc
    from distributed.security import Security
    from distributed.utils import json_load_robust

    class Runner(slurm.SLURMRunner):  # type: ignore[name-defined, misc]
        """Its client reads the scheduler's file as soon as that is there, which may be before it is written; and its
        workers do not begin before there is a scheduler, for only then is the certificate there for certain."""

        async def get_scheduler_address(self) -> str:
            return str(json_load_robust(self.scheduler_file, timeout=START_SECONDS)["address"])

        async def before_worker_start(self) -> None:
            await self.get_scheduler_address()

    encrypted = encryption.settings(tls)
    if os.environ["SLURM_PROCID"] == "0":
        encryption.prepare(tls)  # the others look for the certificate once there is a scheduler
    scheduler: dict[str, Any] = {"dashboard": False, "dashboard_address": "127.0.0.1:0", "interface": interface}
    worker: dict[str, Any] = {"nthreads": 1, "memory_limit": 0, "interface": interface}
    worker |= {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    if tls:
        scheduler["protocol"] = "tls://"
    if gpu:
        worker |= {"device_memory_limit": 0}
    with dask.config.set(encrypted):
        runner = Runner(
            scheduler_file=scheduler_file,
            scheduler_options=scheduler,
            worker_class="dask_cuda.CUDAWorker" if gpu else None,
            worker_options=worker,
        )
        if tls:  # by which the runner ends the scheduler
            runner.scheduler_comm = rpc(
                runner.scheduler_address, connection_args=Security().get_connection_args("client")
            )
        with runner, closing(connected(runner, set_as_default=False)) as client:
            wait_for_workers(client, runner.n_workers, START_SECONDS, "see the output of the job's tasks")
            yield client


def _word(option: str, value: str | None) -> str | None:
    """A value of dask-jobqueue's header, which that puts there as it is."""
    return None if value is None else shell.slurm_word(shell.name(option, value))


def _encryption(tls: bool) -> dict[str, Any]:
    """Arguments of dask-jobqueue that encrypt, if any."""
    if not tls:
        return {}
    from graphdask.cluster.tls import security_of_cluster

    security = security_of_cluster()
    for each in security.get_tls_config_for_role("worker").values():
        if isinstance(each, str) and shell.words([each], "the certificate's file") != each:  # it is not quoted there
            raise InputError(f"the certificate's file {each!r} has a character that a shell reads; move it elsewhere")
    return {"protocol": "tls://", "security": security}
