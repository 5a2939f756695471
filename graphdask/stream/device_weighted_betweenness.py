"""Betweenness by weight through a device: tables are there, and the chunks of edges stream past them.

The kernels are those of a graph in memory, so that scores have the bits that they have there, and on a CPU.
"""

from __future__ import annotations

from contextlib import ExitStack

from graphdask.algorithms.weighted_betweenness import WeightedBetweenness
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.partition.build import row_of_each
from graphdask.partition.part import Csr
from graphdask.stream.chunked_rows import fitting
from graphdask.stream.device_chunked_rows import DeviceChunkedRows, device_chunks_bytes, most_edges
from graphdask.stream.device_runs import Run
from graphdask.stream.device_window import DeviceChunk
from graphdask.stream.shared_store import StreamedPart
from graphdask.stream.weighted_betweenness import (
    StreamedInnerVertices,
    StreamedWeightedBetweenness,
    hubs_of,
    state_bytes,
)
from graphdask.verify.weighted_betweenness import search_of

SIMPLIFIED = 48
"""Bytes for each edge of a chunk, while self-loops and parallel edges are taken out of it."""


def needed(part: StreamedPart, lanes: int) -> tuple[int, int]:
    """Bytes of the device for the tables, and for chunks at least."""
    beside = 8 * hubs_of(part) + SIMPLIFIED * most_edges(part)
    return state_bytes(lanes, part.size > 1) * part.num_vertices, device_chunks_bytes(part) + beside


class DeviceWeightedBetweenness(DeviceChunkedRows, StreamedWeightedBetweenness):
    """The primitive over a share of a store."""

    def __init__(self, run: Run, part: StreamedPart, primitive: WeightedBetweenness, stack: ExitStack):
        lanes = fitting(part, primitive.lanes, lambda part, lanes: needed(part, lanes * self.copies))
        super().__init__(primitive, lanes, stack)
        self.take(run, self.per_vertex(part), needed(part, lanes * self.copies)[1])

    def _beside(self, part: StreamedPart) -> int:
        return super()._beside(part) + SIMPLIFIED * most_edges(part)

    def _simplify(self, part: StreamedPart, chunk: DeviceChunk) -> None:
        xp, backend = self.work.xp, self.work.backend
        rows = Csr(chunk.indptr, chunk.targets, chunk.weights)
        if not rows.num_edges:
            return
        assert rows.weights is not None
        at, ends = row_of_each(backend, rows, 0), rows.indices
        kept = ends != at + at.dtype.type(chunk.first)
        kept[1:] &= (ends[1:] != ends[:-1]) | (at[1:] != at[:-1])
        if bool(kept.all()):
            return
        del at
        simple = rows.only(xp, kept)
        assert simple.weights is not None
        ends[: simple.num_edges] = simple.indices
        rows.weights[: simple.num_edges] = simple.weights
        chunk.indptr[:] = simple.indptr
        chunk.degrees[:] = xp.diff(simple.indptr)

    def in_order(self, rows: Array, env: Environment) -> Array:
        return env.xp.sort(rows)


class DeviceInnerVertices(StreamedInnerVertices, DeviceWeightedBetweenness):
    """The forward searches alone, as `InnerVertices` describes."""


def scores_of(
    run: Run, part: StreamedPart, primitive: WeightedBetweenness, stack: ExitStack
) -> DeviceWeightedBetweenness:
    """What runs betweenness by weight on a rank."""
    return DeviceWeightedBetweenness(run, part, primitive, stack)


def inner_of(run: Run, part: StreamedPart, primitive: WeightedBetweenness, stack: ExitStack) -> DeviceInnerVertices:
    """What searches alone."""
    return DeviceInnerVertices(run, part, search_of(primitive), stack)
