"""A run whose workers are killed in the middle goes on from its last checkpoint, with the same bits."""

from __future__ import annotations

import json
import os
import signal

import dask
import numpy as np
import pytest
from gangs import all_back, dask_cluster, generated, killing_ranks, without_nannies

import graphdask as gd
from graphdask import execute
from graphdask.errors import PeerLost

EVERY = 4


def written(folder) -> list[int]:
    """Supersteps of the complete checkpoints."""
    bodies = [json.loads(path.read_text())["checkpoint"] for path in folder.glob("*/manifest.json")]
    return sorted(json.loads(body)["superstep"] for body in bodies)


def ranked(client, folder, marks, deaths, parts=None):
    """Ranks of a graph whose workers die in some iterations, by rank and iteration."""
    G = generated().partition(parts)
    return execute.run(G, killing_ranks(str(marks), deaths), checkpoint=folder, every=EVERY, client=client)


@pytest.mark.chaos
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_that_die_one_after_the_other_cost_the_supersteps_since_the_last_checkpoint(workers, tmp_path):
    """Three deaths, with `retries` of one: each attempt gets further than the one before it."""
    deaths = [(number % workers, at) for number, at in enumerate((10, 19, 27))]
    (tmp_path / "marks").mkdir()
    with dask_cluster(workers) as client:
        r = ranked(client, tmp_path / "c", tmp_path / "marks", deaths)
        expected = gd.pagerank(generated().partition(1), client=None)
        np.testing.assert_array_equal(r.rank, expected.rank)
        assert r.iterations == expected.iterations
        assert (r.stats.restarts, r.stats.checkpoints["resumed"]) == (3, 24)
        assert written(tmp_path / "c")[-1] <= r.iterations
        r.verify()


@pytest.mark.chaos
@pytest.mark.slow
def test_a_run_goes_on_with_the_workers_that_are_left(tmp_path):
    (tmp_path / "marks").mkdir()
    with without_nannies(3) as client, dask.config.set({"graphdask.recovery-timeout": 3.0}):
        r = ranked(client, tmp_path / "c", tmp_path / "marks", [(2, 10), (1, 20)])
        assert (r.stats.ranks, r.stats.checkpoints["resumed"]) == (1, 20)
        np.testing.assert_array_equal(r.rank, gd.pagerank(generated().partition(1)).rank)


@pytest.mark.chaos
def test_a_later_call_on_other_workers_goes_on(tmp_path):
    """As a job that met its time limit: its run ends, and another one goes on."""
    (tmp_path / "marks").mkdir()
    with dask_cluster(2) as client, dask.config.set({"graphdask.retries": 0}):
        with pytest.raises(PeerLost):
            ranked(client, tmp_path / "c", tmp_path / "marks", [(0, 18)])
        assert written(tmp_path / "c") == [12, 16]
        all_back(client, 2)
        r = gd.pagerank(generated().partition(3), client=client, checkpoint=tmp_path / "c")
        assert (r.stats.ranks, r.stats.checkpoints["resumed"]) == (3, 16)
        np.testing.assert_array_equal(r.rank, gd.pagerank(generated().partition(1)).rank)


@pytest.mark.chaos
def test_a_program_whose_workers_die_goes_on_from_its_last_checkpoint(tmp_path):
    marks = str(tmp_path)

    def until(a):
        if a.superstep in (14, 26):
            try:
                os.close(os.open(f"{marks}/{a.superstep}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return False
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    made = gd.Program(
        state={"x": (float, 1.0)},
        message=(float, "sum"),
        send=lambda e: e.source.x / 3.0,
        apply=lambda v, m: {"x": 0.5 * v.x + m / (1.0 + v.total)},
        activity="all",
        aggregate={"total": ("sum", lambda old, new: new.x)},
        max_supersteps=40,
    )
    with dask_cluster(2) as client:
        r = gd.run(generated().partition(), made, until=until, checkpoint=tmp_path / "c", every=EVERY, client=client)
        np.testing.assert_array_equal(r.x, gd.run(generated().partition(1), made).x)
        assert (r.iterations, r.stats.restarts) == (40, 2)
        assert r.stats.checkpoints["resumed"] in (20, 24)
