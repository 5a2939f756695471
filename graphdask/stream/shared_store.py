"""A store that several ranks share: each opens the file, and owns the rows of consecutive chunks of it.

The ranges have about the same number of bytes, so that all ranks read about as much. A vertex belongs to the rank whose
chunk has its row. Labels that fall on another rank are sent to the owner, through the supersteps of `graphdask.engine`.
Both ranks read a chunk of in-edges that lies across their border, and each processes its own rows.

Source: Pan et al., Multi-GPU Graph Analytics, Section III (each device its partition; all vertices known everywhere).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from graphdask.config import Config
from graphdask.device.backend import Array, Backend, get_backend
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Primitive, RankContext
from graphdask.errors import FormatError
from graphdask.partition.build import cyclic_bounds
from graphdask.partition.part import Csr, Part
from graphdask.partition.vertex_map import VertexMap
from graphdask.stream.host import HostChunks
from graphdask.stream.own_chunks import Own, divided, own_of
from graphdask.stream.store import Store
from graphdask.stream.sweeps import Log
from graphdask.stream.tuning import STREAM
from graphdask.stream.window import Window

EXCHANGE = 16
"""Bytes per vertex, at most, that ranks exchange at a time."""


@dataclass(frozen=True)
class StoredMap(VertexMap):
    """Positions as they stand in a store, which is read when they are asked for."""

    store: Store | None = field(default=None, compare=False)

    def to_id(self, backend: Backend, positions: Array) -> Array:
        assert self.store is not None
        number = np.empty(self.num_vertices, self.dtype)
        for first, ids in self.store.order():
            number[first : first + len(ids)] = ids
        return backend.from_host(number)[positions]

    def to_position(self, backend: Backend, ids: Array) -> Array:
        assert self.store is not None
        return backend.from_host(self.store.positions(backend.to_host(ids)).astype(self.dtype))


@dataclass
class StreamedPart(Part):
    """One rank's share of a store."""

    store: Store = field(kw_only=True)
    memory: int = field(kw_only=True)
    """Bytes that this rank may take."""
    read_ahead: int | None = field(kw_only=True)
    own: Own = field(kw_only=True)
    once: bool = field(kw_only=True, default=False)
    """Whether one sweep is all."""
    device: str | None = field(kw_only=True, default="cpu")
    """As `graphdask.stream.open` takes it."""
    chunks: Callable[[Backend], HostChunks] | None = field(kw_only=True, default=None)
    """What a device takes chunks from."""


def backend_of(context: RankContext, part: StreamedPart) -> Backend:
    """Where a rank streams: on its device; alone in this process on the one for which the file was opened."""
    if part.device == context.backend.name:
        return context.backend
    return get_backend(Config.load(device=part.device).device)


def map_of(store: Store, size: int) -> VertexMap:
    """Who owns what; with one rank positions in results are vertex numbers."""
    n = store.num_vertices
    if size == 1:
        return VertexMap(n, np.array([0, n], np.int64))
    offsets = divided(store, size)
    return VertexMap(n, offsets) if store.by_number else StoredMap(n, offsets, store=store)


def part_of(store: Store, rank: int, size: int, memory: int, read_ahead: int | None) -> StreamedPart:
    """What a rank has of a store."""
    vertex_map = map_of(store, size)
    own = Own.whole(store) if size == 1 else own_of(store, vertex_map.offsets, rank)
    nothing = np.zeros(0, vertex_map.dtype)
    part = StreamedPart(
        rank, size, vertex_map, Csr(np.zeros(1, np.int64), nothing), None, None, nothing,
        cyclic_bounds(vertex_map.offsets, rank), store=store, memory=memory, read_ahead=read_ahead, own=own,
    )  # fmt: skip
    every = np.arange(own.count if size > 1 else 0, dtype=vertex_map.dtype)
    part.mirrors = [nothing if peer == rank else every for peer in range(size)]  # all vertices are known everywhere
    return part


def same_file(store: Store, expected: dict[str, Any]) -> None:
    """Raise FormatError where a rank has opened another file under the same name."""
    if store.header != expected:
        raise FormatError("on this worker the file is another one; put the same file under that name", store.path)


@dataclass
class BySlot:
    """An array by position, read by slots of a part."""

    array: np.ndarray
    begin: int

    def __getitem__(self, slots: np.ndarray) -> np.ndarray:
        places = slots.astype(np.int64)
        places += self.begin
        places[places >= len(self.array)] -= len(self.array)
        return self.array[places]


def most_reported(part: StreamedPart) -> int:
    """Return the number of vertices, at most, whose values a rank sends in a superstep."""
    return max(STREAM.reported, part.num_vertices // (4 * part.size))


def marked(part: StreamedPart, marks: np.ndarray, most: int) -> np.ndarray:
    """Slots of up to `most` vertices of others that are marked, ascending; the marks are cleared."""
    own, n, found, left = part.own, part.num_vertices, [], most
    for begin, end, shift in ((own.end, n, -own.begin), (0, own.begin, n - own.begin)):
        for at in range(begin, end, STREAM.reported):
            if left <= 0:
                break
            some = np.flatnonzero(marks[at : min(at + STREAM.reported, end)])[:left]
            if len(some):
                marks[at + some] = False
                found.append((some + (at + shift)).astype(part.vertex_map.dtype))
                left -= len(some)
    return np.concatenate(found) if found else np.zeros(0, part.vertex_map.dtype)


def any_marked(part: StreamedPart, marks: np.ndarray) -> bool:
    """Whether a vertex of others is marked."""
    return bool(marks[: part.own.begin].any() or marks[part.own.end :].any())


class Streaming(Primitive[Any]):
    """A primitive over a part of a store; one run is one object, whose `stack` is closed by who runs it."""

    columns: ClassVar[Mapping[str, Any]] = {"value": np.int64}
    result_type = None
    notifies_ghosts = True
    per_vertex = 0
    """Bytes of the state, for every vertex of the graph, and of what is sent at a time."""

    beside = 0
    """Bytes that are taken besides."""

    def __init__(self, name: str, stack: ExitStack):
        self.name, self.stack = name, stack
        self.log = Log(what=name)

    def memory(self, part: Any, allocation: Allocation) -> int:
        return self.per_vertex * part.num_vertices

    def idle(self, state: Any) -> float:
        return self.log.idle()

    def view(self, part: StreamedPart, backend: Backend) -> StreamedPart:
        """The share of the store as supersteps take it."""
        return part

    def window(self, part: StreamedPart, section: str, env: Environment, **options: Any) -> Window:
        """A window on the own chunks of a section, in the memory that the state leaves; options are those of it."""
        self.log.context = env
        store, free = part.store, part.memory - self.per_vertex * part.num_vertices - self.beside
        chunks = part.own.chunks[section]
        window = Window(store, store.sections[section], free, self.name, part.read_ahead, chunks, **options)
        self.log.traffic.append(window.traffic)
        return self.stack.enter_context(window)


def places(part: StreamedPart) -> Iterator[tuple[int, np.ndarray]]:
    """Positions where own rows begin, and where in a result the values of these rows go, int32.

    With one rank a value goes to its vertex number, with several to its place among the own rows.
    """
    if part.size == 1:
        yield from part.store.order()
    else:
        yield part.own.begin, np.arange(part.own.count, dtype=np.int32)


def numbers_of(part: StreamedPart, rows: np.ndarray) -> np.ndarray:
    """The vertex numbers of some own rows."""
    found, places = np.empty(len(rows), np.int64), rows + part.own.begin
    for first, ids in part.store.order():
        inside = (places >= first) & (places < first + len(ids))
        found[inside] = ids[places[inside] - first]
    return found


def own_numbers(part: StreamedPart) -> np.ndarray:
    """Return the numbers of own vertices, in the order of positions."""
    own = part.own
    found = np.empty(own.count, part.vertex_map.dtype)
    for first, some in part.store.order(own.chunks["out"]):
        found[first - own.begin : first - own.begin + len(some)] = some
    return found
