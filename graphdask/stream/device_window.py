"""DeviceWindow: the chunks of a section that are on a device. Copies run beside kernels; the busiest chunks stay.

A `DeviceWindow` is for a device what a `graphdask.stream.window.Window` is for main memory: buffers, each of which can
hold any chunk, and a region for chunks that stay. Kernels work on one buffer while the others are filled from
page-locked memory. A chunk is not copied again as long as nothing else was copied to its buffer, so a sweep in the
opposite direction finds the last chunks of the sweep before it on the device.

Sources: WolfPath, Section 4.5.2 (copies beside computation); Pandey et al., c-saw, Section V (what is busiest stays).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.errors import OverBudget
from graphdask.kernels.common.compiling import clock
from graphdask.stream.copies import Copies, copies_of
from graphdask.stream.format import Section, aligned, mib_up
from graphdask.stream.host import HostChunks
from graphdask.stream.sweeps import Log
from graphdask.stream.window import AHEAD, Traffic

ASKED = 8
"""Chunks that threads of the host read before they are wanted."""
LOOK = 32
"""So many of the chunks that are likely to be next are checked, because most of them may be on the device already."""


@dataclass(eq=False)
class DeviceChunk:
    """Rows of edges on the device; an array that a section has not is None."""

    first: int
    rows: int
    degrees: Array
    indptr: Array
    ids: Array | None
    targets: Array
    weights: Array | None
    at: tuple[int, int, int]
    """Bytes of the window's memory before `degrees`, `targets` and `weights`."""

    @property
    def per_row(self) -> int:
        """Threads of a launch for each row, so that rows of many edges find blocks to share them."""
        return max(1, len(self.targets) // (4 * self.rows))


@dataclass
class Place:
    """A part of the window's memory."""

    number: int
    begin: int
    size: int
    stays: bool


def least_memory(sections: Iterable[Section], per_edge: float = 0.0) -> int:
    """Bytes of the device that a window on any of these takes at least."""
    return max((_fixed(one.most_rows, one.most_bytes, per_edge) + one.most_bytes for one in sections), default=0)


def _fixed(rows: int, most: int, per_edge: float) -> int:
    """Bytes beside chunks, of which the largest have so many rows and bytes."""
    return 16 * (rows + 1) + int(per_edge * (most // 4)) + 4096


class DeviceWindow:
    """Chunks of a section on a device, within a number of bytes; a context manager.

    Parameters
    ----------
    host : HostChunks
        That is reading.
    memory : int
        Bytes of the device, for chunks, 16 for each row of the largest, and `per_edge` for each edge of it.
    ahead : int, optional
        Chunks that are copied while another is worked on, where memory allows; 0: copies and kernels take turns.
    chunks : range, optional
        Those that will be asked for. Default: all.
    of : int
        Number of windows that have `memory` bytes each. The error for too little memory uses it to say how much to add.
    arrived : callable, optional
        Called with a chunk that has been copied, before it is worked on, to change it for as long as it is there.

    Attributes
    ----------
    section : Section
    chunks : range
        Those that will be asked for.
    with_indptr : bool
        Whether chunks come with `indptr`, which is computed again for each chunk that is asked for.
    queue, hubs : int32 array
        Two workspaces, each large enough for the rows of a chunk.
    scratch : int64 array
        The whole workspace per row and edge. It includes `queue`, `hubs` and `indptr`: writing to it overwrites them.

    Raises
    ------
    OverBudget
        If the largest chunk does not fit.
    """

    def __init__(
        self, host: HostChunks, backend: Backend, section: Section, memory: int, what: str, log: Log,
        ahead: int | None = None, per_edge: float = 0.0, chunks: range | None = None,
        arrived: Callable[[DeviceChunk], None] | None = None, of: int = 1,
    ):  # fmt: skip
        self._host, self.section, self._backend, self._arrived = host, section, backend, arrived
        self.chunks = chunks = range(len(section)) if chunks is None else chunks
        some, sizes = section.table[chunks.start : chunks.stop], [sum(section.sizes(number)) for number in chunks]
        self._sizes = dict(zip(chunks, sizes, strict=True))
        most, rows = max(sizes, default=0), int(some["rows"].max(initial=0))
        fixed = _fixed(rows, most, per_edge)
        ahead = AHEAD if ahead is None else ahead
        self.buffers = min(ahead + 1, max(1, (memory - fixed) // max(most, 1)), max(1, len(chunks)))
        if memory < fixed + most:
            more = (
                max(fixed + most, least_memory(host.sections.values(), per_edge)) - memory
            )  # others may be opened later
            raise OverBudget(
                f"{what} streams chunks of up to {most / 2**20:,.1f} MiB, and of memory= {max(memory, 0) / 2**20:,.1f} "
                f"MiB are left for them; open with {mib_up(of * more)} more, or build the file with a smaller chunk="
            )
        region = min(memory - fixed - self.buffers * most, sum(sizes))
        xp = backend.xp
        self._arena = xp.empty(self.buffers * most + region, np.uint8)
        self._free = [Place(k, k * most, most, False) for k in range(self.buffers)]
        self._end, self._places = self.buffers * most, self.buffers
        self._there: dict[int, Place] = {}
        """Chunks that stay."""
        self._coming: dict[int, Place] = {}
        """Chunks in buffers, which have not been worked on."""
        self._left: dict[int, Place] = {}
        """Chunks in free buffers, which have been worked on."""
        self._fresh: set[int] = set()
        """Chunks that have been copied, and not worked on since."""
        self._made: dict[tuple[int, int], tuple[Array, DeviceChunk]] = {}
        """By chunk, and by where it is: where the sums of its degrees go, and itself."""
        self._wanted, self._floor = [0] * len(section), 0
        """How often each chunk was asked for; each that stays at least so often, which is not looked up each time."""
        self._current: tuple[Place, int] | None = None
        self._copies: Copies = copies_of(backend)
        self.most_rows, self.most_edges = rows, int(some["edges"].max(initial=0))
        self.edges = dict(zip(chunks, some["edges"].tolist(), strict=True))
        scratch = xp.empty(2 * (rows + 1) + int(per_edge * self.most_edges) // 8, np.int64)
        scratch[:1] = 0
        self.with_indptr, self._indptr, self.scratch = True, scratch[: rows + 1], scratch[1:]
        self.queue, self.hubs = scratch[rows + 1 : 2 * (rows + 1)].view(np.int32).reshape(2, rows + 1)
        self.traffic = Traffic(memory=fixed + self._end, per_edge=section.per_edge)
        log.traffic.append(self.traffic)
        self._started = clock()

    def __enter__(self) -> DeviceWindow:
        return self

    def __exit__(self, *error: object) -> None:
        self._leave()
        self._copies.finish()
        if error[0] is None:
            self._backend.synchronize()
            self.settle()

    def mixed(self, together: int = 1) -> list[int]:
        """Return all chunks, with groups of about `together` chunks that stay between those that do not.

        While kernels work on chunks that stay, the others can be copied. If there are at least two chunks that do not
        stay, the first chunk and the last one are such chunks. The first one leaves its buffer to a chunk that comes.
        """
        stay = sorted(self._there)
        others = [number for number in self.chunks if number not in self._there]
        gaps = len(others) - 1
        if gaps < 1:
            return others + stay
        groups = max(1, min(gaps, -(-len(stay) // together)))
        cuts = [len(stay) * (k * groups // gaps) // groups for k in range(gaps + 1)]
        among = [number for k in range(gaps) for number in (others[k], *stay[cuts[k] : cuts[k + 1]])]
        return [*among, others[-1]]

    def first(self, number: int) -> int:
        """The first row of a chunk."""
        return int(self.section.table["first"][number])

    def keeps(self, number: int) -> bool:
        """Whether a chunk stays, and has been worked on."""
        return number in self._there and number not in self._fresh

    def memory_as(self, dtype: np.dtype) -> Array:
        """The memory of all chunks."""
        return self._arena[: len(self._arena) // 8 * 8].view(dtype)

    def holds(self, number: int) -> bool:
        """Whether a chunk is on the device, or is being copied."""
        busy = self._current is not None and self._current[1] == number
        return busy or number in self._there or number in self._coming or number in self._left

    def settle(self) -> None:
        """Reckon up times: of copies, and of the time in which no kernel had a chunk."""
        copies, traffic = self._copies, self.traffic
        copies.settle()
        traffic.reading = copies.copying
        traffic.waiting = min(max(0.0, clock() - self._started - copies.computing), copies.copying)

    def load(self, number: int, ahead: Iterable[int] = ()) -> DeviceChunk:
        """A chunk for what is launched until the next is asked for; those that are likely to be next are copied beside
        it."""
        place = self._there.get(number)
        if place is not None and number not in self._fresh and not self.with_indptr:
            return self._again(number, place, ahead)
        self._leave()
        traffic = self.traffic
        if not self._wanted[number]:
            traffic.distinct += self._sizes[number]
            traffic.edges += self.section.table["edges"].item(number)
        self._wanted[number] += 1
        if number in self._there:
            traffic.resident += int(self._wanted[number] > 1)
        elif number not in self._coming and not self._taken_back(number):
            self._start(number)
        place = self._there[number] if number in self._there else self._coming.pop(number)
        traffic.resident += int(not place.stays and number not in self._fresh)
        self._copies.visit(place.number)
        self._current = place, number
        self.ask(ahead)
        chunk = self._chunk(number, place)
        if number in self._fresh:
            self._fresh.remove(number)
            if self._arrived is not None:
                self._arrived(chunk)
        return chunk

    def _again(self, number: int, place: Place, ahead: Iterable[int]) -> DeviceChunk:
        """A chunk that stays and has been worked on: of many such, one after the other, a device waits for its host."""
        if self._current is not None:
            self._leave()
            self.ask(ahead)
            if self._there.get(number) is not place:  # another one has taken it
                return self.load(number, ahead)
        return self._kept(number, place)

    def together(self, numbers: Iterable[int], ahead: Iterable[int] = ()) -> list[DeviceChunk]:
        """Chunks for one launch, which comes before anything else is asked for: of some, those that stay and have been
        worked on. They come without `indptr`."""
        self._leave()
        self.ask(ahead)
        return [self._kept(number, self._there[number]) for number in numbers if self.keeps(number)]

    def _kept(self, number: int, place: Place) -> DeviceChunk:
        self._wanted[number] += 1
        self.traffic.resident += 1
        self._copies.visit(place.number)
        self._copies.visited(place.number, True)
        return self._made[number, place.begin][1]

    def _leave(self) -> None:
        if self._current is not None:
            place, number = self._current
            self._copies.visited(place.number, place.stays)
            if not place.stays:
                self._free.append(place)
                self._left[number] = place
            self._current = None

    def _taken_back(self, number: int) -> bool:
        """Take a chunk out of the free buffers, if it is in one."""
        if number not in self._left:
            return False
        place = self._coming[number] = self._left.pop(number)
        self._free.remove(place)
        return True

    def ask(self, ahead: Iterable[int]) -> None:
        """Begin to read, and where there is a buffer to copy, chunks that are likely to be next."""
        asked, buffer_free = 0, self.buffers > 1
        busy = -1 if self._current is None else self._current[1]
        for number in islice(ahead, LOOK):
            if asked == ASKED:
                return
            if number == busy or number in self._there or number in self._coming or self._taken_back(number):
                continue
            asked += 1
            if not self._host.ask(self.section, number):
                return
            if buffer_free and self._host.ready(self.section, number):
                place = self._place(number)
                buffer_free = place is not None
                if place is not None:
                    self._copy(number, place)

    def _start(self, number: int) -> None:
        place = self._place(number)
        if place is None:  # give up the chunk that was asked for last
            given_up, place = self._coming.popitem()
            self.traffic.unused += int(given_up in self._fresh)
        self._copy(number, place)

    def _place(self, number: int) -> Place | None:
        """Where a chunk goes: where it stays, if there is space or another one is wanted less; else a free buffer."""
        size = self._sizes[number]
        if self._end + size <= len(self._arena):
            place = Place(self._places, self._end, size, True)
            self._end, self._places = self._end + size, self._places + 1
            self.traffic.memory += size
            return place
        if self._there and self._wanted[number] >= max(3, self._floor + 2):
            busy = self._current[1] if self._current is not None else -1
            least = min((kept for kept in self._there if kept != busy), key=lambda kept: self._wanted[kept], default=-1)
            self._floor = 0 if least < 0 else self._wanted[least]
            if least >= 0 and self._floor + 1 < self._wanted[number] and self._there[least].size >= size:
                return self._there.pop(least)
        if not self._free:
            return None
        free = self._free.pop(0)
        self._left = {left: place for left, place in self._left.items() if place is not free}
        return free

    def _copy(self, number: int, place: Place) -> None:
        array, release = self._host.take(self.section, number)
        release(self._copies.copy(place.number, self._arena[place.begin : place.begin + len(array)], array))
        (self._there if place.stays else self._coming)[number] = place
        self._fresh.add(number)
        self.traffic.nbytes += len(array)
        self.traffic.chunks += 1

    def _chunk(self, number: int, place: Place) -> DeviceChunk:
        key = number, place.begin
        if key not in self._made:
            self._made[key] = self._parts(number, place)
        ends, chunk = self._made[key]
        if self.with_indptr:
            self._backend.xp.cumsum(chunk.degrees, dtype=np.int64, out=ends)
        return chunk

    def _parts(self, number: int, place: Place) -> tuple[Array, DeviceChunk]:
        section = self.section
        first, rows, edges, *_ = section.table.item(number)
        size, more = section.sizes(number)
        memory = self._arena[place.begin : place.begin + size + more]
        indptr = self._indptr[: rows + 1]
        ids = memory[4 * rows : 8 * rows].view(np.int32) if section.with_ids else None
        targets, weights, begin = memory[size : size + 4 * edges].view(np.int32), None, 0
        if section.weights is not None:
            begin = size + more - aligned(edges * section.weights.itemsize)
            weights = memory[begin : begin + edges * section.weights.itemsize].view(section.weights)
        degrees = memory[: 4 * rows].view(np.uint32)
        at = place.begin, place.begin + size, place.begin + begin
        return indptr[1:], DeviceChunk(first, rows, degrees, indptr, ids, targets, weights, at)
