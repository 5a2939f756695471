"""On a device the sums of the next iteration are begun while the host hears of this one."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.algorithms.dynamic_sweep import Sweep
from graphdask.engine.row_sums import Rows
from graphdask.engine.tuning import ENGINE


@pytest.fixture
def counted(watched):
    """How often rows were summed."""
    calls = []
    for owner in (Rows, Sweep):
        watched(owner, "sum", lambda *given: calls.append(given))
    return calls


@pytest.mark.parametrize("norm", ["l1", "linf"])
@pytest.mark.parametrize("tol", [0.3, 1e-3, 1e-9])
def test_pagerank_sums_ahead_until_the_device_finds_that_it_has_converged(norm, tol, rng, monkeypatch, counted):
    graph = gd.from_edges(*rng.integers(0, 300, (2, 3000)), num_vertices=310)
    expected = gd.pagerank(graph.partition(1, device="cpu"), tol=tol, norm=norm)
    assert len(counted) == expected.iterations
    counted.clear()
    stand_in(monkeypatch, emulated())
    found = gd.pagerank(graph.partition(1, device="cuda"), tol=tol, norm=norm)
    np.testing.assert_array_equal(found.rank, expected.rank)
    assert found.iterations == expected.iterations
    assert len(counted) == expected.iterations + 1  # the last are not wanted, which the device finds by itself
    counted.clear()
    with pytest.warns(gd.GraphdaskWarning, match="max_iter=2"):
        gd.pagerank(graph.partition(1, device="cuda"), tol=1e-12, max_iter=2)
    assert len(counted) == 2


@pytest.mark.parametrize(("method", "given"), [
    ("static", {"tol": 1e-3}), ("static", {"error": 1e-4}), ("nd", {"tol": 1e-3}), ("nd", {"tol": 1e-9}),
    ("nd", {"error": 1e-4}), ("auto", {"error": 1e-3}), ("auto", {"error": 1e-7}),
])  # fmt: skip
def test_a_dynamic_graph_s_pagerank_does_too(method, given, rng, monkeypatch, counted, tuned):
    src, dst = rng.integers(0, 300, (2, 3000))
    batch = rng.integers(0, 300, (2, 30))
    found = []
    tuned(ENGINE, staged_from=0)
    for device in ("cpu", "cuda"):
        if device == "cuda":
            stand_in(monkeypatch, emulated())
        D = gd.DynamicGraph(gd.from_edges(src, dst, num_vertices=310).partition(1, device=device))
        gd.pagerank(D, method="static", **given)
        D.update(insert=batch)
        counted.clear()
        found.append(gd.pagerank(D, method=method, **given))
    np.testing.assert_array_equal(found[1].rank, found[0].rank)
    assert found[1].steps == found[0].steps
    everyone = sum(found[1].steps.get(name, 0) for name in ("static", "nd"))
    assert 0 < everyone <= len(counted) <= found[1].iterations + 1
