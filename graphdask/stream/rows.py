"""StoredRows: chunks of a store as partitions that samplers draw from; the most active stay in memory.

The memory is that of the host, or of a device, which takes chunks from page-locked memory of the host (`HostChunks`).
Where much is to be drawn, the first chunks, as many as fit, are one *piece*, which is read once and stays; every other
chunk is a piece for itself. A piece becomes a Part whose own vertices are its rows. Slots are positions, but for two
blocks that change places: the own vertices, which come first, and those whose places they take. So the tables of all
slots (vertex numbers, degrees) are one array each, in which these blocks are exchanged whenever another piece is
entered. While one is drawn from, a thread reads those that are likely to be next; they count as in memory from then on.

Source: Pandey et al., c-saw, Section V (partitions out of memory; the most active first, until its queue is empty).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.comm.arguments import settle
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.errors import OverBudget
from graphdask.partition.part import Csr, Part
from graphdask.partition.vertex_map import TableMap, VertexMap
from graphdask.stream.copies import copies_of
from graphdask.stream.format import Chunk, Section, mib_up
from graphdask.stream.host import HostChunks
from graphdask.stream.store import Store
from graphdask.stream.window import Traffic

AHEAD = 1
"""Pieces that are read ahead where nobody says how many: there is a buffer for one in any case."""
AHEAD_OF_DEVICE = 8
"""That are read for a device before they are copied there."""
SPARE = 16
"""One part in so many of the memory stays free, as chunks of different lengths leave gaps when they go."""
TablesOf = Callable[[Csr], int]
"""Bytes that a sampler's tables of some rows take at most, while they are made."""


@dataclass
class ChunkEnvironment(Environment):
    """What samplers use beside a chunk: tables of all slots are there already."""

    stored: StoredRows | None = None
    host: HostChunks | None = None
    """What a device takes chunks from; None on a CPU, which reads them itself."""
    ahead: int = AHEAD
    """Pieces that are read while another one is drawn from, by a thread, or for a device by those of the host."""

    def fetch_ghosts(self, part: Part, values: Sequence[Array]) -> list[Array]:
        """Vertex numbers or degrees of all slots, of the chunk that was entered last."""
        assert self.stored is not None
        tables = [self.stored.numbers if value is part.ids else self.stored.degrees for value in values]
        assert all(table is not None for table in tables)
        return tables


class StoredRows:
    """Rows of a store, a piece at a time; to be closed.

    Parameters
    ----------
    env : ChunkEnvironment
        Where the rows go; from now on these are its `stored`, and so many pieces are read ahead as it says.
    store : Store
    section : Section
    memory : int
        Bytes for all of it, what is per vertex included.
    what : str
        Who samples, for messages.
    work : int
        About how many edges will be drawn; from one for each chunk on, there is a piece that stays.
    tables : callable
    with_degrees : bool
        Whether the sampler asks for the degrees of vertices that are not its own.
    numbered : bool
        Whether it asks for the rows of edges in what the file was built from.

    Attributes
    ----------
    numbers : int32 array, shape (n,)
        Vertex numbers by slot, of the piece that was entered last.
    degrees : int64 array, shape (n,), or None
        Of the same slots.
    traffic : Traffic

    Raises
    ------
    OverBudget
        Where the largest chunk does not fit.
    """

    def __init__(
        self, env: ChunkEnvironment, store: Store, section: Section, memory: int, what: str, work: int,
        tables: TablesOf, with_degrees: bool = False, numbered: bool = False,
    ):  # fmt: skip
        n, self.env, self.xp = store.num_vertices, env, env.xp
        self.store, self.section, self._tables = store, section, tables
        self._numbered = numbered
        bounds = [self._bound(number) for number in range(len(section))]
        self.per_vertex = per_vertex(store, with_degrees)
        self._free_bytes = memory - memory // SPARE - self.per_vertex * n
        most = max(bounds, default=0)
        if self._free_bytes < most:
            raise OverBudget(
                f"{what} takes {self.per_vertex * n / 2**20:,.1f} MiB for what is per vertex and up to "
                f"{most / 2**20:,.1f} MiB for a chunk with its tables, and may use {max(memory, 0) / 2**20:,.1f} MiB "
                f"besides its queues; open with {mib_up(most - self._free_bytes)} more, or build the file with a "
                "smaller chunk="
            )
        on_cpu = env.ahead if env.host is None else 0
        self._ahead = min(on_cpu, (self._free_bytes - most) // max(section.most_bytes, 1))
        stays = self._staying(bounds) if work >= len(section) else 0
        self._pinned = 0 if stays > 1 else -1
        """The piece that stays; -1 for none."""
        self._pieces = [range(stays)] if stays > 1 else []
        self._pieces += [range(number, number + 1) for number in range(stays if stays > 1 else 0, len(section))]
        self._bounds = [sum(bounds[number] for number in piece) for piece in self._pieces]
        if stays > 1:
            self._bounds[0] += section.most_bytes
        self.firsts = np.array([section.table["first"][piece.start] for piece in self._pieces], np.int64)
        self._cuts = env.backend.from_host(self.firsts)
        self.numbers = self._vertices()
        self._position: Array | None = None
        offsets = np.append(self.firsts, n) if len(self) else np.array([0, n], np.int64)
        self._map = VertexMap(n, offsets)
        if not store.by_number:
            self._position = self.xp.empty(n, np.int32)
            self._position[self.numbers] = self.xp.arange(n, dtype=np.int32)
            self._map = TableMap(n, offsets, position_of=self._position)
        self.degrees = self._degrees() if with_degrees else None
        self._held: dict[int, Part] = {}
        self._sizes: dict[int, int] = {}
        self._coming: dict[int, Future[tuple[Chunk, float]]] = {}
        self._thread = ThreadPoolExecutor(1, "graphdask-read") if self._ahead else None
        self._entered: tuple[int, int] = (0, 0)
        """Position of the first row of the chunk that the tables are of, and its rows."""
        self._current = -1
        self._seen: set[int] = set()
        self.traffic = Traffic()
        env.stored = self

    def __len__(self) -> int:
        """Number of pieces."""
        return len(self._pieces)

    @property
    def held(self) -> list[int]:
        """The pieces that are in memory, or soon will be."""
        return [*self._held, *self._coming]

    def close(self) -> None:
        """Let go of what was read ahead, and of the thread that read it."""
        for number in list(self._coming):
            self._release(number)
        if self._thread is not None:
            self._thread.shutdown()

    def positions(self, vertices: Array) -> Array:
        """Where some vertices stand, int32."""
        return vertices if self._position is None else self._position[vertices]

    def pieces(self, positions: Array) -> Array:
        """The piece that each position is in, int32."""
        return (self.xp.searchsorted(self._cuts, positions, side="right") - 1).astype(np.int32)

    @property
    def finding(self) -> dict[str, Any]:
        """What `queues_leave` finds the position and the piece of a vertex with: fields of its pack."""
        known = self._position is not None
        table = self._position if known else self.numbers[:0]
        return {"table": table, "differ": int(known), "cuts": self._cuts, "parts": len(self)}

    def ask(self, numbers: Sequence[int]) -> None:
        """For a device, let threads of the host begin to read the piece that is entered next, and some after it."""
        self._ask([self._pieces[number].start for number in numbers if number not in self._held])

    def _ask(self, chunks: Sequence[int]) -> None:
        host = self.env.host
        if host is not None:
            all(host.ask(self.section, number) for number in chunks[: 1 + self.env.ahead])  # while there is space

    def enter(self, number: int, waiting: np.ndarray) -> Part:
        """A piece as a partition; `waiting`, of each piece, says how much is to be drawn there."""
        self._current, part = number, self._held.get(number)
        if part is not None:
            self.traffic.resident += 1
            self._exchange(int(self.firsts[number]), part.num_owned)
            return part
        while self._bounds[number] - self._sizes.get(number, 0) > self._free_bytes:
            free = (held for held in self.held if held not in (self._pinned, number))
            self._release(min(free, key=lambda held: (waiting[held], held)))
        part = self._held[number] = self._made(number)
        return part

    def read_ahead(self, likely: Iterable[int], waiting: np.ndarray) -> None:
        """On a CPU, begin to read pieces that are likely to be entered next, once what was made of this one is settled.

        Pieces in memory at which no draws wait are released for them; the other pieces stay.
        """
        for number in likely:
            if self._thread is None or len(self._coming) >= self._ahead:
                return
            if number in self._held or number in self._coming or len(self._pieces[number]) > 1:
                continue
            size = self._bytes(number)
            while size > self._free_bytes:
                idle = [held for held in self._held if held not in (self._pinned, self._current) and not waiting[held]]
                if not idle:
                    return
                self._release(min(idle))
            self._coming[number] = self._thread.submit(self._loaded, self._pieces[number].start)
            self._free_bytes -= size
            self._sizes[number] = size

    def settle(self, number: int) -> None:
        """Count what was made of a piece since it was entered."""
        part = self._held[number]
        size = self._bytes(number) + part.out.indptr.nbytes + part.ids.nbytes + part.tables.nbytes
        size += 0 if part.out.rows is None else part.out.rows.nbytes
        self._free_bytes -= size - self._sizes.get(number, 0)
        self._sizes[number] = size
        self.traffic.memory = max(self.traffic.memory, sum(self._sizes.values()))

    def _bytes(self, number: int) -> int:
        """Of the chunks of a piece."""
        return sum(sum(self.section.sizes(chunk)) for chunk in self._pieces[number])

    def _release(self, number: int) -> None:
        self._held.pop(number, None)
        self._free_bytes += self._sizes.pop(number)
        future = self._coming.pop(number, None)
        if future is not None and not future.cancel() and future.exception() is None:  # a fault there troubles nobody
            self._count(self._pieces[number].start, future.result()[1])
            self.traffic.unused += 1

    def _staying(self, bounds: list[int]) -> int:
        """How many of the first chunks stay, so that there is space for any other one, and to read one."""
        buffer = self.section.most_bytes
        if sum(bounds) + buffer <= self._free_bytes:
            return len(bounds)
        free = self._free_bytes - max(bounds) - max(self._ahead, 1) * buffer
        return int(np.searchsorted(np.cumsum(bounds), free, side="right"))

    def _bound(self, number: int) -> int:
        """Bytes of a chunk with all that is made of it, at most."""
        entry, width, xp = self.section.table[number], self.section.weights, self.xp
        rows, edges = int(entry["rows"]), int(entry["edges"])
        weights = None if width is None else xp.broadcast_to(xp.zeros(1, width), edges)
        csr = Csr(
            xp.broadcast_to(xp.zeros(1, np.int64), rows + 1), xp.broadcast_to(xp.zeros(1, np.int32), edges), weights
        )
        numbers = 0
        if self._numbered:
            assert self.section.number_dtype is not None
            numbers = 2 * edges * self.section.number_dtype.itemsize  # as they are read, and beside the others
        return sum(self.section.sizes(number)) + 28 * (rows + 1) + numbers + self._tables(csr)

    def _made(self, number: int) -> Part:
        """Read a piece, and enter it."""
        chunks, first, n = self._pieces[number], int(self.firsts[number]), self.store.num_vertices
        xp = self.xp
        if len(chunks) == 1:
            chunk = self._next(number)
            degrees, targets, weights = chunk.degrees, chunk.targets, chunk.weights
        else:
            degrees, targets, weights = self._joined(chunks)
        rows = len(degrees)
        indptr = xp.zeros(rows + 1, np.int64)
        xp.cumsum(degrees, dtype=np.int64, out=indptr[1:])
        self._exchange(first, rows)
        self.env.kernels("layered_trees", index_t=np.int32).layered_slots(len(targets), targets, first, rows)
        csr = Csr(indptr, targets, None if self.store.weights is None else weights)
        if self._numbered:
            csr.rows = self._edge_rows(chunks)
        ids = self.numbers[:rows].copy()
        part = Part(number, len(self), self._map, csr, csr, None, ids, np.array([0, rows, n], np.int64))
        return part

    def _edge_rows(self, chunks: range) -> Array:
        """The rows of the edges of chunks in what the file was built from, one after the other."""
        started = time.perf_counter()
        made = [self.store.edge_numbers(self.section, number) for number in chunks]
        self.traffic.nbytes += sum(numbers.nbytes for numbers in made)
        rows = self.env.backend.from_host(made[0] if len(made) == 1 else np.concatenate(made))
        self.traffic.waiting += time.perf_counter() - started
        return rows

    def _joined(self, chunks: range) -> tuple[Array, Array, Array]:
        """Degrees, targets and weights of chunks, one after the other."""
        table, xp = self.section.table[chunks.start : chunks.stop], self.xp
        degrees, targets = xp.empty(int(table["rows"].sum()), np.uint32), xp.empty(int(table["edges"].sum()), np.int32)
        dtype = self.store.weights
        weights = xp.empty(0, np.int32) if dtype is None else xp.empty(len(targets), dtype)
        bounds = np.zeros((len(table) + 1, 2), np.int64)
        np.cumsum([table["rows"], table["edges"]], axis=1, out=bounds[1:].T)
        places = [
            (degrees[row:to_row], targets[edge:to_edge], weights[edge:to_edge])
            for (row, edge), (to_row, to_edge) in pairwise(bounds.tolist())
        ]
        if self.env.host is not None:
            self._copied(chunks, places)
            return degrees, targets, weights
        buffer = xp.empty(self.section.most_bytes, np.uint8)
        for number, (of_rows, ends, lengths) in zip(chunks, places, strict=True):
            chunk = self._read(number, buffer)
            of_rows[:], ends[:] = chunk.degrees, chunk.targets
            if dtype is not None:
                lengths[:] = chunk.weights
        return degrees, targets, weights

    def _copied(self, chunks: range, places: Sequence[tuple[Array, Array, Array]]) -> None:
        """Copy chunks to their places on the device, one behind the other: nothing waits before the last one."""
        host, copies, started = self.env.host, copies_of(self.env.backend), time.perf_counter()
        assert host is not None
        try:
            for number, place in zip(chunks, places, strict=True):
                self._ask(range(number, chunks.stop))
                array, release = host.take(self.section, number)
                chunk, done = self.section.chunk_of(number, array), None
                for out, column in zip(place, (chunk.degrees, chunk.targets, chunk.weights), strict=True):
                    if len(column):
                        done = copies.copy(0, out, column)
                release(done)
                self._count(number, 0.0)
        finally:
            copies.finish()
        seconds = time.perf_counter() - started
        self.traffic.reading += seconds
        self.traffic.waiting += seconds

    def _next(self, number: int) -> Chunk:
        """The chunk of a piece, which was read ahead or is read now."""
        first, future = self._pieces[number].start, self._coming.pop(number, None)
        if future is None:
            return self._read(first, self.xp.empty(sum(self.section.sizes(first)), np.uint8))
        started = time.perf_counter()
        chunk, seconds = future.result()
        self.traffic.waiting += time.perf_counter() - started
        self._count(first, seconds)
        return chunk

    def _read(self, number: int, buffer: Array) -> Chunk:
        """A chunk in the bytes of a buffer."""
        started, size = time.perf_counter(), sum(self.section.sizes(number))
        if self.env.host is None:
            chunk = self.store.read(self.section, number, buffer)
        else:
            array, release = self.env.host.take(self.section, number)
            buffer[:size].set(array)
            settle(self.env.backend)  # a copy from page-locked memory is not done when it is asked for
            release(None)
            chunk = self.section.chunk_of(number, buffer[:size])
        seconds = time.perf_counter() - started
        self.traffic.waiting += seconds
        self._count(number, seconds)
        return chunk

    def _loaded(self, number: int) -> tuple[Chunk, float]:
        """On a CPU, a chunk in memory of its own, and the seconds that this took."""
        started = time.perf_counter()
        chunk = self.store.read(self.section, number, np.empty(sum(self.section.sizes(number)), np.uint8))
        return chunk, time.perf_counter() - started

    def _count(self, number: int, seconds: float) -> None:
        """Count a chunk that was read."""
        size, traffic = sum(self.section.sizes(number)), self.traffic
        traffic.reading += seconds
        traffic.nbytes += size
        traffic.chunks += 1
        traffic.distinct += 0 if number in self._seen else size
        self._seen.add(number)

    def _exchange(self, first: int, rows: int) -> None:
        """Make the tables those of the slots of a chunk; those of the first one stand as positions do."""
        if self._entered == (first, rows):
            return
        for table in (self.numbers, self.degrees):
            if table is None:
                continue
            was, length = self._entered
            if was:
                moved, place = min(was, length), max(was, length)
                own, others = table[:length].copy(), table[place : place + moved].copy()
                table[:moved], table[was : was + length] = others, own
            if first:
                moved, place = min(first, rows), max(first, rows)
                own, others = table[first : first + rows].copy(), table[:moved].copy()
                table[:rows], table[place : place + moved] = own, others
        self._entered = first, rows

    def _vertices(self) -> Array:
        """int32: vertex numbers by position."""
        n, host = self.store.num_vertices, self.env.host
        if self.store.by_number:
            return self.xp.arange(n, dtype=np.int32)
        if host is not None:
            return self._sent(host.column("ids"))
        numbers = np.empty(n, np.int32)
        for first, ids in self.store.order():
            numbers[first : first + len(ids)] = ids
        return numbers

    def _sent(self, column: np.ndarray) -> Array:
        """On the device what stays in page-locked memory of the host from one run to the next."""
        out = self.xp.empty(column.shape, column.dtype)
        if len(column):
            out.set(column)
        return out

    def _degrees(self) -> Array:
        """int64 by position."""
        host, n = self.env.host, self.store.num_vertices
        if host is not None and self.section.name == "out" and len(column := host.column("degrees")) == n:
            return self._sent(column).astype(np.int64)
        made = np.zeros(n, np.int64)
        for first, degrees, _ in self.store.rows(self.section):
            made[first : first + len(degrees)] = degrees
        return self.env.backend.from_host(made)


def per_vertex(store: Store, with_degrees: bool) -> int:
    """Bytes of what is kept of every vertex."""
    return 4 + (0 if store.by_number else 4) + (8 if with_degrees else 0)
