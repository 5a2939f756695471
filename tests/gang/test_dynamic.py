"""Graphs that change on a cluster: the same rows and ranks as in this process, also after a worker was lost."""

from __future__ import annotations

import random
import threading
import time

import numpy as np
import pytest
from gangs import dask_cluster, kill, pids

import graphdask as gd


def changing(client):
    """Ranks after each of four batches, and how each was done."""
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 90, (2, 400))
    D = gd.DynamicGraph(gd.from_edges(src, dst, num_vertices=100).partition(2))
    for method in ("static", "dfp", "dt", "df"):
        found = D.update(
            insert=rng.integers(0, 101, (2, 9)), delete=(src[:40], rng.permutation(dst[:40])), client=client
        )
        result = gd.pagerank(D, method=method, client=client).verify()
        depth = gd.bfs(D, 3, client=client).verify().depth
        yield D, (found.inserted, found.deleted, D.num_edges, result.rank, result.method, result.affected, depth)


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_cluster_gives_the_same_rows_and_ranks_as_this_process(two_workers):
    for (D, found), (_, expected) in zip(changing(two_workers), changing(None), strict=True):
        same(found, expected)
        assert D.rows.gang.kind == "dask"


def test_ranks_that_are_lost_are_computed_from_scratch_and_a_warning_says_so():
    D = gd.DynamicGraph(gd.from_edges([0, 1, 2, 3], [1, 2, 0, 0]).partition(2))
    assert gd.pagerank(D, method="dfp").method == "static"  # there are none yet, which is no loss
    D.update(insert=([1], [3]))
    assert gd.pagerank(D, method="dfp").method == "dfp"
    D.rows = None
    D.update(insert=([2], [3]))
    with pytest.warns(gd.GraphdaskWarning, match=r"are lost with a worker .* method='dfp' computes all of them"):
        r = gd.pagerank(D, method="dfp")
    assert r.method == "static"
    D.rows = None
    assert gd.pagerank(D, method="static").method == "static"
    assert gd.pagerank(D, method="nd").method == "nd"


@pytest.mark.chaos
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the ranks that the workers held are lost")
def test_a_worker_that_dies_between_batches_takes_nothing_with_it():
    with dask_cluster(2) as client:
        for k, ((_, found), (_, expected)) in enumerate(zip(changing(client), changing(None), strict=True)):
            if k == 1:
                address, victim = random.Random(1).choice(sorted(pids(client).items()))
                kill(victim)
                deadline = time.monotonic() + 120.0
                while address in client.nthreads():
                    assert time.monotonic() < deadline
                    threading.Event().wait(0.02)
                client.wait_for_workers(2, timeout=120)
            *rows, rank, method, affected, depth = found
            *rows_expected, rank_expected, method_expected, affected_expected, depth_expected = expected
            same([*rows, depth], [*rows_expected, depth_expected])
            if k < 2:
                same((rank, method, affected), (rank_expected, method_expected, affected_expected))
            elif k == 2:
                # the ranks were lost with the worker, so that they are computed from scratch
                assert (method, affected) == ("static", len(rank))
            np.testing.assert_allclose(rank, rank_expected, rtol=1e-3)
