"""Kernels of core numbers against plain Python on random rows; on a GPU the CUDA twins likewise.

Outputs are poisoned first. Queues have no order on a GPU: they are compared as sets.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from kernel_launch import Packed

from graphdask.kernels.core_number.core_number_pack import COUNTS, KEPT, ROUNDS, Peeling
from graphdask.kernels.core_number.ghost_rows_pack import COUNTS as GHOST_COUNTS
from graphdask.kernels.core_number.ghost_rows_pack import GhostRows

HUB_THREADS = 1 << 14
POISON = -77
OWNED, SLOTS, LEVEL = 80, 120, 6


def rows_of(lists, dtype):
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])]).astype(np.int64)
    return indptr, np.array([x for row in lists for x in row], dtype)


def peeling_rows(rng, owned, slots, hub):
    """Rows with self-loops and parallel edges, which stand together; with `hub`, one of very many edges."""
    rows = [np.sort(rng.integers(0, slots, rng.integers(0, 12))).tolist() for _ in range(owned)]
    for u in rng.integers(0, owned, 20):
        rows[u] = sorted([*rows[u], u, u])
    if hub:
        rows[7] = np.sort(rng.integers(0, slots, 9001)).tolist()
    return rows


def none_of(dtype):
    """The bound of a vertex that is left."""
    return int(np.iinfo(dtype).max)


def packed(backend, dtype, **fields):
    """A pack with queues that are poisoned."""
    queues = {name: np.full(OWNED, POISON, dtype) for name in ("queue", "again", "fell", "hubs")}
    fields = queues | {"counters": np.zeros(len(COUNTS), np.int64), "marked": np.zeros(OWNED, np.uint32)} | fields
    return Packed(backend, Peeling, none=none_of(dtype), owned=OWNED, level=LEVEL, **fields)


def random_bounds(rng, size, dtype):
    """Bounds up to the level; a third of the vertices are left."""
    bound = rng.integers(0, LEVEL + 1, size).astype(dtype)
    bound[rng.random(size) < 1 / 3] = none_of(dtype)
    return bound


def fallen(degree, support, bound, falls, none):
    """Degrees and supports after bounds of neighbours fell, each as (v, old, new); and what must be checked."""
    degree, support, again = degree.copy(), support.copy(), set()
    for v, old, new in falls:
        if bound[v] == none:
            if old == none:
                degree[v] -= 1
                if degree[v] == LEVEL:
                    again.add(v)
        elif new < bound[v] <= old:
            if support[v] > bound[v]:
                support[v] -= 1
            else:
                again.add(v)
    return degree, support, again


def check_falls(d, degree, support, bound, expected, none):
    after, counted, again = expected
    assert sorted(d.host("again")[: d.counts().again].tolist()) == sorted(again)
    assert np.flatnonzero(d.host("marked")).tolist() == sorted(again)
    np.testing.assert_array_equal(d.host("degree"), after)
    known = [v for v in range(OWNED) if v not in again]
    np.testing.assert_array_equal(d.host("support")[known], counted[known])


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("repeat", range(3))
def test_degrees_of_distinct_neighbours(backend, dtype, rng, repeat, hub):
    rows = peeling_rows(rng, OWNED, SLOTS, hub)
    indptr, indices = rows_of(rows, dtype)
    d = packed(backend, dtype, indptr=indptr, indices=indices, degree=np.diff(indptr).astype(dtype))
    kernels = backend.kernels("core_number", index_t=dtype)
    kernels.core_degrees(OWNED, d.pack)
    kernels.core_degrees_hubs(HUB_THREADS, d.pack)
    assert d.host("degree").tolist() == [len(set(row) - {u}) for u, row in enumerate(rows)]


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("repeat", range(3))
def test_rows_of_ghosts(backend, dtype, rng, repeat, hub):
    rows = peeling_rows(rng, OWNED, SLOTS, hub)
    indptr, indices = rows_of(rows, dtype)
    known = [[u for u, row in enumerate(rows) if v in row] for v in range(OWNED, SLOTS)]
    total = sum(map(len, known))
    d = Packed(
        backend, GhostRows, indptr=indptr, indices=indices, owned=OWNED, ends=np.zeros(SLOTS - OWNED, np.int64),
        rows=np.full(total, POISON, dtype), hubs=np.full(OWNED, POISON, dtype),
        counters=np.zeros(len(GHOST_COUNTS), np.int64),
    )  # fmt: skip
    kernels = backend.kernels("ghost_rows", index_t=dtype)
    kernels.ghost_rows_count(OWNED, d.pack)
    kernels.ghost_rows_count_hubs(HUB_THREADS, d.pack)
    assert d.host("ends").tolist() == [len(row) for row in known]
    begins = np.cumsum([0, *map(len, known)])
    d.pack.ends[:] = backend.from_host(begins[:-1])
    d.pack.counters.fill(0)
    kernels.ghost_rows_fill(OWNED, d.pack)
    kernels.ghost_rows_fill_hubs(HUB_THREADS, d.pack)
    assert d.host("ends").tolist() == begins[1:].tolist()
    assert [sorted(d.host("rows")[a:b].tolist()) for a, b in pairwise(begins)] == known


def peeled(rows, degree, left, levels):
    """The level at which each vertex goes, and the degrees of those that are left after the levels."""
    degree, left, level_of = degree.copy(), set(left), {}
    for level in levels:
        while gone := [v for v in left if degree[v] <= level]:
            left -= set(gone)
            level_of |= dict.fromkeys(gone, level)
            for u in gone:
                for v in set(rows[u]) & left:
                    degree[v] -= 1
    return level_of, {v: int(degree[v]) for v in left}


@pytest.mark.parametrize(("last", "hub"), [(LEVEL + 1, False), (LEVEL + 4, True), (40, False), (10**4, True)])
@pytest.mark.parametrize("repeat", range(3))
def test_levels(backend, dtype, rng, repeat, last, hub):
    rows = peeling_rows(rng, OWNED, SLOTS, hub)
    indptr, indices = rows_of(rows, dtype)
    degree, bound = rng.integers(LEVEL, 60, OWNED), random_bounds(rng, SLOTS, dtype)
    degree[: OWNED // 2] = LEVEL + 1
    bound[:7] = none_of(dtype)
    degree[bound[:OWNED] != none_of(dtype)] = LEVEL
    left = np.flatnonzero(bound[:OWNED] == none_of(dtype)).tolist()
    expected, rest = peeled(rows, degree, left, range(LEVEL + 1, last + 1))
    alive = rng.permutation(OWNED).astype(dtype)
    d = packed(
        backend, dtype, indptr=indptr, indices=indices, degree=degree.astype(dtype), bound=bound.copy(), now=1000,
        support=np.zeros(OWNED, dtype), order=np.zeros(OWNED, np.int64), alive=alive,
        spare=np.full(OWNED, POISON, dtype), kept=np.array([OWNED, 0]), rounds=np.zeros(len(ROUNDS), np.int64),
    )  # fmt: skip
    d.pack.set_counters(queue=3, clock=5)
    backend.kernels("core_number", cooperative=True, index_t=dtype).core_levels(HUB_THREADS, last, d.pack)
    counts, queue, after = d.counts(), d.host("queue"), bound.copy()
    assert sorted(queue[3 : counts.queue].tolist()) == sorted(expected)
    assert (queue[:3] == POISON).all()
    assert (queue[counts.queue :] == POISON).all()
    after[list(expected)] = list(expected.values())
    np.testing.assert_array_equal(d.host("bound"), after)
    removed = queue[3 : counts.queue]
    assert (np.diff(after[removed]) >= 0).all()
    order = np.zeros(OWNED, np.int64)
    order[removed] = 1000 + 5 + np.arange(len(removed))
    np.testing.assert_array_equal(d.host("order"), order)
    np.testing.assert_array_equal(d.host("degree")[list(rest)], list(rest.values()))
    least = min(rest.values(), default=none_of(dtype))
    assert (counts.left, counts.least, counts.degrees) == (len(rest), least, sum(rest.values()))
    assert counts.edges == sum(len(rows[u]) for u in expected)
    length, side = KEPT.of(d.host("kept"))
    kept = d.host("spare" if side else "alive")[:length].tolist()
    assert len(set(kept)) == len(kept)
    assert set(rest) <= set(kept)


@pytest.mark.parametrize("repeat", range(3))
def test_what_is_left_is_found(backend, dtype, rng, repeat):
    degree, bound = rng.integers(0, 15, OWNED).astype(dtype), random_bounds(rng, SLOTS, dtype)
    alive = rng.permutation(OWNED)[:60].astype(dtype)
    left = [v for v in alive.tolist() if bound[v] == none_of(dtype)]
    more = [int(degree[v]) for v in left if degree[v] > LEVEL]
    d = packed(backend, dtype, degree=degree, bound=bound)
    d.pack.set_counters(queue=3, least=none_of(dtype))
    backend.kernels("core_number", index_t=dtype).core_find(60, backend.from_host(alive), d.pack)
    counts = d.counts()
    assert sorted(d.host("queue")[3 : counts.queue].tolist()) == sorted(v for v in left if degree[v] <= LEVEL)
    assert (d.host("queue")[:3] == POISON).all()
    assert (counts.left, counts.least, counts.degrees) == (len(more), min(more, default=none_of(dtype)), sum(more))


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("repeat", range(3))
def test_bounds_of_ghosts_that_fell(backend, dtype, rng, repeat, hub):
    none, ghosts = none_of(dtype), SLOTS - OWNED
    known = [sorted(rng.choice(OWNED, rng.integers(0, 12), replace=False).tolist()) for _ in range(ghosts)]
    if hub:
        known[5] = np.sort(rng.integers(0, OWNED, 9001)).tolist()  # longer than a row can be here
    ptr, others = rows_of(known, dtype)
    bound = random_bounds(rng, SLOTS, dtype)
    slots = (OWNED + rng.permutation(ghosts)[:25]).astype(dtype)
    slots = np.union1d(slots, [OWNED + 5]).astype(dtype)
    bound[slots] = np.maximum(bound[slots], 1)
    new = np.array([rng.integers(0, min(int(bound[g]), LEVEL + 1)) for g in slots], dtype)
    degree, support = rng.integers(LEVEL + 1, 15, OWNED).astype(dtype), rng.integers(0, 12, OWNED).astype(dtype)
    falls = [(v, bound[g], b) for g, b in zip(slots, new, strict=True) for v in known[g - OWNED]]
    expected = fallen(degree, support, bound, falls, none)
    d = packed(
        backend, dtype, ghost_ptr=ptr, ghost_rows=others, degree=degree, support=support, bound=bound.copy(),
        before=np.full(SLOTS, POISON, dtype),
    )  # fmt: skip
    kernels = backend.kernels("core_number", index_t=dtype)
    kernels.core_arrive(len(slots), backend.from_host(slots), backend.from_host(new), d.pack)
    np.testing.assert_array_equal(d.host("bound")[slots], new)
    np.testing.assert_array_equal(d.host("before")[slots], bound[slots])
    kernels.core_arrive_rows(len(slots), backend.from_host(slots), d.pack)
    kernels.core_arrive_rows_hubs(HUB_THREADS, d.pack)
    check_falls(d, degree, support, bound, expected, none)
    assert d.counts().edges == len(falls)


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("repeat", range(3))
def test_bounds_of_own_vertices_that_fell(backend, dtype, rng, repeat, hub):
    none, rows = none_of(dtype), peeling_rows(rng, OWNED, SLOTS, hub)
    indptr, indices = rows_of(rows, dtype)
    bound, before = random_bounds(rng, SLOTS, dtype), np.full(SLOTS, POISON, dtype)
    fell = np.union1d(rng.permutation(OWNED)[:30], [7])
    bound[fell] = rng.integers(0, LEVEL + 1, len(fell))
    before[fell] = np.where(rng.random(len(fell)) < 0.5, none, bound[fell] + rng.integers(1, 4, len(fell)))
    degree, support = rng.integers(LEVEL + 1, 15, OWNED).astype(dtype), rng.integers(0, 12, OWNED).astype(dtype)
    falls = [(v, before[u], bound[u]) for u in fell for v in set(rows[u]) - {u} if v < OWNED]
    expected = fallen(degree, support, bound, falls, none)
    listed = np.full(OWNED, POISON, dtype)
    listed[: len(fell)] = fell
    d = packed(
        backend, dtype, indptr=indptr, indices=indices, degree=degree, support=support, bound=bound, before=before,
        fell=listed,
    )  # fmt: skip
    kernels = backend.kernels("core_number", index_t=dtype)
    kernels.core_fall(len(fell), d.pack)
    kernels.core_fall_hubs(HUB_THREADS, d.pack)
    check_falls(d, degree, support, bound, expected, none)
    assert d.counts().edges == sum(len(rows[u]) for u in fell)


@pytest.mark.parametrize("repeat", range(3))
def test_bounds_become_what_neighbours_allow(backend, dtype, rng, repeat):
    """The neighbours are ghosts, so that the order of corrections does not matter."""
    none, now = none_of(dtype), 1000
    rows = [np.sort(rng.integers(OWNED, SLOTS, rng.integers(0, 30))).tolist() for _ in range(OWNED)]
    rows[7] = np.sort(rng.integers(OWNED, SLOTS, 9001)).tolist()
    indptr, indices = rows_of(rows, dtype)
    bound = random_bounds(rng, SLOTS, dtype)
    left = [sum(bound[w] == none for w in set(row)) for row in rows]
    order = np.where(rng.random(OWNED) < 0.5, now + 1, 4)
    again = np.full(OWNED, POISON, dtype)
    checked = rng.permutation(OWNED)[:50]
    again[:50] = checked
    d = packed(
        backend, dtype, indptr=indptr, indices=indices, degree=np.array(left, dtype), again=again, bound=bound.copy(),
        before=np.full(SLOTS, POISON, dtype), support=np.full(OWNED, POISON, dtype), order=order.copy(), now=now,
        marked=np.isin(np.arange(OWNED), checked).astype(np.uint32),
    )  # fmt: skip
    backend.kernels("core_number", index_t=dtype).core_settle(50, d.pack, per_item=256)
    fell = []
    for u in checked.tolist():
        around = sorted((int(bound[w]) for w in set(rows[u])), reverse=True)
        most = min(int(bound[u]), LEVEL)
        new = max(k for k in range(most + 1) if sum(b >= k for b in around) >= k)
        assert d.host("bound")[u] == new
        if bound[u] == none and left[u] >= most:
            assert d.host("support")[u] == 0
        else:
            assert d.host("support")[u] == sum(b >= new for b in around)
        if new < bound[u]:
            fell.append(u)
            assert d.host("before")[u] == bound[u]
    counts = d.counts()
    assert sorted(d.host("fell")[: counts.fell].tolist()) == sorted(fell)
    assert sorted(d.host("queue")[: counts.queue].tolist()) == sorted(u for u in fell if order[u] < now)
    assert sorted(d.host("order")[fell].tolist()) == list(range(now, now + len(fell)))
    assert not d.host("marked").any()
    others = np.setdiff1d(np.arange(SLOTS), fell)
    np.testing.assert_array_equal(d.host("bound")[others], bound[others])
