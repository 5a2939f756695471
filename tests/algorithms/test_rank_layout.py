"""What PageRank makes of a partition is kept for the next call, which says the same, until memory or edges change."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import dask
import numpy as np
import pytest
from emulated import EmulatedCuda, EmulatedKernels, emulated, stand_in
from graphs import GRAPHS
from memory import OTHERS

import graphdask as gd
from graphdask.algorithms.rank_layout import Layouts
from graphdask.bench.analysis.timing import PeakMemory
from graphdask.comm.segments import Segments
from graphdask.device.readback import Readback
from graphdask.engine.tuning import ENGINE

pytestmark = pytest.mark.filterwarnings("ignore:pagerank stopped")
FEW = dict(max_iter=4)


@pytest.fixture
def made(watched):
    """The ranks that made a layout, in order of time."""
    return watched(Layouts, "made", lambda layouts, part, env: part.rank)


def divided(parts, device="cpu", name="sparse random, directed", weights=False):
    n, src, dst, directed = GRAPHS[name]()
    weight = np.random.default_rng(1).random(len(src)) if weights else None
    graph = gd.from_edges(src, dst, weight, num_vertices=n, directed=directed)
    return graph.partition(parts, by="random", device=device)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_a_later_call_finds_it_and_says_the_same(parts, device, made, monkeypatch, tuned):
    if device == "emulated":
        stand_in(monkeypatch, emulated())
        tuned(ENGINE, staged_from=0)
    graph = divided(parts, "cuda" if device == "emulated" else "cpu", weights=True)
    kinds = (
        dict(),
        dict(damping=0.5, exchange="broadcast", personalization={3: 1.0, 5: 2.0}),
        dict(start={1: 1.0}, norm="linf", tol=1e-3),
    )
    for kept in (dict(), dict(dtype=np.float32), dict(weighted=False), dict(dangling="self-loop")):
        made.clear()
        for kind in kinds:
            once, again = (gd.pagerank(graph, **{**FEW, **kept, **kind}).verify() for _ in range(2))
            np.testing.assert_array_equal(once.rank, again.rank)
            assert (once.iterations, once.residual) == (again.iterations, again.residual)
            fresh = gd.pagerank(divided(parts, weights=True), **{**FEW, **kept, **kind})
            np.testing.assert_array_equal(once.rank, fresh.rank)
        assert sorted(made) == sorted(list(range(parts)) * (1 + len(kinds)))


@pytest.mark.parametrize("name", ["no edges", "one vertex", "only self-loops", "star outward", "short path"])
@pytest.mark.parametrize("parts", [1, 3])
def test_small_graphs_keep_theirs(name, parts, made):
    graph = divided(parts, name=name)
    once, again = (gd.pagerank(graph, dangling="self-loop").verify().rank for _ in range(2))
    np.testing.assert_array_equal(once, again)
    assert sorted(made) == list(range(parts))


def test_a_later_call_codes_with_what_an_earlier_one_has_made(monkeypatch, watched, rng):
    stand_in(monkeypatch, emulated())
    made = watched(Segments, "__init__")
    n = 200
    graph = gd.from_edges(*rng.integers(0, n, (2, 800)), num_vertices=n).partition(2, "random", device="cuda")
    found = [gd.pagerank(graph, tol=1e-3, dtype=dtype).rank for dtype in ("float64", "float64", "float32")]
    assert len(made) == 2 + 2  # a rank's, for each dtype
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[2], found[0], atol=1e-3)


def test_a_rank_that_has_lost_it_makes_it_and_the_others_help(made):
    graph = divided(3)
    first = gd.pagerank(graph, **FEW).rank
    made.clear()
    assert graph.built.parts.values[1].tables.forget()
    np.testing.assert_array_equal(gd.pagerank(graph, **FEW).rank, first)
    assert made == [1]


def test_it_makes_way_where_memory_is_short(made, free_memory, rng):
    graph = gd.from_edges(*rng.integers(0, 20_000, (2, 200_000))).partition(1, device="cpu")
    double, single = (gd.pagerank(graph, dtype=dtype, **FEW) for dtype in ("float64", "float32"))
    assert made == [0, 0]
    tables = graph.built.parts.values[0].tables
    assert len(tables.values) == 2
    most = double.stats.memory + tables.nbytes // 4
    free_memory(lambda: most - tables.nbytes)
    with dask.config.set({"graphdask.memory-fraction": 1.0}):
        for before in (double, single, double):
            found = gd.pagerank(graph, dtype=before.rank.dtype, **FEW)
            np.testing.assert_array_equal(found.rank, before.rank)
            assert len(tables.values) == 1
    assert made == [0] * 4  # the first found its own, which was used last, and let go of the other


def test_edges_that_change_have_another():
    n, src, dst, _ = GRAPHS["two triangles"]()
    graph = gd.DynamicGraph(divided(2, name="two triangles"))
    before = gd.pagerank(graph).rank
    graph.update(insert=([0], [5]))
    after = gd.pagerank(graph).rank
    again = gd.from_edges([*src, 0], [*dst, 5], num_vertices=n, directed=graph.directed)
    np.testing.assert_array_equal(after, gd.pagerank(again).rank)
    assert (after != before).any()


@pytest.mark.parametrize("parts", [1, 3])
def test_an_iteration_reads_the_device_once_and_launches_little(parts, monkeypatch, watched):
    """Every read is one that the votes wait for, and messages are the only thing that grows with the ranks."""
    backend, counts, launcher = EmulatedCuda(), Counter(), EmulatedKernels.__getattr__
    stand_in(monkeypatch, backend)

    def counted(self, name):
        launch = launcher(self, name)
        setattr(self, name, lambda n, *more, **how: counts.update([name] if n > 0 else []) or launch(n, *more, **how))
        return getattr(self, name)

    monkeypatch.setattr(EmulatedKernels, "__getattr__", counted)
    for owner, name in ((backend, "to_host"), (Readback, "send")):
        watched(owner, name, lambda *given: counts.update(["read"]))
    graph = divided(parts, "cuda", "star inward")
    gd.pagerank(graph, max_iter=1)
    seen = []
    for iterations in (1, 3):
        counts.clear()
        gd.pagerank(graph, max_iter=iterations, tol=1e-300)
        seen.append(counts.copy())
    few, more = seen
    each = {name: (more[name] - few[name]) / 2 for name in more}
    of_ranks = {"read": parts, "pagerank_update": parts, "segments_gather": parts * (parts > 1)}
    assert {name: each.get(name, 0) for name in of_ranks} == of_ranks
    assert each["slices_sum_chunks"] == 1  # of the rank that has the one row with edges
    assert each.get("pagerank_scatter", 0) <= parts * (parts - 1)
    assert sum(each.values()) <= parts * (5 + (parts if parts > 1 else 0))
    assert few["read"] == 2 * parts
    assert few["slices_place"] == few["pagerank_loops"] == 0


@pytest.mark.parametrize(
    ("parts", "dtype", "given"),
    [
        (1, "float32", {"start": 1.0, "personalization": 2.0}),
        (1, "float64", {}),
        (3, "float32", {}),
        (3, "float64", {}),
    ],
)
@pytest.mark.usefixtures("alone")
def test_the_memory_of_a_later_call_is_what_was_announced(parts, dtype, given, rng):
    n, m = 200_000, 1_000_000
    graph = gd.from_edges(*rng.integers(0, n, (2, m)), num_vertices=n).partition(parts, device="cpu")
    given = {name: np.full(n, share) for name, share in given.items()}
    first = gd.pagerank(graph, tol=0.1, dtype=dtype, **given).stats
    tracemalloc.start()
    stats = gd.pagerank(graph, tol=0.1, dtype=dtype, **given).stats
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert stats.memory < first.memory
    assert stats.allocated_start < stats.memory
    assert (peak - OTHERS) / 1.1 < parts * stats.memory < 1.1 * peak


@pytest.mark.gpu
@pytest.mark.parametrize("weighted", [False, True])
def test_the_memory_on_a_gpu_is_what_was_announced(weighted, rng):
    n, m = 1_000_000, 20_000_000
    weights = rng.random(m).astype(np.float32) if weighted else None
    graph = gd.from_edges(*rng.integers(0, n, (2, m)), weights, num_vertices=n).partition(1, device="cuda")
    gd.pagerank(graph, **FEW)
    while graph.built.parts.values[0].tables.forget():
        pass
    for _ in ("first", "later"):
        with PeakMemory("cuda", 1, True) as memory:
            announced = gd.pagerank(graph, **FEW).stats.memory
        assert announced / 1.15 < memory.bytes < 1.1 * announced
