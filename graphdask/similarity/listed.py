"""Columns of pairs that grow: a kernel writes to their ends, and what is there may be replaced by the best of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphdask.device.backend import Array


class Listed:
    """Pairs with their scores and with the number of neighbours that they share.

    Parameters
    ----------
    xp : module
    dtype : dtype
        Of vertex numbers.
    check : callable, optional
        Called with a number of rows before memory for so many is allocated.
    """

    def __init__(self, xp: Any, dtype: Any, check: Callable[[int], None] | None = None):
        self.xp, self.check = xp, check
        types = {"first": dtype, "second": dtype, "score": np.float64, "common": np.int64}
        self.memory: dict[str, Array] = {name: xp.empty(0, of) for name, of in types.items()}
        """The columns, with rows that are still free."""
        self.used = 0

    @staticmethod
    def row_bytes(dtype: Any) -> int:
        """Bytes of a row."""
        return 2 * np.dtype(dtype).itemsize + 16

    def reserve(self, more: int) -> None:
        """Let so many rows be free."""
        capacity = len(self.memory["first"])
        if self.used + more <= capacity:
            return
        rows = max(self.used + more, min(2 * capacity, self.used + 4 * more))
        if self.check is not None:
            self.check(rows)
        for name, values in self.memory.items():
            self.memory[name] = self.xp.empty(rows, values.dtype)
            self.memory[name][: self.used] = values[: self.used]

    def append(self, columns: dict[str, Array]) -> None:
        """Add rows at the end."""
        length = len(columns["first"])
        self.reserve(length)
        for name, values in self.memory.items():
            values[self.used : self.used + length] = columns[name]
        self.used += length

    def replace(self, columns: dict[str, Array]) -> None:
        """Hold only these rows, which are not more than before and no views of the memory."""
        self.used = 0
        self.append(columns)

    def since(self, first: int) -> dict[str, Array]:
        """The columns from a row on, as views."""
        return {name: values[first : self.used] for name, values in self.memory.items()}

    def taken(self) -> dict[str, Array]:
        """The columns, without the free rows if these take memory: a CPU does not back pages that nobody wrote to."""
        columns = self.since(0)
        if self.xp is np:
            return columns
        return {name: values.copy() for name, values in columns.items()}
