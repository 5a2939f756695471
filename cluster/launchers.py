"""Clusters without a batch system of their own: the ranks of `mpiexec` or `srun`, and hosts that SSH reaches.

Of the ranks, 0 becomes the scheduler, 1 the client, the others workers; each learns its number from the environment, so
that no MPI library is needed. Over SSH every process ends when its connection does, also where this process is killed.
Dask's messages are encrypted (`graphdask.cluster.encryption`); ranks find the certificate in the user's folder, hosts
get it over SSH.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from graphdask.cluster import encryption, shell
from graphdask.cluster.scripts import scheduler_arguments, worker_arguments
from graphdask.errors import CommunicationError, DeadlineExceeded, InputError, MissingDependency

START_SECONDS = 120.0
"""How long a scheduler, and then the workers, may take to start."""
END_SECONDS = 30.0
"""How long processes over SSH may take to end before their connections are cut."""
VARIABLES = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
)
"""Rank, number of ranks, rank on its host: Open MPI, MVAPICH2, MPICH and Intel MPI, srun."""
LEAST_RANKS = 3
QUIET = "DASK_LOGGING__DISTRIBUTED"
SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20")
REMOTE = (
    'eval "$(dd bs=1 count={length} 2> /dev/null)"; '
    "exec 3<&0; {command} < /dev/null 3<&- & p=$!; (cat <&3; kill $p) > /dev/null 2>&1 & wait $p"
)
"""What the other host's shell does: take so many bytes of commands, then the command, until it ends or the connection
does. Certificates come with the bytes, and go on in the environment: nobody else can read either."""


@dataclass(frozen=True)
class Rank:
    """Which of the processes of `mpiexec` or `srun` this is."""

    number: int
    size: int
    local: int
    """Number among the ranks of its host."""


def rank_here(environment: Mapping[str, str] = os.environ) -> Rank:
    """Read this process's rank from its environment.

    Raises
    ------
    InputError
        Where nothing says it, or there are fewer than three ranks.

    Examples
    --------
    >>> rank_here({"PMI_RANK": "2", "PMI_SIZE": "4"})
    Rank(number=2, size=4, local=2)
    """
    for rank, size, local in VARIABLES:
        if rank in environment and size in environment:
            found = Rank(int(environment[rank]), int(environment[size]), int(environment.get(local, environment[rank])))
            if found.size < LEAST_RANKS:
                raise InputError(
                    f"{found.size} ranks are too few: a scheduler, a client and workers, {LEAST_RANKS} or more"
                )
            return found
    names = ", ".join(names[0] for names in VARIABLES)
    raise InputError(f"this process is no rank of mpiexec or srun, which would set one of {names}: mpiexec -n 4 ...")


@contextmanager
def mpi_cluster(
    scheduler_file: str | os.PathLike[str], gpu: bool = False, interface: str | None = None, tls: bool = True
) -> Iterator[Any]:
    """In every rank: rank 1 goes on with the `distributed.Client`, when it is done all end.

    The other ranks do not come back from this call: they become the scheduler and the workers.

    Parameters
    ----------
    scheduler_file : path-like
        Where all ranks see it; rank 0 writes it, and it is gone at the end.
    gpu : bool
        Each worker takes the GPU of its number on its host.
    interface : str, optional
        Network to listen on.
    tls : bool
        Encrypt Dask's messages, with the certificates that Dask's configuration names on every host, or one of the
        user's own in a folder that all hosts see.

    Raises
    ------
    InputError
        In a process that is no rank, with fewer than three, for certificates that cannot be used, and without TLS where
        Dask's configuration requires encryption.
    MissingDependency
        Where a certificate has to be made, and the package `cryptography` is not there.
    DeadlineExceeded
        Where scheduler or workers do not come in time.
    """
    import dask.config

    from graphdask.cluster.local import connect

    rank = rank_here()
    settings = encryption.settings(tls)
    everywhere = dict(os.environ) | encryption.variables(settings)
    begun = time.time()
    if rank.number == 0:
        Path(scheduler_file).unlink(missing_ok=True)
        encryption.prepare(tls)  # the others look for the certificate once there is a scheduler
        _become([*scheduler_arguments(interface, tls), "--scheduler-file", os.fspath(scheduler_file)], everywhere)
    address = _written_address(Path(scheduler_file), begun)
    if rank.number > 1:
        environment = everywhere | {"CUDA_VISIBLE_DEVICES": _device(rank) if gpu else ""}
        _become([*worker_arguments(gpu, interface, tls), address], environment)
    with dask.config.set(settings), connect(address, workers=0) as client, _ended_with(client):
        _wait_for_workers(client, rank.size - 2)
        yield client


def file_of_ranks(environment: Mapping[str, str] = os.environ) -> Path:
    """A scheduler file in the working folder, with the number of the job in its name where there is one."""
    numbers = (environment[name] for name in ("SLURM_JOB_ID", "PBS_JOBID", "PMIX_NAMESPACE") if name in environment)
    return Path(f"graphdask-scheduler-{re.sub(r'[^0-9A-Za-z]+', '-', next(numbers, 'mpi'))}.json")


def _become(arguments: list[str], environment: Mapping[str, str]) -> NoReturn:
    """Be that Python from now on; it says what went wrong, and no more, into the output of all ranks."""
    environment = {QUIET: "error"} | dict(environment)
    os.execve(sys.executable, [sys.executable, "-P", *arguments], environment)


def _device(rank: Rank) -> str:
    """The GPU of a worker: those of a host have ranks one after another, so that none is taken twice."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible:
        devices = visible.split(",")
    else:
        from graphdask.device.backend import cuda_device_count

        devices = [str(number) for number in range(cuda_device_count())]
    if not devices:
        raise InputError("this rank's host has no usable GPU; graphdask doctor says why")
    return devices[rank.local % len(devices)]


def _written_address(path: Path, begun: float) -> str:
    """The address in the scheduler's file, once it is there; one that was left by others is older than the ranks."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            if path.stat().st_mtime > begun - 60:
                return str(json.loads(path.read_text())["address"])
        except (OSError, ValueError):
            pass
        time.sleep(0.1)
    raise DeadlineExceeded(f"rank 0 wrote no {path} within {START_SECONDS:.0f} s; do all ranks see that folder?")


def _wait_for_workers(client: Any, number: int) -> None:
    try:
        client.wait_for_workers(number, timeout=START_SECONDS)
    except TimeoutError:
        raise _too_few(len(client.nthreads()), number) from None


def _too_few(found: int, number: int) -> DeadlineExceeded:
    return DeadlineExceeded(f"{found} of {number} workers were there after {START_SECONDS:.0f} s")


@contextmanager
def _ended_with(client: Any) -> Iterator[None]:
    """End scheduler and workers with the block."""
    try:
        yield
    finally:
        client.shutdown()


@contextmanager
def ssh_cluster(
    hosts: Sequence[str],
    workers: int | None = None,
    *,
    gpu: bool = False,
    interface: str | None = None,
    tls: bool = True,
    python: str = sys.executable,
    ssh: Sequence[str] = SSH,
) -> Iterator[Any]:
    """Start a scheduler on the first host and workers on all, over SSH, and yield the `distributed.Client`.

    Parameters
    ----------
    hosts : sequence of str
        As `ssh` takes them, to be reached without a password.
    workers : int, optional
        In all, divided among the hosts; default: one on each.
    gpu : bool
        The workers of a host take its GPUs from the first on.
    interface : str, optional
        Network to listen on.
    tls : bool
        Encrypt Dask's messages, with the certificates that Dask's configuration names on every host, or with the
        user's own of this host, which are sent to the other hosts.
    python : str
        The Python that has graphdask, on every host.
    ssh : sequence of str
        The program, with its options.

    Raises
    ------
    InputError
        For hosts that cannot be, certificates that cannot be used, and without TLS where Dask's configuration requires
        encryption.
    MissingDependency
        Without an SSH client; where a certificate has to be made, without the package `cryptography`.
    CommunicationError
        Where a host cannot be reached, or its process ends at once; with its words.
    DeadlineExceeded
        Where scheduler or workers do not come in time.
    """
    import dask.config

    from graphdask.cluster.local import connect

    if not hosts or not all(hosts):
        raise InputError("no host is named; host1,host2 for one")
    for name in hosts:
        shell.host("--ssh", name)
    shell.path("python", python)
    settings = encryption.settings(tls)
    number = len(hosts) if workers is None else workers
    if number < len(hosts):
        raise InputError(f"{number} workers are fewer than the {len(hosts)} hosts; name fewer hosts")
    if shutil.which(ssh[0]) is None:
        raise MissingDependency(f"there is no {ssh[0]} on PATH; install an SSH client")
    encryption.prepare(tls)
    environment = encryption.variables(encryption.with_texts(settings))
    with tempfile.TemporaryDirectory(prefix="graphdask-ssh-") as folder, dask.config.set(settings):
        remote: list[Remote] = []
        try:
            command = [python, "-P", *scheduler_arguments(interface, tls)]
            scheduler = Remote(hosts[0], command, environment, ssh, Path(folder, "scheduler"))
            remote.append(scheduler)
            address = _logged_address(scheduler)
            for index, host in enumerate(hosts):
                share = (number - index - 1) // len(hosts) + 1
                devices = ",".join(str(device) for device in range(share)) if gpu else ""
                command = ["env", f"CUDA_VISIBLE_DEVICES={devices}", python, "-P"]
                command += [*worker_arguments(gpu, interface, tls, share), address]
                remote.append(Remote(host, command, environment, ssh, Path(folder, f"worker-{index}")))
            with connect(address, workers=0) as client, _ended_with(client):
                _wait_while_all_run(client, number, remote)
                yield client
        finally:
            for each in remote:
                each.end()
            deadline = time.monotonic() + END_SECONDS
            for each in remote:
                each.ended(deadline)


class Remote:
    """A process on another host: it ends when this one closes its standard input, or dies."""

    def __init__(self, host: str, command: list[str], environment: Mapping[str, str], ssh: Sequence[str], log: Path):
        self.host, self.log = host, log
        first = "".join(shell.export(name, value, lines=True) + "\n" for name, value in environment.items()).encode()
        script = shell.words(["sh", "-c", REMOTE.format(length=len(first), command=shell.words(command))])
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [*ssh, host, script], stdin=subprocess.PIPE, stdout=out, stderr=out, start_new_session=True, bufsize=0
            )
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended, and `check` says how
            self.process.stdin.write(first)

    def check(self) -> None:
        """Raise where it has ended."""
        code = self.process.poll()
        if code is not None:
            lines = [line.strip() for line in self.text().splitlines() if line.strip()][-3:]
            raise CommunicationError(f"{self.host}: ssh ended with exit code {code}: {' | '.join(lines) or 'no word'}")

    def text(self) -> str:
        """What it has written."""
        return self.log.read_text(errors="replace")

    def end(self) -> None:
        """Have it end."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def ended(self, deadline: float) -> None:
        """Wait for its end; cut the connection after the deadline."""
        try:
            self.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _logged_address(scheduler: Remote) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        found = re.search(r"Scheduler at: *(\S+)\s", scheduler.text())
        if found:
            return found[1]
        scheduler.check()
        time.sleep(0.1)
    raise DeadlineExceeded(f"the scheduler on {scheduler.host} did not start within {START_SECONDS:.0f} s")


def _wait_while_all_run(client: Any, number: int, remote: list[Remote]) -> None:
    """Wait for the workers, and look whether their processes are still there."""
    deadline = time.monotonic() + START_SECONDS
    while (found := len(client.nthreads())) < number:
        for each in remote:
            each.check()
        if time.monotonic() > deadline:
            raise _too_few(found, number)
        time.sleep(0.1)
