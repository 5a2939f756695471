"""Kernels of PageRank against plain Python, bit for bit, outputs poisoned first; on a GPU the CUDA twins likewise."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from kernel_launch import Packed, ordered_sum, rows_of_all_lengths

from graphdask.algorithms.pagerank import PageRank, scale_of
from graphdask.engine import row_sums
from graphdask.engine.loop import HUB_THREADS
from graphdask.engine.row_lists import RowLists
from graphdask.engine.row_sums import Chunks, Rows
from graphdask.engine.tuning import ENGINE
from graphdask.kernels.common.tuning import ROW_CHUNK, ROW_FEW, ROW_SPAN
from graphdask.kernels.pagerank.pagerank_pack import COUNTS, LOOPS, RankRows, SelfLoops
from graphdask.partition.part import Csr

POISON = -77


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("weighted", [None, "narrow", "wide"])
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_rows_are_summed_in_the_stated_order(env, weighted, real, ordered, rng):
    slots, backend = 700, env.backend
    indptr, indices = rows_of_all_lengths(rng, np.int32, slots)
    weights = {None: None, "narrow": rng.integers(0, 100, len(indices)), "wide": rng.random(len(indices))}[weighted]
    x, place = (rng.random(slots) ** 9).astype(real), rng.permutation(slots).astype(np.int32)
    sent = [None if array is None else backend.from_host(array) for array in (indptr, indices, weights)]
    goes = rng.permutation(len(indptr) - 1).astype(np.int32)
    more = {"goes": backend.from_host(goes)} if ordered else {}
    rows = Rows.of(env, Csr(*sent), weighted is not None, real, backend.from_host(place), **more)
    on_device = row_sums.sliced(rows.csr)
    assert (rows.slices is not None) == on_device
    assert (len(rows.goes) > 0) == (ordered and not on_device and not row_sums.laid_out(rows.csr, weighted is not None))
    sums = poisoned(env, indptr, goes if ordered else None)
    rows.sum(backend.from_host(x), sums, rows.workspace(backend.xp))
    backend.synchronize()
    terms = x[place[indices]].astype(np.float64)
    if weighted:
        held = rows.slices.weights if on_device else rows.weights
        code = np.uint8 if on_device else np.float32
        wide = np.float32 if real == np.float32 else np.float64
        assert held.dtype == (code if weighted == "narrow" else wide)
        terms = terms * (weights.astype(np.float32) if real == np.float32 else weights).astype(np.float64)
    expected = [ordered_sum(terms[a:b].tolist()) for a, b in pairwise(indptr)]
    found = backend.to_host(sums)
    np.testing.assert_array_equal(found[goes] if ordered else found, expected)


def poisoned(env, indptr, goes=None):
    """Room for sums, where those of rows without edges are 0 before and after."""
    sums = np.where(np.diff(indptr), float(POISON), 0.0)
    if goes is not None:
        sums[goes] = sums.copy()
    return env.backend.from_host(sums)


def laid_out(env, rng, real, weighted=False, dtype=np.int32, slots=700):
    """Rows over a random graph, x, and the bits that their sums must have."""
    backend = env.backend
    indptr, indices = rows_of_all_lengths(rng, dtype, slots)
    weights = rng.random(len(indices)).astype(np.float32)
    x, place = (rng.random(slots) ** 9).astype(real), rng.permutation(slots).astype(dtype)
    csr = Csr(*(backend.from_host(array) for array in (indptr, indices, weights)))
    rows = Rows.of(env, csr, weighted, real, backend.from_host(place))
    terms = x[place[indices]].astype(np.float64)
    if weighted:
        terms *= weights.astype(np.float64)
    return rows, x, indptr, [ordered_sum(terms[a:b].tolist()) for a, b in pairwise(indptr)]


@pytest.mark.parametrize(
    ("real", "weighted", "dtype", "hot"),
    [
        *((np.float32, False, np.int32, hot) for hot in (0, 1, 50, 700, 49152)),
        *((np.float64, True, np.int32, hot) for hot in (0, 1, 50, 700, 24576)),
        *((np.float64, False, np.int64, hot) for hot in (0, 1, 50, 700, 24576)),
    ],
)
def test_sums_are_the_same_whatever_is_in_shared_memory(env, real, weighted, dtype, hot, rng, device_of, tuned):
    backend = env.backend
    if backend.name == "cpu":
        pytest.skip("has no shared memory")
    if hot < 700:
        device_of(backend, shared_memory=hot * np.dtype(real).itemsize)
    tuned(ENGINE, staged_from=0)
    slots = 60_000 if hot > 700 else 700
    rows, x, indptr, expected = laid_out(env, rng, real, weighted, dtype, slots)
    assert rows.hot == min(hot, backend.shared_memory // np.dtype(real).itemsize)
    sums = poisoned(env, indptr)
    rows.sum(backend.from_host(x), sums, rows.workspace(backend.xp))
    backend.synchronize()
    np.testing.assert_array_equal(backend.to_host(sums), expected)


@pytest.mark.parametrize(("ranges", "width", "hot"), [(3, 233, 9), (7, 100, 100), (700, 1, 1)])
def test_sums_are_the_same_where_several_ranges_are_in_shared_memory(env, dtype, ranges, width, hot, rng):
    """Also where the ranges leave a rest of x, and where there is one for each vertex."""
    backend = env.backend
    if backend.name == "cpu":
        pytest.skip("has no shared memory")
    indptr, indices = rows_of_all_lengths(rng, dtype, 700)
    long, x, indices = (
        Chunks.of(backend, Csr(backend.from_host(indptr), backend.from_host(indices))),
        rng.random(700),
        backend.from_host(indices),
    )
    kernels = backend.kernels("pagerank", index_t=dtype, real_t=np.float64, weight_t=np.float32)
    found = []
    for among in ((0, 1, 700), (hot, ranges, width)):
        sums, partial = (backend.from_host(np.full(n, float(POISON))) for n in (len(indptr) - 1, long.partials))
        pack = RankRows(
            chunks=long.chunks, targets=long.targets, indices=indices, weighted=0, x=backend.from_host(x), hot=among[0],
            ranges=among[1], width=among[2], sums=sums, partial=partial,
        )  # fmt: skip
        kernels.pagerank_sum_chunks(
            8 * len(long.chunks), pack, **row_sums.STAGING, shared=8 * among[0] * among[1],
        )  # fmt: skip
        backend.synchronize()
        found.append([backend.to_host(each) for each in (sums, partial)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (found[0][0] != POISON).sum() > 10


def test_what_is_in_shared_memory_is_what_fits_and_only_in_large_graphs(env, rng, device_of):
    backend = env.backend
    if backend.name == "cpu":
        pytest.skip("has no shared memory")
    place = backend.from_host(np.arange(300_000, dtype=np.int32))
    least = 2 * ENGINE.staged_from
    indices, weights = backend.from_host(np.zeros(least, np.int32)), backend.from_host(np.ones(least, np.float32))
    device_of(backend, processors=2)

    def hot(edges=least, room=227 << 10, weighted=False, real=np.float32, place=place):
        device_of(backend, shared_memory=room)
        indptr = backend.from_host(np.array([0, edges]))
        csr = Csr(indptr, indices[:edges], weights[:edges])
        return Rows.of(env, csr, weighted, real, place).hot

    assert hot() == 49152
    assert hot(real=np.float64) == 24576
    assert hot(weighted=True) == 49152
    assert hot(weighted=True, real=np.float64) == 24576
    assert hot(room=64 << 10) == 16384
    assert hot(room=0) == 0
    assert hot(least - 1) == 0
    assert hot(place=None) == 0
    assert hot(place=place[:1000]) == 1000


def test_64_bit_indices_are_summed_alike(env, rng):
    backend = env.backend
    indptr, indices = rows_of_all_lengths(rng, np.int64, 300)
    x = rng.random(300)
    rows = Rows.of(env, Csr(backend.from_host(indptr), backend.from_host(indices)), False, np.float64)
    sums = backend.from_host(np.full(len(indptr) - 1, float(POISON)))
    rows.sum(backend.from_host(x), sums, rows.workspace(backend.xp))
    expected = [ordered_sum(x[indices[a:b]].tolist()) for a, b in pairwise(indptr)]
    np.testing.assert_array_equal(backend.to_host(sums), expected)


def test_chunks_are_listed_by_length_and_hold_every_edge_of_a_long_row_once(backend, rng):
    indptr, indices = rows_of_all_lengths(rng, np.int32, 100)
    csr = Csr(backend.from_host(indptr), backend.from_host(indices))
    found = RowLists.of(backend, csr, None)
    spans, targets, many, first = (
        backend.to_host(array) for array in (found.chunks, found.targets, found.many, found.first_chunk)
    )
    assert len(spans) % 4 == len(many) % 4 == 0
    assert len(spans) == len(targets)
    begin, length = np.divmod(spans, ROW_SPAN)
    assert (np.diff(length) <= 0).all()
    whole = {row: [(a, b)] for row, (a, b) in enumerate(pairwise(indptr)) if ROW_FEW < b - a <= ROW_CHUNK}
    cut = {
        row: [(k, min(k + ROW_CHUNK, b)) for k in range(a, b, ROW_CHUNK)]
        for row, (a, b) in enumerate(pairwise(indptr)) if b - a > ROW_CHUNK
    }  # fmt: skip
    assert many[: len(cut)].tolist() == list(cut)
    assert (many[len(cut) :] == -1).all()
    owner = {-1 - k: row for i, row in enumerate(cut) for k in range(first[i], first[i + 1])}
    pieces = {}
    for target, a, n in zip(targets.tolist(), begin.tolist(), length.tolist(), strict=True):
        if n:
            pieces.setdefault(owner.get(target, target), []).append((-target, a, a + n))
    assert {row: [(a, b) for _, a, b in sorted(mine)] for row, mine in pieces.items()} == whole | cut
    degree = np.diff(indptr)
    few = np.flatnonzero((degree > 0) & (degree <= ROW_FEW))
    np.testing.assert_array_equal(backend.to_host(found.few), few)
    goes = rng.permutation(len(degree)).astype(np.int32)
    items, targets = map(backend.to_host, found.few_in_order(backend, csr, backend.from_host(goes)))
    order = few[np.lexsort((goes[few], -degree[few]))]
    np.testing.assert_array_equal(items, indptr[order] * ROW_SPAN + degree[order])
    np.testing.assert_array_equal(targets, goes[order])


@pytest.mark.parametrize("personalized", [0, 1])
@pytest.mark.parametrize("has_extra", [0, 1])
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_update(backend, real, has_extra, personalized, rng):
    n, slots, damping, base = 5000, 6000, 0.85, 0.375
    at, slot = (rng.permutation(slots)[:n].astype(np.int32) for _ in range(2))
    sums, teleport = rng.random(n) / n, rng.random(n)
    inverse = np.where(rng.random(n) < 0.3, 0.0, rng.random(n))
    extra = rng.integers(0, 2, n).astype(np.uint8)
    rank, x, reported = (rng.random(n) / n).astype(real), rng.random(slots).astype(real), np.full(slots, POISON, real)
    scales = 2.0**40, 2.0**50
    update = Packed(
        backend, RankRows, sums=sums, inverse=inverse, teleport=teleport, personalized=personalized, extra=extra,
        has_extra=has_extra, place=at, slot=slot, damping=damping, base=base, dangling_scale=scales[0],
        change_scale=scales[1], sends=1, rank=rank, x=x, reported=reported, counters=np.array([5, 7, 0, 11], np.uint64),
        cleared=np.full(len(COUNTS), 9, np.uint64),
    )  # fmt: skip
    kernels = backend.kernels("pagerank", index_t=np.int32, real_t=real, weight_t=np.float32)
    kernels.pagerank_update(n, update.pack)
    found_rank, found_x, found_reported, counters, cleared = map(
        update.host, ("rank", "x", "reported", "counters", "cleared")
    )
    gathered = sums + (x[at].astype(float) * extra if has_extra else 0.0)
    new = ((base * teleport if personalized else base) + damping * gathered).astype(real)
    contribution = (new * inverse).astype(real)
    expected_x, some = x.copy(), inverse > 0
    expected_x[at[some]] = contribution[some]
    np.testing.assert_array_equal(found_rank, new)
    np.testing.assert_array_equal(found_x, expected_x)
    expected_reported = np.full(slots, POISON, real)
    expected_reported[slot[some]] = contribution[some]
    np.testing.assert_array_equal(found_reported, expected_reported)
    moved = np.abs(new.astype(float) - rank.astype(float))
    in_fixed_point = [
        5 + sum(round(Fraction(value) * 2**40) for value in new[~some].tolist()),
        7 + sum(round(Fraction(value) * 2**50) for value in moved.tolist()),
    ]
    assert not cleared.any()
    counts = COUNTS.of(counters)
    assert [counts.dangling, counts.change] == in_fixed_point
    assert np.uint64(counts.largest).view(np.float64) == moved.max()
    assert counts.goes == 11


@pytest.mark.parametrize("hub", [False, True])
def test_self_loops_and_ghosts(backend, hub, rng):
    owned, slots = 60, 90
    indptr, indices = rows_of_all_lengths(rng, np.int32, slots)
    owned = len(indptr) - 1
    if hub:
        indices[indptr[:-1][np.argmax(np.diff(indptr))]] = np.argmax(np.diff(indptr))
    rows = Packed(
        backend, SelfLoops, indptr=indptr, indices=indices, loop=np.zeros(owned, np.uint8),
        hubs=np.full(owned, POISON, np.int32), counters=np.zeros(len(LOOPS), np.int64),
    )  # fmt: skip
    kernels = backend.kernels("pagerank", index_t=np.int32, real_t=np.float64, weight_t=np.float32)
    kernels.pagerank_loops(owned, rows.pack)
    kernels.pagerank_loops_hubs(HUB_THREADS, rows.pack)
    expected = np.zeros(owned, np.uint8)
    sources = np.repeat(np.arange(owned), np.diff(indptr))
    expected[sources[sources == indices]] = 1
    np.testing.assert_array_equal(rows.host("loop"), expected)
    reported, place, x = rng.random(20), rng.permutation(slots)[:20].astype(np.int32), np.full(slots, float(POISON))
    sent = [backend.from_host(array) for array in (reported, place, x.copy())]
    kernels.pagerank_scatter(20, *sent)
    x[place] = reported
    np.testing.assert_array_equal(backend.to_host(sent[2]), x)


@pytest.mark.parametrize("by_largest", [0, 1])
def test_a_device_judges_as_the_host(env, by_largest, rng):
    backend = env.backend
    kernels = backend.kernels("pagerank", index_t=np.int32, real_t=np.float64, weight_t=np.float32)
    for change in (0.0, 1e-17, 3e-10, 0.2, 1.7):
        scale, largest = scale_of(2 * change, 2.0**-40), change * rng.random()
        counters = np.array([7, round(change * scale), np.float64(largest).view(np.uint64), POISON % 2**64], np.uint64)
        state = SimpleNamespace(
            iterations=1, change_scale=scale, num_vertices=1, residual=0.0, change=0.0, resumed=False
        )
        votes = np.array([PageRank.votes_of(counters)])
        host = PageRank(0.85, 0.0, 9, norm="linf" if by_largest else "l1")
        host.ends(state, votes)
        for tol in (state.residual, np.nextafter(state.residual, -1.0), np.nextafter(state.residual, 2.0)):
            host.tol = float(tol)
            on_device = Packed(backend, RankRows, change_scale=scale, counters=counters)
            kernels.pagerank_judge(1, host.limit, by_largest, on_device.pack)
            goes = 0 if host.ends(state, votes) else 2**64 - 1
            assert on_device.counts() == COUNTS.of(counters)._replace(goes=goes)
