"""The edges of a source in blocks of bounded size, in the caller's ids, each made when it is asked for.

A source can be cut into any number of pieces, so a block is a piece that is small enough: a graph larger than all
memory is a long sequence of blocks. The cuts are contiguous in the order of the edges, so that the blocks of all
shares, one after the other, are the edges in the same order however they are cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graphdask import execute
from graphdask.config import Config
from graphdask.device.backend import Array, Backend, get_backend
from graphdask.display.notebook import bar_class, is_watched
from graphdask.display.tuning import DISPLAY
from graphdask.errors import InputError, OverBudget, Unsupported, shown
from graphdask.partition.ids import VertexIds
from graphdask.partition.larger import of_graph
from graphdask.partition.sources import (
    ArrayPiece,
    ArraySource,
    ChunkPiece,
    ChunkSource,
    Edges,
    EdgeSource,
    GeneratedSource,
    Piece,
)
from graphdask.partition.vertex_map import index_dtype

BLOCK = 64 << 20
"""Bytes of the blocks of which all edges are put together."""

SMALLEST = 1 << 10
"""Bytes of the smallest block that may be asked for."""


class EdgeArrays(NamedTuple):
    """Edges in the caller's ids; an undirected edge stands once."""

    src: Array
    """Shape (m,): int32 or int64, or str as objects."""
    dst: Array
    weights: Array | None = None
    """float64, float32, int64 or int32, shape (m,); None where the graph has none."""


def parse_size(value: Any, name: str, least: int = SMALLEST) -> int:
    """Bytes of a size such as 2**28 or "256MiB"; InputError where it is none, or below the least."""
    from dask.utils import parse_bytes

    try:
        if isinstance(value, bool):
            raise ValueError
        size = int(parse_bytes(value))
    except (ValueError, TypeError, AttributeError, OverflowError):
        raise InputError(
            f'{name}={shown(value)} is no number of bytes; give one, such as 268435456 or "256MiB"'
        ) from None
    if size < least:
        raise InputError(f"{name}={shown(value)} is too small: it must be {least} bytes or more")
    return size


def caller_dtype(ids: VertexIds, dtype: np.dtype) -> np.dtype:
    """Dtype of the caller's ids where vertex numbers have the given one."""
    return ids.to_caller(np.zeros(0, dtype)).dtype


def edge_bytes(source: EdgeSource, ids: VertexIds) -> int:
    """Bytes of one edge in the caller's ids; of strings the references."""
    weight = 0 if source.weight_dtype is None else source.weight_dtype.itemsize
    return 2 * caller_dtype(ids, index_dtype(source.num_vertices)).itemsize + weight


@dataclass(frozen=True)
class Share:
    """A share of the edges of a source: what a writer of a part is sent."""

    source: EdgeSource
    number: int = 0
    count: int = 1

    @classmethod
    def of(cls, source: EdgeSource, number: int, count: int) -> Share:
        """Share `number` of `count`, in contiguous cuts; of what the caller holds in memory only that share."""
        if isinstance(source, ArraySource):
            piece = source.piece(number, count)
            return cls(ArraySource(source.num_vertices, piece.src, piece.dst, piece.weights, source.known_skewed))
        if isinstance(source, ChunkSource):
            n, chunks = len(source.chunks), source.chunks
            chunks = chunks[n * number // count : n * (number + 1) // count]
            return cls(ChunkSource(source.num_vertices, -1, chunks, source.weight_dtype, source.skewed))
        return cls(source, number, count)

    def pieces(self, max_edges: int) -> Iterator[Piece]:
        """Its pieces in order, each of about `max_edges` edges at most; the caller's chunks stay whole."""
        source = self.source
        if isinstance(source, ChunkSource):
            dtype = index_dtype(source.num_vertices)
            yield from (ChunkPiece([chunk], dtype, source.weight_dtype) for chunk in source.chunks)
            return
        if isinstance(source, GeneratedSource) and source.cumulative:
            yield source.piece(self.number, self.count)
            return
        pieces = max(1, -(-source.num_edges // (self.count * max_edges)))
        for number in range(self.number * pieces, (self.number + 1) * pieces):
            yield source.piece(number, self.count * pieces)

    def blocks(self, backend: Backend, max_edges: int) -> Iterator[Edges]:
        """Its edges in vertex numbers, on the backend, in blocks of which nobody else holds a reference."""
        source = self.source
        for piece in self.pieces(max_edges):
            if isinstance(piece, ChunkPiece) or (isinstance(source, GeneratedSource) and source.cumulative):
                yield from _slices(_made(piece, backend), max_edges)
            else:
                yield _made(piece, backend)


def maker_of(source: EdgeSource, device: str) -> Backend:
    """Where the blocks of a source are made: on a GPU what is generated, if there is one; on the CPU what is there."""
    if device not in ("auto", "cpu", "cuda"):
        raise InputError(f"device={device!r} is not one of auto, cpu, cuda")
    return get_backend("cpu" if device == "auto" and not isinstance(source, GeneratedSource) else device)


def _made(piece: Piece, backend: Backend) -> Edges:
    with backend.activate():
        src, dst, weights = piece.edges(backend)
    if isinstance(piece, ArrayPiece) and backend.name == "cpu":  # the caller's own arrays are not given out
        return src.copy(), dst.copy(), None if weights is None else weights.copy()
    return src, dst, weights


def _slices(edges: Edges, max_edges: int) -> Iterator[Edges]:
    """A piece, which may be of any size, in blocks."""
    src, dst, weights = edges
    for first in range(0, len(src), max_edges):
        part = slice(first, first + max_edges)
        yield src[part].copy(), dst[part].copy(), None if weights is None else weights[part].copy()


def to_host(blocks: Iterator[Edges], backend: Backend) -> Iterator[Edges]:
    """The same blocks as NumPy arrays."""
    if backend.name == "cpu":
        yield from blocks
        return
    for src, dst, weights in blocks:
        host = backend.to_host(src), backend.to_host(dst), None if weights is None else backend.to_host(weights)
        del src, dst, weights
        yield host
        del host


class Translation:
    """Vertex numbers on a backend to the caller's ids there."""

    def __init__(self, ids: VertexIds, backend: Backend):
        if backend.name == "cuda" and not ids.are_numbers:
            raise Unsupported('the ids of this graph are strings, which no GPU holds; use device="cpu"')
        self._ids, self._backend = ids, backend
        self._table = None if ids.table is None or backend.name == "cpu" else backend.from_host(ids.table)

    def __call__(self, numbers: Array) -> Array:
        """The ids of an array of vertex numbers, all of them vertices."""
        ids = self._ids
        if ids.is_identity:
            return numbers
        if ids.table is not None:
            return (ids.table if self._table is None else self._table)[numbers]
        if ids.start + ids.count > np.iinfo(numbers.dtype).max:
            numbers = numbers.astype(np.int64)
        numbers += numbers.dtype.type(ids.start)
        return numbers

    def blocks(self, numbered: Iterator[Edges]) -> Iterator[EdgeArrays]:
        """The blocks in the caller's ids; one at a time is held."""
        for src, dst, weights in numbered:
            if not len(src):
                continue
            src = self(src)
            dst = self(dst)
            block = EdgeArrays(src, dst, weights)
            del src, dst, weights
            yield block
            del block


def refuse_client(graph: Any, client: Any) -> None:
    """Raise InputError for a client where no partitions are built, so that nothing would run on its workers."""
    if client is not None and not graph.merge:
        raise InputError(
            "client= is where partitions are built of a graph whose parallel edges are merged; the edges of this one "
            "are made without them, in this process or by the tasks of the collection, so leave client= out"
        )


def refuse_device(graph: Any, device: str) -> None:
    """Raise InputError for a device to make edges on, where they come from partitions that are on another one."""
    if graph.merge and device not in ("auto", graph.plan.device):
        raise InputError(
            f"device={device!r} is where edges are made, and these come from partitions, because parallel edges are "
            f"merged; say it to partition(device={device!r}) before, and leave it out"
        )


def edge_blocks(
    graph: Any, max_bytes: Any, device: str, client: Any = None, progress: bool | None = None
) -> Iterator[EdgeArrays]:
    """Carry out `Graph.edge_blocks`: check the arguments now, make blocks when they are asked for."""
    refuse_client(graph, client)
    max_edges = max(1, parse_size(max_bytes, "max_bytes") // edge_bytes(graph.source, graph.ids))
    maker = maker_of(graph.source, device)
    holder = maker if device == "cuda" else get_backend("cpu")
    translation = Translation(graph.ids, holder)
    if graph.merge:
        stored = execute.edge_blocks(graph, max_edges, client=client, progress=progress)
        return translation.blocks(_on_device(stored, holder))
    blocks = Share(graph.source).blocks(maker, max_edges)
    return translation.blocks(blocks if holder is maker else to_host(blocks, maker))


def _on_device(blocks: Iterator[Edges], backend: Backend) -> Iterator[Edges]:
    if backend.name == "cpu":
        yield from blocks
        return
    for src, dst, weights in blocks:
        on_it = None if weights is None else backend.from_host(weights)
        yield backend.from_host(src), backend.from_host(dst), on_it


def all_edges(graph: Any, device: str, client: Any = None, progress: bool | None = None) -> EdgeArrays:
    """Carry out `Graph.edges`."""
    source, ids = graph.source, graph.ids
    show = is_watched(Config.load(progress=progress).progress)
    blocks = edge_blocks(graph, BLOCK, device, client, progress)
    count = graph.num_edges if graph.merge else source.num_edges  # a source may leave out some that it counts
    each = edge_bytes(source, ids)
    holder = get_backend("cuda" if device == "cuda" else "cpu")
    free = int(holder.free_memory() * Config.load().memory_fraction)
    needed = count * each + 2 * min(BLOCK, count * each)
    if needed > free:
        raise OverBudget(
            f"the arrays of {count:,} edges need {needed / 2**30:,.3g} GiB, and {free / 2**30:,.3g} GiB may be used on "
            f"{holder.description}; edge_blocks(), to_dask_dataframe() and write() need no more than a block at a "
            f"time{of_graph(source.num_vertices)}"
        )
    xp, dtype = holder.xp, caller_dtype(ids, index_dtype(source.num_vertices))
    with holder.activate():
        src, dst = xp.empty(count, dtype), xp.empty(count, dtype)
        weights = None if source.weight_dtype is None else xp.empty(count, source.weight_dtype)
        filled = 0
        with bar_class()(
            total=count,
            desc="edges",
            unit=" edges",
            unit_scale=True,
            disable=not show,
            leave=False,
            delay=DISPLAY.delay,
        ) as bar:
            for block in blocks:
                end = filled + len(block.src)
                src[filled:end], dst[filled:end] = block.src, block.dst
                if weights is not None:
                    weights[filled:end] = block.weights
                bar.update(end - filled)
                filled = end
                del block
    if filled < count:
        src, dst, weights = src[:filled], dst[:filled], None if weights is None else weights[:filled]
    return EdgeArrays(src, dst, weights)
