"""Iterations over all vertices of a dynamic graph on a GPU, with the bits of a CPU."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.algorithms.dynamic_sweep import Sweep
from graphdask.engine.tuning import ENGINE


@pytest.mark.slow
@pytest.mark.parametrize("device", ["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("parts", [1, 3])
def test_all_vertices_are_ranked_out_of_shared_memory_with_the_same_bits(
    parts, device, monkeypatch, device_of, tuned, watched
):
    """Calls that rank all vertices, nearly all, or all in some iterations and in the last ones; rows of all lengths."""
    if device == "emulated":
        stand_in(monkeypatch, emulated())
        device_of(emulated(), shared_memory=40 * 8)
    tuned(ENGINE, staged_from=0)
    swept = watched(Sweep, "sum", lambda sweep, part, *rest: part.rank)
    rng = np.random.default_rng(6)
    hubs = np.repeat([3, 7], 400), rng.integers(0, 900, 800)
    src, dst = (np.concatenate([*hubs[::way], (rng.random(3000) ** 3 * 900).astype(int)]) for way in (1, -1))
    calls = dict(method="static", tol=1e-6), dict(method="nd", tol=1e-6), dict(method="dfp", error=1e-7)
    calls = *calls, calls[0], calls[0], dict(method="auto", error=1e-5)  # with lists that are made, and that are kept
    batches = [(rng.integers(0, 905 + 60 * k, (2, 60)), rng.integers(0, 900, (2, 20))) for k in range(6)]
    found = []
    for where in ("cpu", "cuda"):
        D = gd.DynamicGraph(gd.from_edges(src, dst, num_vertices=900).partition(parts, device=where))
        ranks, done = [], []
        for call, (insert, delete) in zip(calls, batches, strict=True):
            result = gd.pagerank(D, **call).verify()
            ranks.append(result.rank)
            done.append((result.steps, result.affected, result.residual, result.error))
            if len(done) != 4:
                D.update(insert=insert, delete=delete)
        found.append((ranks, done))
        assert not swept or where == "cuda"
    for one, other in zip(*(ranks for ranks, _ in found), strict=True):
        np.testing.assert_array_equal(one, other)
    assert found[0][1] == found[1][1]
    sweeps = sum(steps.get(method, 0) for steps, *_ in found[1][1] for method in ("static", "nd"))
    assert sweeps > 20
    times = Counter(swept)
    assert len(times) == parts
    assert min(times.values()) > sweeps + len(done)  # one in each proof, and frontiers of nearly all vertices
