"""Kernels of dynamic rows against plain Python, outputs poisoned first; on a GPU the CUDA kernels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from kernel_launch import POISON, Packed, ordered_sum

from graphdask.algorithms.dynamic_pagerank import BLOCK, LOW
from graphdask.algorithms.rank_error import Residual
from graphdask.dynamic.rows import WARP
from graphdask.kernels.dynamic.dynamic_pack import COUNTS, DynamicRanks, Flagged

LENGTHS = (0, 1, 7, 8, 9, 63, 64, 65, 255, 256, 257, 2049, 8191, 8193, 9001)


class Case:
    """Random rows with room behind them, of slots in ascending order, on a backend."""

    def __init__(self, backend, dtype):
        rng = np.random.default_rng(1)
        self.backend, self.dtype, self.ids = backend, dtype, 12_000
        self.kernels = backend.kernels("dynamic", index_t=dtype)
        self.length = rng.permutation([*LENGTHS, *rng.integers(0, 12, 20)]).astype(np.int64)
        room = self.length + rng.integers(0, 5, len(self.length))
        self.begin = np.cumsum(room) - room
        self.indices = np.full(room.sum() + 3, POISON, dtype)
        for first, length in zip(self.begin, self.length, strict=True):
            self.indices[first : first + length] = np.sort(rng.choice(self.ids, length, replace=False))
        self.rows = [self.to(array) for array in (self.begin, self.length, self.indices)]
        self.rng = rng

    def to(self, array):
        return self.backend.from_host(np.array(array))

    def back(self, array):
        self.backend.synchronize()
        return self.backend.to_host(array)

    def row(self, v):
        return self.indices[self.begin[v] : self.begin[v] + self.length[v]].tolist()


@pytest.fixture
def case(backend, dtype):
    return Case(backend, dtype)


def test_degrees_count_a_self_loop_that_is_not_there(case):
    count = len(case.length)
    names = case.rng.permutation(case.ids).astype(case.dtype)  # of slots; rows of slots in the order of ids
    slots = np.argsort(names).astype(case.dtype)[np.maximum(case.indices, 0)]
    ids = case.rng.permutation(case.ids)[:count].astype(case.dtype)
    for v in range(0, count, 2):
        if case.length[v]:
            ids[v] = case.rng.choice(case.row(v))
    rows = case.rng.permutation(count)[: count - 5].astype(case.dtype)
    inverse, loop = case.to(np.full(count, float(POISON))), case.to(np.full(count, 77, np.uint8))
    case.kernels.dynamic_degrees(
        len(rows), case.to(rows), case.to(ids), *case.rows[:2], case.to(slots), case.to(names), inverse, loop
    )
    inverse, loop = case.back(inverse), case.back(loop)
    for v in range(count):
        holds = ids[v] in case.row(v)
        assert loop[v] == (holds if v in rows else 77)
        assert inverse[v] == (1 / (case.length[v] + (not holds)) if v in rows else POISON)


def test_entries_are_found_and_placed(case):
    rows = np.repeat(np.arange(len(case.length)), 6).astype(case.dtype)
    columns = case.rng.integers(0, case.ids, len(rows)).astype(case.dtype)
    for i in range(0, len(rows), 2):
        if case.length[rows[i]]:
            columns[i] = case.rng.choice(case.row(rows[i]))
    expected = [int(np.searchsorted(case.row(v), u)) for v, u in zip(rows, columns, strict=True)]
    holds = [u in case.row(v) for v, u in zip(rows.tolist(), columns.tolist(), strict=True)]
    names = case.rng.permutation(case.ids).astype(case.dtype)  # of slots; rows of slots in the order of ids
    slots = np.argsort(names).astype(case.dtype)[np.maximum(case.indices, 0)]
    place, found = case.to(np.full(len(rows), POISON)), case.to(np.full(len(rows), 77, np.uint8))
    case.kernels.dynamic_find(
        len(rows), case.to(rows), case.to(columns), *case.rows[:2], case.to(slots), case.to(names), place, found
    )
    assert case.back(place).tolist() == expected
    assert case.back(found).tolist() == holds


@pytest.mark.parametrize("becomes", [0, 1, 2])
def test_flagged_vertices_are_listed_by_their_degrees(case, becomes):
    flags = case.rng.integers(0, 3, case.ids).astype(np.uint8)
    flags[: len(case.length)][case.length >= 256] = 1
    sent, counters = case.to(flags), case.to(np.zeros(5, np.uint64))
    low, high = (case.to(np.full(len(case.length), POISON, case.dtype)) for _ in range(2))
    case.kernels.dynamic_split(
        len(case.length), Flagged(
            flags=sent, becomes=becomes, length=case.rows[1], most=LOW, low=low, high=high, counters=counters
        ),
    )  # fmt: skip
    lows, highs, edges, *others = case.back(counters).tolist()
    flagged = np.flatnonzero(flags[: len(case.length)] == 1)
    for found, count, expected in (
        (low, lows, flagged[case.length[flagged] <= 256]), (high, highs, flagged[case.length[flagged] > 256]),
    ):  # fmt: skip
        found = case.back(found)
        assert sorted(found[:count].tolist()) == expected.tolist()
        assert (found[count:] == POISON).all()
    assert (edges, others) == (case.length[flagged].sum(), [0, 0])
    flags[flagged] = becomes
    np.testing.assert_array_equal(case.back(sent), flags)


def test_rows_are_summed_in_the_stated_order_and_their_vertices_marked(case):
    x = case.rng.random(case.ids) ** 9
    sums = case.to(np.full(len(case.length), float(POISON)))
    flags = case.to(np.zeros(case.ids, np.uint8))
    skipped = int(np.flatnonzero(case.length == 257)[0])
    for name, high in (("", False), ("_high", True)):
        listed = np.flatnonzero((case.length > LOW) == high)
        listed = case.to(case.rng.permutation(listed[listed != skipped]).astype(case.dtype))
        options, count = {"per_item": BLOCK} if high else {}, case.to(np.array([len(listed)], np.uint64))
        counted = len(listed) + 9, count, listed, *case.rows
        getattr(case.kernels, f"dynamic_sum{name}")(*counted, case.to(x), sums, **options)
        if not high:
            case.kernels.dynamic_mark(*counted, flags)
            continue
        pieces, number = case.to(np.full(9, POISON, np.int64)), case.to(np.zeros(1, np.uint64))
        case.kernels.dynamic_mark_high(*counted, flags, pieces, number, **options)
        case.kernels.dynamic_mark_pieces(9, number, pieces, case.rows[2], flags, **options)
    expected = [ordered_sum(x[case.row(v)].tolist()) for v in range(len(case.length))]
    expected[skipped] = float(POISON)
    np.testing.assert_array_equal(case.back(sums), expected)
    marked = {u for v in range(len(case.length)) if v != skipped for u in case.row(v)}
    assert np.flatnonzero(case.back(flags)).tolist() == sorted(marked)


@pytest.mark.parametrize(
    ("closed", "prunes", "expands", "becomes", "first"),
    [(0, 0, 0, 2, False), (0, 0, 1, 2, False), (1, 1, 1, 0, False), (0, 0, 0, 2, True)],
)
def test_ranks_are_updated_and_vertices_pruned_and_listed(case, closed, prunes, expands, becomes, first):
    n, rng, scale = len(case.length), case.rng, 2.0**50
    listed = np.arange(30) if first else rng.permutation(n)[:30].astype(case.dtype)
    sums, inverse, rank = rng.random(n), rng.random(n), rng.random(n)
    loop, visited = rng.integers(0, 2, (2, n)).astype(np.uint8)
    x = rng.random(case.ids) / 8
    affected, expand = np.ones(case.ids, np.uint8), np.zeros(n, np.uint8)
    expand[listed[:5]] = 2
    lists = [case.to(np.full(n, POISON, case.dtype)) for _ in range(2)]
    sent = [case.to(array) for array in (rank, x, affected, expand, visited)]
    counters, count = case.to(np.zeros(len(COUNTS), np.uint64)), case.to(np.array([len(listed)], np.uint64))
    before = visited.copy()
    names = "rank", "x", "affected", "expand", "visited"
    pack = DynamicRanks(
        count=count, listed=None if first else case.to(listed), sums=case.to(sums), inverse=case.to(inverse),
        loop=case.to(loop), base=0.25, factor=0.75, damping=0.5, closed=closed, prunes=prunes, prune=0.7,
        expands=expands, frontier=0.6, scale=scale, becomes=becomes, length=case.rows[1], most=LOW,
        **dict(zip(names, sent, strict=True)), low=lists[0], high=lists[1], counters=counters,
    )  # fmt: skip
    case.kernels.dynamic_update(len(listed) + 2 * expands, pack)
    largest, spread, unsent, mass, marks = 0.0, 0, 0, 0, []
    sums *= 0.75
    for v in listed.tolist():
        rank[v], x[v] = rank[v] * 0.75, x[v] * 0.75
        if closed:
            new = (0.25 + 0.5 * (sums[v] - x[v] if loop[v] else sums[v])) / (1.0 - 0.5 * inverse[v])
        else:
            new = 0.25 + 0.5 * (sums[v] if loop[v] else sums[v] + x[v])
        moved = abs(new - rank[v])
        relative, largest = moved / max(new, rank[v]), max(largest, moved)
        goes = math.ceil(moved * (1.0 - inverse[v]) * scale if closed else moved * scale)
        spread += goes
        mass += round(new * 2**60)
        rank[v], x[v], visited[v] = new, new * inverse[v], 1
        affected[v] = not (prunes and relative <= 0.7)
        if expands and not expand[v]:
            if relative > 0.6:
                marks.append(v)
            else:
                unsent += goes
    expand[marks] = becomes
    for one, other in zip(sent, (rank, x, affected, expand, visited), strict=True):
        np.testing.assert_array_equal(case.back(one), other)
    found = COUNTS.of(case.back(counters))
    lengths = case.length[marks]
    listed_to_mark = [sorted(np.array(marks, int)[each].tolist()) for each in (lengths <= LOW, lengths > LOW)]
    assert marks or not expands
    for array, expected in zip(lists, listed_to_mark, strict=True):
        array = case.back(array)
        assert sorted(array[: len(expected)].tolist()) == expected
        assert (array[len(expected) :] == POISON).all()
    lows, highs = map(len, listed_to_mark)
    assert found == COUNTS.of([0] * len(COUNTS))._replace(
        largest=int(np.float64(largest).view(np.uint64)), first=(visited - before).sum(), spread=spread, unsent=unsent,
        mark_low=lows, mark_high=highs, mark_edges=lengths.sum(), mass=mass % 2**64,
    )  # fmt: skip


@pytest.mark.parametrize("kind", [np.int32, np.float64])
def test_all_rows_move(backend, kind):
    rng = np.random.default_rng(3)
    length = np.array([0, 1, 31, 32, 33, 700, *rng.integers(0, 9, 300)])
    begin, target = (np.cumsum(length + rng.integers(0, 4, len(length))) - length for _ in range(2))
    pool, out = rng.integers(0, 1000, begin[-1] + 9).astype(kind), np.full(target[-1] + 9, POISON, kind)
    sent = [backend.from_host(np.array(each)) for each in (begin, length, target, pool, out)]
    backend.kernels("dynamic_rows", entry_t=kind).dynamic_rows_move(len(length), *sent, per_item=WARP)
    backend.synchronize()
    for first, size, to in zip(begin, length, target, strict=True):
        out[to : to + size] = pool[first : first + size]
    np.testing.assert_array_equal(backend.to_host(sent[-1]), out)


@pytest.mark.parametrize("goal", [0.0, 1e-3, 1.0])
def test_the_device_says_as_the_host_does_whether_all_are_ranked_well_enough(backend, dtype, goal):
    kernels = backend.kernels("dynamic", index_t=dtype)
    residual = Residual(0.85, 0.3, affected=0.7)
    for by_error in (0, 1):
        counters, largest = np.zeros(len(COUNTS), np.uint64), goal or 1e-300
        spread, unsent = int(0.5 * goal * residual.scale), int(0.01 * goal * residual.scale)
        given = {"largest": np.float64(largest).view(np.uint64), "spread": spread, "unsent": unsent}
        for name, value in given.items():
            counters[getattr(COUNTS.place, name)] = value
        after = Residual(0.85, 0.3, affected=0.7)
        after.take(spread, unsent, everywhere=True)
        for limit in (after.error, np.nextafter(after.error, 0.0)) if by_error else (goal, np.nextafter(goal, -1.0)):
            on_device = Packed(backend, DynamicRanks, damping=0.85, scale=residual.scale, counters=counters)
            kernels.dynamic_judge(1, float(limit), by_error, on_device.pack)
            enough = after.error <= limit if by_error else largest <= limit
            assert on_device.counts().goes == (0 if enough else 2**64 - 1)


def test_flags_are_set_and_contributions_begin_with_ranks(backend, dtype, rng):
    kernels, n = backend.kernels("dynamic", index_t=dtype), 300
    before, inverse = rng.random(n), 1.0 / rng.integers(1, 9, n)
    rows = rng.integers(0, n, 40).astype(dtype)
    rank, x = (backend.from_host(np.zeros(n)) for _ in range(2))
    flags = [backend.from_host(np.zeros(n, np.uint8)) for _ in range(2)]
    kernels.dynamic_begin(n, backend.from_host(before), backend.from_host(inverse), rank, x)
    kernels.dynamic_flag(len(rows), backend.from_host(rows), *flags)
    np.testing.assert_array_equal(backend.to_host(rank), before)
    np.testing.assert_array_equal(backend.to_host(x), before * inverse)
    for each in flags:
        np.testing.assert_array_equal(np.flatnonzero(backend.to_host(each)), np.unique(rows))
