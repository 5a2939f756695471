"""A Dask cluster on this host for the length of a `with`, and the connection to one that runs elsewhere.

A worker is a process with one thread: a run occupies each worker with one long task. On GPUs Dask-CUDA starts one
worker for each device. Nothing is printed; what goes wrong is raised. All of them speak TLS, with a certificate that is
in the memory of this process and of theirs: Dask runs whatever a client sends, and other users of the host can reach
127.0.0.1 too. Workers have no memory limit of Dask's, at which
it would write partitions to disk, pause or kill: graphdask asks how much is free before it takes any.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import multiprocessing
import os
import re
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from graphdask.cluster import tls as certified
from graphdask.cluster.clients import connected
from graphdask.cluster.tuning import CLUSTER
from graphdask.errors import (
    CommunicationError,
    DeadlineExceeded,
    GraphdaskWarning,
    InputError,
    MissingDependency,
    shown,
)
from graphdask.io.opening import small_text

REUSED = {"distributed.scheduler.reuse-broadcast-comm": True}
"""The scheduler keeps its connections to workers: each call begins with a message to every one of them."""
START_SECONDS = 60.0
"""How long a local cluster may take to start."""
CONNECT_SECONDS = 20.0
"""How long a scheduler may take to answer."""
WORKER_SECONDS = 60.0
"""How long to wait for workers of a cluster that runs elsewhere."""

MOST_PER_CORE = 4
"""Workers on this host for each core; more of them only wait for one another."""
MOST_WORKERS = 1 << 20

NO_DASHBOARD = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
"""No dashboard, and its HTTP server on any free port: another cluster may have the usual one."""


def core_count() -> int:
    """Cores that this process may use: its affinity, and the quota of its control group."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return cores if quota == "max" else max(1, min(cores, round(int(quota) / int(period))))
    except (OSError, ValueError):
        return cores


@contextmanager
def local_cluster(
    workers: int | None = None,
    device: str = "auto",
    timeout: float = START_SECONDS,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: bool = True,
    security: Any = None,
    default: bool = False,
) -> Iterator[Any]:
    """Start workers on this host and yield a `distributed.Client` for them.

    Parameters
    ----------
    workers : int, optional
        Default: one for each GPU, or one for each core where the device is a CPU.
    device : {"auto", "cpu", "cuda"}
        `auto`: GPUs where there are any.
    timeout : float
        Seconds within which all workers must be there.
    host, port : str, int
        Where scheduler and workers listen.
    tls : bool
        Encrypt, and let nobody in without the certificate.
    security : distributed.Security, optional
        With `tls`, the certificate; default: one of the cluster's own, which ends with it.
    default : bool
        Whether the client is the process-wide default; otherwise calls take it as `client=`.

    Yields
    ------
    distributed.Client

    Raises
    ------
    InputError
        For more workers than GPUs, or `cuda` where there is none.
    MissingDependency
        For `cuda` without dask-cuda, and for TLS without the package `cryptography`.
    DeadlineExceeded
        Where the workers do not start in time.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers={workers} must be 1 or more")
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise InputError(
            "a worker, which imports the script that starts it, has come to the start of the workers: put it, and what "
            'follows, under `if __name__ == "__main__":`'
        )
    if workers is not None:
        _check_number(workers)
    gpus = _gpus(device)
    number = workers or gpus or core_count()
    if gpus and number > gpus:
        if device == "cuda":
            raise InputError(f"{number} workers were asked for, but there are {gpus} GPUs; a worker needs its own")
        gpus = 0
    import dask.config
    from distributed import Security

    if security is not None and not isinstance(security, Security):
        raise InputError(f"security={shown(security)} is not a distributed.Security")
    if tls and security is None:
        security = certified.security_of_run()
    with _scratch() as scratch, _quiet(), dask.config.set(REUSED | certified.NO_PAGES):
        cluster, address = None, ""
        try:
            with _interrupts_held():
                place = _place(host, port, security if tls else None) | {"local_directory": scratch}
                cluster = _cuda_cluster(number, place) if gpus else _cpu_cluster(number, place)
            address = str(cluster.scheduler_address)
            if tls:
                certified.of_this_process[address] = security
            with closing(connected(cluster, timeout=timeout, set_as_default=default)) as client:
                wait_for_workers(client, number, timeout)
                yield client
        finally:
            certified.of_this_process.pop(address, None)
            if cluster is not None:
                cluster.close()


def _check_number(workers: int) -> None:
    """Raise InputError for more workers than this host could run, before any is started."""
    from graphdask.device.backend import get_backend

    if workers > MOST_WORKERS:
        raise InputError(f"workers={shown(workers)} are too many for any host")
    cores, memory = core_count(), get_backend("cpu").free_memory()
    most = max(MOST_PER_CORE * cores, 8)
    if workers <= most and workers * CLUSTER.worker_bytes <= memory:
        return
    raise InputError(
        f"workers={workers} are too many for this host: each is a process with a thread that computes, so they take "
        f"{workers} cores of {cores}, and about {workers * CLUSTER.worker_bytes / 2**30:,.1f} GiB of memory, of which "
        f"{memory / 2**30:,.1f} GiB are free, before they hold a graph; ask for {cores}, and at most "
        f"{max(1, min(most, memory // CLUSTER.worker_bytes))}"
    )


@contextmanager
def _scratch() -> Iterator[str]:
    """A folder of the workers that only the user may enter.

    Workers import modules from their folder, and Dask's own choice lies in one of a fixed name, which another user may
    have made.
    """
    import dask.config

    place = dask.config.get("temporary-directory", None)
    with tempfile.TemporaryDirectory(prefix="graphdask-", dir=place, ignore_cleanup_errors=True) as folder:
        yield folder


def default_workers(device: str = "auto") -> int:
    """Return the default number of workers of `local_cluster`: one for each GPU, or for each core."""
    return _gpus(device) or core_count()


def _gpus(device: str) -> int:
    """How many GPUs to give workers to; 0 for none."""
    if device not in ("auto", "cpu", "cuda"):
        raise InputError(f"device={device!r} is not one of auto, cpu, cuda")
    if device == "cpu":
        return 0
    from graphdask.device.backend import cuda_device_count

    count = cuda_device_count()
    if device == "cuda":
        if count == 0:
            raise InputError('device "cuda" was asked for, but no GPU is usable here; "graphdask doctor" says why')
        if importlib.util.find_spec("dask_cuda") is None:
            raise MissingDependency(
                'a worker for each GPU needs dask-cuda: pip install "graphdask[cuda13]" (or cuda12)'
            )
    return count if importlib.util.find_spec("dask_cuda") is not None else 0


def _place(host: str, port: int, security: Any) -> dict[str, Any]:
    """Where a cluster listens, and how it speaks."""
    encrypted = {} if security is None else {"security": security}
    return {"host": host, "scheduler_port": port, "protocol": "tls" if encrypted else "tcp", **encrypted}


def _cpu_cluster(number: int, place: dict[str, Any]) -> Any:
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=number,
        processes=True,
        threads_per_worker=1,
        dashboard_address=None,
        memory_limit=0,
        silence_logs=logging.CRITICAL,
        scheduler_kwargs=NO_DASHBOARD,
        env={"CUDA_VISIBLE_DEVICES": ""},
        **place,
    )


def _cuda_cluster(number: int, place: dict[str, Any]) -> Any:
    from dask_cuda import LocalCUDACluster

    return LocalCUDACluster(
        n_workers=number,
        threads_per_worker=1,
        dashboard_address=None,
        memory_limit=0,
        device_memory_limit=0,
        silence_logs=logging.CRITICAL,
        scheduler_kwargs=NO_DASHBOARD,
        **place,
    )


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold back Ctrl-C while workers start: this process takes it afterwards, and they, who inherit the mask, never.

    A terminal sends it to all of them, but only this process is to act on it; workers end when it closes the cluster.
    """
    resource_tracker.ensure_running()  # it would open the mask again when the first worker starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _quiet() -> Iterator[None]:
    """Let the processes of the cluster, and this one, log nothing below a critical error, until they have ended.

    A worker sets up its loggers when it imports distributed, before it is given Dask's configuration: it must find the
    levels in its environment. `silence_logs` alone ends with the worker, and its process can still log a heartbeat.
    """
    import dask.config
    import distributed  # noqa: F401  (sets up its loggers before they are turned down)

    names = (
        *("distributed", "distributed.client", "distributed.gc", "distributed.nanny", "distributed.worker"),
        *("tornado.application", "asyncio", "bokeh"),
    )
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    quiet = dict.fromkeys(names, "critical")
    own = os.environ.get("DASK_LOGGING")  # a nanny puts its workers' environment into this process for good
    environment = dask.config.get("distributed.nanny.pre-spawn-environ", {}) | {"DASK_LOGGING": repr(quiet)}
    with dask.config.set({"logging": quiet, "distributed.nanny.pre-spawn-environ": environment}):
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
            os.environ.pop("DASK_LOGGING", None)
            if own is not None:
                os.environ["DASK_LOGGING"] = own


def wait_for_workers(
    client: Any, number: int, timeout: float, mend: str = "look at the workers' logs, or ask for fewer"
) -> None:
    """Wait until a cluster has so many workers; raise DeadlineExceeded, with what to do, where it does not."""
    try:
        client.wait_for_workers(number, timeout=timeout)
    except TimeoutError:
        found = len(client.nthreads())
        raise DeadlineExceeded(f"{found} of {number} workers were there after {timeout:.0f} s; {mend}") from None


@contextmanager
def connect(
    scheduler: str | None = None,
    scheduler_file: str | os.PathLike[str] | None = None,
    workers: int = 1,
    timeout: float = CONNECT_SECONDS,
    worker_timeout: float = WORKER_SECONDS,
) -> Iterator[Any]:
    """Connect to a scheduler that runs elsewhere and yield the `distributed.Client`.

    Parameters
    ----------
    scheduler : str, optional
        Its address, such as tcp://10.0.0.1:8786.
    scheduler_file : path-like, optional
        The file that `graphdask cluster start` or `dask scheduler --scheduler-file` wrote.
    workers : int
        How many workers to wait for; 0: none.
    timeout, worker_timeout : float
        Seconds for the scheduler to answer, and for the workers to come.

    Raises
    ------
    InputError
        Where the address or the file cannot be used, a certificate is missing or has expired, or encryption is
        required and the address has none.
    CommunicationError
        Where the scheduler does not answer.
    DeadlineExceeded
        Where the workers do not come in time.

    Warns
    -----
    GraphdaskWarning
        Where this process and the cluster have different versions of a package.
    """
    if (scheduler is None) == (scheduler_file is None):
        raise InputError("give the address of a scheduler or its file, one of them")
    address, files = (str(scheduler), None) if scheduler_file is None else _named_in(scheduler_file)
    _check_address(address)
    security = certified.security_of_client(address, files)
    with _quiet():
        started = time.monotonic()
        try:
            with _mismatch_in_a_line(address):
                client = connected(address, timeout=timeout, set_as_default=False, security=security)
        except ImportError as error:
            raise CommunicationError(f"the cluster at {address} runs versions that do not fit: {error}") from error
        except (OSError, TimeoutError, ValueError) as error:
            said = certified.explain(error, address)
            if isinstance(error, ValueError) and not said:
                raise
            mend = said or (
                f"is it running, and can this host reach it?{'' if security else ' One with TLS has a tls:// address.'}"
            )
            raise CommunicationError(
                f"the scheduler at {address} did not answer within {time.monotonic() - started:.0f} s ({error}); {mend}"
            ) from error
        with closing(client):
            if workers:
                wait_for_workers(client, workers, worker_timeout)
            yield client


@contextmanager
def _mismatch_in_a_line(address: str) -> Iterator[None]:
    """Say in one line what Dask says of versions in a table; let other warnings through."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for each in caught:
        if each.category.__name__ == "VersionMismatchWarning":
            packages = [name for name in re.findall(r"^\| (\S+)", str(each.message), re.MULTILINE) if name != "Package"]
            warnings.warn(
                GraphdaskWarning(
                    f"this process and the cluster have different versions of {', '.join(packages)}; "
                    f"graphdask doctor --scheduler {address} shows where"
                ),
                stacklevel=4,
            )
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def _named_in(path: str | os.PathLike[str]) -> tuple[str, dict[str, str] | None]:
    """The address in a scheduler file, and the files of its certificate where it names any."""
    name = os.fspath(path)
    try:
        content = json.loads(small_text(name))
        files = content.get("tls")
        return str(content["address"]), {each: files[each] for each in ("ca_file", "cert", "key")} if files else None
    except FileNotFoundError:
        raise InputError(
            f"{name}: no such scheduler file; start the scheduler with: dask scheduler --scheduler-file {name}, or "
            f"a cluster on this host with: graphdask cluster start --scheduler-file {name}"
        ) from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{name} is not a scheduler file, which is JSON with an address ({error!r:.200})") from None


def _check_address(address: str) -> None:
    """Raise InputError where Dask could not even try to connect."""
    from distributed.comm.addressing import parse_address, parse_host_port
    from distributed.comm.registry import get_backend

    try:
        scheme, place = parse_address(address)
        backend = get_backend(scheme)
        if scheme in ("tcp", "tls", "ucx") and not all(parse_host_port(place)):
            raise ValueError("it wants a host and a port")
    except ValueError as error:
        raise InputError(f"{address!r} is not the address of a scheduler: {error}; tcp://host:8786 is one") from None
    try:
        backend.get_connector()
    except Exception as error:  # an optional protocol whose package is missing, in whatever way it says so
        raise MissingDependency(
            f"Dask cannot connect over {scheme} here ({error}); {scheme} needs its package"
        ) from None
