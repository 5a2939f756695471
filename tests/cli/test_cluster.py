"""The local cluster: how many workers, how it ends, what it leaves."""

from __future__ import annotations

import logging
import os
import signal
import time

import pytest

from graphdask.cluster.local import connect, core_count, default_workers, local_cluster
from graphdask.errors import DeadlineExceeded, GraphdaskWarning, InputError


@pytest.mark.slow
def test_each_worker_is_a_process_with_one_thread():
    with local_cluster(2, "cpu") as client:
        workers = client.sync(client.scheduler.identity)["workers"]
        pids = set(client.run(os.getpid).values())
        assert [worker["nthreads"] for worker in workers.values()] == [1, 1]
        assert [worker["memory_limit"] for worker in workers.values()] == [0, 0]  # Dask spills no partition to disk
        assert len(pids | {os.getpid()}) == 3


@pytest.mark.slow
def test_its_scheduler_keeps_the_connections_by_which_calls_begin():
    with local_cluster(2, "cpu") as client:
        workers, connections = client.run(os.getpid), client.cluster.scheduler.rpc
        kept = {address: set(connections.available[address]) for address in workers}
        assert all(kept.values())
        client.run(os.getpid)
        assert {address: set(connections.available[address]) for address in workers} == kept


def test_it_is_not_the_default_client_and_leaves_logging_as_it_was():
    import distributed

    before = logging.getLogger("distributed").level
    with local_cluster(1, "cpu"), pytest.raises(ValueError, match="No clients"):
        distributed.default_client()
    assert logging.getLogger("distributed").level == before


@pytest.mark.slow
def test_its_workers_log_nothing_below_a_critical_error_for_as_long_as_they_live():
    def log_levels() -> set[int]:
        names = (
            "distributed",
            "distributed.client",
            "distributed.gc",
            "distributed.worker",
            "tornado.application",
            "asyncio",
        )
        return {logging.getLogger(name).level for name in names}

    with local_cluster(2, "cpu") as client:
        assert list(client.run(log_levels).values()) == [{logging.CRITICAL}] * 2
        assert log_levels() == {logging.CRITICAL}  # nor does this process, which closes them
    assert "DASK_LOGGING" not in os.environ


def test_by_default_there_is_a_worker_for_each_core():
    assert default_workers("cpu") == core_count() <= os.cpu_count()


@pytest.mark.parametrize(("workers", "device"), [(0, "cpu"), (-1, "cpu"), (1, "tpu")])
def test_what_cannot_be_started_is_refused(workers, device):
    with pytest.raises(InputError), local_cluster(workers, device):
        pass


@pytest.mark.slow
def test_workers_that_do_not_come_in_time_are_counted():
    with (
        local_cluster(1, "cpu") as client,
        pytest.raises(DeadlineExceeded, match="1 of 2 workers"),
        connect(client.scheduler.address, workers=2, worker_timeout=0.3),
    ):
        pass


@pytest.mark.slow
def test_other_versions_on_the_workers_are_a_warning_of_one_line(monkeypatch):
    from distributed import versions

    honest = versions.get_package_info
    with local_cluster(1, "cpu") as client:
        address = client.scheduler.address
        monkeypatch.setattr(versions, "get_package_info", lambda packages: honest(packages) | {"numpy": "0.1"})
        said = f"versions of numpy; graphdask doctor --scheduler {address} shows where"
        with pytest.warns(GraphdaskWarning, match=said), connect(address):
            pass


def test_workers_do_not_take_the_interrupt_of_a_terminal():
    with local_cluster(1, "cpu") as client:
        (pid,) = client.run(os.getpid).values()
        os.kill(pid, signal.SIGINT)
        assert list(client.run(os.getpid).values()) == [pid]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_an_interrupt_while_workers_start_ends_them():
    def interrupted() -> None:
        with local_cluster(1, "cpu") as client:
            pids.extend(client.run(os.getpid).values())
            raise KeyboardInterrupt

    pids: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    deadline = time.monotonic() + 60
    while _alive(pids[0]):
        assert time.monotonic() < deadline, "the worker still runs"


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
