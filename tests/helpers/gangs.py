"""Small Dask clusters, graphs and answers for the tests of the gang, and what kills or stops their workers."""

from __future__ import annotations

import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import dask
import numpy as np
from distributed import Client, Event, LocalCluster
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

import graphdask as gd
from graphdask.algorithms.pagerank import PageRank
from graphdask.errors import OverBudget, PeerLost
from graphdask.gang.fast_path import KEPT
from graphdask.gang.worker import process_of

LENGTH = 3000
"""Of the path that is searched: a run lasts about half a second."""

ENDS = 120.0
"""Seconds within which a call returns on any machine, however loaded: what is tested is that it does."""


@contextmanager
def dask_cluster(workers: int, *, threads: int = 1, dashboard: bool = False, **options) -> Iterator[Client]:
    """A client, not the default one, of a cluster of `workers` processes; Bokeh's pages take a moment, and are rare.

    Dask's cluster takes a worker for lost for good, and closes its nanny, if it happens to be away at the moment when
    `lost-worker-timeout` has passed since it was *once* lost. A test that kills workers again and again can have one
    away at just that moment, so the moment is put off beyond every test.
    """
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            dashboard_address=":0",  # None tries port 8787, and leaks a socket where that is taken
            silence_logs=logging.CRITICAL,
            scheduler_kwargs={"dashboard": dashboard},
            **options,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def without_nannies(workers: int) -> Iterator[Client]:
    """A client of a scheduler and workers of their own, which nobody starts anew."""
    helpers = str(Path(__file__).parent)
    quiet = {**os.environ, "DASK_LOGGING__DISTRIBUTED": "critical", "PYTHONPATH": helpers}
    with dask_cluster(0) as client:
        address = client.scheduler.address
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1"]
        started = [
            subprocess.Popen([*command, "--no-dashboard", "--name", f"w{i}"], stderr=subprocess.DEVNULL, env=quiet)
            for i in range(workers)
        ]
        try:
            with Client(address, set_as_default=False) as plain:
                all_back(plain, workers)
                yield plain
        finally:
            for process in started:
                process.kill()
                process.wait()


@contextmanager
def active(client: Client) -> Iterator[None]:
    """Make `client` the active one."""
    with client.as_current():
        yield


def pids(client: Client) -> dict[str, int]:
    """Process of each worker, by address."""
    return client.run(os.getpid)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def generated(vertices: int = 2000) -> gd.Graph:
    return gd.generate.preferential_attachment(vertices, degree=3, seed=7)


def named(edges: int = 900, names: int = 600) -> gd.Graph:
    """A directed graph with string ids, fixed arbitrarily; some vertices are unreachable."""
    rng = np.random.default_rng(11)
    src, dst = rng.integers(0, names, edges), rng.integers(0, names, edges)
    return gd.from_edges([f"v{x}" for x in src], [f"v{x}" for x in dst])


def path(length: int) -> gd.Graph:
    """0 - 1 - ... : as many supersteps as vertices."""
    ids = np.arange(length - 1)
    return gd.from_edges(ids, ids + 1, num_vertices=length, directed=False)


def scipy_depth(src, dst, vertices: int, source: int) -> np.ndarray:
    """Hops by SciPy in the undirected graph, -1 where unreachable."""
    matrix = coo_array((np.ones(len(src)), (src, dst)), shape=(vertices, vertices)).tocsr()
    depth = shortest_path(matrix, directed=False, unweighted=True, indices=source)
    return np.where(np.isinf(depth), -1, depth).astype(np.int64)


def occupy(begun: str, over: str) -> None:
    """A foreign task that holds a worker's thread. Workers import this file, but no test file."""
    Event(begun).set()
    Event(over).wait(240)


def rank_of(context) -> int:
    return context.comm.rank


def busy_until_notified(context) -> None:
    while True:
        context.comm.check()
        time.sleep(0.001)


def in_parts(context, parts: int, seconds: float) -> int:
    """Notes progress after each part, which takes so many seconds."""
    for _ in range(parts):
        time.sleep(seconds)
        context.comm.check()
        context.watchdog.advance("work in parts")
    return context.watchdog.parts


class FillingRanks(PageRank):
    """PageRank whose first rank takes 8 MiB more in each iteration, of which its estimate knows nothing."""

    kept: ClassVar[list[bytearray]] = []

    def superstep(self, part, state, inbox, env):
        if env.rank == 0:
            self.kept.append(bytearray(os.urandom(1 << 12)) * (1 << 11))
        time.sleep(0.05)
        return super().superstep(part, state, inbox, env)


RESUMING = -1
"""In the place of an iteration: while the run begins again from a copy or a checkpoint."""


class KillingRanks(PageRank):
    """PageRank whose workers die in some iterations, each once."""

    def die(self, rank, at):
        if (rank, at) in self.deaths:
            with suppress(FileExistsError):
                Path(self.marks, f"{rank}-{at}").touch(exist_ok=False)
                kill(os.getpid())

    def resumed(self, part, columns, numbers, env):
        self.die(env.rank, RESUMING)
        return super().resumed(part, columns, numbers, env)

    def superstep(self, part, state, inbox, env):
        self.die(env.rank, state.iterations)
        time.sleep(self.pause)
        return super().superstep(part, state, inbox, env)


def killing_ranks(
    marks: str, deaths: list[tuple[int, int]], pause: float = 0.0, tol: float = 1e-10, max_iter: int = 500
) -> PageRank:
    """PageRank in which rank r dies in iteration i for each (r, i); `marks` is a folder that says who has. An iteration
    takes `pause` seconds more."""
    made = KillingRanks(0.85, tol, max_iter)
    made.marks, made.deaths, made.pause = marks, deaths, pause
    return made


def without_memory() -> None:
    """Runs on a worker: copies of states find no free memory of the host."""
    from graphdask.engine import copies

    copies.host_memory = SimpleNamespace(free=lambda: 0)


def named_copies(dask_worker) -> list[str]:
    """The calls of which a worker has copies of states."""
    return list(process_of(dask_worker).vault.calls)


def rank_when_notified(context, over: str) -> int:
    """Its rank, once there is a file of that name."""
    path = Path(over)
    while not path.exists():
        context.comm.check()
        time.sleep(0.01)
    return context.comm.rank


def itself(value):
    return value


def len_of(context, array) -> int:
    return len(array)


def size_and_given(context, given) -> tuple[int, int]:
    return context.comm.size, given


def too_much(context) -> None:
    raise OverBudget("too much")


def values_kept(dask_worker) -> int:
    """How many values lie on a worker that Dask does not know of."""
    return len(process_of(dask_worker).kept)


def values_of_dask(dask_worker) -> int:
    """How many of those that began so are Dask's now."""
    return sum(str(key).startswith(KEPT) for key in dask_worker.data)


def arrays_of_dask(dask_worker) -> list[str]:
    return [str(key) for key, value in dask_worker.data.items() if isinstance(value, np.ndarray)]


def keys_of_dask(dask_worker) -> list[str]:
    return list(map(str, dask_worker.data))


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds, at most 60 s."""
    deadline = time.monotonic() + 60.0
    while not holds():
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)


def hide_processes(hidden: bool, dask_worker) -> None:
    """As where /proc does not show the processes of others: on the first of two workers only."""
    from graphdask.comm.shm import board as shm_board
    from graphdask.comm.shm import communicator as shm
    from graphdask.gang.worker import process_of

    def refused(*_):
        raise PermissionError("hidden")

    shm.mapped = refused if hidden and dask_worker.name == 0 else shm_board.mapped
    planes = process_of(dask_worker).planes
    for kind, place in list(planes):
        if kind == "shm":
            planes.pop((kind, place)).close()


def right(depth: np.ndarray) -> bool:
    return np.array_equal(depth, np.arange(LENGTH))


def all_back(client: Client, workers: int, without: str = "") -> None:
    """Wait until the scheduler has noticed the end of the worker `without`, and has `workers` again."""
    deadline = time.monotonic() + ENDS
    while without in client.nthreads():
        assert time.monotonic() < deadline, f"{without} is still there"
        threading.Event().wait(0.02)
    client.wait_for_workers(workers, timeout=ENDS)


@dataclass
class Kill:
    """A search during which a worker was killed; all that returned was right."""

    delay: float
    """Seconds from the call to the kill."""
    answered: bool
    """Whether it returned the answer; else it raised PeerLost."""
    seconds: float
    """Until it returned or raised."""
    disturbed: str
    """Why `seconds` says nothing; empty where the machine was quiet."""


def runs_with_a_kill(workers: int, comm: str, disturbed: Callable[[], str]) -> list[Kill]:
    """Search a path three times, and kill a worker each time; then once more."""
    delays, runs = np.random.default_rng(workers).uniform(0.0, 0.7, 3), []
    with dask_cluster(workers) as client, dask.config.set({"graphdask.comm": comm}):
        G = path(LENGTH).persist(client=client)
        for delay in delays:
            address, victim = random.Random(delay).choice(sorted(pids(client).items()))
            killer = threading.Timer(delay, kill, (victim,))
            answered, started = True, time.monotonic()
            killer.start()
            try:
                r = gd.bfs(G, 0, client=client)
                assert right(r.depth), delay
            except PeerLost:
                answered = False
            runs.append(Kill(delay, answered, time.monotonic() - started, disturbed()))
            killer.join()
            all_back(client, workers, without=address)
        r = gd.bfs(G, 0, client=client).verify()
        assert right(r.depth)
    return runs
