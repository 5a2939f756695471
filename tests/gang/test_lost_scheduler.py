"""A scheduler that ends in order, and a client that is stopped while it holds the workers.

A scheduler that ends in order closes its clients, and the call that needed it raises SchedulerLost.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from types import SimpleNamespace

import dask
import pytest
from distributed import Client
from distributed.comm import CommClosedError
from gangs import dask_cluster, generated

import graphdask as gd
from graphdask.errors import DeadlineExceeded, InputError, PeerLost, SchedulerLost
from graphdask.gang.cluster import DaskGang
from graphdask.gang.waiting import outcome_of
from graphdask.gang.watch import scheduler_needed


@pytest.fixture(scope="module")
def address():
    with dask_cluster(2) as client:
        yield client.scheduler.address


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 1, 3, 6])
def test_a_client_that_is_closed_during_a_call_has_lost_its_scheduler(address, at, watched):
    """As its scheduler closes it; `at` is the task before which that happens."""
    with Client(address, set_as_default=False) as client:
        calls = watched(DaskGang, "submit", lambda *task, **how: len(calls) == at and client.close())
        with pytest.raises(SchedulerLost, match="the scheduler ended, and closed its clients, while this call needed"):
            gd.bfs(generated(), 1, client=client)
        assert len(calls) > at
        with pytest.raises(InputError, match="the Dask client is closed; open a new one"):
            gd.bfs(generated(), 1, client=client)
    with Client(address, set_as_default=False) as other:
        gd.bfs(generated(), 1, client=other).verify()


PATIENT = {"graphdask.lock-timeout": 120.0, "graphdask.heartbeat-timeout": 120.0}
"""On a machine that is busy, workers are silent for long."""
HOLD = """
import sys
from distributed import Client
from distributed.comm import CommClosedError
from graphdask.gang.lock import locked
client = Client(sys.argv[1], set_as_default=False)
with locked(client, sys.argv[2:], 120.0):
    print("held", flush=True)
    sys.stdin.read()
print("released", flush=True)
sys.stdin.close()
client.close()
"""


@pytest.mark.slow
@pytest.mark.chaos
def test_a_client_that_is_stopped_loses_its_lock_and_goes_on_without_it(address):
    with Client(address, set_as_default=False) as other:
        command = [sys.executable, "-c", HOLD, address, *other.nthreads()]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout.readline() == "held\n"
            holder.send_signal(signal.SIGSTOP)
            try:
                with dask.config.set(PATIENT):
                    gd.bfs(generated(), 1, client=other).verify()
            finally:
                holder.send_signal(signal.SIGCONT)
            assert holder.communicate("", timeout=120) == ("released\n", None)
            assert holder.returncode == 0
        with dask.config.set(PATIENT):
            gd.bfs(generated(), 1, client=other).verify()


@pytest.mark.slow
def test_a_client_that_is_alive_keeps_its_lock(address):
    with Client(address, set_as_default=False) as other:
        command = [sys.executable, "-c", HOLD, address, *other.nthreads()]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout.readline() == "held\n"
            with (
                dask.config.set({"graphdask.lock-timeout": 20.0}),
                pytest.raises(DeadlineExceeded, match="busy with another graphdask call"),
            ):
                gd.bfs(generated(), 1, client=other)
            holder.communicate("", timeout=120)


def test_a_result_whose_connection_broke_is_lost():
    """As where a scheduler is killed while it hands over a result."""

    def result(timeout: float) -> None:
        raise CommClosedError("in <TCP ConnectionPool.gather>: Stream is closed")

    lost = outcome_of(SimpleNamespace(result=result), "tcp://192.0.2.9:1").error
    assert isinstance(lost, PeerLost)
    assert "tcp://192.0.2.9:1 hands over its result: in <TCP" in str(lost)


def client(status: str = "running", scheduler: object = "here"):
    return SimpleNamespace(status=status, scheduler=scheduler)


@pytest.mark.parametrize("ended", [client("closed"), client("closing"), client(scheduler=None)])
@pytest.mark.parametrize("error", [AttributeError("multi_lock_acquire"), PeerLost("gone"), asyncio.CancelledError()])
def test_what_fails_without_a_scheduler_says_so(ended, error):
    with pytest.raises(SchedulerLost, match="closed its clients") as raised, scheduler_needed(ended):
        raise error
    assert raised.value.__cause__ is error


@pytest.mark.parametrize(
    ("of", "error"),
    [
        (client(), AttributeError("x")),
        (client(), PeerLost("gone")),
        (client("closed"), DeadlineExceeded("late")),
        (client("closed"), SchedulerLost("silent")),
        (client("closed"), KeyboardInterrupt()),
        (None, ValueError("x")),
    ],
)
def test_other_errors_stay_as_they_are(of, error):
    with pytest.raises(type(error)) as raised, scheduler_needed(of):
        raise error
    assert raised.value is error
