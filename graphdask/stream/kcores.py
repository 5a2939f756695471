"""Core numbers over a store: bounds of all vertices are in memory, and fall until each is what its neighbours allow.

The bound of a vertex starts as its degree. It becomes the largest k for which k neighbours have bounds of k or more.
Bounds never fall below the core numbers, because every vertex of a k-core has k neighbours in the k-core. When no bound
falls any more, the vertices with bounds of k or more are a k-core. So the order in which rows are visited does not
matter, and the answer is the same as in memory.

A row becomes active only when the bound of a neighbour falls past its own bound. Chunks without active rows are not
read; after the first pass, most chunks have none. Several ranks exchange their bounds when none of their rows is
active. If a bound fell on any rank, every rank then visits all its rows again.

The proof: every vertex has at least as many neighbours of its core number or more as its core number says, so no core
number is too large. Then vertices with no more such neighbours than that are removed, which takes one neighbour from
those of the same core number. If all vertices are removed, no core number is too small; a vertex that stays is in a
larger core. Each row is scanned twice.

Sources: Montresor, De Pellegrini, Miorandi, Distributed k-core decomposition (2013); Lü, Zhou, Zhang, Stanley, The
H-index of a network node and its relation to degree and coreness (2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms.core_number import CoreNumber
from graphdask.engine.loop import RankResult
from graphdask.engine.violation import Violation
from graphdask.kernels.stream.chunk_pack import ChunkRows
from graphdask.stream.everywhere import Work, by_position, first_wrong, streams
from graphdask.stream.sweeps import cpu

BYTES = 13
"""Per vertex: bounds, marks, and the answer."""


def _wrong(work: Work, primitive: CoreNumber, result: RankResult) -> Violation | None:
    column, kernels = result.columns["core"], cpu().kernels("layered_proofs")
    enough = "vertex {vertex} has fewer neighbours of its core number or more than that says"
    mine = first_wrong(column < 0, enough)
    if mine:
        return mine
    work.open(12)
    core, left = by_position(work.store, column), np.zeros(work.num_vertices, np.int32)
    pack = ChunkRows()
    for rows in work.rows("out"):
        pack.hold(rows, rows.indptr)
        kernels.rows_at_least(rows.number, core, left, pack)
    mine = first_wrong(work.answer(left < core), enough)
    if mine:
        return mine
    active = (left == core).view(np.uint8)
    work.until_quiet("out", active, kernels.rows_peel, core, left)
    return first_wrong(work.answer(left > core), "vertex {vertex} is in a larger core than its core number says")


@streams(CoreNumber, _wrong)
def core_numbers(work: Work, primitive: CoreNumber) -> tuple[dict[str, Any], int]:
    """Return the core numbers, and the bytes of the state."""
    own = slice(work.own.begin, work.own.end)
    state = work.open(BYTES, 4 * (work.most_edges + 1))
    core, active = np.zeros(work.num_vertices, np.int32), np.zeros(work.num_vertices, np.uint8)
    for first, degrees, _ in work.store.rows(work.store.sections["out"]):
        core[first : first + len(degrees)] = degrees
    counts = np.empty(work.most_edges + 1, np.int32)
    goes_on = work.num_vertices > 0
    while goes_on:
        active[own] = 1
        fallen = work.until_quiet("out", active, work.kernels.rows_core, core, counts)
        goes_on = work.several and work.any(fallen > 0)
        work.exchange(core)
    return {"core": work.answer(core)}, state
