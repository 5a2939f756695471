"""Kernels of the strong components against plain Python on random rows; on a GPU the CUDA twins likewise.

A twin follows what it lists to the end, a CUDA kernel leaves it to the next launch: both are launched until nothing is
left, and queues are compared as sets.
"""

from __future__ import annotations

import numpy as np
import pytest

from graphdask.kernels.components.strong_pack import COUNTS, Colours

HUB_THREADS = 1 << 14
POISON = -77
OWNED, SLOTS = 90, 140


class World:
    """Random rows and state on a backend; `rows`, a list of (source, slot), is what the plain Python looks at."""

    def __init__(self, backend, dtype, rng, hub):
        degrees = rng.integers(0, 4, OWNED)
        if hub:
            degrees[rng.integers(OWNED)] = 9001
        self.backend, self.dtype, self.rng = backend, dtype, rng
        self.indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
        self.indices = rng.integers(0, SLOTS, self.indptr[-1]).astype(dtype)
        self.rows = list(zip(np.repeat(np.arange(OWNED), degrees).tolist(), self.indices.tolist(), strict=True))
        self.ids = rng.permutation(1000)[:SLOTS].astype(dtype)
        self.kernels = backend.kernels("strong", index_t=dtype)
        self.csr = self.send(self.indptr), self.send(self.indices)
        self.counters = self.send(np.zeros(len(COUNTS), np.int64))
        self.queue, self.ghosts, self.hubs = (
            self.send(np.full(count, POISON, dtype)) for count in (OWNED, SLOTS - OWNED, OWNED)
        )

    def send(self, array):
        return self.backend.from_host(array.copy())

    def host(self, array):
        self.backend.synchronize()
        return self.backend.to_host(array)

    def rows_of(self, flags):
        return self.send(np.flatnonzero(flags).astype(self.dtype))

    def pack(self, **others):
        (indptr, indices), of_all = self.csr, dict(owned=OWNED, hubs=self.hubs, counters=self.counters)
        return Colours(indptr=indptr, indices=indices, queue=self.queue, ghost_queue=self.ghosts, **of_all, **others)

    def both(self, name, rows, pack):
        getattr(self.kernels, name)(len(rows), rows, pack)
        getattr(self.kernels, f"{name}_hubs")(HUB_THREADS, pack)
        self.counters[COUNTS.place.hubs] = 0

    def drain(self, name, *shared):
        while True:
            counts = COUNTS.of(self.host(self.counters))
            if counts.queue == counts.followed:
                return
            getattr(self.kernels, name)(counts.queue - counts.followed, self.queue[counts.followed :], *shared)
            getattr(self.kernels, f"{name}_hubs")(HUB_THREADS, *shared)
            self.counters[COUNTS.place.hubs] = 0

    def listed(self):
        """What stands in the two queues; the rest is untouched."""
        own, _, ghosts, _, _ = self.host(self.counters)
        queues = self.host(self.queue), self.host(self.ghosts)
        for queue, length in zip(queues, (own, ghosts), strict=True):
            assert (queue[length:] == POISON).all()
        return sorted(queues[0][:own].tolist()), sorted(queues[1][:ghosts].tolist())


@pytest.fixture
def world(backend, dtype, rng, request):
    return World(backend, dtype, rng, getattr(request, "param", False))


@pytest.mark.parametrize("world", [False, True], indirect=True)
def test_counts_and_trimming(world):
    rng = world.rng
    colour = np.where(rng.random(SLOTS) < 0.2, -1, world.ids).astype(world.dtype)
    active = np.flatnonzero(colour[:OWNED] >= 0)
    expected = np.zeros(SLOTS, np.int64)
    for u, v in world.rows:
        expected[u] += u != v and colour[u] >= 0 and colour[v] >= 0
    count, sent = world.send(np.zeros(SLOTS, world.dtype)), world.send(colour)
    rows = world.send(active.astype(world.dtype))
    world.both("strong_count", rows, world.pack(colour=sent, count=count))
    np.testing.assert_array_equal(world.host(count), expected)
    degrees = np.diff(world.indptr)
    assert COUNTS.of(world.host(world.counters)).edges == degrees[active].sum()

    # counts that stand for another direction: edges from the rows, some of them taken already
    into = np.zeros(SLOTS, np.int64)
    for u, v in world.rows:
        into[v] += v < OWNED and u != v and colour[u] >= 0 and colour[v] >= 0
    label = np.full(OWNED, -1, world.dtype)
    out = {int(v) for v in active if into[v] == 0}
    left, taken = into.copy(), np.zeros(SLOTS, np.int64)
    pending, gone = sorted(out), set(out)
    while pending:
        u = pending.pop()
        for v in world.indices[world.indptr[u] : world.indptr[u + 1]].tolist():
            if v >= OWNED:
                taken[v] += 1
            elif v != u:
                left[v] -= 1
                if left[v] == 0 and colour[v] >= 0 and v not in gone:
                    gone.add(v)
                    pending.append(v)
    count, label = world.send(into.astype(world.dtype)), world.send(label)
    world.counters[COUNTS.place.edges] = 0
    pack = world.pack(ids=world.send(world.ids), colour=sent, count=count, label=label)
    world.kernels.strong_bare(len(rows), rows, pack)
    world.drain("strong_trim", pack)
    assert world.listed() == (sorted(gone), np.flatnonzero(taken).tolist())
    np.testing.assert_array_equal(world.host(count)[OWNED:], -taken[OWNED:])
    assert COUNTS.of(world.host(world.counters)).edges == degrees[sorted(gone)].sum()
    is_out = np.isin(np.arange(OWNED), sorted(gone))
    np.testing.assert_array_equal(world.host(label), np.where(is_out, world.ids[:OWNED], -1))
    np.testing.assert_array_equal(world.host(sent)[:OWNED], np.where(is_out, -1, colour[:OWNED]))


def test_counts_of_other_ranks(world):
    count = world.rng.integers(-2, 4, SLOTS)
    slots = np.concatenate([world.rng.permutation(SLOTS)[:100], world.rng.permutation(SLOTS)[:100]])
    values = -world.rng.integers(1, 3, 200)
    expected = count.copy()
    np.add.at(expected, slots, values)
    keep = ~np.isin(slots, np.flatnonzero((count > 0) & (expected < 0)))  # edges are taken off once
    slots, values = slots[keep], values[keep]
    expected = count.copy()
    np.add.at(expected, slots[slots < OWNED], values[slots < OWNED])
    gone = np.flatnonzero((count > 0) & (expected == 0)).tolist()
    sent, colour = world.send(count.astype(world.dtype)), world.send(world.ids)
    label = world.send(np.full(OWNED, -1, world.dtype))
    world.kernels.strong_take(
        len(slots), world.send(slots.astype(world.dtype)), world.send(values.astype(world.dtype)),
        world.pack(ids=world.send(world.ids), colour=colour, count=sent, label=label),
    )  # fmt: skip
    np.testing.assert_array_equal(world.host(sent), expected)
    assert world.listed() == (gone, [])
    assert np.flatnonzero(world.host(label) >= 0).tolist() == gone
    assert np.flatnonzero(world.host(colour) < 0).tolist() == gone


@pytest.mark.parametrize("world", [False, True], indirect=True)
@pytest.mark.parametrize("arrived", [False, True])
def test_colours_spread(world, arrived):
    rng, base = world.rng, 8
    colour = np.where(rng.random(SLOTS) < 0.2, -1, world.ids).astype(world.dtype)
    sent, stamp = world.send(colour), world.send(np.zeros(SLOTS, np.int32))
    if arrived:
        slots, values = rng.integers(0, SLOTS, 60), rng.integers(0, 1000, 60)
        for v, value in zip(slots, values, strict=True):
            colour[v] = min(colour[v], value) if v < OWNED else colour[v]
        lowered = np.flatnonzero(colour != world.host(sent))
        world.kernels.strong_lower(
            60, world.send(slots.astype(world.dtype)), world.send(values.astype(world.dtype)),
            world.pack(colour=sent, stamp=stamp, level=base - 1),
        )  # fmt: skip
        assert world.listed() == (lowered.tolist(), [])
        np.testing.assert_array_equal(world.host(sent), colour)
    else:
        lowered = np.flatnonzero(colour[:OWNED] >= 0)
    expected, work = colour.copy(), lowered.tolist()
    while work:
        u = work.pop()
        for v in world.indices[world.indptr[u] : world.indptr[u + 1]].tolist():
            if expected[u] < expected[v]:
                expected[v] = expected[u]
                if v < OWNED:
                    work.append(v)
    world.queue.fill(POISON)
    level, rows = base, world.send(lowered[np.argsort(colour[lowered])].astype(world.dtype))
    while len(rows):
        world.counters[COUNTS.place.queue] = 0
        world.both("strong_spread", rows, world.pack(colour=sent, stamp=stamp, level=level, base=base))
        rows, level = world.queue[: COUNTS.of(world.host(world.counters)).queue].copy(), level + 1
    np.testing.assert_array_equal(world.host(sent), expected)
    ghosts = world.host(world.ghosts)[: COUNTS.of(world.host(world.counters)).ghosts]
    assert sorted(ghosts.tolist()) == (np.flatnonzero(expected[OWNED:] != colour[OWNED:]) + OWNED).tolist()


@pytest.mark.parametrize("world", [False, True], indirect=True)
def test_what_reaches_the_roots_is_collected(world):
    rng = world.rng
    colour = rng.choice([-1, 3, 5, 5, 8], SLOTS).astype(world.dtype)
    label = np.full(OWNED, -1, world.dtype)
    arrived = rng.integers(0, SLOTS, 12)
    found = {int(v) for v in arrived if v < OWNED and colour[v] >= 0}
    work, ghosts = sorted(found), set()
    while work:
        u = work.pop()
        for v in world.indices[world.indptr[u] : world.indptr[u + 1]].tolist():
            if colour[v] == colour[u] and v not in found:
                (ghosts if v >= OWNED else found).add(v)
                if v < OWNED:
                    work.append(v)
    sent, labels = world.send(colour), world.send(label)
    pack = world.pack(colour=sent, label=labels)
    world.kernels.strong_arrive(len(arrived), world.send(arrived.astype(world.dtype)), pack)
    world.drain("strong_collect", pack)
    assert world.listed() == (sorted(found), sorted(ghosts))
    is_found = np.isin(np.arange(SLOTS), [*found, *ghosts])
    np.testing.assert_array_equal(world.host(sent), np.where(is_found, -1, colour))
    np.testing.assert_array_equal(world.host(labels), np.where(is_found[:OWNED], colour[:OWNED], -1))


@pytest.mark.parametrize("world", [False, True], indirect=True)
def test_heads_are_the_ids_of_the_neighbours(world):
    rows = world.rng.permutation(OWNED)[:50]
    degrees = np.diff(world.indptr)[rows]
    expected = np.concatenate([world.ids[world.indices[world.indptr[u] : world.indptr[u + 1]]] for u in rows])
    heads = world.send(np.full(len(expected) + 1, POISON, world.dtype))
    world.kernels.strong_heads(
        50, world.send(rows.astype(world.dtype)), world.send(np.cumsum(degrees) - degrees), *world.csr,
        world.send(world.ids), heads, per_item=32,
    )  # fmt: skip
    assert world.host(heads).tolist() == [*expected.tolist(), POISON]
