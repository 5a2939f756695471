"""Core numbers proved in linear time, distributed.

1. Every vertex has at least as many neighbours of its core number or more as its core number says. So the vertices of
   core number k or more have k neighbours each among themselves, and no core number is too large.
2. Put the vertices in the order of their core numbers, equal ones in the order in which their bounds fell to these. No
   vertex has more than its core number of neighbours that go with it or after it. So none is too small: if a vertex of
   a k-core had less than k, take the first of those to go. It has k neighbours in the k-core. All of them go with it or
   after it, which is more than may.
"""

from __future__ import annotations

from graphdask.algorithms.core_number import CoreNumber
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation
from graphdask.partition.build import tally
from graphdask.partition.ghosts import fetch_ghosts
from graphdask.partition.neighbours import distinct_blocks
from graphdask.partition.part import Part
from graphdask.verify.table import verifies
from graphdask.verify.triangles import first_where


@verifies(CoreNumber)
def verify(context: RankContext, part: Part, primitive: CoreNumber, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    core, order = fetch_ghosts(context.comm, context.backend, part, [result.columns["core"], result.columns["order"]])
    enough, few = result.columns["core"] <= 0, result.columns["core"] >= 0  # as without neighbours
    for block in distinct_blocks(context.backend, part):
        rows, size = block.rows - block.rows.dtype.type(block.first), block.last - block.first
        here, there = core[block.rows], core[block.slots]
        earlier = (there < here) | ((there == here) & (order[block.slots] < order[block.rows]))
        own = slice(block.first, block.last)
        enough[own] = tally(context.backend, rows[there >= here], size) >= core[own]
        few[own] = tally(context.backend, rows[~earlier], size) <= core[own]
    found = (
        first_where(part, ~enough, "vertex {vertex} has fewer neighbours of its core number or more than that says"),
        first_where(part, ~few, "vertex {vertex} is removed while it has more neighbours than its core number"),
    )
    return min((violation for violation in found if violation), default=None)
