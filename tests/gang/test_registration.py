"""A gang stays registered from one call to the next, until anything is not as it was."""

from __future__ import annotations

import gc
import threading
from dataclasses import replace
from itertools import chain

import dask
import numpy as np
import pytest
from distributed import Event
from gangs import (
    active,
    arrays_of_dask,
    dask_cluster,
    eventually,
    generated,
    itself,
    keys_of_dask,
    len_of,
    occupy,
    path,
    rank_of,
    rank_when_notified,
    size_and_given,
    too_much,
    values_kept,
    values_of_dask,
)
from ranks import needs_ucx

import graphdask as gd
from graphdask.errors import OverBudget, PeerLost, StaleMessage, WrongWorker
from graphdask.gang import cluster
from graphdask.gang.arguments import Failed, PerRank
from graphdask.gang.fast_path import Declined, Known, Order, run_at_once
from graphdask.gang.sending import LARGE, Host, sent_ahead
from graphdask.gang.tuning import GANG
from graphdask.gang.worker import leave


@pytest.fixture
def tasks(monkeypatch, tuned):
    """The names of the functions that a gang has sent as tasks; none because a run was slow on a loaded machine.

    The gangs of earlier tests, whose values become Dask's a moment after their runs, are left out.
    """
    sent: list[str] = []
    made: list[int] = []
    make, submit = cluster.DaskGang.__init__, cluster.DaskGang.submit

    def noted(gang, function, *arguments, **options):
        if gang.gang in made:
            sent.append(function.__name__)
        return submit(gang, function, *arguments, **options)

    def remembered(gang, *arguments):
        make(gang, *arguments)
        made.append(gang.gang)

    # Gangs of earlier tests send tasks at the same time.
    monkeypatch.setattr(cluster.DaskGang, "__init__", remembered)
    # Which tasks were sent shows in no answer.
    monkeypatch.setattr(cluster.DaskGang, "submit", noted)
    tuned(GANG, settle=3600.0)
    with dask.config.set({"graphdask.heartbeat-interval": 3600.0}):
        yield sent


def run(gang, program=rank_of, *arguments):
    return gang.run(program, *arguments, summary=itself, label="trying", show=False)


@pytest.mark.parametrize("comm", ["tcp", "ucx", "shm"])
@pytest.mark.parametrize("parts", [2, 5])
def test_a_call_of_a_gang_that_is_registered_sends_no_task(two_workers, tasks, comm, parts):
    if comm == "ucx":
        needs_ucx()
    with dask.config.set({"graphdask.comm": comm}):
        G = generated().partition(parts=parts).persist(client=two_workers)
        tasks.clear()
        found = [gd.bfs(G, source, client=two_workers) for source in range(3)]
        assert tasks == []
        assert {r.stats.transport for r in found} == {comm}
        found[0].verify()  # reads values that are not Dask's yet
        assert tasks == []
        for source, r in enumerate(found):
            assert np.array_equal(r.depth, gd.bfs(generated(), source).depth)
        assert set(tasks) == {"take_over", "select_all"}


def test_orders_go_straight_to_workers_that_the_client_reaches(two_workers, tasks, watched):
    gang = path(5).persist(client=two_workers).built.gang
    eventually(lambda: gang._reached == {host.address for host in gang.hosts})
    asked = watched(two_workers, "run", lambda *given, **named: given[0])
    tasks.clear()
    assert run(gang).summary == [0, 1]
    assert asked == []
    with pytest.raises(OverBudget, match="too much"):
        run(gang, too_much)
    gang._reached.clear()
    asked.clear()
    assert run(gang).summary == [0, 1]  # by tasks, after which they are reached again
    eventually(lambda: len(gang._reached) == 2)
    assert run_at_once not in asked


@pytest.mark.slow
def test_orders_go_through_the_scheduler_where_workers_are_not_reached(two_workers, tasks, monkeypatch, watched):
    monkeypatch.setattr(two_workers, "direct_to_workers", False)
    gang = path(5).persist(client=two_workers).built.gang
    asked = watched(two_workers, "run", lambda *given, **named: given[0])
    tasks.clear()
    assert run(gang).summary == [0, 1]
    assert (tasks, asked, gang._reached) == ([], [run_at_once] * 2, set())
    nowhere, other = "tcp://127.0.0.1:9", gang.hosts[0].address
    two_workers.sync(gang._reach, nowhere, "registration")  # nobody answers
    two_workers.sync(gang._reach, other, "another registration")
    assert gang._reached == set()


@pytest.mark.slow
def test_dask_sees_a_worker_at_work_on_a_long_run(two_workers, tasks, tmp_path):
    with dask.config.set({"graphdask.heartbeat-interval": 0.05}):
        gang = path(5).persist(client=two_workers).built.gang
        tasks.clear()
        over, found = tmp_path / "over", []
        runner = threading.Thread(target=lambda: found.append(run(gang, rank_when_notified, str(over))))
        runner.start()
        try:
            eventually(lambda: [len(keys) for keys in two_workers.processing().values()] == [1, 1])
            assert tasks == ["take_over"] * 2
        finally:
            over.touch()
            runner.join(120)
        assert found[0].summary == [0, 1]
        assert found[0].fetch(itself) == [0, 1]
        assert tasks == ["take_over"] * 2 + ["select_all"] * 2
        keys = set(found.pop().keys.values())
        eventually(lambda: keys.isdisjoint(chain(*two_workers.run(keys_of_dask).values())))


@pytest.mark.slow
def test_another_data_plane_needs_another_registration(two_workers, tasks):
    needs_ucx()
    G = path(5).persist(client=two_workers)
    for comm, sent in (("tcp", True), ("tcp", False), ("shm", True), ("shm", False), ("ucx", True), ("ucx", False)):
        tasks.clear()
        with dask.config.set({"graphdask.comm": comm}):
            assert gd.bfs(G, 0, client=two_workers).stats.transport == comm
        assert ("register" in tasks) == sent, comm


def test_a_failed_run_ends_the_registration(two_workers, tasks):
    G = path(5).persist(client=two_workers)
    gang = G.built.gang
    tasks.clear()
    with pytest.raises(OverBudget, match="too much"):
        run(gang, too_much)
    assert tasks == []
    assert run(gang).summary == [0, 1]
    assert "register" in tasks
    tasks.clear()
    assert run(gang).summary == [0, 1]
    assert tasks == []


def test_gangs_on_the_same_workers_stay_registered(two_workers, tasks):
    gangs = [path(length).persist(client=two_workers).built.gang for length in (4, 6)]
    tasks.clear()
    for gang in gangs * 3:
        assert run(gang).summary == [0, 1]
    assert tasks == []


def test_a_run_that_failed_ends_the_registration_of_another_gang_too(two_workers, tasks):
    needs_ucx()
    with dask.config.set({"graphdask.comm": "ucx"}):
        one, other = (path(length).persist(client=two_workers).built.gang for length in (4, 6))
        with pytest.raises(OverBudget):
            run(one, too_much)  # its UCX planes are spoiled
        assert run(one).summary == [0, 1]  # so it has new ones
        tasks.clear()
        assert run(other).summary == [0, 1]
        assert "register" in tasks


@pytest.mark.slow
def test_a_worker_with_a_foreign_task_is_waited_for(two_workers, tasks):
    gang = path(5).persist(client=two_workers).built.gang
    workers = [host.address for host in gang.hosts]
    begun, over = Event("foreign begun", client=two_workers), Event("foreign over", client=two_workers)
    foreign = two_workers.submit(occupy, "foreign begun", "foreign over", workers=workers[1:], pure=False)
    assert begun.wait(120)
    tasks.clear()
    ending = threading.Timer(1.0, over.set)
    ending.start()
    assert run(gang).summary == [0, 1]
    assert over.is_set()
    assert "register" in tasks
    ending.join()
    foreign.result(timeout=120)


def test_large_arguments_travel_as_data(two_workers, tasks):
    gang = path(5).persist(client=two_workers).built.gang
    eventually(lambda: len(gang._reached) == 2)
    tasks.clear()
    assert run(gang, len_of, np.zeros(LARGE, np.uint8)).summary == [LARGE] * 2  # straight to each worker
    gang._reached.pop()  # through the scheduler it travels apart
    kept = run(gang, len_of, np.zeros(LARGE, np.uint8))
    assert kept.summary == [LARGE] * 2
    shares = PerRank([np.zeros(LARGE), np.zeros(3)])
    assert run(gang, len_of, shares).summary == [LARGE, 3]
    assert tasks == []
    eventually(lambda: not any(keys for keys in two_workers.run(arrays_of_dask).values()))
    gang._registration = None
    assert run(gang, len_of, shares).summary == [LARGE, 3]
    assert "run_ranks" in tasks


def test_a_worker_that_left_is_sent_nothing(two_workers):
    gone = Host("gone", "tcp://127.0.0.1:1", (0,))
    with pytest.raises(PeerLost, match=r"tcp://127\.0\.0\.1:1 left before it was sent its data"):
        sent_ahead(two_workers, [gone], [np.zeros(LARGE)], LARGE, 60.0)


def test_ranks_that_are_alone_do_not_meet(two_workers, tasks):
    gang = path(5).partition(parts=3).persist(client=two_workers).built.gang
    tasks.clear()
    kept = gang.run(size_and_given, PerRank([3, 4, 5]), summary=itself, label="trying", show=False, alone=True)
    assert kept.summary == [(1, 3), (1, 4), (1, 5)]
    assert run(gang).summary == [0, 1, 2]
    assert tasks == []


@pytest.mark.slow
def test_values_become_dasks_after_a_moment_or_are_dropped():
    with dask_cluster(2) as client, active(client):
        G = path(5).persist()
        r = gd.bfs(G, 0)
        eventually(lambda: set(client.run(values_of_dask).values()) == {1})
        assert set(client.run(values_kept).values()) == {0}
        assert r.depth.tolist() == [0, 1, 2, 3, 4]
        del r
        for source in range(5):
            gd.bfs(G, source)
        gc.collect()
        eventually(lambda: set(client.run(values_kept).values()) | set(client.run(values_of_dask).values()) == {0})


@pytest.fixture
def reported(two_workers):
    """Gives what a worker answers to an order for the next run of a gang, changed."""
    gang = path(5).partition(parts=1).persist(client=two_workers).built.gang
    host = gang.hosts[0]

    def tell(**changes):
        plan = gang._plan(host, gang._run + 1)
        plan = replace(plan, **{k: changes.pop(k) for k in ("worker", "run", "gang") if k in changes})
        order = Order(
            plan, gang._registration.planes, gang._registration.tasks[host.address].key, rank_of, (), itself, "k", ()
        )
        outcome = two_workers.run(run_at_once, replace(order, **changes), workers=[host.address])[host.address]
        return outcome.error if isinstance(outcome, Failed) else outcome

    tell.gang, tell.host, tell.client = gang, host, two_workers
    return tell


def test_an_order_is_carried_out_once(reported):
    assert reported() == {0: 0}
    assert isinstance(reported(), StaleMessage)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"worker": "somebody else"}, WrongWorker),
        ({"run": 1}, StaleMessage),
        ({"gang": 12345}, Declined),
        ({"registration": "of an earlier time"}, Declined),
        ({"addresses": (b"elsewhere",)}, Declined),
        ({"arguments": (Known("not here"),)}, Declined),
    ],
)
def test_an_order_that_does_not_fit_is_refused(reported, changes, error):
    assert type(reported(**changes)) is error
    assert reported() == {0: 0}


def test_an_order_for_a_run_that_was_ended_is_stale(reported):
    ended = reported.gang._run + 1
    reported.client.run(leave, reported.gang.gang, ended, "over", workers=[reported.host.address])
    assert isinstance(reported(), StaleMessage)


def test_a_registration_ends_with_the_gang(reported):
    key = reported.gang._registration.tasks[reported.host.address].key
    reported.gang._registration = None
    eventually(lambda: not any(reported.client.run(lambda k, dask_worker: k in dask_worker.data, key).values()))


def test_a_call_that_is_declined_is_registered_again(two_workers, tasks):
    gang = path(5).persist(client=two_workers).built.gang
    gang._registration = replace(gang._registration, planes=(b"elsewhere",) * 2)
    assert run(gang).summary == [0, 1]
    assert "register" in tasks
