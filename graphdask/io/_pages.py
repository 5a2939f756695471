"""Checksums of the pages of an array in a file: made while it is written, checked when it is first read."""

from __future__ import annotations

import os
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import FormatError

from .opening import reading

PAGE = 1 << 20
"""Bytes that have a checksum together."""
_AT_ONCE = 16
"""Pages that are read at a time."""


def pages_of(size: int) -> int:
    """Pages of an array of so many bytes."""
    return -(-size // PAGE)


class Checksums:
    """The CRC-32 of each page of arrays that are written one after the other."""

    def __init__(self) -> None:
        self._sums: list[int] = []
        self._crc = self._taken = 0

    def add(self, data: Any) -> None:
        """Go on with bytes of the present array."""
        view = memoryview(data).cast("B")
        while len(view):
            some = view[: PAGE - self._taken]
            self._crc, self._taken = zlib.crc32(some, self._crc), self._taken + len(some)
            if self._taken == PAGE:
                self.end()
            view = view[len(some) :]

    def end(self) -> None:
        """End the present array."""
        if self._taken:
            self._sums.append(self._crc)
        self._crc = self._taken = 0

    def table(self) -> bytes:
        """All of them, uint32, and their own."""
        sums = np.array(self._sums, "<u4").tobytes()
        return sums + np.array([zlib.crc32(sums)], "<u4").tobytes()


class Summed:
    """A stream that takes checksums of what goes through it."""

    def __init__(self, stream: Any, sums: Checksums):
        self._stream, self._sums = stream, sums

    def write(self, data: Any) -> int:
        """Write to the stream."""
        self._sums.add(data)
        written: int = self._stream.write(data)
        return written


class PageChecks:
    """Which pages of an array in a file have been found to be what was written."""

    def __init__(self, file: Path, name: str, offset: int, size: int, sums: np.ndarray):
        self._file, self._name, self._offset, self._size, self._sums = file, name, offset, size, sums
        self._checked = np.zeros(len(sums), np.bool_)

    def check_all(self) -> None:
        """Read the array once, on two threads where it is large; FormatError for a page that is damaged."""
        groups = range(0, len(self._sums), _AT_ONCE)
        if len(groups) < 2:
            self.check(0, self._size)
            return
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        with ThreadPoolExecutor(min(cores, 4), "graphdask-check") as pool:
            for _ in pool.map(lambda first: self.check(first * PAGE, (first + _AT_ONCE) * PAGE), groups):
                pass

    def check(self, begin: int, end: int) -> None:
        """Check the pages that hold these bytes, once each."""
        first, last = begin // PAGE, pages_of(min(end, self._size))
        if self._checked[first:last].all():
            return
        with reading(self._file), self._file.open("rb", buffering=0) as stream:
            page = bytearray(PAGE)
            stream.seek(self._offset + first * PAGE)
            for number in range(first, last):
                view = memoryview(page)[: min(PAGE, self._size - number * PAGE)]
                got = 0
                while got < len(view) and (some := stream.readinto(view[got:])):
                    got += some
                if got < len(view) or zlib.crc32(view) != self._sums[number]:
                    raise FormatError(
                        f"{self._name} is damaged: the checksum of its bytes from {number * PAGE:,} on does not "
                        "match; get the file again",
                        self._file,
                    )
                self._checked[number] = True


class CheckedMap(np.memmap):
    """A mapped array whose pages are checked where `_spill.part` reads them."""

    checks: PageChecks | None = None

    @classmethod
    def of(cls, array: Any, checks: PageChecks) -> CheckedMap:
        """This mapped array, with what checks it."""
        made: CheckedMap = array.view(cls)
        made.checks = checks
        return made


def check_part(array: Any, first: int, last: int) -> None:
    """Check the pages of these values, where the array is one that is checked as it is read."""
    checks = getattr(array, "checks", None)
    if isinstance(checks, PageChecks):
        checks.check(first * array.itemsize, last * array.itemsize)
