"""Closeness and harmonic centrality proved by other searches, distributed.

1. From a few sources, spread over all of them, a search by BFS gives the distances: those of the search by lanes must
   be the same. BFS pushes along out-edges, by kernels of its own.
2. All sources are searched again, in the opposite order and in batches of another size, so that every source shares its
   batch with others. Counts and sums of distances must be the same integers, and scores must have the same bits.

So every value that was changed, lost or sent wrong is found and named. It takes about as long as the run.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.algorithms.nearness import Nearness
from graphdask.device.backend import Array
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.verify.table import verifies
from graphdask.verify.triangles import first_where

SAMPLE = 4
"""Sources searched by BFS."""


@verifies(Nearness)
def verify(context: RankContext, part: Part, primitive: Nearness, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    env = context.environment("selective")

    def columns(search: Any) -> dict[str, Array]:
        return run_primitive(context.comm, part, search, env).columns

    return proved(context, part, primitive, result.columns, columns, context.backend.xp)


def proved(
    context: RankContext, part: Part, primitive: Nearness, found: dict[str, Array],
    columns: Callable[[Any], dict[str, Array]], xp: Any,
) -> Violation | None:  # fmt: skip
    """Return the first violation among the columns that were `found`; `columns` returns those of another primitive."""
    sources = primitive.sources
    step = max(1, len(sources) // SAMPLE)
    for source in sources[::step][:SAMPLE]:
        depth = columns(BreadthFirstSearch((source,)))["depth"].astype(np.int64)
        one = columns(_again(primitive, (source,), 1))
        wrong = (one["reached"] != (depth > 0)) | (one["total"] != xp.maximum(depth, 0))
        mine = first_where(part, wrong, f"BFS finds another distance from source {source} to vertex {{vertex}}")
        if first_of_all(context, mine):
            return mine
    lanes = primitive.lanes // 2 if primitive.lanes > 1 else 2
    again = columns(_again(primitive, sources[::-1], lanes))
    for column, what in (("reached", "number of sources"), ("total", "sum of distances"), ("score", "score")):
        wrong = found[column] != again[column]
        mine = first_where(part, wrong, f"vertex {{vertex}} has another {what} when it is computed again")
        if first_of_all(context, mine):
            return mine
    return None


def _again(primitive: Nearness, sources: tuple[int, ...], lanes: int) -> Nearness:
    """The same from other sources."""
    other = copy.copy(primitive)
    other.sources, other.lanes = sources, lanes
    return other
