"""Kernels of triangles and labels against plain Python on random rows; on a GPU the CUDA twins likewise.

Outputs are poisoned first. Queues have no order on a GPU: they are compared as sets.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from kernel_launch import Packed

from graphdask.algorithms.label_propagation import BLOCK, CHUNK, SHORT
from graphdask.kernels.label_propagation.label_propagation_pack import Labels
from graphdask.kernels.triangles.triangles_pack import TriangleRows

HUB_THREADS = 1 << 14
POISON = -77


def rows_of(lists, dtype):
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])]).astype(np.int64)
    return indptr, np.array([x for row in lists for x in row], dtype)


@pytest.mark.parametrize("repeat", range(3))
def test_triangles_count(backend, dtype, rng, repeat):
    owned, slots = 60, 90
    mine = [sorted(rng.choice(slots, rng.integers(0, 25), replace=False).tolist()) for _ in range(owned)]
    theirs = [
        rng.permutation(slots)[: rng.integers(0, 30)].tolist() if rng.random() < 0.6 else [] for _ in range(slots)
    ]
    indptr, indices = rows_of(mine, dtype)
    ptr, others = rows_of(theirs, dtype)
    ties, other_ties = (rng.integers(1, 3, len(x)).astype(np.uint8) for x in (indices, others))
    source = np.repeat(np.arange(owned), np.diff(indptr)).astype(dtype)
    links, triangles = np.full(slots, 5), 0
    for e, (u, v) in enumerate(zip(source.tolist(), indices.tolist(), strict=True)):
        for j in range(ptr[v], ptr[v + 1]):
            w = int(others[j])
            if w in mine[u]:
                triangles += 1
                links[u] += other_ties[j]
                links[v] += ties[indptr[u] + mine[u].index(w)]
                links[w] += ties[e]
    d = Packed(
        backend, TriangleRows, source=source, indptr=indptr, indices=indices, ties=ties, ptr=ptr, others=others,
        other_ties=other_ties, links=np.full(slots, 5), counters=np.array([1, 2, 3]),
    )  # fmt: skip
    backend.kernels("triangles", index_t=dtype).triangles_count(len(indices), d.pack)
    np.testing.assert_array_equal(d.host("links"), links)
    looked_at = sum(len(theirs[v]) for v in indices.tolist())
    assert d.counts() == (1 + triangles, 2 + looked_at, 3 + int((links - 5).sum()))


def most_frequent(labels):
    counts = Counter(labels)
    return min(counts, key=lambda label: (-counts[label], label))


@pytest.mark.parametrize("both", [0, 1])
@pytest.mark.parametrize(("different", "still"), [(3, 0.0), (40, 0.0), (10**6, 0.0), (40, 0.5)])
def test_labels(backend, dtype, rng, both, different, still):
    owned, slots = 60, 300
    lengths = rng.choice([0, 1, 3, 15, 16, 17, 31, 32, 33, 100, 2500], owned)
    out, inward = ([rng.integers(0, slots, k).tolist() for k in some] for some in (lengths, rng.permutation(lengths)))
    label = rng.integers(0, different, slots).astype(dtype)
    neighbours = [out[u] + inward[u] * both for u in range(owned)]
    degree = np.array([len(row) for row in neighbours])
    long = np.flatnonzero(degree > SHORT)
    start = np.concatenate([[0], np.cumsum(2 * degree[long])])
    chunks = np.concatenate([[0], np.cumsum((degree[long] + CHUNK - 1) // CHUNK)])
    (indptr, indices), (in_indptr, in_indices) = rows_of(out, dtype), rows_of(inward, dtype)
    middle = len(long) // 2
    table = max(start[middle], start[-1] - start[middle])
    d = Packed(
        backend, Labels, indptr=indptr, indices=indices, in_indptr=in_indptr, in_indices=in_indices, both=both,
        label=label, fresh=np.full(owned, POISON, dtype), long_rows=long.astype(dtype), start=start, chunks=chunks,
        short_rows=np.flatnonzero((degree > 0) & (degree <= SHORT)).astype(dtype), keys=np.full(table, -1, dtype),
        counts=np.zeros(table, np.uint32), changed=np.full(owned, POISON, dtype), counters=np.zeros(3, np.int64),
        due=(rng.random(owned) >= still).astype(np.uint8), moved=np.full(slots, 7, np.uint8),
    )  # fmt: skip
    due = d.host("due") == 1
    kernels = backend.kernels("label_propagation", index_t=dtype)
    kernels.labels_of_short(32 * len(d.pack.short_rows), d.pack)
    for first, last in ((0, middle), (middle, len(long))):
        kernels.labels_count(BLOCK * int(chunks[last] - chunks[first]), first, last, d.pack)
        kernels.labels_pick(BLOCK * (last - first), first, last, d.pack)
    expected = [
        most_frequent(label[row].tolist()) if row and now else POISON for row, now in zip(neighbours, due, strict=True)
    ]
    np.testing.assert_array_equal(d.host("fresh"), expected)
    assert (d.host("keys") == -1).all()
    assert not d.host("counts").any()
    kernels.labels_change(owned, d.pack)
    number = d.counts().changed
    assert d.counts().edges == degree[due].sum()
    assert sorted(d.host("changed")[:number].tolist()) == np.flatnonzero(expected != label[:owned]).tolist()
    assert (d.host("changed")[number:] == POISON).all()
    np.testing.assert_array_equal(d.host("label")[:owned], expected)
    np.testing.assert_array_equal(d.host("label")[owned:], label[owned:])
    np.testing.assert_array_equal(d.host("moved")[:owned], expected != label[:owned])
    assert (d.host("moved")[owned:] == 7).all()


@pytest.mark.parametrize("moves", [0, 1, 30])
def test_rows_of_which_a_neighbour_moved_are_due(backend, dtype, rng, moves):
    owned, slots = 60, 300
    rows = [rng.integers(0, slots, k).tolist() for k in rng.choice([0, 1, 3, 40, 9001], owned)]
    indptr, indices = rows_of(rows, dtype)
    moved = np.zeros(slots, np.uint8)
    moved[rng.choice(slots, moves, replace=False)] = 1
    already = (rng.random(owned) < 0.2).astype(np.uint8)
    d = Packed(
        backend, Labels, moved=moved, due=already, hubs=np.full(owned, POISON, dtype), counters=np.zeros(3, np.int64)
    )
    kernels = backend.kernels("label_propagation", index_t=dtype)
    ends = backend.from_host(indptr), backend.from_host(indices)
    kernels.labels_due(owned, *ends, d.pack)
    kernels.labels_due_hubs(HUB_THREADS, *ends, d.pack)
    expected = [now or moved[row].any() for row, now in zip(rows, already.tolist(), strict=True)]
    np.testing.assert_array_equal(d.host("due") == 1, expected)
