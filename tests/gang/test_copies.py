"""A run whose workers are killed in the middle goes on from a copy of its state in the memory of the others."""

from __future__ import annotations

import os
import signal

import dask
import numpy as np
import pytest
from gangs import (
    RESUMING,
    all_back,
    dask_cluster,
    eventually,
    generated,
    killing_ranks,
    named_copies,
    pids,
    without_memory,
    without_nannies,
)

import graphdask as gd
from graphdask import execute
from graphdask.engine.copies import Described, Found, Place
from graphdask.gang.copies import buddies, latest
from graphdask.gang.sending import Host

SOON = {"graphdask.copy-interval": 0.001}
PAUSE, ITERATIONS = 0.02, 160
"""Seconds of an iteration, long enough for copies to be due after a few of them; and how many there are."""


def ranked(client, marks, deaths, parts=None, **how):
    """Ranks of a graph whose workers die in some iterations, by rank and iteration."""
    marks.mkdir(exist_ok=True)
    primitive = killing_ranks(str(marks), deaths, PAUSE, 0.0, ITERATIONS)
    return execute.run(generated().partition(parts), primitive, client=client, **how)


@pytest.fixture(scope="module")
def expected():
    return gd.pagerank(generated().partition(1), tol=0, max_iter=ITERATIONS)


@pytest.mark.chaos
@pytest.mark.parametrize("workers", [2, 3])
def test_a_lost_worker_costs_the_supersteps_since_the_last_copy(workers, tmp_path, expected):
    """Three deaths, with `retries` of one: each attempt gets further than the one before it."""
    deaths = [(number % workers, at) for number, at in enumerate((60, 100, 140))]
    with dask_cluster(workers) as client, dask.config.set(SOON):
        r = ranked(client, tmp_path, deaths)
        np.testing.assert_array_equal(r.rank, expected.rank)
        assert (r.iterations, r.stats.restarts) == (expected.iterations, 3)
        said = r.stats.checkpoints
        assert said["source"] == "memory"
        assert 100 < said["resumed"] <= 141
        assert said["copies"] > 0
        assert r.stats[0]["superstep"] == said["resumed"] - 1
        r.verify()
        eventually(lambda: not any(client.run(named_copies).values()))


@pytest.mark.chaos
def test_a_worker_that_dies_again_while_the_run_begins_again(tmp_path, expected):
    """With `retries` of one: the first loss is no loss without progress, because a copy has kept what was done."""
    with dask_cluster(2) as client, dask.config.set(SOON):
        r = ranked(client, tmp_path, [(0, 60), (0, RESUMING)])
        np.testing.assert_array_equal(r.rank, expected.rank)
        assert r.stats.restarts == 2
        assert r.stats.checkpoints["source"] == "memory"
        assert 0 < r.stats.checkpoints["resumed"] <= 61


@pytest.mark.chaos
@pytest.mark.slow
def test_the_workers_that_are_left_divide_the_copies(tmp_path, expected):
    with without_nannies(3) as client, dask.config.set({**SOON, "graphdask.recovery-timeout": 3.0}):
        r = ranked(client, tmp_path, [(2, 60), (1, 120)])
        assert r.stats.ranks == 1
        assert 60 < r.stats.checkpoints["resumed"] <= 121
        np.testing.assert_array_equal(r.rank, expected.rank)


@pytest.mark.chaos
@pytest.mark.slow
def test_ranks_of_one_worker_have_their_copies_on_another(tmp_path, expected):
    with dask_cluster(2) as client, dask.config.set(SOON):
        r = ranked(client, tmp_path, [(3, 70)], parts=5)
        assert r.stats.checkpoints["source"] == "memory"
        assert 0 < r.stats.checkpoints["resumed"] <= 71
        np.testing.assert_array_equal(r.rank, expected.rank)


@pytest.mark.chaos
@pytest.mark.slow
def test_a_rank_and_its_buddy_that_are_lost_together_leave_the_files(tmp_path, expected):
    """Both workers die in the same iteration."""
    with dask_cluster(2) as client, dask.config.set(SOON):
        r = ranked(client, tmp_path / "m", [(0, 30), (1, 30)], checkpoint=tmp_path / "c", every=8)
        said = r.stats.checkpoints
        if r.stats.restarts == 1:  # else one of them was faster, and the other lived until the next attempt
            assert (said["source"], said["resumed"]) == ("files", 24)
        np.testing.assert_array_equal(r.rank, expected.rank)


@pytest.mark.chaos
def test_without_files_and_copies_the_run_begins_again(tmp_path, expected):
    with dask_cluster(2) as client, dask.config.set({"graphdask.copy-interval": 0}):
        r = ranked(client, tmp_path, [(0, 30)])
        assert (r.stats.restarts, r.stats.checkpoints) == (1, {})
        np.testing.assert_array_equal(r.rank, expected.rank)


@pytest.mark.chaos
@pytest.mark.slow
def test_a_later_copy_in_memory_goes_before_files(tmp_path, expected):
    with dask_cluster(2) as client, dask.config.set(SOON):
        r = ranked(client, tmp_path / "m", [(0, 110)], checkpoint=tmp_path / "c", every=50)
        said = r.stats.checkpoints
        assert said["source"] == "memory"
        assert 50 < said["resumed"] <= 111
        np.testing.assert_array_equal(r.rank, expected.rank)


def until_death(marks):
    """An `until` that kills its worker once, after superstep 60."""

    def until(a):
        if a.superstep == 60:
            try:
                os.close(os.open(f"{marks}/{a.superstep}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return False
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    return until


@pytest.mark.chaos
@pytest.mark.slow
@pytest.mark.parametrize("where", ["in memory", "on disk"])
def test_a_program_goes_on_from_a_copy(where, tmp_path):
    made = gd.Program(
        state={"x": (float, 1.0)},
        message=(float, "sum"),
        send=lambda e: e.source.x / 3.0,
        apply=lambda v, m: {"x": 0.5 * v.x + m / (1.0 + v.total)},
        activity="all",
        aggregate={"total": ("sum", lambda old, new: new.x)},
        max_supersteps=90,
    )
    G = generated(60_000)
    expected = gd.run(generated(60_000).partition(1), made).x
    if where == "on disk":
        gd.stream.build(G, tmp_path / "graph.gdl")
        G = gd.stream.open(tmp_path / "graph.gdl", "256MiB")
    with dask_cluster(2) as client, dask.config.set(SOON):
        r = gd.run(G, made, until=until_death(str(tmp_path)), client=client)
        np.testing.assert_array_equal(r.x, expected)
        assert (r.iterations, r.stats.restarts) == (90, 1)
        assert r.stats.checkpoints.get("source") == "memory"


@pytest.mark.chaos
@pytest.mark.slow
def test_no_copies_where_there_is_no_memory_for_them(tmp_path, expected):
    with dask_cluster(2) as client, dask.config.set(SOON):
        client.run(without_memory)
        r = ranked(client, tmp_path, [])
        said = r.stats.checkpoints
        assert (said["copies"], said["left_out"] > 0, said["held"]) == (0, True, 0)
        np.testing.assert_array_equal(r.rank, expected.rank)


@pytest.mark.chaos
def test_short_runs_leave_no_copies():
    with dask_cluster(2) as client:
        r = gd.pagerank(generated(), client=client)
        assert r.stats.checkpoints == {}
        assert not any(client.run(named_copies).values())
        assert pids(client)
        all_back(client, 2)


def hosts(*counts):
    firsts = np.cumsum([0, *counts])
    return [Host(f"w{i}", f"a{i}", tuple(range(firsts[i], firsts[i + 1]))) for i in range(len(counts))]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((3,), ()), ((1, 1), (1, 0)), ((1, 1, 1), (1, 2, 0)), ((2, 3), (2, 3, 0, 1, 0)), ((1, 2), (1, 0, 0))],
)
def test_a_buddy_is_on_the_next_worker(counts, expected):
    assert buddies(hosts(*counts)) == expected


def test_the_latest_copy_of_all_ranks_is_found():
    of = Described({"x": "<f8"}, {"iterations": 3})
    held = {
        "a0": [(Place(0, 2, 9, 0), of), (Place(0, 2, 8, 0), of), (Place(0, 2, 8, 1), of)],
        "a1": [(Place(1, 3, 7, rank), of) for rank in range(3)],
    }
    assert latest(held, hosts(1, 1)) == Found(0, 2, 8, (0, 0), of)
    assert latest({"a1": held["a1"]}, hosts(2, 1)) == Found(1, 3, 7, (2, 2, 2), of)
    assert latest({"a0": held["a0"][:1]}, hosts(1, 1)) is None
