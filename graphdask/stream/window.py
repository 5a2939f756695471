"""Window: the chunks of a section that are in memory. A thread reads ahead; the busiest chunks stay.

Memory is divided into buffers, each with room for any chunk: one for the chunk that is worked on, the others for those
that come after it; and a resident region for the rest, whose chunks are read once. Chunks enter it as they come, and
where it is full one that is wanted more often takes the place of the one that is wanted least.

Sources: WolfPath, Section 4.5.2 (copies beside computation); Pandey et al., c-saw, Section V (what is busiest stays).
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.errors import OverBudget
from graphdask.stream.format import Chunk, Section
from graphdask.stream.store import Store

AHEAD = 2
"""Chunks that are read ahead where memory allows."""


@dataclass
class Traffic:
    """What was read."""

    nbytes: int = 0
    chunks: int = 0
    """That were read from the file."""
    resident: int = 0
    """That were asked for and in the resident region."""
    skipped: int = 0
    """That a sweep left out, as none of their sources had changed."""
    unused: int = 0
    """That were read ahead in vain."""
    reading: float = 0.0
    """Seconds that reads took."""
    waiting: float = 0.0
    """Seconds that computation waited for them."""
    least: int = 0
    """Bytes of all chunks that were asked for at least once."""
    memory: int = 0
    """Bytes of buffers and the resident region."""

    def to_dict(self, seconds: float) -> dict[str, Any]:
        """For statistics of a run that took so long."""
        return {
            "nbytes": self.nbytes, "least": self.least, "chunks_read": self.chunks, "chunks_resident": self.resident,
            "chunks_skipped": self.skipped, "chunks_unused": self.unused, "reading": self.reading,
            "waiting": self.waiting, "overlap": max(0.0, 1.0 - self.waiting / self.reading) if self.reading else 0.0,
            "bandwidth": self.nbytes / seconds if seconds else 0.0, "window": self.memory,
        }  # fmt: skip


class Window:
    """Chunks of a section, within a number of bytes; a context manager.

    Raises
    ------
    OverBudget
        Where the largest chunk does not fit.
    """

    def __init__(
        self,
        store: Store,
        section: Section,
        memory: int,
        what: str,
        ahead: int | None = None,
        chunks: range | None = None,
    ):
        self._store, self._section = store, section
        chunks = range(len(section)) if chunks is None else chunks  # those that will be asked for
        most = max((sum(section.sizes(number)) for number in chunks), default=0)
        rows = int(section.table["rows"][chunks.start : chunks.stop].max(initial=0))
        fixed = 8 * (rows + 1) + 4 * rows
        wanted = AHEAD if ahead is None else ahead
        ahead = min(wanted, max(0, (memory - fixed) // max(most, 1) - 1), max(0, len(chunks) - 1))
        if memory < fixed + most:
            raise OverBudget(
                f"{what} streams chunks of up to {most / 2**20:,.1f} MiB, and of memory= {max(memory, 0) / 2**20:,.1f} "
                f"MiB are left for them; open with {(fixed + most - memory) / 2**20:,.1f} MiB more, or build the file "
                "with a smaller chunk="
            )
        self._buffers = [np.empty(most, np.uint8) for _ in range(ahead + 1)]
        self._free = list(range(ahead + 1))
        self._coming: dict[int, tuple[int, Future[Chunk]]] = {}
        self._kept: dict[int, np.ndarray] = {}
        self._room = memory - fixed - (ahead + 1) * most
        self._wanted = np.zeros(len(section), np.int64)
        self._current: int | None = None
        self._thread = ThreadPoolExecutor(1, "graphdask-read") if ahead else None
        self._indptr = np.zeros(rows + 1, np.int64)
        self.queue = np.empty(rows, np.int32)
        """Room for the rows of a chunk."""
        self.traffic = Traffic(memory=memory - self._room)

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *error: object) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=True, cancel_futures=True)

    def indptr(self, chunk: Chunk) -> np.ndarray:
        """int64: where the rows of a chunk begin, and the last one ends; until the next chunk is asked for."""
        out = self._indptr[: len(chunk.degrees) + 1]
        np.cumsum(chunk.degrees, out=out[1:])
        return out

    def load(self, number: int, ahead: Iterable[int] = ()) -> Chunk:
        """A chunk, which is there until the next is asked for; those that are likely to be next are read meanwhile."""
        traffic = self.traffic
        if self._current is not None:
            self._free.append(self._current)
            self._current = None
        size = sum(self._section.sizes(number))
        if not self._wanted[number]:
            traffic.least += size
        self._wanted[number] += 1
        if number in self._kept:
            traffic.resident += 1
            chunk = self._section.chunk_of(number, self._kept[number])
        else:
            chunk = self._fetched(number, size)
        self._ask(ahead)
        return chunk

    def _fetched(self, number: int, size: int) -> Chunk:
        """A chunk from the file, which moves on to the resident region where there is room."""
        if number not in self._coming:
            if not self._free:
                self._drop()
            self._begin(number)
        buffer, future = self._coming.pop(number)
        started = time.perf_counter()
        chunk = future.result()
        self.traffic.waiting += time.perf_counter() - started
        if not self._makes_room(number, size):
            self._current = buffer
            return chunk
        self._kept[number] = self._buffers[buffer][:size].copy()
        self._room -= size
        self.traffic.memory += size
        self._free.append(buffer)
        return self._section.chunk_of(number, self._kept[number])

    def _makes_room(self, number: int, size: int) -> bool:
        """Whether there is room for a chunk to stay, if need be after another one, wanted less often, has gone."""
        if size <= self._room:
            return True
        if not self._kept or self._wanted[number] < 3:
            return False
        least = min(self._kept, key=lambda kept: self._wanted[kept])
        if self._wanted[least] + 1 >= self._wanted[number] or self._kept[least].nbytes + self._room < size:
            return False
        gone = self._kept.pop(least).nbytes
        self._room += gone
        self.traffic.memory -= gone
        return True

    def _ask(self, ahead: Iterable[int]) -> None:
        for number in ahead:
            if not self._free or self._thread is None:
                return
            if number not in self._kept and number not in self._coming:
                self._begin(number)

    def _begin(self, number: int) -> None:
        buffer = self._free.pop()
        if self._thread is None:
            future: Future[Chunk] = Future()
            started = time.perf_counter()
            future.set_result(self._read(number, buffer))
            self.traffic.waiting += time.perf_counter() - started
        else:
            future = self._thread.submit(self._read, number, buffer)
        self._coming[number] = buffer, future

    def _read(self, number: int, buffer: int) -> Chunk:
        started = time.perf_counter()
        chunk = self._store.read(self._section, number, self._buffers[buffer])
        traffic = self.traffic
        traffic.reading += time.perf_counter() - started
        traffic.nbytes += sum(self._section.sizes(number))
        traffic.chunks += 1
        return chunk

    def _drop(self) -> None:
        """Give up the chunk that was asked for last."""
        number = next(reversed(self._coming))
        buffer, future = self._coming.pop(number)
        if not future.cancel():
            future.result()
            self.traffic.unused += 1
        self._free.append(buffer)
