"""Closeness and harmonic centrality over a store, and their proof.

The searches are those of `graphdask.stream.betweenness` on the way forward: 64 sources at a time go through the chunks
of in-edges, once a level. No paths are counted, and a level is dropped as soon as it is added to the sums
(`graphdask.algorithms.nearness`). So a vertex takes the same memory for any number of sources, and the sums are whole
numbers, whose bits are those in memory.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.algorithms.betweenness_state import BetweennessState
from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.algorithms.nearness import SUMS, Nearness
from graphdask.device.backend import Array
from graphdask.device.residency import fetched
from graphdask.engine.loop import Environment, Messages, RankContext, RankResult
from graphdask.engine.violation import Violation
from graphdask.partition.part import Csr, Part
from graphdask.stream.betweenness import StreamedBetweenness, state_bytes
from graphdask.stream.forms import STREAMED, Streamed, Supersteps, combined
from graphdask.stream.pagerank import gathered
from graphdask.stream.shared_store import StreamedPart, own_numbers
from graphdask.verify.distances import proved as by_other_searches


class StreamedNearness(StreamedBetweenness):
    """What a primitive does over a share of a store; `combined` with the class of the primitive."""

    clear_sums: Any
    """That of the primitive."""

    def __init__(self, primitive: Nearness, stack: ExitStack):
        vars(self).update(vars(primitive))
        self.begin(stack)

    def sections(self, part: StreamedPart) -> list[str]:
        """The rows that searches go through; there is no way back."""
        return [gathered(part.store)]

    def per_vertex(self, part: Part) -> int:
        return state_bytes(1, part.size > 1) + SUMS

    def init(self, part: StreamedPart, env: Environment) -> tuple[BetweennessState, Messages]:  # type: ignore[override]
        state, messages = super().init(part, env)
        self.clear_sums(part, state, env)
        return state, messages

    def _sum(
        self, part: Part, state: BetweennessState, rows: Array, masks: Array, csr: Csr, out: Array, env: Environment
    ) -> None:
        """Sum nothing: no paths are counted."""


def scores_of(part: StreamedPart, primitive: Nearness, stack: ExitStack) -> StreamedNearness:
    """What runs a primitive on a rank."""
    made: StreamedNearness = combined(StreamedNearness, type(primitive))(primitive, stack)
    return made


def proved(context: RankContext, part: StreamedPart, primitive: Nearness, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    beside = sum(column.nbytes for column in result.columns.values())
    here = replace(part, memory=part.memory - beside)

    def columns(search: Any) -> dict[str, Array]:
        form = STREAMED[BreadthFirstSearch].run if isinstance(search, BreadthFirstSearch) else FORM
        return {name: fetched(column) for name, column in form(context, here, search).columns.items()}

    ids = np.arange(part.num_vertices) if part.size == 1 else own_numbers(part)
    return by_other_searches(context, replace(part, ids=ids), primitive, result.columns, columns, np)


FORM = Supersteps(scores_of)
STREAMED[Nearness] = Streamed(FORM, inherited=True, resumes=True)
