"""Many edges are numbered and counted by compiled kernels, with the answers that NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest

from graphdask import from_edges
from graphdask.display.tuning import DISPLAY
from graphdask.errors import InputError
from graphdask.partition import parallel_edges
from graphdask.partition.ids import COMPILED, number_vertices
from graphdask.partition.parallel_edges import count_parallel
from graphdask.partition.sources import ArraySource

EDGES = COMPILED + 1000


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(("low", "step"), [(0, 1), (7, 1), (0, 2), (5, 3), (2**30, 2)])
def test_numbers_are_ranks_in_the_order_of_the_ids(rng, low, step, dtype, own):
    pool = (np.arange(3000) * step + low).astype(dtype)
    src, dst = (np.concatenate([pool, rng.choice(pool, EDGES - len(pool))]) for _ in range(2))
    expected = np.unique([src, dst])
    kept = src.copy(), dst.copy()
    ids, s, d = number_vertices(src, dst, None, None, own)
    np.testing.assert_array_equal(ids.values, expected)
    np.testing.assert_array_equal(s, np.searchsorted(expected, kept[0]))
    np.testing.assert_array_equal(d, np.searchsorted(expected, kept[1]))
    if not own:
        np.testing.assert_array_equal(src, kept[0])
        np.testing.assert_array_equal(dst, kept[1])


def test_ids_above_32_bits_are_numbered(rng):
    src, dst = rng.integers(0, 500, (2, EDGES)) * 2 + 2**40
    ids, s, d = number_vertices(src, dst, None, None)
    expected = np.unique([src, dst])
    np.testing.assert_array_equal(ids.values, expected)
    np.testing.assert_array_equal(ids.values[s], src)
    np.testing.assert_array_equal(ids.values[d], dst)


@pytest.mark.parametrize("distinct", [1, 500, 30_000, EDGES])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_ids_that_lie_far_apart_are_numbered(rng, distinct, dtype):
    pool = rng.integers(0, np.iinfo(dtype).max, distinct, dtype, endpoint=True)
    pool[-1] = np.iinfo(dtype).max  # so that a table of the range would be too large
    pool[0] = 0
    src, dst = (np.concatenate([pool, rng.choice(pool, EDGES - distinct)]) for _ in range(2))
    kept = src.copy(), dst.copy()
    ids, s, d = number_vertices(src, dst, None, None, own=True)
    expected = np.unique(kept)
    np.testing.assert_array_equal(ids.values, expected)
    assert s.dtype == d.dtype == np.int32 or distinct == 1
    np.testing.assert_array_equal(s, np.searchsorted(expected, kept[0]))
    np.testing.assert_array_equal(d, np.searchsorted(expected, kept[1]))
    np.testing.assert_array_equal(src, kept[0])


def test_many_names_are_numbered(rng):
    pool = np.array([f"v{number}" for number in rng.integers(0, 10**6, 3000)] + ["", "é", "\U0001f600"], object)
    src, dst = (rng.choice(pool, EDGES) for _ in range(2))
    ids, s, d = number_vertices(src, dst, None, None)
    assert ids.values.tolist() == sorted({*src.tolist(), *dst.tolist()})
    assert ids.values[s].tolist() == src.tolist()
    assert ids.values[d].tolist() == dst.tolist()


@pytest.mark.parametrize("known", [{"num_vertices": 900}, {"vertices": np.arange(100, 900)}])
def test_numbers_of_known_vertices_take_the_memory_of_the_ids_where_they_may(rng, known):
    src, dst = rng.integers(100, 900, (2, 50)).astype(np.int32)
    arguments = known.get("vertices"), known.get("num_vertices")
    wide = number_vertices(src.astype(np.int64), dst.astype(np.int64), *arguments)
    narrow = number_vertices(src, dst, *arguments, own=True)
    assert narrow[0].count == wide[0].count
    np.testing.assert_array_equal(narrow[1], wide[1])
    np.testing.assert_array_equal(narrow[2], wide[2])
    assert narrow[1] is src
    with pytest.raises(InputError, match="edge source 900 is not in the graph"):
        number_vertices(np.array([900], np.int32), np.array([100], np.int32), *arguments, own=True)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("most", [5, 600, 10**6])
def test_parallel_edges_are_counted(rng, most, directed):
    src, dst = rng.integers(0, most, (2, EDGES)).astype(np.int32)
    pairs = np.stack([src, dst] if directed else [np.minimum(src, dst), np.maximum(src, dst)])
    expected = EDGES - np.unique(pairs, axis=1).shape[1]
    assert count_parallel(src, dst, most, directed) == expected
    assert count_parallel(src[:900], dst[:900], most, directed) == 900 - np.unique(pairs[:, :900], axis=1).shape[1]


def test_parallel_edges_of_one_row_and_of_sparse_ids_are_counted(rng):
    dst = rng.integers(0, 1000, EDGES).astype(np.int32)
    assert count_parallel(np.zeros_like(dst), dst, 1000, True) == EDGES - len(np.unique(dst))
    assert count_parallel(np.zeros_like(dst), dst, 2**31 - 3, True) == EDGES - len(np.unique(dst))
    assert count_parallel(np.zeros(4, np.int64), np.array([1, 2, 1, 0]), 2**40, False) == 1
    assert count_parallel(dst[:0], dst[:0], 0, True) == 0


@pytest.mark.parametrize("directed", [False, True])
def test_merging_many_edges_keeps_the_lightest(rng, directed):
    src, dst, weights = rng.integers(0, 300, (3, EDGES))
    graph = from_edges(src, dst, weights, directed=directed, multi_edges="merge")
    lightest: dict[tuple[int, int], int] = {}
    for u, v, w in zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True):
        pair = (u, v) if directed else (min(u, v), max(u, v))
        lightest[pair] = min(w, lightest.get(pair, w))
    s, d, w = graph.edges("cpu")
    pairs = zip(s.tolist(), d.tolist(), strict=True) if directed else zip(
        np.minimum(s, d).tolist(), np.maximum(s, d).tolist(), strict=True
    )  # fmt: skip
    assert dict(zip(pairs, w.tolist(), strict=True)) == lightest
    assert graph.report["parallel_edges"] == EDGES - len(lightest)


@pytest.mark.parametrize("hub", [False, True])
def test_skew_of_many_edges_is_that_of_their_degrees(rng, hub):
    src, dst = rng.integers(0, 1000, (2, EDGES))
    if hub:
        src[::4] = 3
    degree = np.bincount(src, minlength=1000) + np.bincount(dst, minlength=1000)
    assert (degree.max() > 16 * degree.mean()) == hub
    assert ArraySource(1000, src, dst, None).skewed == hub


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("room", [1, 7, 40, 1000])
@pytest.mark.parametrize("block", [3, 50, 1 << 22])
def test_parallel_edges_are_counted_in_any_workspace(rng, room, directed, block, tuned):
    src, dst = rng.integers(0, 30, (2, 500)).astype(np.int32)
    src[:200] = 4  # a row that has no place in the smaller ones
    pairs = np.stack([src, dst] if directed else [np.minimum(src, dst), np.maximum(src, dst)])
    tuned(DISPLAY, items=block)
    shares: list[float] = []
    found = parallel_edges.count_in_rows(src, dst, 30, directed, room, shares.append)
    assert found == 500 - np.unique(pairs, axis=1).shape[1]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    assert max(np.diff([0, *shares])) <= max(0.5, block / 500)
