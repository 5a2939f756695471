"""Direct: a file that is read past the operating system's cache, where its disk is fast enough for that.

A graph that is larger than memory is not in the cache when a sweep comes to its beginning again. Reading through it
then only costs: pages are looked for and given up, and every byte is copied, by the cores that compute meanwhile. A
disk that gives more than a gigabyte a second is read again about as soon; what a slower one has given stays there.
"""

from __future__ import annotations

import mmap
import os
import time
from contextlib import suppress
from typing import Any

import numpy as np

from graphdask.stream.tuning import STREAM

BLOCK = 4096
"""Places in the file, in memory, and lengths are multiples of it."""
HUGE = 1 << 22
"""Bytes of memory from which it is of huge pages, as that of NumPy's arrays."""
TRIES = 16
"""First reads, of which one must be fast."""


def around(offset: int, size: int) -> tuple[int, int]:
    """Where the blocks begin that some bytes of a file are in, and how long they are."""
    begin = offset - offset % BLOCK
    return begin, -(-(offset + size - begin) // BLOCK) * BLOCK


def aligned_memory(size: int) -> np.ndarray:
    """Memory that begins at a multiple of BLOCK, uint8; what nothing is written to takes none.

    It is the operating system's again as soon as nobody has it: what `malloc` is given back may stay with the process.
    """
    try:
        memory = mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"{size:,} bytes for chunks: {error.strerror}") from error
    if size >= HUGE:
        with suppress(AttributeError, OSError):  # of systems that have no such pages
            memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, np.uint8, size)


class Direct:
    """A second way to read an open file.

    Attributes
    ----------
    pays : bool
        Whether it is there, and worth it as far as is known.
    slow : bool
        Whether reads have shown that the disk is slow.
    """

    def __init__(self, file: int):
        self.pays, self.slow, self._file, self._fast, self._tries = False, False, -1, False, 0
        with suppress(OSError, AttributeError):  # file systems, and systems, that have it not
            self._file = os.open(f"/proc/self/fd/{file}", os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECT)
            self.pays = True

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)

    def read(self, offset: int, memory: np.ndarray, wanted: int) -> bool:
        """Fill `memory`, or as much as is wanted of it where the file ends there; False where it is better read through
        the cache, which also says what is wrong with it."""
        if not self.pays:
            return False
        view: Any = memory.data
        started, done = time.perf_counter(), 0
        while done < wanted:
            try:
                got = os.preadv(self._file, [view[done:]], offset + done)
            except OSError:
                self.pays = False
                return False
            done += got
            if not got or (done < wanted and done % BLOCK):
                return False
        self._judge(done / max(time.perf_counter() - started, 1e-9))
        return True

    def _judge(self, rate: float) -> None:
        self._fast = self._fast or rate >= STREAM.direct_rate
        self._tries += 1
        if not self._fast and self._tries >= TRIES:
            self.pays, self.slow = False, True
