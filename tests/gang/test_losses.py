"""Workers that die, stop or leave: a right answer or PeerLost, within a time, never a wait without end."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress

import dask
import numpy as np
import pytest
from gangs import (
    ENDS,
    LENGTH,
    all_back,
    dask_cluster,
    eventually,
    generated,
    kill,
    path,
    pids,
    right,
    runs_with_a_kill,
    without_nannies,
)
from quiet import Watch, hold
from ranks import needs_ucx

import graphdask as gd
from graphdask.config import Config
from graphdask.errors import InputError, PeerLost
from graphdask.gang import clients
from graphdask.gang.watch import ask_scheduler

KILLS = pytest.mark.parametrize(("workers", "comm"), [(2, "tcp"), (3, "ucx"), (3, "shm")])


@pytest.mark.chaos
@pytest.mark.slow
@KILLS
def test_a_worker_killed_during_a_run(workers, comm):
    """Three times each, nine in all: the right answer, which `runs_with_a_kill` compares, or PeerLost; and within 30
    seconds where the machine was quiet meanwhile."""
    if comm == "ucx":
        needs_ucx()
    with Watch() as watch:
        runs = runs_with_a_kill(workers, comm, watch.disturbed)
    print(f"{sum(run.answered for run in runs)} answers of {len(runs)}")
    assert all(run.seconds < ENDS for run in runs), runs
    for run in runs:
        hold(run.seconds, 30.0, f"the run whose worker was killed after {run.delay:.2f} s", run.disturbed)


@pytest.mark.slow
@pytest.mark.chaos
def test_the_run_goes_on_without_a_worker_that_does_not_come_back():
    with without_nannies(3) as client:
        G = path(LENGTH).persist(client=client)
        killer = threading.Timer(0.3, kill, (min(pids(client).values()),))
        started = time.monotonic()
        killer.start()
        gd.bfs(G, 0, client=client)  # its values are lost where the kill comes after it
        killer.join()
        r = gd.bfs(G, 0, client=client)
        assert right(r.depth)
        assert r.stats.ranks == 2
        assert time.monotonic() - started < ENDS
        for pid in pids(client).values():
            kill(pid)
        started = time.monotonic()
        with (
            dask.config.set({"graphdask.recovery-timeout": 2.0}),
            pytest.raises((PeerLost, InputError), match=r"gone|no workers"),
        ):
            gd.bfs(G, 0, client=client)
        assert time.monotonic() - started < ENDS


@pytest.fixture(scope="module")
def two_workers():
    """Not the shared ones: these are stopped."""
    with dask_cluster(2) as client:
        yield client


@pytest.fixture
def stopped():
    """Stops processes, and lets them go on in the end."""
    halted: list[int] = []

    def stop(pid: int) -> None:
        halted.append(pid)
        os.kill(pid, signal.SIGSTOP)

    yield stop
    for pid in halted:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@pytest.mark.chaos
@pytest.mark.parametrize("delay", [0.0, 0.4])
def test_a_stopped_worker_is_left_out(two_workers, stopped, delay):
    G = path(LENGTH).persist(client=two_workers)
    with dask.config.set({"graphdask.heartbeat-timeout": 3.0, "graphdask.heartbeat-interval": 0.2}):
        victim = threading.Timer(delay, stopped, (min(pids(two_workers).values()),))
        started = time.monotonic()
        victim.start()
        if not delay:
            victim.join()
        try:
            r = gd.bfs(G, 0, client=two_workers)
            assert right(r.depth)
        except PeerLost:
            pass
        victim.join()
        assert time.monotonic() - started < ENDS


@pytest.mark.slow
@pytest.mark.chaos
def test_a_dead_worker_that_is_still_listed_is_not_waited_for_as_if_it_lived(monkeypatch):
    """Else one death ends a run twice, and counts as two losses without progress."""
    with without_nannies(2) as client:
        listed = ask_scheduler(client)
        (gone, pid), *_ = pids(client).items()
        kill(pid)
        eventually(lambda: gone not in ask_scheduler(client))
        # A scheduler notices within milliseconds that a worker died.
        monkeypatch.setattr(clients, "ask_scheduler", lambda *_: listed)
        assert set(clients.await_workers(client, Config.load(), frozenset(), frozenset())) == set(listed) - {gone}


@pytest.mark.slow
@pytest.mark.chaos
def test_workers_come_and_go_between_calls():
    with dask_cluster(2) as client:
        G = generated()
        expected = gd.bfs(G, 1).depth

        def check(workers: int) -> gd.algorithms.bfs.BfsResult:
            r = gd.bfs(G, 1, client=client)
            assert r.stats.ranks == workers
            assert np.array_equal(r.depth, expected)
            return gd.bfs(G, 1, client=client)

        kept = check(2)
        values = list(kept.parts.futures.values())  # Dask's from now on, so that a retired worker hands them on
        eventually(lambda: all(client.who_has(values).values()))
        client.retire_workers(list(client.nthreads())[:1], close_workers=True)
        assert np.array_equal(kept.depth, expected)
        check(1)
        client.cluster.scale(3)  # counts the retired one
        all_back(client, 2)
        G = G.partition()
        kept = check(2)
        client.restart()
        assert np.array_equal(kept.depth, expected)
        check(2)
        client.cluster.scale(2)
        G = G.partition()
        r = gd.bfs(G, 1, client=client)  # may meet the worker while it leaves
        assert np.array_equal(r.depth, expected)


def test_a_worker_that_left_before_a_call_is_no_loss_of_it():
    """Its run is not begun, although the scheduler's answer is still under way when the partitions are asked for."""
    with without_nannies(2) as client:
        G = generated(2_000)
        expected = gd.bfs(G, 1, client=client).depth
        gd.bfs(G, 1, client=client)
        (gone, pid), *_ = pids(client).items()
        kill(pid)
        eventually(lambda: gone not in ask_scheduler(client))
        with dask.config.set({"graphdask.retries": 0}):
            r = gd.bfs(G, 1, client=client)
        assert (r.stats.ranks, r.stats.restarts) == (1, 0)
        assert np.array_equal(r.depth, expected)


def test_a_cluster_without_workers_is_refused():
    with dask_cluster(0) as client, pytest.raises(InputError, match="has no workers"):
        gd.bfs(generated(50), 0, client=client)
