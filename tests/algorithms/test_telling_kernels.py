"""What ranks of a dynamic graph tell each other, against plain Python; on a GPU and emulated the CUDA kernels."""

from __future__ import annotations

import numpy as np

OWNED, IDS = 700, 1500


def test_each_rank_is_told_what_it_needs_and_has_not_been_told(backend, dtype):
    rng = np.random.default_rng(3)
    size, rank = 67, 2  # more ranks than a block counts at a time
    ids = rng.permutation(IDS)[:OWNED].astype(dtype)
    x = rng.integers(1, 4, IDS).astype(np.float64)
    told = np.where(rng.random(OWNED) < 0.5, x[ids], -1.0)
    held = (rng.random((size, OWNED)) < 0.2).astype(np.uint8)
    listed = rng.permutation(OWNED)[:600].astype(dtype)
    changed = [v for v in listed.tolist() if x[ids[v]] != told[v]]
    expected = [[v for v in changed if r != rank and held[r, v]] for r in range(size)]
    kernels = backend.kernels("telling", index_t=dtype)
    sent = [backend.from_host(array) for array in (listed, ids, x, told.copy(), held)]
    counts = backend.xp.zeros(size + 1, np.uint64)
    kernels.telling_count(len(listed), *sent, OWNED, size, rank, counts)
    found = backend.to_host(counts).astype(int).tolist()
    assert found == [*map(len, expected), len(changed)]
    begin = np.cumsum(found[:-1]) - found[:-1]
    places = backend.from_host(np.append(begin, 0).astype(np.uint64))
    vertex, last = backend.xp.zeros(sum(found[:-1]), dtype), backend.xp.zeros(len(changed), dtype)
    contribution = backend.xp.zeros(len(vertex), np.float64)
    kernels.telling_fill(len(listed), *sent, OWNED, size, rank, places, vertex, contribution, last)
    vertex, contribution = backend.to_host(vertex), backend.to_host(contribution)
    for first, own in zip(begin, expected, strict=True):
        assert sorted(vertex[first : first + len(own)].tolist()) == sorted(ids[own].tolist())
    np.testing.assert_array_equal(contribution, x[vertex])
    assert sorted(backend.to_host(last).tolist()) == sorted(changed)
    told[changed] = x[ids[changed]]
    np.testing.assert_array_equal(backend.to_host(sent[3]), told)


def test_marks_of_other_ranks_are_listed_and_what_comes_is_taken(backend, dtype):
    rng = np.random.default_rng(4)
    affected, remote = rng.integers(0, 2, (2, IDS)).astype(np.uint8)
    kernels, sent = backend.kernels("telling", index_t=dtype), backend.from_host(affected.copy())
    count, on = backend.xp.zeros(1, np.uint64), backend.from_host(remote)
    kernels.telling_marks_count(IDS, sent, on, count)
    both = np.flatnonzero(affected & remote)
    assert backend.to_host(count).tolist() == [len(both)]
    marked = backend.xp.zeros(len(both), dtype)
    kernels.telling_marks(IDS, sent, on, marked, backend.xp.zeros(1, np.uint64))
    assert sorted(backend.to_host(marked).tolist()) == both.tolist()
    affected[both] = 0
    np.testing.assert_array_equal(backend.to_host(sent), affected)
    vertex = rng.permutation(IDS)[:900].astype(dtype)
    contribution = np.where(rng.random(900) < 0.3, -1.0, rng.random(900))
    x = backend.xp.zeros(IDS, np.float64)
    kernels.telling_take(900, backend.from_host(vertex), backend.from_host(contribution), x, sent)
    marks = contribution == -1.0
    affected[vertex[marks]] = 1
    expected = np.zeros(IDS)
    expected[vertex[~marks]] = contribution[~marks]
    np.testing.assert_array_equal(backend.to_host(x), expected)
    np.testing.assert_array_equal(backend.to_host(sent), affected)
