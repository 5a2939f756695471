"""Closeness and harmonic centrality by weight over a store, and their proof.

Distances from several sources fall together (`graphdask.stream.lane_distances`), as many as the memory holds, and are
added to the sums one after the other (`graphdask.algorithms.weighted_nearness`). So the bits are those in memory.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.algorithms.sssp import ShortestPaths
from graphdask.algorithms.weighted_nearness import SUMS, WeightedNearness
from graphdask.device.backend import Array
from graphdask.device.residency import fetched
from graphdask.engine.loop import Environment, RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.stream.chunked_rows import chunks_bytes, fitting, sections_of
from graphdask.stream.forms import STREAMED, Streamed, Supersteps, combined, refuse_without_in_edges
from graphdask.stream.shared_store import StreamedPart, own_numbers
from graphdask.stream.store import Store
from graphdask.stream.weighted_betweenness import StreamedWeightedBetweenness, hubs_of
from graphdask.verify.distances import SAMPLE
from graphdask.verify.triangles import first_where
from graphdask.verify.weighted_nearness import differing, paths_from

FIXED = 56
"""Bytes per vertex besides sums and tables: masks, lists of rows, positions and numbers."""


def state_bytes(lanes: int, several: bool) -> int:
    """Return the bytes of the state per vertex with so many lanes; several ranks need more, to exchange distances."""
    return FIXED + SUMS + lanes * (16 if several else 8)


def sections(part: StreamedPart, primitive: WeightedNearness) -> list[str]:
    """The sections that are streamed: in-edges only if distances are checked."""
    return sections_of(part.store) if primitive.checked else ["out"]


def lanes_of(part: StreamedPart, primitive: WeightedNearness) -> int:
    """How many sources go together."""

    def needed(part: StreamedPart, lanes: int) -> tuple[int, int]:
        chunks = chunks_bytes(part, sections(part, primitive)) + 8 * hubs_of(part)
        return state_bytes(lanes, part.size > 1) * part.num_vertices, chunks

    return fitting(part, primitive.lanes, needed)


class StreamedWeightedNearness(StreamedWeightedBetweenness):
    """What a primitive does over a share of a store; `combined` with the class of the primitive."""

    checked: bool

    def __init__(self, primitive: WeightedNearness, lanes: int, stack: ExitStack):
        vars(self).update(vars(primitive))
        self.lanes = lanes
        self.begin(stack)

    def sections(self, part: StreamedPart) -> list[str]:
        """The sections whose chunks are asked for."""
        given: Any = self
        return sections(part, given)

    def per_vertex(self, part: Part) -> int:
        return state_bytes(self.lanes, part.size > 1)

    def searched(self, part: StreamedPart, env: Environment, first: int) -> Iterator[tuple[int, Array]]:
        """Batches of sources, as the primitive goes through sources one by one."""
        for begin in range(first, len(self.sources), self.lanes):
            done = min(begin + self.lanes, len(self.sources))
            table = self.distances(part, None, begin, env) if self.checked else self.fallen(part, begin, env)
            yield done, table[:, : done - begin]


def scores_of(part: StreamedPart, primitive: WeightedNearness, stack: ExitStack) -> StreamedWeightedNearness:
    """What runs a primitive on a rank."""
    kind = combined(StreamedWeightedNearness, type(primitive))
    made: StreamedWeightedNearness = kind(primitive, lanes_of(part, primitive), stack)
    return made


def refuse_unchecked(store: Store, primitive: WeightedNearness) -> None:
    """Raise where distances may be too large, and the store has not the in-edges that show it."""
    if primitive.checked:
        refuse_without_in_edges(store, primitive)


def proved(
    context: RankContext, part: StreamedPart, primitive: WeightedNearness, result: RankResult
) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it.

    The distances from a few sources must be those of `sssp`. All sources are searched again in batches of another size.
    """
    most = int(np.diff(part.vertex_map.offsets).max())  # as many lanes must fit on every rank
    here = replace(part, memory=part.memory - 8 * len(result.columns) * most)
    whole = replace(part, ids=np.arange(part.num_vertices) if part.size == 1 else own_numbers(part))

    def columns(form: Any, search: Any) -> dict[str, Array]:
        return {name: fetched(column) for name, column in form(context, here, search).columns.items()}

    sources = primitive.sources
    for source in sources[:: max(1, len(sources) // SAMPLE)][:SAMPLE]:
        distance = columns(STREAMED[ShortestPaths].run, paths_from(primitive, source))["distance"]
        reached = np.isfinite(distance) if distance.dtype.kind == "f" else distance >= 0
        one = columns(FORM, _again(primitive, (source,), 1))
        total = one["high"] if distance.dtype.kind == "f" else (one["high"] << 32) + one["low"]
        wrong = (one["reached"] + (whole.ids == source) != reached) | (total != np.where(reached, distance, 0))
        mine = first_where(whole, wrong, f"sssp finds another distance from source {source} to vertex {{vertex}}")
        if first_of_all(context, mine):
            return mine
    lanes = primitive.lanes // 2 if primitive.lanes > 1 else 2
    return differing(context, whole, result.columns, columns(FORM, _again(primitive, sources, lanes)))


def _again(primitive: WeightedNearness, sources: tuple[int, ...], lanes: int) -> WeightedNearness:
    """The same from other sources."""
    other = copy.copy(primitive)
    other.sources, other.lanes = sources, lanes
    return other


FORM = Supersteps(scores_of)
STREAMED[WeightedNearness] = Streamed(FORM, refuse_unchecked, inherited=True, resumes=True)
