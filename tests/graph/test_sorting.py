"""Rows are sorted in place as NumPy sorts them."""

from __future__ import annotations

import numpy as np
import pytest

from graphdask.kernels.common.rows import rows_sort

ROWS = {
    "random": lambda rng, n: rng.integers(0, 1 << 30, n),
    "few values": lambda rng, n: rng.integers(0, 4, n),
    "one value": lambda rng, n: np.full(n, 7),
    "ascending": lambda rng, n: np.arange(n),
    "descending": lambda rng, n: np.arange(n)[::-1],
    "up and down": lambda rng, n: np.concatenate((np.arange(n // 2), np.arange(n - n // 2)[::-1])),
    "two runs": lambda rng, n: np.arange(n) * 2 % max(n, 1),
}
LENGTHS = (0, 1, 2, 3, 23, 24, 25, 26, 50, 99, 1000, 20_000)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("kind", ROWS)
def test_rows_of_all_lengths_are_sorted(kind, dtype, rng):
    rows = [ROWS[kind](rng, n).astype(dtype) for n in LENGTHS for _ in range(3)]
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    found = np.concatenate(rows)
    rows_sort(len(rows), indptr, found)
    np.testing.assert_array_equal(found, np.concatenate([np.sort(row) for row in rows]))


def test_all_orders_of_rows_with_equal_values_are_sorted(rng):
    """Rows just above the length up to which values are inserted, of few distinct values."""
    rows = rng.integers(0, 3, (3000, 27)).astype(np.int32)
    found = rows.ravel().copy()
    rows_sort(len(rows), np.arange(len(rows) + 1) * 27, found)
    np.testing.assert_array_equal(found.reshape(rows.shape), np.sort(rows, axis=1))
