"""Programs, with aggregates and without, on a process for each GPU have the states and aggregates of one CPU rank."""

from __future__ import annotations

import dask
import numpy as np
import pytest

import graphdask as gd
from graphdask.cluster.local import local_cluster


@pytest.mark.multigpu
@pytest.mark.parametrize("comm", ["shm", "ucx"])
def test_messages_between_processes(comm):
    program = gd.Program(
        state={"x": (int, lambda v: v.id)}, message=(int, "min"), send=lambda e: e.source.x,
        apply=lambda v, m: m < v.x and {"x": m},
    )  # fmt: skip
    rng = np.random.default_rng(2)
    G = gd.from_edges(rng.integers(0, 20_000, 60_000), rng.integers(0, 20_000, 60_000), directed=False)
    expected = gd.run(G.partition(1, device="cpu"), program)
    with local_cluster(2, "cuda") as client, client.as_current(), dask.config.set({"graphdask.comm": comm}):
        for _ in range(2):
            found = gd.run(G.partition(2, "random"), program)
            np.testing.assert_array_equal(found.x, expected.x)
            assert found.iterations == expected.iterations


@pytest.mark.multigpu
@pytest.mark.parametrize("comm", ["shm", "ucx"])
def test_a_process_for_each_gpu(comm):
    aggregate = {"sums": ("sum", lambda old, new: 1.0 / (3 + new.x)), "least": ("min", lambda old, new: new.x)}
    program = gd.Program(
        state={"x": (int, lambda v: v.id)},
        message=(int, "min"),
        send=lambda e: e.source.x,
        apply=lambda v, m: m < v.x and {"x": m},
        aggregate=aggregate,
    )
    rng = np.random.default_rng(2)
    G = gd.from_edges(rng.integers(0, 20_000, 60_000), rng.integers(0, 20_000, 60_000), directed=False)
    for until in (None, lambda a: a.superstep > 1 and a.active < 15_000):
        expected = gd.run(G.partition(1, device="cpu"), program, until=until)
        with local_cluster(2, "cuda") as client, client.as_current(), dask.config.set({"graphdask.comm": comm}):
            found = gd.run(G.partition(2, "random"), program, until=until)
            np.testing.assert_array_equal(found.x, expected.x)
            assert found.iterations == expected.iterations
            assert found.aggregates == expected.aggregates
