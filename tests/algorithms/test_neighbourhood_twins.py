"""Kernels of triangles and labels against plain Python on random rows; on a GPU the CUDA twins likewise.

Outputs are poisoned first. Queues have no order on a GPU: they are compared as sets.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from kernel_launch import Packed

from graphdask.algorithms.label_propagation import BLOCK, CHUNK, MIDDLE, SHORT
from graphdask.kernels.label_propagation.label_propagation_pack import Labels
from graphdask.kernels.triangles.triangles_pack import TriangleRows

HUB_THREADS = 1 << 14
POISON = -77


def rows_of(lists, dtype):
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])]).astype(np.int64)
    return indptr, np.array([x for row in lists for x in row], dtype)


@pytest.mark.parametrize(("share", "short"), [(1, 0), (3, 128), (1 << 40, 6)])
@pytest.mark.parametrize("tied", [False, True])
def test_triangles_count(backend, dtype, rng, tied, share, short):
    """Rows of the slots whose turn it is, and own rows; jobs of warps and of blocks, and vertices of several jobs."""
    owned, slots = 60, 90
    slot_of = rng.permutation(slots)
    number = np.argsort(slot_of)

    def row(u, most):
        higher = np.arange(number[u] + 1, slots)
        return sorted(rng.permutation(higher)[: rng.integers(0, most)].tolist())

    mine = [row(u, 40) for u in range(owned)]
    theirs = [row(u, 30) if rng.random() < 0.6 else [] for u in range(slots)]
    indptr, indices = rows_of(mine, dtype)
    ptr, others = rows_of(theirs, dtype)
    ties, other_ties = (rng.integers(1, 3, len(x)).astype(np.uint8) if tied else np.ones(len(x), int)
                        for x in (indices, others))  # fmt: skip
    links, triangles, looked_at = np.full(slots, 5), 0, 0
    listed = [[] for _ in range(owned)]
    for u in range(slots):
        for e in range(ptr[u], ptr[u + 1]):
            v = int(slot_of[others[e]])
            if v >= owned or not mine[v] or e + 1 == ptr[u + 1]:
                continue
            listed[v].append(e)
            looked_at += ptr[u + 1] - e - 1
            for x in range(e + 1, ptr[u + 1]):
                if others[x] in mine[v]:
                    triangles += 1
                    links[u] += ties[indptr[v] + mine[v].index(others[x])]
                    links[v] += other_ties[x]
                    links[slot_of[others[x]]] += other_ties[e]
    source = np.repeat(np.arange(slots), np.diff(ptr)).astype(dtype)
    edge_ptr = np.concatenate([[0], np.cumsum([len(each) for each in listed])])
    jobs = -(-np.diff(edge_ptr) // share)
    by_warps = [v for v in range(owned) if len(mine[v]) <= short for _ in range(jobs[v])]
    by_blocks = [v for v in range(owned) if len(mine[v]) > short for _ in range(jobs[v])]
    first = {v: k for k, v in reversed(list(enumerate(by_warps + by_blocks)))}
    given = {"ties": ties, "other_ties": other_ties} if tied else {}
    d = Packed(
        backend, TriangleRows, owned=owned, slot_of=slot_of.astype(dtype), indptr=indptr, indices=indices,
        source=source, ptr=ptr, others=others, ends=np.zeros(owned, np.int64), edge=np.full(edge_ptr[-1], POISON),
        edge_ptr=edge_ptr, jobs=np.array(by_warps + by_blocks, dtype), share=share, of_warps=len(by_warps),
        job_ptr=np.array([first.get(v, POISON) for v in range(owned)]), links=np.full(slots, 5),
        counters=np.array([1, 2, 3]), **given,
    )  # fmt: skip
    kernels = backend.kernels("triangles", index_t=dtype)
    kernels.triangles_tally(len(others), d.pack)
    np.testing.assert_array_equal(d.host("ends"), np.diff(edge_ptr))
    d.pack.ends = backend.from_host(edge_ptr[:-1].copy())
    kernels.triangles_list(len(others), d.pack)
    edge = d.host("edge")
    assert [sorted(edge[a:b]) for a, b in pairwise(edge_ptr)] == listed
    kernels.triangles_count(len(d.pack.jobs), d.pack, threads=256, per_item=256)
    np.testing.assert_array_equal(d.host("links"), links)
    assert d.counts() == (1 + triangles, 2 + looked_at, 3 + int((links - 5).sum()))


def most_frequent(labels):
    counts = Counter(labels)
    return min(counts, key=lambda label: (-counts[label], label))


@pytest.mark.parametrize("both", [0, 1])
@pytest.mark.parametrize(("different", "still"), [(3, 0.0), (40, 0.0), (10**6, 0.0), (40, 0.5)])
def test_labels(backend, dtype, rng, both, different, still):
    owned, slots = 60, 300
    lengths = rng.choice([0, 1, 3, 15, 16, 17, 31, 32, 33, 100, 255, 256, 257, 900, 2047, 2048, 2500, 9000], owned)
    out, inward = ([rng.integers(0, slots, k).tolist() for k in some] for some in (lengths, rng.permutation(lengths)))
    label = rng.integers(0, different, slots).astype(dtype)
    neighbours = [out[u] + inward[u] * both for u in range(owned)]
    degree = np.array([len(row) for row in neighbours])
    several, one = np.flatnonzero(degree > CHUNK), np.flatnonzero((degree > MIDDLE) & (degree <= CHUNK))
    long = np.concatenate([several, one])
    start = np.concatenate([[0], np.cumsum(2 * degree[several])])
    chunks = np.concatenate([[0], np.cumsum((degree[long] + CHUNK - 1) // CHUNK)])
    (indptr, indices), (in_indptr, in_indices) = rows_of(out, dtype), rows_of(inward, dtype)
    half = len(several) // 2
    table = max(start[half], start[-1] - start[half])
    d = Packed(
        backend, Labels, indptr=indptr, indices=indices, in_indptr=in_indptr, in_indices=in_indices, both=both,
        label=label, fresh=np.full(owned, POISON, dtype), long_rows=long.astype(dtype), start=start, chunks=chunks,
        short_rows=np.flatnonzero((degree > 0) & (degree <= SHORT)).astype(dtype), keys=np.full(table, -1, dtype),
        counts=np.zeros(table, np.uint32), changed=np.full(owned, POISON, dtype), counters=np.zeros(3, np.int64),
        middle_rows=np.flatnonzero((degree > SHORT) & (degree <= MIDDLE)).astype(dtype),
        best_label=np.full(chunks[len(several)], POISON, dtype), best_count=np.zeros(chunks[len(several)], np.uint32),
        due=(rng.random(owned) >= still).astype(np.uint8), moved=np.full(slots, 7, np.uint8),
    )  # fmt: skip
    due = d.host("due") == 1
    kernels = backend.kernels("label_propagation", index_t=dtype)
    kernels.labels_of_short(32 * len(d.pack.short_rows), d.pack)
    kernels.labels_of_middle(32 * len(d.pack.middle_rows), d.pack)
    for first, last in ((0, half), (half, len(several)), (len(several), len(long))):
        kernels.labels_count(BLOCK * int(chunks[last] - chunks[first]), first, last, d.pack)
        kernels.labels_pick(BLOCK * int(chunks[last] - chunks[first]), first, last, d.pack)
    kernels.labels_settle(32 * len(several), d.pack)
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


@pytest.mark.parametrize("moves", [0, 1, 30])
def test_neighbours_of_what_moved_are_due(backend, dtype, rng, moves):
    owned = 60
    rows = [rng.integers(0, owned, k).tolist() for k in rng.choice([0, 1, 3, 40, 9001], owned)]
    indptr, indices = rows_of(rows, dtype)
    changed = rng.permutation(owned)[:moves]
    already = (rng.random(owned) < 0.2).astype(np.uint8)
    d = Packed(
        backend, Labels, changed=changed.astype(dtype), due=already, hubs=np.full(owned, POISON, dtype),
        counters=np.zeros(3, np.int64),
    )  # fmt: skip
    kernels = backend.kernels("label_propagation", index_t=dtype)
    ends = backend.from_host(indptr), backend.from_host(indices)
    kernels.labels_mark(moves, *ends, d.pack)
    kernels.labels_mark_hubs(HUB_THREADS, *ends, d.pack)
    expected = already.astype(bool)
    for u in changed:
        expected[rows[u]] = True
    np.testing.assert_array_equal(d.host("due") == 1, expected)
