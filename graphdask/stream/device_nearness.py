"""Closeness and harmonic centrality through a device, as `graphdask.stream.nearness` describes."""

from __future__ import annotations

from contextlib import ExitStack

from graphdask.algorithms.nearness import SUMS, Nearness
from graphdask.partition.part import Part
from graphdask.stream.device_betweenness import DeviceBetweenness, device_bytes, pieces_bytes
from graphdask.stream.device_chunked_rows import device_chunks_bytes
from graphdask.stream.device_runs import Run
from graphdask.stream.forms import combined
from graphdask.stream.nearness import StreamedNearness
from graphdask.stream.shared_store import StreamedPart


class DeviceNearness(StreamedNearness, DeviceBetweenness):
    """The primitive over a share of a store; `combined` with the class of the primitive."""

    def __init__(self, run: Run, part: StreamedPart, primitive: Nearness, stack: ExitStack):
        StreamedNearness.__init__(self, primitive, stack)
        self.take(run, self.per_vertex(part), device_chunks_bytes(part, self.sections(part)) + pieces_bytes(part, 1))

    def per_vertex(self, part: Part) -> int:
        return device_bytes(1, part.size > 1) + SUMS


def scores_of(run: Run, part: StreamedPart, primitive: Nearness, stack: ExitStack) -> DeviceNearness:
    """What runs a primitive on a rank."""
    made: DeviceNearness = combined(DeviceNearness, type(primitive))(run, part, primitive, stack)
    return made
