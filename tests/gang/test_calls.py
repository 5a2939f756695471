"""What a caller may do: name a client, change clusters, call from several threads, wait for busy workers."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import dask
import numpy as np
import pytest
from distributed import Client, Event, Status
from gangs import active, dask_cluster, generated, occupy, path

import graphdask as gd
from graphdask.errors import DeadlineExceeded, InputError, PeerLost, Unsupported
from graphdask.gang.lock import locked
from graphdask.gang.watch import ask_scheduler


@pytest.mark.slow
def test_a_graph_moves_between_this_process_and_clusters(two_workers):
    G = generated()
    expected = gd.bfs(G, 3).depth
    assert G.built.gang.kind == "local"
    with dask_cluster(1) as other:
        with active(two_workers):
            assert np.array_equal(gd.bfs(G, 3).depth, expected)
            assert G.built.gang.client is two_workers
        r = gd.bfs(G, 3, client=other)
        assert G.built.gang.client is other
    with pytest.raises(PeerLost, match="client is closed"):
        _ = r.depth
    with pytest.raises(PeerLost, match="client is closed"):
        r.verify()
    with pytest.raises(InputError, match="the Dask client is closed"):
        gd.bfs(G, 3, client=other)
    assert np.array_equal(gd.bfs(G, 3).depth, expected)
    assert G.built.gang.kind == "local"


def test_the_number_of_edges_is_asked_where_the_graph_is(two_workers):
    G = gd.generate.rmat(6, 4, seed=1)  # workers merge its parallel edges
    with active(two_workers):
        G.persist()
    built = G.built
    assert G.num_edges == built.num_edges
    assert G.built is built  # not built again in this process, where no client is active


def test_threads_and_clients_may_call_at_the_same_time(two_workers):
    one, other = generated(), path(60)
    expected = {id(one): gd.bfs(one, 3).depth, id(other): gd.bfs(other, 3).depth}
    with Client(two_workers.scheduler.address, set_as_default=False) as second:
        calls = [(G, client) for client in (two_workers, second) for G in (one, other)] * 2
        with ThreadPoolExecutor(len(calls)) as pool:
            depths = list(pool.map(lambda call: (id(call[0]), gd.bfs(call[0], 3, client=call[1]).depth), calls))
    assert all(np.array_equal(depth, expected[which]) for which, depth in depths)


def test_workers_are_known_while_the_client_asks_for_none(two_workers):
    """Dask's client asks for the scheduler without its workers again and again, and keeps the last answer."""
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            two_workers.sync(two_workers._update_scheduler_info)

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask)
        found = [len(ask_scheduler(two_workers)) for _ in range(200)]
        over.set()
        asking.result(120)
    assert set(found) == {2}


HOLD = """
import sys
from distributed import Client
from graphdask.gang.lock import locked
client = Client(sys.argv[1], set_as_default=False)
with locked(client, sys.argv[2:], 120.0):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_the_lock_of_a_killed_client_is_freed(two_workers):
    G = generated(200).persist(client=two_workers)
    workers = list(two_workers.nthreads())
    command = [sys.executable, "-c", HOLD, two_workers.scheduler.address, *workers]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with (
            dask.config.set({"graphdask.lock-timeout": 0.2}),
            pytest.raises(DeadlineExceeded, match=r"busy with another graphdask call for 0\.2 s; .*lock-timeout"),
        ):
            gd.bfs(G, 0, client=two_workers)
        holder.send_signal(signal.SIGKILL)
        holder.wait(120)
        with dask.config.set({"graphdask.lock-timeout": 120.0}):
            assert gd.bfs(path(5), 0, client=two_workers).depth.tolist() == [0, 1, 2, 3, 4]


class SlowToRelease:
    """The scheduler, as a client speaks to it, where locks are released when it is told to."""

    def __init__(self, client):
        self.scheduler, self.reported = client.scheduler, asyncio.Event()

    def __getattr__(self, name):
        return getattr(self.scheduler, name)

    async def multi_lock_release(self, **arguments):
        await self.reported.wait()
        return await self.scheduler.multi_lock_release(**arguments)


def test_only_who_is_next_waits_until_the_lock_is_free(two_workers, monkeypatch):
    slow = SlowToRelease(two_workers)
    monkeypatch.setattr(two_workers, "scheduler", slow)
    with locked(two_workers, ["a", "b"], 120.0):
        pass
    with (
        pytest.raises(DeadlineExceeded, match=r"busy with another graphdask call for 0\.2 s"),
        locked(two_workers, ["b"], 0.2),
    ):
        pass
    two_workers.loop.add_callback(slow.reported.set)
    with locked(two_workers, ["b", "a"], 120.0):
        pass
    with pytest.raises(ZeroDivisionError), locked(two_workers, ["b"], 120.0):
        _ = 1 / 0
    with locked(two_workers, ["b"], 120.0):
        pass


def test_a_client_that_closes_after_its_call_leaves_no_lock(two_workers):
    for _ in range(3):
        with Client(two_workers.scheduler.address, set_as_default=False) as other:
            assert gd.bfs(path(5), 0, client=other).depth.tolist() == [0, 1, 2, 3, 4]
        with dask.config.set({"graphdask.lock-timeout": 4.0}):  # before locks of gone clients are looked for
            assert gd.bfs(path(5), 0, client=two_workers).depth.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.slow
def test_a_call_waits_for_workers_that_are_busy(two_workers):
    G = path(5).persist(client=two_workers)
    workers = list(two_workers.nthreads())
    begun, over = Event("begun", client=two_workers), Event("over", client=two_workers)
    foreign = two_workers.submit(occupy, "begun", "over", workers=workers[:1], pure=False)
    assert begun.wait(120)
    try:
        with (
            dask.config.set({"graphdask.lock-timeout": 3.0}),
            pytest.raises(
                DeadlineExceeded,
                match=rf"free thread .* longer than 3\.0 s; .*lock-timeout.*; {workers[0]} has .*occupy-",
            ),
        ):
            gd.bfs(G, 0, client=two_workers)
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(lambda: gd.bfs(G, 0, client=two_workers).depth.tolist())
            with pytest.raises(TimeoutError):
                call.result(0.5)
            over.set()
            assert call.result(120) == [0, 1, 2, 3, 4]
    finally:
        over.set()
        foreign.result(timeout=120)


@pytest.mark.slow
def test_a_worker_that_gets_no_tasks_is_named():
    def pause(dask_worker):
        dask_worker.memory_manager.memory_pause_fraction = 1e-9  # or its monitor would set it going again
        dask_worker.status = Status.paused

    with dask_cluster(2) as client:
        G, address = path(5), list(client.nthreads())[1]
        client.run(pause, workers=[address])
        with (
            dask.config.set({"graphdask.lock-timeout": 2.0}),
            pytest.raises(DeadlineExceeded, match=rf"; {address} is paused, so that it gets no tasks"),
        ):
            gd.bfs(G, 0, client=client)


def test_an_asynchronous_client_is_refused():
    async def call():
        async with Client(processes=False, asynchronous=True, dashboard_address=":0", set_as_default=False) as client:
            with pytest.raises(Unsupported, match="asynchronous=False"):
                gd.bfs(path(3), 0, client=client)

    asyncio.run(call())


@pytest.mark.parametrize("comm", ["tcp", "auto"])
def test_workers_may_be_threads_of_one_process(comm):
    with dask_cluster(3, processes=False) as client, dask.config.set({"graphdask.comm": comm}):
        for parts in (3, 4):
            G = generated().partition(parts=parts)
            r = gd.bfs(G, 1, client=client).verify()
            assert np.array_equal(r.depth, gd.bfs(generated(), 1).depth)


def test_every_question_for_the_workers_has_its_own_answer(two_workers):
    workers = set(ask_scheduler(two_workers))
    assert len(workers) == 2
    over = threading.Event()

    def ask_for_none():
        while not over.is_set():
            two_workers.scheduler_info(n_workers=0)

    other = threading.Thread(target=ask_for_none)
    other.start()
    try:
        assert all(set(ask_scheduler(two_workers)) == workers for _ in range(100))
    finally:
        over.set()
        other.join()


@pytest.mark.slow
def test_two_threads_to_a_worker():
    with dask_cluster(2, threads=2) as client:
        G = generated()
        with ThreadPoolExecutor(4) as pool:
            depths = list(pool.map(lambda source: gd.bfs(G, source, client=client).depth, range(8)))
    for source, depth in enumerate(depths):
        assert np.array_equal(depth, gd.bfs(generated(), source).depth)


WATCHED = """
import sys
from distributed import Client
import graphdask as gd
import numpy as np
import dask
ids = np.arange(int(sys.argv[2]))
G = gd.from_edges(ids, ids + 1, directed=False)
with Client(sys.argv[1]), dask.config.set({"graphdask.heartbeat-interval": 0.2}):
    r = gd.bfs(G, 0, progress=sys.argv[3] == "yes")
    assert r.depth[-1] == len(ids)
"""


@pytest.mark.slow
@pytest.mark.parametrize("progress", ["yes", "no"])
def test_a_long_run_shows_its_supersteps_if_asked(two_workers, progress):
    command = [sys.executable, "-c", WATCHED, two_workers.scheduler.address, "60000", progress]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    if progress == "yes":
        assert "BFS: superstep" in done.stderr
        assert "edges/s" in done.stderr
    else:
        assert "superstep" not in done.stderr  # Dask may say there that its event loop was slow


@pytest.mark.slow
def test_interrupting_a_call_leaves_the_workers_free(two_workers):
    command = [sys.executable, "-c", WATCHED, two_workers.scheduler.address, "500000", "yes"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as call:
        seen = ""
        while "BFS: superstep" not in seen:
            character = call.stderr.read(1)
            assert character, seen
            seen += character
        call.send_signal(signal.SIGINT)
        drain = threading.Thread(target=call.stderr.read)
        drain.start()
        call.wait(120)
        drain.join()
        assert call.returncode not in (0, None)
    with dask.config.set({"graphdask.lock-timeout": 120.0}):
        assert gd.bfs(path(5), 0, client=two_workers).depth.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.slow
def test_the_run_of_a_killed_client_ends(two_workers):
    command = [sys.executable, "-c", WATCHED, two_workers.scheduler.address, "500000", "yes"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as call:
        seen = ""
        while "BFS: superstep" not in seen:
            character = call.stderr.read(1)
            assert character, seen
            seen += character
        os.kill(call.pid, signal.SIGKILL)
    with dask.config.set({"graphdask.lock-timeout": 120.0}):
        assert gd.bfs(path(5), 0, client=two_workers).depth.tolist() == [0, 1, 2, 3, 4]
