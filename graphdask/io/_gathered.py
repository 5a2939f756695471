"""Columns of a table in memory, to whose end pieces are copied as they are parsed, so that each value is there once.

Memory is reserved for as many values as the file will have if it goes on as it began; the system gives a page of it
when the first value of the page comes.
"""

from __future__ import annotations

import numpy as np

from graphdask.device.host_memory import reserved
from graphdask.io.tuning import FILES

MARGIN = 1.02
"""What is reserved, over what is expected."""
GROWTH = 1.25
"""What is reserved where that was not enough, over what is needed, at least."""


class Column:
    """A column that grows at its end.

    Parameters
    ----------
    narrow : bool
        Keep whole numbers as int32 as long as they all fit.
    """

    def __init__(self, narrow: bool = False):
        self._data = np.empty(0, np.int32 if narrow else np.int64)
        self._size = 0
        self._narrow = narrow

    @property
    def is_wide(self) -> bool:
        """Whether it has whole numbers that int32 does not hold."""
        return self._narrow and self._data.dtype == np.int64

    def append(self, piece: np.ndarray, share: float = 1.0) -> None:
        """Add values, int64 or float64; with them the column is this share of what it will be."""
        whole = piece.dtype == np.int64
        if self._data.dtype == np.int32 and not (whole and _fits(piece)):
            self._widen()
        if self._data.dtype == np.int64 and not whole:
            self._to_floats()
        end = self._size + len(piece)
        if end > len(self._data):
            expected = end / share * MARGIN if 0 < share < 1 else end
            self._reserve(int(max(expected, GROWTH * end if self._size else end)))
        self._data[self._size : end] = piece
        self._size = end

    def array(self) -> np.ndarray:
        """All values: float64 if any piece was, else int64 or, of a narrow column, int32."""
        return self._data[: self._size]

    def _reserve(self, capacity: int) -> None:
        data = reserved(capacity, self._data.dtype)
        data[: self._size] = self._data[: self._size]
        self._data = data

    def _widen(self) -> None:
        data = reserved(len(self._data), np.int64)
        data[: self._size] = self._data[: self._size]
        self._data = data

    def _to_floats(self) -> None:
        floats = self._data.view(np.float64)
        for first in range(0, self._size, FILES.values):
            part = slice(first, min(first + FILES.values, self._size))
            floats[part] = self._data[part].astype(np.float64)
        self._data = floats


def _fits(piece: np.ndarray) -> bool:
    """Whether values fit int32."""
    return not len(piece) or (int(piece.max()) < 2**31 and int(piece.min()) >= -(2**31))
