"""Lists of the rows of a dynamic graph against plain Python; on a GPU and emulated the CUDA kernels."""

from __future__ import annotations

import numpy as np
import pytest

from graphdask.kernels.dynamic.dynamic_sweep import CHUNK, FEW, KINDS, SPAN

LENGTHS = (0, 1, 8, 9, 32, 33, 224, 225, 255, 256, 257, 511, 512, 513, 8191, 20_000)


@pytest.mark.parametrize("rows", [0, 1, 1500])
def test_every_edge_is_in_one_list_once_and_chunks_of_a_length_lie_together(backend, dtype, rows, rng):
    lengths = np.array([*LENGTHS, *rng.integers(0, 300, rows), *rng.integers(250, 900, rows // 9)])
    length = rng.permutation(lengths) if rows else lengths[:1]
    begin = np.cumsum(length + 3) - length
    n, xp, kernels = len(length), backend.xp, backend.kernels("dynamic_sweep", index_t=dtype)
    rows_of, counts = [backend.from_host(each) for each in (begin, length)], xp.zeros(KINDS + 1, np.uint64)
    kernels.dynamic_sweep_count(n, rows_of[1], counts)
    few, *sizes, many, partials = backend.to_host(counts).tolist()
    kept = {v: (int(at), int(size)) for v, (at, size) in enumerate(zip(begin, length, strict=True))}
    assert few == sum(0 < size <= FEW for _, size in kept.values())
    assert many == sum(size > CHUNK for _, size in kept.values())
    all_of, rows_cut = sum(sizes) + -sum(sizes) % 4, many + -many % 4
    chunks, targets = xp.full(all_of, 7, np.int64), xp.full(all_of, 7, dtype)
    lists = xp.zeros(few, dtype), chunks, targets, xp.full(rows_cut, 7, dtype), xp.zeros(many + 1, np.int64)
    kernels.dynamic_sweep_list(n, *rows_of, counts, xp.zeros(KINDS, np.uint64), *lists)
    backend.synchronize()
    short, spans, goes, long, first = (backend.to_host(each) for each in lists)
    assert not any(map(np.any, (spans[sum(sizes) :], goes[sum(sizes) :], long[many:] + 1)))
    spans, goes, long = spans[: sum(sizes)], goes[: sum(sizes)], long[:many]
    assert sorted(short.tolist()) == [v for v, (_, size) in kept.items() if 0 < size <= FEW]
    assert sorted(long.tolist()) == [v for v, (_, size) in kept.items() if size > CHUNK]
    at, size = np.divmod(spans, SPAN)
    assert ((size - 1) // 32).tolist() == np.repeat(np.arange(7, -1, -1), sizes).tolist()
    found = {v: [(int(a), int(b))] for v, a, b in zip(goes, at, size, strict=True) if v >= 0}
    pieces = {-1 - int(v): (int(a), int(b)) for v, a, b in zip(goes, at, size, strict=True) if v < 0}
    assert len(pieces) == partials == first[-1]
    found |= {v: [pieces[k] for k in range(first[i], first[i + 1])] for i, v in enumerate(long.tolist())}
    expected = {
        v: [(k, min(CHUNK, a + b - k)) for k in range(a, a + b, CHUNK)] for v, (a, b) in kept.items() if b > FEW
    }
    assert found == expected
