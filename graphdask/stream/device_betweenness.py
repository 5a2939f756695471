"""Betweenness through a device: the state of every vertex is on the device, and the chunks of edges stream through it.

The kernels are those of a graph in memory. So the sum of a row has the same order, and with as many lanes the scores
have the same bits. After each chunk the host reads how many of its rows were reached, while the next chunks are copied.
Several ranks exchange levels as they do on CPUs. In a chunk that has arrived, positions are replaced by slots.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from graphdask.algorithms.betweenness import Betweenness
from graphdask.algorithms.tuning import BETWEENNESS
from graphdask.device.backend import Array
from graphdask.engine.lane_search import Level
from graphdask.engine.loop import Environment
from graphdask.partition.part import Part
from graphdask.stream.betweenness import FIXED, StreamedBetweenness, StreamedInnerVertices
from graphdask.stream.chunked_rows import fitting
from graphdask.stream.device_chunked_rows import DeviceChunkedRows, device_chunks_bytes, most_edges
from graphdask.stream.device_runs import Run
from graphdask.stream.shared_store import StreamedPart
from graphdask.verify.betweenness import paired


def device_bytes(lanes: int, several: bool = False) -> int:
    """Per vertex of the device, which must not run out: also the levels where each lane reaches it in another one."""
    return FIXED + lanes * ((40 if several else 24) + 4 + (1 if lanes <= 8 else 8))


def needed(part: StreamedPart, lanes: int) -> tuple[int, int]:
    """Bytes of the device for the tables, and for chunks at least."""
    chunks = device_chunks_bytes(part) + pieces_bytes(part, lanes)
    return device_bytes(lanes, part.size > 1) * part.num_vertices, chunks


def pieces_bytes(part: StreamedPart, lanes: int) -> int:
    """Bytes for the deferred pieces of high-degree rows, whose sums have so many columns."""
    return _pieces(part) * (12 + 8 * lanes)


def _pieces(part: StreamedPart) -> int:
    """The most pieces of high-degree rows that kernels defer in a chunk."""
    most = most_edges(part)
    return most // (BETWEENNESS.hub // 2) + most // BETWEENNESS.hub


class DeviceBetweenness(DeviceChunkedRows, StreamedBetweenness):
    """The primitive over a share of a store."""

    def __init__(self, run: Run, part: StreamedPart, primitive: Betweenness, stack: ExitStack):
        super().__init__(primitive, fitting(part, primitive.lanes, needed), stack)
        self.take(run, self.per_vertex(part), needed(part, self.lanes)[1])

    def per_vertex(self, part: Part) -> int:
        return device_bytes(self.lanes, part.size > 1)

    def _most_deferred(self, part: StreamedPart) -> int:
        return _pieces(part)

    def _level(self, rows: Array, masks: Array, env: Environment) -> Level:
        """Rows of a chunk are found in any order; the way back looks for them in other chunks, where edges have a
        direction."""
        if len(self.windows) == 1:
            return super()._level(rows, masks, env)
        order = env.xp.argsort(rows)
        return Level(rows[order], masks[order])


class DeviceInnerVertices(StreamedInnerVertices, DeviceBetweenness):
    """The forward searches alone, as `InnerVertices` describes."""


def scores_of(run: Run, part: StreamedPart, primitive: Betweenness, stack: ExitStack) -> DeviceBetweenness:
    """What runs betweenness on a rank."""
    return DeviceBetweenness(run, part, primitive, stack)


def inner_of(run: Run, part: StreamedPart, primitive: Betweenness, stack: ExitStack) -> DeviceInnerVertices:
    """What searches alone, in pairs where there is memory for two lanes."""
    given: Any = paired(primitive) if fitting(part, 2, needed) == 2 else primitive
    return DeviceInnerVertices(run, part, given, stack)
