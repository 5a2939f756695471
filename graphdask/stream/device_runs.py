"""Runs over a store whose chunks stream through a device: what they share, sweeps, and trees.

The state of every vertex is on the device. One kernel works on a chunk until none of its rows is active. The host
chooses the next chunk by what the device sent a few chunks ago, so that neither waits for the other. Chunks whose rows
were active then still are; chunks that became active since are seen a few chunks later. When no chunk is in flight and
none is active, the answer is certified.

Sources: WolfPath, Sections 4.2 to 4.5; Sutton, Ben-Nun, Barak, Optimizing parallel graph connectivity computation via
subgraph sampling (2018).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.device.readback import readback_of
from graphdask.errors import OverBudget
from graphdask.kernels.stream.chunk_pack import CLEARED, COUNTS, ChunkRows
from graphdask.kernels.stream.layered_paths_pack import ChunkLabels
from graphdask.stream.device_window import DeviceChunk, DeviceWindow, least_memory
from graphdask.stream.format import Section, mib_up
from graphdask.stream.host import HostChunks
from graphdask.stream.own_chunks import Own
from graphdask.stream.shared_store import StreamedPart
from graphdask.stream.store import Store
from graphdask.stream.sweeps import Log
from graphdask.stream.trees import largest

TABLES = 4096
"""Bytes besides those for each chunk."""
THREADS = 1 << 17
"""Of launches whose work the device knows and the host does not."""
LOOK = 8
"""Chunks of which it is found out ahead whether all their rows are in the largest tree."""


@dataclass
class Run:
    """What a run needs: where the chunks are, and where they go."""

    store: Store
    host: HostChunks
    backend: Backend
    memory: int
    log: Log
    own: Own
    share: float = 1.0
    """Of what is free on the device, as others use it too."""
    ahead: int | None = None
    once: bool = False
    """Whether one sweep is all, or all of a superstep."""

    @property
    def xp(self) -> Any:
        return self.backend.xp

    def require(
        self, per_vertex: int, what: str, per_edge: float = 0.0, chunks: int | None = None, more: int = 0
    ) -> None:  # fmt: skip
        """Raise OverBudget where the state of the vertices does not fit; beside it are `chunks`, bytes, or a window and
        `more`."""
        if chunks is None:
            chunks = least_memory(self.store.sections.values(), per_edge) + self._tables + more
        needed = per_vertex * self.store.num_vertices
        if needed > self.memory:
            raise OverBudget(
                f"{what} takes {per_vertex} bytes of the device per vertex, {needed / 2**20:,.1f} MiB, chunks besides, "
                f"and memory= gives {self.memory / 2**20:,.1f} MiB; open with "
                f"{mib_up(needed + chunks - self.memory)} more"
            )

    @property
    def _tables(self) -> int:
        """Bytes that belong to the chunks of a section."""
        return TABLES + 16 * max(len(section) for section in self.store.sections.values())

    def window(
        self, name: str, per_vertex: int, what: str, per_edge: float = 0.0, coming: int = 0, more: int = 0
    ) -> DeviceWindow:  # fmt: skip
        """A window on the own chunks in what the state of the vertices leaves, of which so many bytes per vertex are
        still to come, and `more` bytes."""
        n, section = self.store.num_vertices, self.store.sections[name]
        memory = self.memory - per_vertex * n - self._tables - more
        free = int(self.backend.free_memory() * self.share) - coming * n - more
        memory, chunks = min(memory, free), self.own.chunks[name]
        return DeviceWindow(self.host, self.backend, section, memory, what, self.log, self.ahead, per_edge, chunks)

    @cached_property
    def trees(self) -> Any:
        return self.backend.kernels("layered_trees", index_t=np.int32)

    def sent(self, array: np.ndarray) -> Array:
        """An array of the host on the device, straight from page-locked memory where it is there."""
        out = self.xp.empty(array.shape, array.dtype)
        if array.size:
            out.set(array)
        return out

    def ids(self) -> Array | None:
        """Vertex numbers by position; None where they are the same."""
        return None if self.store.by_number else self.sent(self.host.column("ids"))

    def positions(self, numbers: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Where vertices stand, ascending, and which vertex stands there."""
        if self.store.by_number:
            return np.sort(numbers), np.sort(numbers)
        ids = self.host.column("ids")
        places = np.flatnonzero(np.isin(ids, numbers))
        return places, ids[places]

    def by_number(self, values: Array, ids: Array | None) -> Array:
        """Values by position, by vertex number."""
        if ids is None:
            return values
        found = self.xp.empty(len(values), values.dtype)
        found[ids] = values
        return found


class Flags:
    """Counters of kernels and flags of chunks; the device sends copies to the host behind the work in flight."""

    def __init__(self, run: Run, section: Section, depth: int):
        self._run, self._chunks, self._own = run, len(section), run.own.chunks[section.name]
        counters = len(COUNTS)
        self._words = run.xp.zeros(counters + len(section), np.uint64)
        self.counters, self.flags = self._words[:counters], self._words[counters:]
        self._cleared = self._words[CLEARED:]
        self.firsts = run.backend.from_host(section.table["first"].astype(np.int64))
        self._readback = readback_of(run.backend, counters + len(section), depth)
        self.done = 0, 0
        """Rows processed and edges scanned, as far as the host knows."""
        self.elsewhere = np.zeros(len(section), bool)
        """The flags of chunks of others, as they were read last."""

    def clear(self) -> None:
        """Before a chunk."""
        self._cleared.fill(0)

    def mark(self, marks: Array) -> None:
        """Flag the chunks of which a position is marked; `marks` are uint8, filled up with zeros to a multiple of 8."""
        words = marks.view(np.uint64)
        self._run.trees.layered_active(len(words), words, self.firsts, self._chunks, self.flags)

    def send(self) -> int:
        return self._readback.send(self._words)

    def read(self, number: int) -> np.ndarray:
        """The flags of own chunks, bool; False for the others."""
        words, own = self._readback.read(number), self._own
        counts = COUNTS.of(words[: len(COUNTS)])
        self.done = counts.worked, counts.looked
        flags = words[len(words) - self._chunks :] != 0
        if len(own) < self._chunks:
            self.elsewhere = flags.copy()
            self.elsewhere[own.start : own.stop] = flags[: own.start] = flags[own.stop :] = False
        return flags

    def now(self) -> np.ndarray:
        """The same, waiting for everything."""
        return self.read(self.send())


def padded(run: Run, dtype: Any = np.uint8) -> Array:
    """A mark for each position, and for none up to a multiple of 8."""
    return run.xp.zeros(-(-max(run.store.num_vertices, 1) // 8) * 8, dtype)


class Swept:
    """Records sweeps."""

    def __init__(self, flags: Flags, log: Log):
        self._flags, self._log, self._before = flags, log, (0, 0)

    def __call__(self) -> None:
        (worked, looked), (worked_before, looked_before) = self._flags.done, self._before
        self._before = worked, looked
        self._log.sweep(worked - worked_before, looked - looked_before)


def sweep(
    run: Run, window: DeviceWindow, section: Section, flags: Flags, active: np.ndarray,
    work: Callable[[DeviceChunk], None], forward: bool = True,
) -> np.ndarray:  # fmt: skip
    """Sweep over the chunks that are `active`, one way and the other, until none is; `work` says by flags which are.
    Sweeps are recorded. Where one sweep is all, it is not, and those that still are `active` are returned."""
    chunks, swept, under_way = run.own.chunks[section.name], Swept(flags, run.log), deque[int]()
    while active.any():
        place, step, visited = (chunks.start, 1, 0) if forward else (chunks.stop - 1, -1, 0)
        while True:
            number = _next(active, place, forward)
            if number is None and not under_way:
                break
            if number is None or len(under_way) > window.buffers:
                window.ask([place] if number is None and place in chunks else [])
                active = flags.read(under_way.popleft())
                continue
            later = _next(active, number + step, forward)
            chunk = window.load(number, () if later is None else _flagged(active, later, forward))
            flags.clear()
            work(chunk)
            under_way.append(flags.send())
            place, visited = number + step, visited + 1
            run.log.check()
        window.traffic.skipped += len(chunks) - visited
        window.settle()
        if run.once:
            break
        swept()
        forward = not forward
    return active


def _next(active: np.ndarray, place: int, forward: bool) -> int | None:
    """The first active chunk from this one on, or the last one up to it."""
    if not 0 <= place < len(active):
        return None
    part = active[place:] if forward else active[: place + 1][::-1]
    at = int(part.argmax())
    return (place + at if forward else place - at) if part[at] else None


def _flagged(active: np.ndarray, place: int | None, forward: bool) -> Iterator[int]:
    while place is not None:
        yield place
        place = _next(active, place + (1 if forward else -1), forward)


def lengths(run: Run, weighted: bool, dtype: np.dtype) -> tuple[Any, Array, int]:
    """The kernels for paths; the weights of all edges where a chunk has none; and which of them counts."""
    weight = run.store.weights if weighted else np.dtype(np.float32 if dtype.kind == "f" else np.int32)
    return weight, run.backend.from_host(np.ones(1, weight)), -1 if weighted else 0


class Fall:
    """Labels that fall along the edges of chunks; marks of positions that have fallen, and flags of their chunks."""

    def __init__(self, run: Run, window: DeviceWindow, labels: Array, packed: bool, weighted: bool):
        self._run, self._window, self.labels, self.marks = run, window, labels, padded(run)
        weight, one, each = lengths(run, weighted, labels.dtype)
        self._types = {"index_t": np.int32, "weight_t": weight, "dist_t": labels.dtype}
        self._kernels = run.backend.kernels("layered_paths", cooperative=True, **self._types)
        self._section = run.store.sections["out"]
        self.flags = Flags(run, self._section, window.buffers + 2)
        self.clear: Callable[[], None] | None = None
        """Clears marks of rows that are not to be scanned, if there are such."""
        self._pack = ChunkLabels(
            weights=one, each=each, begin=run.own.begin, end=run.own.end, packed=1 if packed else None,
            active=self.marks, labels=labels, queue=window.queue, hubs=window.hubs, counters=self.flags.counters,
        )  # fmt: skip

    def _work(self, chunk: DeviceChunk) -> None:
        self._pack.hold(chunk, chunk.indptr)
        self._kernels.layered_relax_chunk(chunk.rows, self._pack, per_item=chunk.per_row)
        self._flag()

    def take(self, positions: Array, values: Array) -> None:
        """Take what others have seen."""
        kernels = self._run.backend.kernels("layered_paths", **self._types)
        kernels.layered_take(len(positions), positions, values, self._pack)

    def active(self) -> np.ndarray:
        """The own chunks with marks, bool."""
        self.flags.clear()
        self._flag()
        return self.flags.now()

    def _flag(self) -> None:
        if self.clear is not None:
            self.clear()
        self.flags.mark(self.marks)

    def sweep(self, active: np.ndarray, forward: bool = True) -> np.ndarray:
        """Sweep over the chunks that are `active`, as the function `sweep` does, with the kernel of this object."""
        return sweep(self._run, self._window, self._section, self.flags, active, self._work, forward)


def labelled(run: Run, link: Array, ids: Array | None) -> Array:
    """The smallest vertex number of each position's tree, of a flat forest."""
    if ids is None:
        return link
    least = run.xp.full(len(link), np.iinfo(np.int32).max, np.int32)
    run.backend.kernels("components", index_t=np.int32).components_label(len(link), ids, link, least)
    return least[link]


def join_chunks(
    run: Run, window: DeviceWindow, flags: Flags, link: Array, chunks: range, giant: int, choose: bool
) -> None:  # fmt: skip
    """Join trees over the edges of some chunks; rows in the tree of the position `giant`, if it is one, are passed
    over. Where `choose`, it is the first tree that is large."""
    kernels = run.backend.kernels("layered_trees", cooperative=True, index_t=np.int32)
    table, under_way = run.store.sections["out"].table, deque[tuple[int, int, int]]()
    pack = ChunkRows(hubs=window.hubs, counters=flags.counters)
    needed = np.ones(len(table), bool)
    for number in chunks:
        if len(under_way) > window.buffers:
            a, b, ticket = under_way.popleft()
            needed[a:b] &= flags.read(ticket)[a:b]
        if not needed[number]:
            window.traffic.skipped += 1
            continue
        chunk = window.load(number, (later for later in range(number + 1, chunks.stop) if needed[later]))
        flags.clear()
        pack.hold(chunk, chunk.indptr)
        kernels.layered_join(chunk.rows, link, giant, window.queue, pack, per_item=chunk.per_row)
        a, b = number + 1, min(number + 1 + LOOK, chunks.stop)
        if choose and giant < 0 and b > a:
            giant = largest(run.backend, link)
        if giant >= 0 and b > a:
            begin, end = int(table["first"][a]), int(table["first"][b - 1] + table["rows"][b - 1])
            run.trees.layered_outside_of(end - begin, begin, link, giant, flags.firsts[a:b], b - a, flags.flags[a:b])
            under_way.append((a, b, flags.send()))
        run.log.check()
    flags.now()


def prepared(part: StreamedPart, backend: Backend, share: float, log: Log) -> Run:
    """How a rank reaches its device, of whose free memory it may take a share."""
    assert part.chunks is not None
    once = part.size > 1 or part.once
    return Run(part.store, part.chunks(backend), backend, part.memory, log, part.own, share, part.read_ahead, once)
