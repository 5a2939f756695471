"""Calls within tasks of Dask, whose thread they need themselves, and on clusters that have no workers yet."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable

import dask
import distributed
import pytest
from gangs import dask_cluster, generated

import graphdask as gd
from graphdask.errors import DeadlineExceeded, InputError

EXPECTED = [0, 1, 2, 3]
QUICK = {"graphdask.lock-timeout": 10.0}
"""Well below the time that a test may take: a call that waits for itself fails."""


def searcher(how: str, calls: int = 1) -> Callable[[], list[list[int]]]:
    """A task that searches by a client that it comes by in one way or another; workers do not import this file."""

    def search() -> list[list[int]]:
        with contextlib.ExitStack() as stack:
            stack.enter_context(dask.config.set(QUICK))
            if how == "worker_client":
                stack.enter_context(distributed.worker_client())
            elif how == "own client":
                stack.enter_context(distributed.Client(distributed.get_worker().scheduler.address))
            else:
                distributed.get_client()
                if how == "seceded":
                    distributed.secede()
            G = gd.from_edges([0, 1, 2], [1, 2, 3])
            return [gd.bfs(G, 0).depth.tolist() for _ in range(calls)]

    return search


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("how", ["worker_client", "seceded", "get_client", "own client"])
def test_a_call_inside_a_task_leaves_the_pool(how, threads):
    with dask_cluster(2, threads=threads) as client:
        assert client.submit(searcher(how, 2), pure=False).result(timeout=60) == [EXPECTED] * 2
        assert client.gather(client.map(lambda x: x + 1, range(8))) == list(range(1, 9))  # the pool is whole again


@pytest.mark.slow
def test_several_tasks_call_at_once():
    with dask_cluster(2) as client:
        tasks = [client.submit(searcher("get_client"), pure=False) for _ in range(4)]
        assert client.gather(tasks) == [[EXPECTED]] * 4


@pytest.mark.slow
def test_results_are_verified_and_fetched_inside_a_task():
    def verified() -> list[int]:
        distributed.get_client()
        with dask.config.set(QUICK):
            r = gd.bfs(gd.from_edges([0, 1, 2], [1, 2, 3]), 0)
            r.verify()
            return r.parent.tolist()

    with dask_cluster(1) as client:
        assert client.submit(verified, pure=False).result(timeout=60) == [0, 0, 1, 2]


@pytest.mark.slow
def test_the_thread_of_a_program_leaves_no_pool(fault):
    fault(distributed, "secede", AssertionError("this thread is of no pool"))
    with dask_cluster(2) as client:
        assert gd.bfs(generated(50), 1, client=client).stats.ranks == 2


def adaptive(**options):
    return distributed.LocalCluster(
        n_workers=0, threads_per_worker=1, processes=False, dashboard_address=None, protocol="inproc://", **options
    )


def test_a_call_on_an_adaptive_cluster_without_workers_asks_for_them(caplog):
    with adaptive() as cluster, distributed.Client(cluster) as client, caplog.at_level(logging.WARNING, "graphdask"):
        cluster.adapt(minimum=0, maximum=2, interval="100ms")
        assert client.nthreads() == {}
        assert gd.bfs(gd.from_edges([0, 1, 2], [1, 2, 3]), 0, client=client).depth.tolist() == EXPECTED
    assert "has no workers; asking for one, and waiting up to 300 s" in caplog.text


def test_an_adaptive_cluster_that_starts_none_is_given_up():
    said = r"started no worker within 0.3 s; .*cluster.adapt\(minimum=1\)"
    with (
        adaptive() as cluster,
        distributed.Client(cluster) as client,
        dask.config.set({"graphdask.lock-timeout": 0.3}),
    ):
        cluster.adapt(minimum=0, maximum=2, interval="1000s")
        with pytest.raises(DeadlineExceeded, match=said):
            gd.bfs(generated(50), 1, client=client)


def test_a_cluster_that_does_not_adapt_is_not_waited_for():
    began = time.monotonic()
    with (
        adaptive() as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(InputError, match="has no workers; start some"),
    ):
        gd.bfs(generated(50), 1, client=client)
    assert time.monotonic() - began < 60


def test_a_scheduler_elsewhere_is_given_a_moment_for_its_workers():
    with (
        adaptive() as cluster,
        distributed.Client(cluster.scheduler_address) as client,
        dask.config.set({"graphdask.recovery-timeout": 0.3}),
        pytest.raises(InputError, match="has no workers; start some"),
    ):
        gd.bfs(generated(50), 1, client=client)
