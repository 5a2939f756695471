"""Several hosts: what goes over the network between them, and what becomes of a run when one of them is lost."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from functools import partial

import dask
import numpy as np
import pytest
from gangs import generated, path
from hosts import Network, cluster_across, needs_hosts, wait_for_packets
from ranks import needs_ucx

import graphdask as gd
from graphdask.errors import InputError, PeerLost, SchedulerLost, Unsupported

LONG = 4_000
"""Of the path that is searched while a host is lost: as many supersteps."""


@pytest.fixture(scope="module")
def two_hosts():
    """A scheduler on one host and two workers on two others, and the network of all."""
    needs_hosts()
    with Network(3) as network, cluster_across(network) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def expected():
    return answers(generated(), None)


def answers(G, client):
    return (
        gd.bfs(G, 1, client=client).depth,
        gd.connected_components(G, client=client).label,
        gd.pagerank(G, client=client).rank,
    )


def over(comm, client, expected):
    """Answers over a data plane are those of this process, bit for bit."""
    G = generated()
    with dask.config.set({"graphdask.comm": comm}):
        for found, wanted in zip(answers(G, client), expected, strict=True):
            assert np.array_equal(found, wanted)
        return gd.bfs(G, 1, client=client).stats


@pytest.mark.slow
@pytest.mark.parametrize("comm", ["tcp", "ucx"])
def test_answers_over_several_hosts_are_those_of_one_process(two_hosts, expected, comm):
    if comm == "ucx":
        needs_ucx()
    stats = over(comm, two_hosts.client, expected)
    assert stats.ranks == 2
    assert stats.transport == comm


@pytest.mark.slow
def test_hosts_with_addresses_of_their_own_do_not_share_memory(two_hosts, expected):
    assert over("auto", two_hosts.client, expected).transport in ("ucx", "tcp")
    with dask.config.set({"graphdask.comm": "shm"}), pytest.raises(Unsupported, match="not on one host"):
        gd.bfs(generated(), 1, client=two_hosts.client)


@pytest.mark.slow
@pytest.mark.parametrize("relay", [None, (2.0, 0.01)], ids=["slow", "delay-and-loss"])
def test_a_bad_network_changes_no_answer(expected, relay):
    needs_hosts(relay is not None)
    with Network(3, relay) as network, cluster_across(network) as cluster:
        if relay is None:
            network.limit(1, "20mbit")
        over("tcp", cluster.client, expected)
        needs_ucx()
        over("ucx", cluster.client, expected)


@contextmanager
def impatient(cluster, comm):
    """Settings under which what is silent is soon taken for lost; a call ends by itself in a minute at the latest."""
    settings = {"comm": comm, "heartbeat-timeout": 4.0, "heartbeat-interval": 0.2, "recovery-timeout": 1.0}
    settings["deadline"] = 60.0
    if cluster is not None:
        gd.bfs(path(10), 0, client=cluster.client)  # what workers import meanwhile takes longer
    with dask.config.set({f"graphdask.{name}": value for name, value in settings.items()}):
        yield


@contextmanager
def meanwhile(network, host, action):
    """Call `action` when that host is in the middle of the run that is begun within."""
    begun = network.sent_by(host)

    def act():
        wait_for_packets(network, host, begun + 300)
        action()

    actor = threading.Thread(target=act)
    actor.start()
    try:
        yield
    finally:
        actor.join()


@pytest.mark.chaos
@pytest.mark.parametrize(("comm", "second"), [("tcp", "stop"), ("ucx", "cut")])
def test_hosts_lost_one_after_the_other_leave_an_answer_or_peer_lost(comm, second):
    needs_hosts()
    if comm == "ucx":
        needs_ucx()
    with Network(4) as network, cluster_across(network) as cluster, impatient(cluster, comm):
        for host, lose in (3, cluster.kill), (2, getattr(cluster, second)):
            with suppress(PeerLost):
                G = path(LONG).persist(client=cluster.client)
                with meanwhile(network, host, partial(lose, host)):
                    r = gd.bfs(G, 0, client=cluster.client)
                assert np.array_equal(r.depth, np.arange(LONG))
                assert r.stats.ranks < host


@pytest.mark.slow
@pytest.mark.chaos
@pytest.mark.parametrize("fault", ["stop", "cut"])
def test_a_lost_scheduler_ends_a_run(fault):
    needs_hosts()
    with Network(3) as network, cluster_across(network) as cluster:
        G = path(LONG).persist(client=cluster.client)
        lose = partial(getattr(cluster, fault), 0)
        with impatient(cluster, "tcp"), meanwhile(network, 1, lose), pytest.raises(PeerLost):
            gd.bfs(G, 0, client=cluster.client)
        with (
            impatient(None, "tcp"),
            pytest.raises((SchedulerLost, InputError), match=r"scheduler at tcp:|Dask client"),
        ):
            gd.bfs(G, 0, client=cluster.client)
