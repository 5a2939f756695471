"""Kernels that apply a batch of edges to rows against Python's sets, outputs poisoned first; on a GPU the CUDA kernels.

The whole sequence runs as the library runs it, and what it makes of rows of every length is what sets say: in their
place, at the end of the pool, and, where that is too small, not at all.
"""

from __future__ import annotations

import numpy as np
import pytest
from kernel_launch import POISON

from graphdask.dynamic.batch import BLOCK, FEW, PER_PROCESSOR, PIECE
from graphdask.kernels.dynamic.dynamic_batch import NOTHING
from graphdask.kernels.dynamic.dynamic_batch_pack import COUNTS, BatchEntries
from graphdask.kernels.dynamic.dynamic_rows_pack import ChangedRows

LENGTHS = (0, 1, 2, 31, 32, 33, 250, 255, 256, 257, 4095, 4096, 4097, 9000)
CAPACITY = 20_000
SPARE = 100_000


class Rows:
    """Rows of one direction with room behind them, as sets of columns and in a pool; weights are ten times the ids."""

    def __init__(self, rng, dtype, spare):
        self.length = rng.permutation([*LENGTHS, *rng.integers(0, 12, 30)]).astype(np.int64)
        self.capacity = self.length + rng.choice([0, 3, 200], len(self.length))
        self.begin = np.cumsum(self.capacity) - self.capacity
        self.used = int(self.capacity.sum())
        self.pool = np.full(self.used + spare, POISON, dtype)
        self.sets = [set(rng.choice(CAPACITY, length, replace=False).tolist()) for length in self.length]
        for first, columns in zip(self.begin, self.sets, strict=True):
            self.pool[first : first + len(columns)] = sorted(columns)

    def arrays(self):
        return self.begin, self.length, self.capacity, self.pool


def rows_of(way, begin, length, room, indices):
    """Fields of a pack for the rows of a way, "in" or "out"."""
    return {f"{way}_begin": begin, f"{way}_length": length, f"{way}_capacity": room, f"{way}_indices": indices}


class Batch:
    """Entries of both directions that change their rows: a few, many, all of a row, in front, within, and behind."""

    def __init__(self, rng, both):
        chosen = []
        for kind, rows in enumerate(both):
            for v, columns in enumerate(rows.sets):
                style, count = rng.integers(5), int(rng.choice([0, 1, 2, 9, 700]))
                gone = [] if style == 0 else rng.permutation(sorted(columns))[: len(columns) if style == 1 else count]
                new = [] if style == 2 else rng.choice(CAPACITY, count, replace=False).tolist()
                if style == 3:  # behind all others, and before them
                    new = [*range(CAPACITY - count, CAPACITY), *range(min(count, 3))]
                chosen += [(kind, v, u) for u in {*(int(u) for u in gone), *(u for u in new if u not in columns)}]
        self.entries = sorted(chosen)
        owned = len(both[0].sets)
        keys = [(kind * owned + v) * CAPACITY + u for kind, v, u in self.entries]
        self.keys = np.array([*keys, *[NOTHING] * 5], np.uint64)
        self.inserts = [u not in both[kind].sets[v] for kind, v, u in self.entries]
        self.changed = [[set(columns) for columns in rows.sets] for rows in both]
        for kind, v, u in self.entries:
            self.changed[kind][v] ^= {u}


@pytest.mark.parametrize(("fits", "hub", "room"), [
    ((True, True), 2**62, 0), ((True, False), 4000, 2**20), ((False, True), 4000, 12_000),
])  # fmt: skip
def test_rows_become_what_the_entries_of_a_batch_say(backend, dtype, fits, hub, room):
    """A few long rows, all, or those that there is room for, are put together elsewhere."""
    rng = np.random.default_rng(4)
    both = [Rows(rng, dtype, SPARE if each else 10) for each in fits]
    batch = Batch(rng, both)
    n, owned = len(batch.keys), len(both[0].sets)
    to, back = (lambda array: backend.from_host(np.array(array))), backend.to_host
    out, inward = ([to(array) for array in rows.arrays()] for rows in both)
    counters, keys = to(np.zeros(len(COUNTS), np.uint64)), to(batch.keys)
    row, column = (to(np.full(n, POISON, dtype)) for _ in range(2))
    place, steps = to(np.full(n, POISON)), to(np.full(n + 1, POISON))
    kernels = backend.kernels("dynamic_batch", index_t=dtype)
    names = to(np.arange(CAPACITY).astype(dtype))
    pack = BatchEntries(
        keys=keys, owned=owned, capacity=CAPACITY, **rows_of("out", *out), **rows_of("in", *inward), names=names,
        slots=names, row=row, slot=column, place=place, steps=steps, counters=counters,
    )  # fmt: skip
    kernels.dynamic_batch_place(n, pack)
    backend.synchronize()
    count, outward = len(batch.entries), sum(kind == 0 for kind, _, _ in batch.entries)
    assert COUNTS.of(back(counters))[:2] == (outward, count)
    assert list(zip(back(row).tolist(), back(column).tolist(), strict=True))[:count] == [e[1:] for e in batch.entries]
    assert back(steps).tolist() == [0, *(1 if inserts else 2**32 for inserts in batch.inserts), *[0] * 5]
    ranks = [sum(u < column for u in both[kind].sets[v]) for kind, v, column in batch.entries[::97]]
    assert back(place)[:count:97].tolist() == ranks
    sums = to(np.cumsum(back(steps)))
    listed, plan = to(np.full(n, POISON)), to(np.full(3 * n, POISON))
    pieces = to(np.full(8 * (room // PIECE + 1), POISON))
    pack.sums, pack.most, pack.out_used, pack.in_used, pack.hub = sums, FEW, both[0].used, both[1].used, hub
    pack.most_made, pack.pieces, pack.listed, pack.plan = room, pieces, listed, plan
    kernels.dynamic_batch_plan(n, pack)
    backend.synchronize()
    grown = [[v for v, columns in enumerate(changed) if len(columns) > rows.capacity[v]]
             for rows, changed in zip(both, batch.changed, strict=True)]  # fmt: skip
    lengths = [{v: len(changed[v]) for v in of} for changed, of in zip(batch.changed, grown, strict=True)]
    claimed = [sum(size + size // 4 + 2 for size in each.values()) for each in lengths]
    found = COUNTS.of(back(counters))
    gone = [kind for inserts, (kind, _, _) in zip(batch.inserts, batch.entries, strict=True) if not inserts]
    assert (found.out_deleted, found.in_deleted) == (gone.count(0), gone.count(1))
    assert [found.out_claimed, found.in_claimed] == claimed
    touched = {(kind, v) for kind, v, _ in batch.entries}
    few = {(kind, v) for kind, v in touched if max(len(both[kind].sets[v]), len(batch.changed[kind][v])) <= FEW}
    first = {entry[:2]: i for i, entry in reversed(list(enumerate(batch.entries)))}
    lists, parts = back(listed).tolist(), back(pieces).reshape(-1, 4)[: found.pieces]
    sizes = {each: max(len(both[each[0]].sets[each[1]]), len(batch.changed[each[0]][each[1]])) for each in touched}
    stay = {(k, v) for k, v in touched if sizes[k, v] > hub and v not in grown[k]}
    hubs = {batch.entries[i][:2] for i in parts[:, 0].tolist()}
    assert hubs <= stay
    assert found.taken == sum(sizes[each] for each in stay)
    if room:
        assert hubs
        assert (hubs == stay) == (found.taken <= room)
    assert sorted(map(tuple, parts[:, :2].tolist())) == sorted(
        (first[each], k) for each in hubs for k in range(0, sizes[each], PIECE)
    )
    spans = sorted({(at, sizes[batch.entries[i][:2]]) for i, _, at, _ in parts.tolist()})
    assert all(
        at + size <= end for (at, size), (end, _) in zip(spans, ([*spans[1:], (room, 0)] if spans else []), strict=True)
    )
    assert sorted(lists[: found.leading]) == sorted(first[each] for each in few)
    assert sorted(lists[n - found.trailing :]) == sorted(first[each] for each in touched - few - hubs)
    assert set(lists[found.leading : n - found.trailing]) <= {POISON}
    assert all(len(each) > 3 for each in (few, touched - few, grown[0], grown[1]))
    change(backend, n, counters, pieces, room, listed, plan, place, sums, column, both, out, inward)
    for rows, arrays, changed, there in zip(both, (out, inward), batch.changed, fits, strict=True):
        begin, length, room, pool = (back(array) for array in arrays)
        expected = changed if there else rows.sets
        assert length.tolist() == [len(columns) for columns in expected]
        moved = np.flatnonzero(begin != rows.begin).tolist()
        assert moved == ([v for v, columns in enumerate(changed) if len(columns) > rows.capacity[v]] if there else [])
        assert (begin[moved] >= rows.used).all()
        assert all(room[v] == len(changed[v]) + len(changed[v]) // 4 + 2 for v in moved)
        for v, columns in enumerate(expected):
            assert pool[begin[v] : begin[v] + length[v]].tolist() == sorted(columns), v
        spans = sorted(zip(begin.tolist(), room.tolist(), strict=True))
        ends = [at + size for at, size in spans]
        assert all(end <= at for end, (at, _) in zip(ends, spans[1:], strict=False))
        assert ends[-1] <= len(pool)


def change(backend, n, counters, pieces, room, listed, plan, place, sums, column, both, out, inward):
    """Rewrite the rows: weights of the entries, in a pool of their own, and after that the ids."""
    kinds = np.float64, np.float32, np.int32, np.int64
    weights = [[backend.from_host(10 * rows.pool.astype(kind)) for rows in both] for kind in kinds]
    last = [(column, [out[3], inward[3]])]
    for values, pools in [
        *((column.astype(kind) * kind(10), pools) for kind, pools in zip(kinds, weights, strict=True)),
        *last,
    ]:
        kernels = backend.kernels("dynamic_rows", entry_t=values.dtype)
        sizes = both[0].used, len(both[0].pool), both[1].used, len(both[1].pool)
        made, commits = backend.from_host(np.full(room, POISON).astype(values.dtype)), int(pools is last[0][1])
        wide = {"per_item": BLOCK, "threads": BLOCK, "per_processor": PER_PROCESSOR}
        pack = ChangedRows(
            counters=counters, pieces=pieces, listed=listed, plan=plan, place=place, sums=sums, values=values,
            **dict(zip(("out_used", "out_size", "in_used", "in_size"), sizes, strict=True)), out_begin=out[0],
            out_length=out[1], out_capacity=out[2], out_pool=pools[0], in_begin=inward[0], in_length=inward[1],
            in_capacity=inward[2], in_pool=pools[1], made=made, commits=commits,
        )  # fmt: skip
        kernels.dynamic_rows_change(n, pack, **wide)
        kernels.dynamic_rows_settle(n, pack, **wide)
        backend.synchronize()
    for k, arrays in enumerate((out, inward)):
        begin, length, _, pool = (backend.to_host(array) for array in arrays)
        for first, size in zip(begin.tolist(), length.tolist(), strict=True):
            for pools in weights:
                found = backend.to_host(pools[k])[first : first + size]
                np.testing.assert_array_equal(found, 10 * pool[first : first + size])


@pytest.mark.parametrize("directed", [0, 1])
def test_entries_are_looked_up_and_others_left_out(backend, dtype, directed):
    rng = np.random.default_rng(5)
    vertices, owned = 60, 25
    slots = rng.permutation(vertices).astype(dtype)
    local = {v: slot for v, slot in enumerate(slots.tolist()) if slot < owned}
    sets = [[set(rng.choice(vertices, 20, replace=False).tolist()) for _ in range(owned)] for _ in range(1 + directed)]
    names = np.argsort(slots).astype(dtype)
    pools = [np.array([slots[u] for columns in each for u in sorted(columns)], dtype) for each in sets]
    begin, length = np.arange(owned) * 20, np.full(owned, 20)
    pairs = np.sort(rng.choice(vertices**2, 900, replace=False))
    pairs = pairs[(pairs // vertices <= pairs % vertices) | bool(directed)]
    inserts = rng.integers(0, 2, len(pairs))
    n = 2 * len(pairs)
    edges = backend.from_host((2 * pairs + inserts).astype(np.uint64))
    kernels = backend.kernels("dynamic_batch", index_t=dtype)
    ends = np.concatenate([pairs // vertices, pairs % vertices])
    sent = [backend.from_host(array) for array in (begin, length, pools[0], begin, length, pools[-1], names)]
    found, where = backend.from_host(np.full(len(pairs), 77, np.uint8)), backend.from_host(np.full(n, POISON))
    keys = backend.from_host(np.full(n, 77, np.uint64))
    on = backend.from_host(slots)
    (out_begin, out_length, out, in_begin, in_length, inward, names), none = sent, None
    kernels.dynamic_batch_look(
        n, BatchEntries(
            edges=edges, num_vertices=vertices, slots=on, owned=owned, capacity=vertices, directed=directed, weighted=1,
            **rows_of("out", out_begin, out_length, none, out), **rows_of("in", in_begin, in_length, none, inward),
            names=names, found=found, again=where, keys=keys,
        ),
    )  # fmt: skip
    weights = [np.full(len(pool), -1.0) for pool in pools]
    given, on = rng.random(len(pairs)), [backend.from_host(each.copy()) for each in weights]
    order, sorted_weights = rng.permutation(n), backend.from_host(np.full(n, np.nan))
    backend.kernels("dynamic_rows", entry_t=np.float64).dynamic_rows_weigh(
        n, where, directed, backend.from_host(order), backend.from_host(given), sorted_weights, on[0], on[-1]
    )
    backend.synchronize()
    np.testing.assert_array_equal(backend.to_host(sorted_weights), np.tile(given, 2)[order])
    expected, reported = [], []
    for i, (own, other) in enumerate(zip(ends.tolist(), np.roll(ends, len(pairs)).tolist(), strict=True)):
        edge, backward = i % len(pairs), i >= len(pairs)
        kind = int(backward and directed)
        mine = own in local and (directed or not backward or own != other)
        there = mine and other in sets[kind][local[own]]
        if not backward:
            reported.append(int(there))
        needed = mine and there != inserts[edge]
        expected.append((kind * owned + local[own]) * vertices + other if needed else int(NOTHING))
        if there and inserts[edge]:
            weights[kind][20 * local[own] + sorted(sets[kind][local[own]]).index(other)] = given[edge]
    assert backend.to_host(keys).tolist() == expected
    assert backend.to_host(found).tolist() == reported
    for one, other in zip(on, weights, strict=True):
        np.testing.assert_array_equal(backend.to_host(one), other)


@pytest.mark.parametrize("directed", [0, 1])
@pytest.mark.parametrize("count", [1, 511, 2600])
def test_one_launch_finds_what_several_find(backend, dtype, directed, count):
    """Tiles of keys sorted side by side, most of them of nothing; of blocks that wait for each other."""
    rng = np.random.default_rng(count)
    vertices, owned, size, each = 3000, 1700, 2, 40
    slots, begin = rng.permutation(vertices).astype(dtype), each * np.arange(owned)
    names, to = np.argsort(slots).astype(dtype), lambda array: backend.from_host(np.array(array))
    pools = [np.concatenate([slots[np.sort(rng.choice(vertices, each, replace=False))] for _ in range(owned)])
             for _ in range(1 + directed)]  # fmt: skip
    length = rng.choice([0, 7, each], owned)
    pairs = np.sort(rng.choice(vertices**2, count, replace=False))
    ends, bounds = 2 * count, np.array([0, owned, vertices])
    edges = to((2 * pairs + rng.integers(0, 2, count)).astype(np.uint64))
    looks = {
        "edges": edges, "num_vertices": vertices, "slots": to(slots), "owned": owned, "capacity": vertices,
        "directed": directed, "weighted": 1, "names": to(names), "bounds": to(bounds), "size": size, "rank": 1,
        "keeps_sent": 0, "most": 12, "hub": 2**62, "most_made": 0, "order": to(np.zeros(ends, np.int64)),
        **rows_of("out", to(begin), to(length), to(np.full(owned, each)), to(pools[0])), "out_used": len(pools[0]),
        **rows_of("in", to(begin), to(length), to(np.full(owned, each)), to(pools[-1])), "in_used": len(pools[0]),
    }  # fmt: skip

    def taken():
        empty = lambda n, kind: to(np.full(n, 77, kind))  # noqa: E731
        return BatchEntries(
            **looks, found=empty(count, np.uint8), again=empty(ends, np.int64), keys=empty(ends, np.uint64),
            row=empty(ends, dtype), slot=empty(ends, dtype), place=empty(ends, np.int64),
            held=to(np.zeros((size, owned), np.uint8)), sent=to(np.zeros(0)), pieces=empty(8, np.int64),
            listed=empty(ends, np.int64), plan=empty(3 * ends, np.int64), counters=to(np.zeros(len(COUNTS), np.uint64)),
            steps=(steps := empty(ends + 1, np.int64)), sums=steps,
        )  # fmt: skip

    one, several = taken(), taken()
    backend.kernels("dynamic_batch", cooperative=True, index_t=dtype).dynamic_batch_prepare(
        ends, one, threads=BLOCK, per_processor=1
    )
    kernels = backend.kernels("dynamic_batch", index_t=dtype)
    kernels.dynamic_batch_look(ends, several)
    backend.synchronize()
    unsorted = backend.to_host(several.keys)
    several.keys = to(np.sort(unsorted))
    kernels.dynamic_batch_place(ends, several)
    several.sums = to(np.cumsum(backend.to_host(several.steps)))
    kernels.dynamic_batch_note(ends, several)
    kernels.dynamic_batch_plan(ends, several)
    backend.synchronize()

    def same(first, second):
        np.testing.assert_array_equal(backend.to_host(first), backend.to_host(second))

    needed, counts = int((unsorted != NOTHING).sum()), several.read_counters(backend)
    leading, trailing = counts.leading, counts.trailing
    assert needed >= count // 4
    for name in ("found", "again", "keys", "row", "slot", "place", "sums", "held"):
        same(getattr(one, name), getattr(several, name))
    assert one.read_counters(backend)._replace(arrived=0) == counts
    sorted_keys = backend.to_host(several.keys)[:needed]
    np.testing.assert_array_equal(unsorted[backend.to_host(one.order)[:needed]], sorted_keys)
    lists, plans = ([backend.to_host(getattr(each, name)) for each in (one, several)] for name in ("listed", "plan"))
    np.testing.assert_array_equal(*(np.sort(each[:leading]) for each in lists))  # the order is nobody's
    np.testing.assert_array_equal(*(np.sort(each[ends - trailing :]) for each in lists))
    first = np.flatnonzero(plans[0][:ends])
    assert len(first) == leading + trailing
    np.testing.assert_array_equal(plans[0][:ends], plans[1][:ends])
    np.testing.assert_array_equal(*(each.reshape(3, -1)[2, first] for each in plans))
