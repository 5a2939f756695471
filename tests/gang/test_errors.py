"""What goes wrong on a rank reaches the caller as what it is, and rank_of stays behind on the workers."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace

import dask
import pytest
from gangs import busy_until_notified, dask_cluster, generated, in_parts, itself, path, rank_of
from ranks import needs_ucx

import graphdask as gd
from graphdask.config import Config
from graphdask.errors import DeadlineExceeded, GraphdaskError, OverBudget, PeerLost, StaleMessage, WrongWorker
from graphdask.gang.arguments import Failed
from graphdask.gang.kept import select_all
from graphdask.gang.retries import retried
from graphdask.gang.worker import leave, register, run_ranks

RAISING = """
import logging, sys, time
import dask
from distributed import Client, LocalCluster
import graphdask as gd
from graphdask.errors import OverBudget

class Hidden(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")

def program(context, part, error):
    if context.comm.rank == 1:
        raise {"typed": OverBudget("too much"), "any": ZeroDivisionError("by nothing"), "hidden": Hidden(1, 2)}[error]
    while True:
        context.comm.barrier()

def itself(value):
    return value

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        G = gd.from_edges([0, 1], [1, 2]).partition(parts=int(sys.argv[1])).persist()
        for error in ("typed", "any", "hidden"):
            started = time.perf_counter()
            try:
                G.built.gang.run(program, G.built.parts, error, summary=itself, label="trying", show=False)
            except Exception as raised:
                notes = " ".join(getattr(raised, "__notes__", []))
                print(type(raised).__name__, raised, "in program" in notes, time.perf_counter() - started < 60.0)
        print(gd.bfs(G, 0).depth.tolist())
"""


@pytest.mark.slow
@pytest.mark.parametrize("parts", [2, 4])
def test_an_error_of_one_rank_reaches_the_caller_and_no_worker_prints_it(parts):
    done = subprocess.run([sys.executable, "-c", RAISING, str(parts)], capture_output=True, text=True, timeout=240)
    assert done.stdout.splitlines() == [
        "OverBudget too much False True",
        "ZeroDivisionError by nothing True True",
        "GraphdaskError Hidden: 1 and 2 True True",
        "[0, 1, 2]",
    ], done.stderr
    # Dask may say there that a worker closes
    assert not [text for text in ("too much", "by nothing", "1 and 2", "in program") if text in done.stderr]


@pytest.fixture
def seated(two_workers):
    """A gang, its first worker, and the plan of a run that has not begun."""
    gang = path(5).persist(client=two_workers).built.gang
    host = gang.hosts[0]
    return gang, host, gang._plan(host, gang._run + 1)


def test_a_task_of_an_unknown_run_is_stale(seated):
    gang, host, plan = seated
    outcome = gang.submit(run_ranks, host.address, plan, (b"", b""), rank_of).result(timeout=120)
    assert isinstance(outcome.error, StaleMessage)
    lost = select_all(outcome, len)
    assert isinstance(lost.error, PeerLost)


def test_a_task_of_a_run_that_was_ended_is_stale(seated, two_workers):
    gang, host, plan = seated
    gang.submit(register, host.address, plan).result(timeout=120)
    two_workers.run(leave, plan.gang, plan.run, "over", workers=[host.address])
    outcome = gang.submit(run_ranks, host.address, plan, (b"", b""), rank_of).result(timeout=120)
    assert isinstance(outcome.error, StaleMessage)


def test_a_task_runs_once(seated):
    gang, host, plan = seated
    plan = replace(plan, size=1, ranks=(0,), comm="single")
    gang.submit(register, host.address, plan).result(timeout=120)
    assert gang.submit(run_ranks, host.address, plan, (b"",), rank_of).result(timeout=120)[0] == 0
    again = gang.submit(run_ranks, host.address, plan, (b"",), rank_of).result(timeout=120)
    assert isinstance(again.error, StaleMessage)


@pytest.mark.parametrize("task", [register, run_ranks])
def test_a_task_on_the_wrong_worker_says_so(seated, task):
    gang, _, plan = seated
    arguments = ((b"", b""), rank_of) if task is run_ranks else ()
    outcome = gang.submit(task, gang.hosts[1].address, plan, *arguments).result(timeout=120)
    assert isinstance(outcome.error, WrongWorker)


def test_a_partition_that_a_new_worker_could_not_make_is_lost(seated):
    gang, host, plan = seated
    gang.submit(register, host.address, plan).result(timeout=120)
    stale = Failed(StaleMessage("run 1 is over"))
    outcome = gang.submit(run_ranks, host.address, plan, (b"", b""), rank_of, stale).result(timeout=120)
    assert isinstance(outcome.error, PeerLost)


@pytest.mark.slow
def test_an_abandoned_run_ends_before_its_worker_is_used_again():
    with dask_cluster(1, threads=2) as client:
        G = path(5).persist(client=client)
        gang = G.built.gang
        plan = gang._plan(gang.hosts[0], 100)
        gang.submit(register, gang.hosts[0].address, plan).result(timeout=120)
        abandoned = gang.submit(run_ranks, gang.hosts[0].address, plan, (b"",), busy_until_notified)
        summary = gang.submit(select_all, gang.hosts[0].address, abandoned, rank_of)
        assert gd.bfs(G, 0, client=client).depth.tolist() == [0, 1, 2, 3, 4]
        assert "another call has taken the worker" in str(summary.result(timeout=120).error)


def test_errors_that_end_a_process_do_not_end_the_caller():
    assert isinstance(Failed.of(SystemExit(3)).error, GraphdaskError)
    assert isinstance(Failed.of(OverBudget("x")).error, OverBudget)


@pytest.mark.slow
@pytest.mark.parametrize("comm", ["tcp", "auto", "ucx"])
def test_encrypted_clusters(comm):
    pytest.importorskip("cryptography", reason="temporary certificates need cryptography")
    needs_ucx()
    import numpy as np
    from distributed import Security

    from graphdask.errors import Unsupported

    expected = gd.bfs(generated(), 0).depth
    with dask_cluster(2, security=Security.temporary()) as client, dask.config.set({"graphdask.comm": comm}):
        if comm == "ucx":
            with pytest.raises(Unsupported, match="requires encryption, and ucx carries none"):
                gd.bfs(generated(), 0, client=client)
            with dask.config.set({"graphdask.allow-insecure-ucx": True}):
                r = gd.bfs(generated(), 0, client=client)
        else:
            r = gd.bfs(generated(), 0, client=client).verify()
        assert r.stats.transport == {"auto": "shm"}.get(comm, comm)
        assert np.array_equal(r.depth, expected)


def ran(client, program, *arguments, **settings):
    gang = path(5).persist(client=client).built.gang
    with dask.config.set({f"graphdask.{name.replace('_', '-')}": value for name, value in settings.items()}):
        gang.use(Config.load())
        return gang.run(program, *arguments, summary=itself, label="work", show=False).summary


@pytest.mark.slow
def test_a_run_that_makes_progress_outlasts_its_deadline(two_workers):
    assert ran(two_workers, in_parts, 15, 0.4, deadline=3.0, heartbeat_interval=0.1) == [15, 15]


@pytest.mark.parametrize(
    ("program", "settings", "says"),
    [
        ((busy_until_notified,), {"deadline": 1.0}, "work passed its deadline of 1 s without progress; raise"),
        ((in_parts, 1000, 0.1), {"time_limit": 1.0}, "passed its time limit of 1 s; raise"),
    ],
)
def test_a_run_ends_without_progress_or_at_its_time_limit(two_workers, program, settings, says):
    started = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=says):
        ran(two_workers, *program, heartbeat_interval=0.1, **settings)
    assert time.monotonic() - started < 60
    assert ran(two_workers, in_parts, 1, 0.0) == [1, 1]


@pytest.mark.parametrize(
    ("reached", "calls"),
    [([0, 0, 0], 2), ([5, 5], 2), ([5.0, 0], 3), ([5.0, 0, 5], 3), ([5, 6, 7, 7], 4), ([5, 9, 3], 3), ([2, 3, 4], 4)],
)
def test_losses_count_until_an_attempt_gets_further(two_workers, reached, calls):
    """Of these attempts each ends with a lost worker after so many supersteps; one more would return. Those of which
    copies have kept what was done are written as floats."""
    made = []

    def call(client, workers, attempt):
        made.append(attempt)
        if attempt == len(reached):
            return "returned"
        error = PeerLost("a worker died")
        error.reached, error.kept = reached[attempt], isinstance(reached[attempt], float)
        raise error

    config = replace(Config.load(), retries=1)
    if calls == len(reached) + 1:
        assert retried(two_workers, config, call) == "returned"
    else:
        with pytest.raises(PeerLost):
            retried(two_workers, config, call)
    assert made == list(range(calls))


def test_memory_that_suffices_no_more_after_a_loss_is_explained(two_workers):
    failures = [PeerLost("worker 1 died"), OverBudget("needs 9 GiB")]

    def call(client, avoid, attempt):
        raise failures[attempt]

    with pytest.raises(OverBudget, match=r"needs 9 GiB\. .* because a worker had been lost: worker 1 died"):
        retried(two_workers, Config.load(), call)
