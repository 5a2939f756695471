"""Columns of a table that may be larger than memory: written to a file as they are parsed, and mapped from there."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import FormatError, InputError, shown
from graphdask.interface.kinds import whole
from graphdask.io.tuning import FILES

from ._pages import check_part
from .opening import NotKept, reading


@contextmanager
def _keeping() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotKept(error.errno, error.strerror) from None


class SpilledColumn:
    """A column whose pieces go to a new file in a folder.

    The file is its owner's to delete with the folder; nothing else is kept of it.
    """

    def __init__(self, folder: Path):
        with _keeping():
            self._file, name = tempfile.mkstemp(dir=folder, suffix=".column")
        self._closing = weakref.finalize(self, os.close, self._file)
        self._path = Path(name)
        self._ends = [0]
        self._dtypes: list[np.dtype] = []

    def append(self, piece: np.ndarray, dtype: np.dtype | None = None) -> None:
        """Add values at the end, as they are or of a dtype. Pieces are of one dtype, or int64 and float64."""
        dtype = piece.dtype if dtype is None else dtype
        for _, part in slices(piece):
            left = np.ascontiguousarray(part, dtype).data.cast("B") if len(part) else memoryview(b"")
            while left:
                with _keeping():
                    left = left[os.write(self._file, left) :]
        self._ends.append(self._ends[-1] + len(piece))
        self._dtypes.append(dtype)

    def array(self) -> np.ndarray:
        """All values, mapped, read-only; float64 if any piece is."""
        self._closing()
        found = {dtype for dtype, (first, last) in zip(self._dtypes, pairwise(self._ends), strict=True) if first < last}
        if not found:
            self._path.unlink()
            return np.empty(0, self._dtypes[0] if self._dtypes else np.int64)
        dtype = np.dtype(np.float64) if len(found) > 1 else found.pop()
        if found:
            with _keeping():
                self._convert()
        return np.memmap(self._path, dtype, "r")

    def _convert(self) -> None:
        """Make the pieces of integers float64."""
        with self._path.open("r+b") as file:
            for dtype, (begin, end) in zip(self._dtypes, pairwise(self._ends), strict=True):
                for first in range(begin, end if dtype == np.int64 else begin, FILES.values):
                    count = min(FILES.values, end - first)
                    file.seek(8 * first)
                    values = np.frombuffer(file.read(8 * count), np.int64).astype(np.float64)
                    file.seek(8 * first)
                    file.write(values.data)


def part(array: np.ndarray, first: int, last: int) -> np.ndarray:
    """A slice; what is mapped from a file is read, so that it does not stay in memory."""
    if isinstance(array, np.memmap) and array.filename is not None and array.base is not None:
        check_part(array, first, last)
        begin = array.offset + first * array.itemsize
        with reading(array.filename):
            values = np.fromfile(array.filename, array.dtype, last - first, offset=begin)
        if len(values) < last - first:
            raise FormatError(f"the file ends at byte {begin + values.nbytes}: it was truncated", array.filename)
        return values
    return array[first:last]


def slices(*arrays: np.ndarray, size: int | None = None) -> Iterator[tuple[Any, ...]]:
    """Arrays of one length, `size` values at a time (default: `FILES.values`), after the number of the first."""
    for array in arrays:
        if not isinstance(array, np.ndarray) or not array.ndim:
            raise InputError(f"arrays: {shown(array)} is no array of one dimension or more")
    size = whole("size", FILES.values if size is None else size, 1)
    for first in range(0, len(arrays[0]), size):
        last = min(first + size, len(arrays[0]))
        yield first, *(part(array, first, last) for array in arrays)


def release(array: Any, folder: Path | None) -> None:
    """Delete the file of a column that was spilled to this folder."""
    name = getattr(array, "filename", None)
    if folder is not None and name is not None and Path(name).parent == folder:
        Path(name).unlink()
