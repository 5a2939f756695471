"""Closeness and harmonic centrality by weight through a device, as `graphdask.stream.weighted_nearness` describes."""

from __future__ import annotations

from contextlib import ExitStack

from graphdask.algorithms.weighted_nearness import WeightedNearness
from graphdask.stream.chunked_rows import fitting
from graphdask.stream.device_chunked_rows import device_chunks_bytes, most_edges
from graphdask.stream.device_runs import Run
from graphdask.stream.device_weighted_betweenness import SIMPLIFIED, DeviceWeightedBetweenness
from graphdask.stream.forms import combined
from graphdask.stream.shared_store import StreamedPart
from graphdask.stream.weighted_betweenness import hubs_of
from graphdask.stream.weighted_nearness import StreamedWeightedNearness, sections, state_bytes


class DeviceWeightedNearness(StreamedWeightedNearness, DeviceWeightedBetweenness):
    """The primitive over a share of a store; `combined` with the class of the primitive."""

    def __init__(self, run: Run, part: StreamedPart, primitive: WeightedNearness, stack: ExitStack):
        beside = 8 * hubs_of(part) + SIMPLIFIED * most_edges(part)
        chunks = device_chunks_bytes(part, sections(part, primitive)) + beside

        def needed(part: StreamedPart, lanes: int) -> tuple[int, int]:
            return state_bytes(lanes, part.size > 1) * part.num_vertices, chunks

        StreamedWeightedNearness.__init__(self, primitive, fitting(part, primitive.lanes, needed), stack)
        self.take(run, self.per_vertex(part), chunks)


def scores_of(run: Run, part: StreamedPart, primitive: WeightedNearness, stack: ExitStack) -> DeviceWeightedNearness:
    """What runs a primitive on a rank."""
    kind = combined(DeviceWeightedNearness, type(primitive))
    made: DeviceWeightedNearness = kind(run, part, primitive, stack)
    return made
