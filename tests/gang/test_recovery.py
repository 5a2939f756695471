"""Values that a worker took with it are computed again when they are asked for, with the same bits."""

from __future__ import annotations

import os
import signal
import threading

import dask
import numpy as np
import pytest
from distributed import Client
from gangs import all_back, dask_cluster, generated, kill, path, pids, without_nannies

import graphdask as gd
from graphdask.errors import PeerLost


@pytest.fixture(scope="module")
def client():
    """Of three workers that are killed one after the other, and come back."""
    with dask_cluster(3) as client:
        yield client


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("graphs") / "g.gdl"
    gd.stream.build(generated(), path)
    return path


def lose_one(client: Client) -> None:
    """Kill a worker, and wait until the scheduler has noticed, not until it is back."""
    address, victim = min(pids(client).items())
    kill(victim)
    while address in client.nthreads():
        threading.Event().wait(0.01)


def searched(client):
    return gd.bfs(generated(), 1, client=client)


def ranked(client):
    return gd.pagerank(generated(), client=client)


def walked(placement, client):
    return gd.sample.random_walk(generated(), range(0, 2000, 7), 9, seed=3, placement=placement, client=client)


CALLS = {
    "search": (searched, "depth"),
    "ranks": (ranked, "rank"),
    "walks, partitioned": (lambda client: walked("partitioned", client), "walks"),
    "walks, replicated": (lambda client: walked("replicated", client), "walks"),
    "walks, streamed": (lambda client: walked("streamed", client), "walks"),
}


@pytest.mark.chaos
@pytest.mark.parametrize("call", CALLS)
def test_values_of_a_killed_worker_are_computed_again(client, call):
    made, column = CALLS[call]
    all_back(client, 3)
    r = made(client)
    lose_one(client)
    assert np.array_equal(getattr(r, column), getattr(made(None), column))
    assert r.stats.restarts == 1
    assert r.parts.gang is r.built.gang
    if call != "walks, streamed":
        r.verify()


@pytest.mark.chaos
@pytest.mark.parametrize("call", ["search", "walks"])
def test_values_of_a_graph_on_disk_are_computed_again(client, file, call):
    S = gd.stream.open(file)

    def values(client):
        if call == "search":
            return gd.bfs(S, 1, client=client), "depth"
        return gd.sample.random_walk(S, range(0, 2000, 7), 9, seed=3, client=client), "walks"

    expected, column = values(None)
    expected = getattr(expected, column).copy()
    all_back(client, 3)
    r, _ = values(client)
    lose_one(client)
    assert np.array_equal(getattr(r, column), expected)


@pytest.mark.chaos
def test_a_proof_makes_lost_values_again(client):
    all_back(client, 3)
    G = generated()
    r = gd.bfs(G, 1, client=client)
    lose_one(client)
    other = gd.bfs(G, 2, client=client)  # on partitions that were built again
    r.verify()
    other.verify()
    assert np.array_equal(r.depth, gd.bfs(generated(), 1).depth)
    assert r.stats.restarts == 1


@pytest.mark.chaos
@pytest.mark.slow
@pytest.mark.parametrize("call", ["search", "ranks", "walks, partitioned", "walks, replicated"])
def test_fewer_workers_make_the_values_again(call):
    made, column = CALLS[call]
    with without_nannies(3) as client:
        r = made(client)
        lose_one(client)
        assert np.array_equal(getattr(r, column), getattr(made(None), column))
        assert np.array_equal(getattr(made(client), column), getattr(made(None), column))
        r.verify()


@pytest.mark.chaos
def test_a_stopped_worker_is_left_out_of_what_is_computed_again():
    with dask_cluster(2) as client:
        G = path(50).persist(client=client)
        with dask.config.set({"graphdask.heartbeat-timeout": 8.0}):  # once the workers have loaded what they need
            r = gd.bfs(G, 0, client=client)
            victim = min(pids(client).values())
            os.kill(victim, signal.SIGSTOP)
            try:
                assert r.depth.tolist() == list(range(50))
                assert (len(r.built.gang.hosts), r.built.gang.size) == (1, 2)
            finally:
                os.kill(victim, signal.SIGCONT)


@pytest.mark.chaos
def test_without_retries_lost_values_are_an_error(client):
    all_back(client, 3)
    with dask.config.set({"graphdask.retries": 0}):
        r = gd.bfs(generated(), 1, client=client)
        lose_one(client)
        with pytest.raises(PeerLost):
            _ = r.depth
        with pytest.raises(PeerLost):
            r.verify()


def test_values_of_a_closed_client_are_an_error():
    with dask_cluster(1) as client, Client(client.scheduler.address, set_as_default=False) as other:
        r = gd.bfs(generated(), 1, client=other)
        other.close()
        with pytest.raises(PeerLost, match="client is closed"):
            _ = r.depth
