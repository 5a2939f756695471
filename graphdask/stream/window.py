"""Window: the chunks of a section that are in memory. Threads read ahead; the busiest chunks stay.

Memory is divided into buffers and a resident region. A buffer can hold any chunk. One buffer holds the chunk that is
worked on (two, if some of the cores may finish a chunk before the others); the others hold the chunks that come next.
Chunks in the resident region are read once and stay there. Chunks enter the region as they come. When it is full, a
chunk that is wanted more often replaces the one that is wanted least.

Sources: WolfPath, Section 4.5.2 (copies beside computation); Pandey et al., c-saw, Section V (what is busiest stays).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import get_backend
from graphdask.errors import OverBudget
from graphdask.stream.direct import BLOCK, aligned_memory, around
from graphdask.stream.format import Chunk, Section, mib_up
from graphdask.stream.store import Store
from graphdask.stream.tuning import STREAM

AHEAD = 2
"""Chunks that are read ahead where memory allows."""
AMPLE = 16
"""Chunks that there is memory for where more than one is worked on at a time: what stays matters more."""
READERS = 2
"""Threads that read: one may compare a checksum while the other waits for the disk."""


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
    distinct: int = 0
    """Bytes of all chunks that were asked for at least once."""
    edges: int = 0
    """In these chunks."""
    per_edge: int = 4
    """Bytes of an edge, which must be read, at least, to scan it."""
    memory: int = 0
    """Bytes of buffers and the resident region."""
    in_place: int = 0
    """Of the bytes, those of rows that a device read where the host has them."""

    def to_dict(self, seconds: float) -> dict[str, Any]:
        """For statistics of a run that took so long."""
        return {
            "nbytes": self.nbytes, "distinct": self.distinct, "chunks_read": self.chunks,
            "chunks_resident": self.resident, "chunks_skipped": self.skipped, "chunks_unused": self.unused,
            "reading": self.reading,
            "waiting": self.waiting, "in_place": self.in_place,
            "overlap": max(0.0, 1.0 - self.waiting / self.reading) if self.reading else 0.0,
            "bandwidth": self.nbytes / seconds if seconds else 0.0, "window": self.memory,
        }  # fmt: skip


@dataclass
class Place:
    """A part of the window's memory."""

    begin: int
    size: int
    stays: bool


def least_memory(sections: Iterable[Section]) -> int:
    """Bytes that a window on any of these takes at least."""
    return max((12 * section.most_rows + 8 + section.most_bytes for section in sections), default=0)


class Window:
    """Chunks of a section, within a number of bytes; a context manager.

    Parameters
    ----------
    chunks : range, optional
        Those that will be asked for. Default: all.
    hands : int
        Chunks that may be worked on at a time, where memory allows and chunks are read ahead; see `hands`.
    once : bool
        Whether each is asked for at most once, so that none needs to stay.
    of : int
        Number of windows that have `memory` bytes each. The error for too little memory uses it to say how much to add.

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
        *,
        hands: int = 1,
        once: bool = False,
        of: int = 1,
    ):
        self._store, self._section = store, section
        chunks = range(len(section)) if chunks is None else chunks
        self._sizes = {number: sum(section.sizes(number)) for number in chunks}
        most = max(self._sizes.values(), default=0)
        rows = int(section.table["rows"][chunks.start : chunks.stop].max(initial=0))
        fixed, each = 4 * rows, 8 * (rows + 1)
        self._in_blocks = store.direct.pays and STREAM.direct_bytes <= most <= memory - fixed - each - 2 * BLOCK
        """Whether places of chunks have space for the blocks of the file that these are in."""
        place_sizes = self._sizes
        if self._in_blocks:
            offsets = section.table["offset"]
            place_sizes = {number: around(offsets.item(number), size)[1] for number, size in self._sizes.items()}
            most = max(place_sizes.values())
        self._place_sizes = place_sizes
        wanted = AHEAD if ahead is None else ahead
        if memory < fixed + each + most:
            more = (
                max(fixed + each + most, least_memory(store.sections.values())) - memory
            )  # others may be opened later
            raise OverBudget(
                f"{what} streams chunks of up to {most / 2**20:,.1f} MiB, and of memory= {max(memory, 0) / 2**20:,.1f} "
                f"MiB are left for them; open with {mib_up(of * more)} more, or build the file with a smaller chunk="
            )
        ample = AMPLE * (each + most) <= memory - fixed
        self.hands = hands if ample and wanted and hands < len(chunks) else 1
        """Chunks that may be worked on at a time: the one that was asked for last and those before it."""
        fixed += self.hands * each
        ahead = min(wanted, max(0, (memory - fixed) // max(most, 1) - self.hands), max(0, len(chunks) - 1))
        buffers = self.hands + ahead
        kept_bytes = 0 if once else memory - fixed - buffers * most
        region = min(kept_bytes, sum(place_sizes.values()))
        self._arena = aligned_memory(buffers * most + region)
        self._free = [Place(k * most, most, False) for k in range(buffers)]
        self._end = buffers * most
        self._kept: dict[int, Place] = {}
        self._coming: dict[int, tuple[Place, Future[tuple[Chunk, float]]]] = {}
        self._wanted = np.zeros(len(section), np.int64)
        self._current: deque[tuple[int, Place]] = deque()
        self._threads = ThreadPoolExecutor(min(READERS, ahead), "graphdask-read") if ahead else None
        self._indptr = np.zeros((self.hands, rows + 1), np.int64)
        self._turn = 0
        self._kernels = get_backend("cpu").kernels("layered")
        self.queue = np.empty(rows, np.int32)
        """Buffer for the rows of a chunk."""
        self.traffic = Traffic(memory=fixed + self._end, per_edge=section.per_edge)

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *error: object) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)

    def indptr(self, chunk: Chunk) -> np.ndarray:
        """int64: where the rows of a chunk begin, and the last one ends; as long as the chunk is there, asked once."""
        self._turn = (self._turn + 1) % self.hands
        out = self._indptr[self._turn, : len(chunk.degrees) + 1]
        self._kernels.layered_indptr(len(chunk.degrees), chunk.degrees, out)
        return out

    def load(self, number: int, ahead: Iterable[int] = ()) -> Chunk:
        """A chunk, which is there until as many more as there are hands are asked for; those that are likely to be next
        are read meanwhile."""
        traffic = self.traffic
        if len(self._current) == self.hands:
            _, place = self._current.popleft()
            if not place.stays:
                self._free.append(place)
        if not self._wanted[number]:
            traffic.distinct += self._sizes[number]
            traffic.edges += self._section.table["edges"].item(number)
        self._wanted[number] += 1
        if number in self._kept:
            traffic.resident += int(self._wanted[number] > 1)
            place = self._kept[number]
            chunk = self._section.chunk_of(number, self._memory(number, place))
        else:
            place, chunk = self._fetched(number)
        self._current.append((number, place))
        self.ask(ahead)
        return chunk

    def _memory(self, number: int, place: Place) -> np.ndarray:
        """Where a chunk is in its place."""
        begin = self._section.table["offset"].item(number) % BLOCK if self._in_blocks else 0
        return self._arena[place.begin + begin : place.begin + place.size]

    def _fetched(self, number: int) -> tuple[Place, Chunk]:
        """A chunk that was read ahead, or is read now, and where it is."""
        if number not in self._coming:
            place = self._place(number, int(self._wanted[number]))
            self._begin(number, self._given_up() if place is None else place)
        if self._threads is not None:
            started = time.perf_counter()
            self._coming[number][1].exception()  # which waits
            self.traffic.waiting += time.perf_counter() - started
        return self._arrived(number)

    def _arrived(self, number: int) -> tuple[Place, Chunk]:
        """A chunk that has been read, and where it is."""
        place, future = self._coming.pop(number)
        chunk, seconds = future.result()
        self._count(number, seconds)
        if place.stays:
            self._kept[number] = place
        return place, chunk

    def _place(self, number: int, wanted: int) -> Place | None:
        """Where a chunk goes: where it stays, if there is space or another one is wanted less; else a free buffer."""
        size = self._place_sizes[number]
        if self._end + size <= len(self._arena):
            place = Place(self._end, size, True)
            self._end += size
            self.traffic.memory += size
            return place
        if wanted >= 3:
            busy = [number for number, _ in self._current]
            least = min((k for k in self._kept if k not in busy), key=lambda k: self._wanted[k], default=-1)
            if least >= 0 and self._wanted[least] + 1 < wanted and self._kept[least].size >= size:
                return self._kept.pop(least)
        return self._free.pop() if self._free else None

    def ask(self, ahead: Iterable[int]) -> None:
        """Begin to read the chunks that are likely to be next, as long as there is memory for them."""
        if self._threads is None:
            return
        for number, (place, future) in list(self._coming.items()):
            if place.stays and future.done() and future.exception() is None:
                self._arrived(number)
        wanted = []
        for number in ahead:
            wanted.append(number)
            if number not in self._kept and number not in self._coming:
                free = self._place(number, int(self._wanted[number]) + 1) or self._spared(wanted)
                if free is None:
                    return
                self._begin(number, free)

    def _begin(self, number: int, place: Place) -> None:
        if self._threads is None:
            future: Future[tuple[Chunk, float]] = Future()
            found = self._read(number, place)
            self.traffic.waiting += found[1]
            future.set_result(found)
        else:
            future = self._threads.submit(self._read, number, place)
        self._coming[number] = place, future

    def _read(self, number: int, place: Place) -> tuple[Chunk, float]:
        """A chunk, and the seconds that it took."""
        started = time.perf_counter()
        memory = self._arena[place.begin : place.begin + place.size]
        read = self._store.read_blocks if self._in_blocks else self._store.read
        return read(self._section, number, memory), time.perf_counter() - started

    def _count(self, number: int, seconds: float) -> None:
        """Count a chunk that was read."""
        self.traffic.reading += seconds
        self.traffic.nbytes += self._sizes[number]
        self.traffic.chunks += 1

    def _given_up(self) -> Place:
        """The buffer of the chunk that was asked for last."""
        return self._let_go(next(key for key in reversed(self._coming) if not self._coming[key][0].stays))

    def _spared(self, wanted: list[int]) -> Place | None:
        """The buffer of a chunk that was wanted, and now is not, if it has been read or need not be."""
        for number, (place, future) in self._coming.items():
            if not place.stays and number not in wanted and (future.done() or future.cancel()):
                return self._let_go(number)
        return None

    def _let_go(self, number: int) -> Place:
        """The buffer of a chunk that was to be read ahead."""
        place, future = self._coming.pop(number)
        if not future.cancel():
            self._count(number, future.result()[1])
            self.traffic.unused += 1
        return place
