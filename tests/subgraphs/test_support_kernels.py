"""The kernel that counts the triangles of each edge against plain Python on random rows; on a GPU its CUDA twin."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_launch import Packed

from graphdask.kernels.triangles.support_pack import SupportRows


def rows_of(lists, dtype):
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])]).astype(np.int64)
    return indptr, np.array([x for row in lists for x in row], dtype)


@pytest.mark.parametrize("repeat", range(3))
def test_triangles_are_counted_for_each_of_their_edges(backend, dtype, rng, repeat):
    owned, slots = 60, 90
    number = rng.permutation(slots)
    mine = [
        sorted(rng.choice(slots, rng.integers(0, 25), replace=False).tolist(), key=lambda v: number[v])
        for _ in range(owned)
    ]
    theirs = [
        rng.permutation(slots)[: rng.integers(0, 30)].tolist() if rng.random() < 0.6 else [] for _ in range(slots)
    ]
    indptr, indices = rows_of(mine, dtype)
    ptr, others = rows_of(theirs, dtype)
    source = np.repeat(np.arange(owned), np.diff(indptr)).astype(dtype)
    support, other_support, triangles = np.full(len(indices), 5), np.full(len(others), 7), 0
    for e, (u, v) in enumerate(zip(source.tolist(), indices.tolist(), strict=True)):
        for j in range(ptr[v], ptr[v + 1]):
            if others[j] in mine[u]:
                triangles += 1
                for counts, place in (
                    (support, e),
                    (support, indptr[u] + mine[u].index(others[j])),
                    (other_support, j),
                ):
                    counts[place] += 1
    d = Packed(
        backend, SupportRows, source=source, indptr=indptr, indices=indices, number=number.astype(dtype), ptr=ptr,
        others=others, support=np.full(len(indices), 5, np.uint32), other_support=np.full(len(others), 7, np.uint32),
        slots=slots, counters=np.array([1, 2]),
    )  # fmt: skip
    backend.kernels("support", index_t=dtype).support_count(len(indices), d.pack)
    np.testing.assert_array_equal(d.host("support"), support)
    np.testing.assert_array_equal(d.host("other_support"), other_support)
    assert d.counts() == (1 + triangles, 2 + sum(len(theirs[v]) for v in indices.tolist()))
