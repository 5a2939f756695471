"""What ranks of a dynamic graph tell each other, against plain Python; on a GPU and emulated the CUDA kernels."""

from __future__ import annotations

import numpy as np

from graphdask.kernels.dynamic.dynamic_messages_pack import ChangedContributions

OWNED, SLOTS = 700, 1500


def test_each_rank_is_sent_what_it_needs_and_has_not_been_sent(backend, dtype):
    rng = np.random.default_rng(3)
    size, rank = 67, 2  # more ranks than a block counts at a time
    x = rng.integers(1, 4, SLOTS).astype(np.float64)
    reported = np.where(rng.random(OWNED) < 0.5, x[:OWNED], -1.0)
    held = (rng.random((size, OWNED)) < 0.2).astype(np.uint8)
    shifts = rng.integers(0, SLOTS - OWNED, size)
    listed = rng.permutation(OWNED)[:600].astype(dtype)
    changed = [v for v in listed.tolist() if x[v] != reported[v]]
    expected = [[v for v in changed if r != rank and held[r, v]] for r in range(size)]
    kernels = backend.kernels("dynamic_messages", index_t=dtype)
    sent = [backend.from_host(array) for array in (listed, x, reported.copy(), held)]
    counts = backend.xp.zeros(size + 1, np.uint64)
    count = backend.from_host(np.array([len(listed)], np.uint64))
    kernels.dynamic_messages_count(len(listed) + 40, count, *sent, OWNED, size, rank, counts)
    found = backend.to_host(counts).astype(int).tolist()
    assert found == [*map(len, expected), len(changed)]
    begin = np.cumsum(found[:-1]) - found[:-1]
    places = backend.from_host(np.append(begin, 0).astype(np.uint64))
    vertex, last = backend.xp.zeros(sum(found[:-1]), dtype), backend.xp.zeros(len(changed), dtype)
    contribution = backend.xp.zeros(len(vertex), np.float64)
    shifted = backend.from_host(shifts)
    names = ("listed", "x", "reported", "held")
    pack = ChangedContributions(
        **dict(zip(names, sent, strict=True)), shifts=shifted, owned=OWNED, size=size, rank=rank, next=places,
        vertex=vertex, contribution=contribution, last=last,
    )  # fmt: skip
    kernels.dynamic_messages_fill(len(listed), pack)
    vertex, contribution = backend.to_host(vertex), backend.to_host(contribution)
    for first, own, shift in zip(begin, expected, shifts, strict=True):
        came = slice(first, first + len(own))
        assert sorted(vertex[came].tolist()) == sorted((shift + np.array(own)).tolist())
        np.testing.assert_array_equal(contribution[came], x[vertex[came] - shift])
    assert sorted(backend.to_host(last).tolist()) == sorted(changed)
    reported[changed] = x[changed]
    np.testing.assert_array_equal(backend.to_host(sent[2]), reported)


def test_marks_of_other_ranks_are_sent_to_their_owners_who_take_what_comes(backend, dtype):
    rng = np.random.default_rng(4)
    size, rank = 5, 3
    bounds = np.array([0, 100, 100, 1259, 1260, SLOTS])  # of the ranks 3, 4, 0, 1, 2
    affected = rng.integers(0, 2, SLOTS).astype(np.uint8)
    affected[300:500] = 0  # words of no marks
    kernels, sent, ends = (
        backend.kernels("dynamic_messages", index_t=dtype),
        *map(backend.from_host, (affected.copy(), bounds)),
    )
    counts = backend.xp.zeros(size, np.uint64)
    kernels.dynamic_messages_marks_count(SLOTS, sent, ends, size, rank, counts)
    marked = {(rank + k) % size: np.flatnonzero(affected[bounds[k] : bounds[k + 1]]) for k in range(1, size)}
    found = backend.to_host(counts).astype(int)
    assert found.tolist() == [len(set(marked[r] // 64)) if r in marked else 0 for r in range(size)]
    begin = np.cumsum(found) - found + 3
    vertex, word = backend.xp.zeros(3 + found.sum(), dtype), backend.xp.zeros(3 + found.sum(), np.float64)
    kernels.dynamic_messages_marks(
        SLOTS, sent, ends, size, rank, backend.from_host(begin.astype(np.uint64)), vertex, word
    )
    x = backend.from_host(np.arange(SLOTS) / 2)
    for r, slots in marked.items():
        reported, flags = slice(begin[r], begin[r] + found[r]), backend.xp.zeros(SLOTS, np.uint8)
        kernels.dynamic_messages_take(int(found[r]), vertex[reported], word[reported], x, flags)
        assert np.flatnonzero(backend.to_host(flags)).tolist() == slots.tolist()
    affected[bounds[1] :] = 0
    np.testing.assert_array_equal(backend.to_host(sent), affected)
    np.testing.assert_array_equal(backend.to_host(x), np.arange(SLOTS) / 2)


def test_contributions_are_taken_by_slot_and_in_an_order_that_both_sides_know(backend, dtype):
    rng = np.random.default_rng(5)
    kernels, flags = backend.kernels("dynamic_messages", index_t=dtype), backend.xp.zeros(SLOTS, np.uint8)
    vertex, contribution = rng.permutation(SLOTS)[:900].astype(dtype), rng.random(900)
    x = backend.xp.zeros(SLOTS, np.float64)
    kernels.dynamic_messages_take(900, backend.from_host(vertex), backend.from_host(contribution), x, flags)
    expected = np.zeros(SLOTS)
    expected[vertex] = contribution
    np.testing.assert_array_equal(backend.to_host(x), expected)
    assert not backend.to_host(flags).any()
    came = backend.xp.zeros(900, np.float64)
    kernels.dynamic_messages_gather(900, backend.from_host(vertex), backend.from_host(np.arange(SLOTS) / 2), came)
    kernels.dynamic_messages_put(900, backend.from_host(vertex), came, x)
    expected[vertex] = vertex / 2
    np.testing.assert_array_equal(backend.to_host(x), expected)
