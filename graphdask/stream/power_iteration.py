"""The proof of centralities by power iteration over a store, as `graphdask.verify.power_iteration` describes.

One rank goes through the chunks for each multiplication by the matrix of the edges. Values are by position.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.algorithms.power_iteration import PowerIteration
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation
from graphdask.partition.part import Csr
from graphdask.partition.tuning import PARTITION
from graphdask.stream.everywhere import by_position
from graphdask.stream.pagerank import gathered
from graphdask.stream.shared_store import StreamedPart, part_of
from graphdask.stream.sweeps import Log, every_chunk, window_of
from graphdask.verify.power_iteration import Matrix
from graphdask.verify.power_iteration import proved as by_last_iteration

BYTES = 100
"""Per vertex: three columns of scores in two orders, and six arrays of what they are compared with."""
BYTES_OF_EDGES = 40
"""Per edge of a chunk that is multiplied."""


class StoredMatrix(Matrix):
    """The edges of a store."""

    def __init__(self, context: RankContext, part: StreamedPart, primitive: PowerIteration, memory: int, log: Log):
        super().__init__(context, part, primitive)
        self.store, self.memory, self.log = part.store, memory, log

    def rows(self, inward: bool) -> Iterator[tuple[int, Csr]]:
        name = gathered(self.store) if inward else "out"
        with window_of(self.store, name, self.memory, self.log.what, self.log) as window:
            for _, chunk in every_chunk(window, self.store.sections[name], self.log):
                yield chunk.first, Csr(window.indptr(chunk), chunk.targets, chunk.weights)

    def by_slot(self, values: Any) -> Any:
        return values

    def longest(self) -> int:
        names = {"out", gathered(self.store)}
        rows = (rows for name in names for rows in self.store.rows(self.store.sections[name]))
        return max((int(degrees.max(initial=0)) for _, degrees, _ in rows), default=0)


def proved(
    context: RankContext, part: StreamedPart, primitive: PowerIteration, result: RankResult, log: Log
) -> Violation | None:
    """Return the first violation, or None."""
    store = part.store
    edges = min(
        PARTITION.block_edges,
        max(int(store.sections[name].table["edges"].max(initial=0)) for name in ("out", gathered(store))),
    )
    memory = part.memory - BYTES * part.num_vertices - BYTES_OF_EDGES * edges
    ids = np.arange(part.num_vertices) if store.by_number else store.numbers()
    whole = replace(part_of(store, 0, 1, part.memory, part.read_ahead), ids=ids)
    columns = {name: by_position(store, column) for name, column in result.columns.items()}
    matrix = StoredMatrix(context, whole, primitive, memory, log)
    return by_last_iteration(context, whole, primitive, replace(result, columns=columns), matrix)
