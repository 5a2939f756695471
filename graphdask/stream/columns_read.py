"""Columns of a store that functions of programs read, as arrays of the device, a chunk at a time.

The values of the edges of a chunk are taken by the rows that the file has of these, when the chunk is worked on.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.graph.column_numbers import as_numbers
from graphdask.stream.store import Store

AT_ONCE = 1 << 16
"""Values that are taken at a time, so that little is in memory twice."""


class ColumnsRead:
    """The columns of a store, for a device."""

    def __init__(self, store: Store, backend: Backend):
        self._store, self._backend = store, backend

    @cached_property
    def _edges(self) -> Any:
        from graphdask.stream.columns import StoredTable  # it imports pyarrow

        return StoredTable(self._store, "edges")

    def of_edges(self, names: Iterable[str], rows: np.ndarray) -> dict[str, Array]:
        """Values of columns of edges, by their rows."""
        return {name: self._backend.from_host(self._taken(self._edges[name], rows)) for name in names}

    def _taken(self, column: Any, rows: np.ndarray) -> np.ndarray:
        """Values at some rows, in memory that is not read-only, which Numba takes for another type."""
        values = np.empty(len(rows), as_numbers(column[:0]).dtype)
        for first in range(0, len(rows), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            values[some] = as_numbers(column.take(rows[some]))
        return values

    def by_slot(self, name: str, first: int) -> Array:
        """Values of a column of all vertices in the order of slots, the first of which is that of a position."""
        from graphdask.stream.columns import StoredTable  # it imports pyarrow

        values = as_numbers(StoredTable(self._store, "vertices")[name])
        if not self._store.by_number:
            values = values[self._store.numbers()]
        return self._backend.from_host(np.roll(values, -first))
