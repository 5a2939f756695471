"""Sums over rows by way of bins: those without bins, bit for bit, as kernels and in PageRank."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from emulated import emulated, stand_in
from kernel_launch import ordered_sum, rows_of_all_lengths
from memory import DevicePeak

import graphdask as gd
from graphdask.algorithms import rank_layout
from graphdask.bench.analysis.timing import PeakMemory
from graphdask.comm.tuning import COMM
from graphdask.engine import bins, row_sums
from graphdask.engine.bins import Shape
from graphdask.engine.row_sums import Rows
from graphdask.engine.tuning import ENGINE
from graphdask.partition.part import Csr

POISON = -77.0


def shape_of(real, length, hot=48, width=90, room=8192, shared=100_000):
    """Some segments, and bins of a few hundred edges."""
    return Shape(hot, width, -(-(length - hot) // width), room, 32 // np.dtype(real).itemsize, length, shared)


@pytest.fixture
def small(tuned):
    """Blocks that an emulator has time for, which knows one team only."""
    tuned(ENGINE, bin_threads=64, bin_launch={"threads": 64, "per_processor": 1}, bin_teams=1)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("weighted", [None, "narrow", "wide"])
def test_rows_are_summed_in_the_stated_order(env, dtype, weighted, rng):
    slots, length, real, backend = 900, 700, np.float32, env.backend
    indptr, _ = rows_of_all_lengths(rng, dtype, slots)
    read = rng.permutation(slots)[:length]  # only these are read, and they stand first in x
    place = np.empty(slots, dtype)
    place[np.concatenate([read, np.setdiff1d(np.arange(slots), read)])] = np.arange(slots)
    indices = read[(length * rng.random(indptr[-1]) ** 3).astype(int)].astype(dtype)
    weights = {None: None, "narrow": rng.integers(0, 100, len(indices)), "wide": rng.random(len(indices))}[weighted]
    x, goes = (rng.random(slots) ** 9).astype(real), rng.permutation(len(indptr) - 1).astype(dtype)
    sent = [None if array is None else backend.from_host(array) for array in (indptr, indices, weights)]
    shape = shape_of(real, length)
    rows = Rows.of(
        env, Csr(*sent), weighted is not None, real, backend.from_host(place), backend.from_host(goes), shape
    )
    assert len(rows.bins.first_edge) > 20
    sums = np.full(len(goes), POISON)
    empty = np.diff(indptr) == 0
    sums[goes[empty]] = 0.0
    sums = backend.from_host(sums)
    room = rows.workspace(backend.xp)
    room.fill(POISON)
    rows.sum(backend.from_host(x), sums, room)
    for gathered, wanted in ((x, 2**64 - 1), (x + 1, 0)):  # the last sums are not wanted
        rows.sum(backend.from_host(gathered), sums, room, backend.from_host(np.array([wanted], np.uint64)))
    backend.synchronize()
    terms = x[place[indices]].astype(np.float64)
    if weighted:
        terms = terms * weights.astype(np.float32).astype(np.float64)
    expected = [ordered_sum(terms[a:b].tolist()) for a, b in pairwise(indptr)]
    np.testing.assert_array_equal(backend.to_host(sums)[goes], expected)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("length", [1, 48, 49, 300])
def test_x_may_be_short_or_all_of_it_hot(env, length, rng):
    backend = env.backend
    indptr, indices = rows_of_all_lengths(rng, np.int32, length)
    shape = shape_of(np.float32, length, hot=min(48, length))
    assert shape.segments == max(0, -(-(length - 48) // 90))
    if not shape.segments:
        assert not shape.pays
        return
    place, x = rng.permutation(length).astype(np.int32), rng.random(length).astype(np.float32)
    sent = backend.from_host(place), None, shape
    rows = Rows.of(env, Csr(backend.from_host(indptr), backend.from_host(indices)), False, np.float32, *sent)
    sums = backend.from_host(np.zeros(len(indptr) - 1))
    rows.sum(backend.from_host(x), sums, rows.workspace(backend.xp))
    backend.synchronize()
    expected = [ordered_sum(x[place[indices[a:b]]].astype(float).tolist()) for a, b in pairwise(indptr)]
    np.testing.assert_array_equal(backend.to_host(sums), expected)


def test_bins_begin_with_rows_or_chunks_and_have_room_for_what_they_gather(backend, rng):
    indptr, _ = rows_of_all_lengths(rng, np.int32, 100)
    starts = {a + k for a, b in pairwise(indptr.tolist()) for k in range(0, b - a if b - a > 8 else 1, 256)}
    for share in (1, 7, 300, 4000, 10**6):
        count = -(-int(indptr[-1]) // share)
        found = backend.to_host(bins._bounds(backend.xp, backend.from_host(indptr), share, count))
        assert found[0] == 0
        assert found[-1] == indptr[-1]
        assert set(found.tolist()) <= starts | {int(indptr[-1])}
        assert (found >= np.minimum(share * np.arange(count + 1), indptr[-1])).all()
        assert (found - share * np.arange(count + 1) < 256).all()


def test_a_device_of_an_h200_divides_x_and_edges_so(device_of):
    backend = emulated()
    shape = Shape.of(backend, np.float32, 8_868_598)
    assert (shape.hot, shape.width, shape.segments, shape.bin_bytes) == (16384, 49152, 181, 40960)
    assert shape.pays
    assert not Shape.of(backend, np.float32, 16384).pays  # all of x is in shared memory
    assert not Shape.of(backend, np.float32, 20_000_000).pays  # too many segments for bins of this size
    edges = 536_868_204
    kept, making = shape.memory(edges, 4)
    assert 4.5 * edges < kept < 6.5 * edges
    assert making < 1.2 * kept
    device_of(backend, processors=132)
    assert row_sums.binned(backend, edges, np.float32, 8_868_598) == shape
    assert row_sums.binned(backend, edges, np.float64, 8_868_598) is None
    assert row_sums.binned(backend, 1 << 20, np.float32, 8_868_598) is None
    for room in (99 << 10, 0):
        device_of(backend, shared_memory=room)
        assert row_sums.binned(backend, edges, np.float32, 8_868_598) is None


@contextmanager
def everywhere():
    """Bins wherever ranks are float32, on a CPU too; gives how often they were made."""
    made = []

    def binned(backend, edges, real, length):
        return shape_of(real, length, min(48, length)) if real == np.float32 and length > 48 else None

    def of(*given):
        made.append(given)
        return original(*given)

    original = bins.Bins.of
    with pytest.MonkeyPatch.context() as patch, ENGINE.varied(bin_threads=64, bin_teams=1):
        # Bins pay for graphs of many millions of edges on a GPU only.
        patch.setattr(rank_layout, "binned", binned)
        # Whether bins were made shows in no answer.
        patch.setattr(bins.Bins, "of", of)
        yield made


def ranks_of(graph, **options):
    return gd.pagerank(graph, dtype="float32", **{"tol": 1e-6} | options)


def graph_of(rng, directed, n=600, m=5000):
    src, dst = (n * rng.random((2, m)) ** 2).astype(np.int64)
    return gd.from_edges(src, dst, rng.random(m) + 0.1, num_vertices=n, directed=directed)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"dangling": "self-loop"}, {"personalization": {3: 1.0}}])
def test_ranks_have_the_same_bits_by_way_of_bins(parts, options, directed, rng):
    graph = graph_of(rng, directed)
    expected = ranks_of(graph.partition(parts), **options)
    divided = graph.partition(parts)
    with everywhere() as made:
        for _ in range(2):  # the second call finds what the first one made
            found = ranks_of(divided, **options)
            np.testing.assert_array_equal(found.rank, expected.rank)
            assert found.iterations == expected.iterations
            assert len(made) == parts


def test_ranks_of_float64_do_without(rng):
    with everywhere() as made:
        gd.pagerank(graph_of(rng, True).partition(2))
    assert not made


@pytest.mark.slow
def test_where_there_is_no_memory_for_bins_ranks_do_without(rng, monkeypatch, free_memory):
    stand_in(monkeypatch, emulated())
    graph = graph_of(rng, True, 3000, 20_000).partition(1, device="cuda").persist()
    expected = ranks_of(graph)
    needed = expected.stats.memory
    with everywhere() as made:
        graph.built.parts[0].tables.forget()
        assert ranks_of(graph).stats.memory > needed
        assert made
        made.clear()
        free_memory(needed, emulated())
        found = ranks_of(graph)
        assert not made
        assert found.stats.memory <= needed
        np.testing.assert_array_equal(found.rank, expected.rank)
        free_memory(needed // 2, emulated())
        graph.built.parts[0].tables.forget()
        with pytest.raises(gd.OverBudget, match="needs about"):
            ranks_of(graph)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("options", [{}, {"weighted": True}])
def test_their_memory_is_announced(parts, options, rng, monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    tuned(COMM, first_buffer=1 << 10)
    graph = graph_of(rng, False, 3000, 20_000).partition(parts, device="cuda").persist()
    with everywhere():
        for _ in range(2):
            with DevicePeak(monkeypatch) as peak:
                found = ranks_of(graph, tol=0.2, **options)
            assert 0.3 < peak.bytes / parts / found.stats.memory < 1.1


@pytest.mark.gpu
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("options", [{}, {"weighted": True}])
def test_on_a_gpu_bins_are_made_of_large_graphs_and_announced(parts, options, rng, tuned):
    n, m = 1 << 21, 1 << 24
    src, dst = (n * rng.random((2, m)) ** 2).astype(np.int64)
    graph = gd.from_edges(src, dst, rng.integers(1, 9, m), num_vertices=n, directed=False)
    tuned(ENGINE, binned_from=1 << 40)
    expected = ranks_of(graph.partition(1, device="cuda"), **options)
    tuned(ENGINE, binned_from=0)
    divided = graph.partition(parts, device="cuda").persist()
    for _ in range(2):
        with PeakMemory("cuda", parts, True) as peak:
            found = ranks_of(divided, **options)
        assert any(each.rows.bins for part in divided.built.parts for each in part.tables.values)
        assert peak.bytes / parts < 1.1 * found.stats.memory
        np.testing.assert_array_equal(found.rank, expected.rank)
