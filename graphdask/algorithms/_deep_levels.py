"""Betweenness of deep graphs by one rank of a CPU: many small levels in one call of a kernel, there and back.

On a road network or a path a superstep takes longer than its level. So after some levels, which the statistics show one
by one, levels that a push finds go together. Those of a call but the last are one entry of the list of levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.algorithms.betweenness_state import BetweennessState
from graphdask.device.backend import Array
from graphdask.engine.lane_search import Level
from graphdask.kernels.betweenness.deep_pack import COUNTS, Deep
from graphdask.partition.part import Part

MOST_LEVELS = 1 << 12
"""Levels of a call at most."""


@dataclass
class Levels:
    """Levels that one call has found, without the last one, which stands behind them as a `Level`."""

    rows: Array
    """Vertices of all of them, one level after the other."""
    masks: Array
    """Their lanes."""
    bounds: Array
    """(levels + 1) of the dtype of rows: where each begins, and where the last one ends."""
    lowest: int
    """Mask of the lanes of the first of them, or more."""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.bounds) - 1


def _pack(part: Part, state: BetweennessState, **values: Any) -> Deep:
    inward = part.inward
    assert inward is not None
    return Deep(
        indptr=part.out.indptr, indices=part.out.indices, in_indptr=inward.indptr, in_indices=inward.indices,
        frontier=state.frontier, seen=state.seen, bits=state.bits, sigma=state.sigma, given=state.delta,
        score=state.score, counters=np.zeros(len(COUNTS), np.int64), **values,
    )  # fmt: skip


def search_on(part: Part, state: BetweennessState, kernels: Any, bound: int) -> tuple[Level, int]:
    """Find levels behind the last one; return the last of them, empty if there is none, and the edges scanned.

    All but that one are added to the levels of the state. None of these has more than `bound` edges out of it.
    """
    last, count = state.levels[-1], len(state.levels[-1].rows)
    most = min(MOST_LEVELS, part.num_owned)
    queue, masks = state.queue.array, state.masks.array
    bounds = np.empty(most + 2, queue.dtype)
    queue[:count], masks[:count] = last.rows, last.masks
    found = state.values.view(state.seen.dtype)[: len(state.seen)]  # nothing reads what the frontier gives any more
    found.fill(0)
    pack = _pack(part, state, found=found, queue=queue, masks=masks, bounds=bounds)
    kernels.deep_forward(count, most, bound, pack)
    counts = COUNTS.of(pack.counters)
    begin = int(bounds[max(counts.levels, 1)])
    if counts.levels > 1:
        between = bounds[1 : counts.levels + 1] - count
        state.levels.append(Levels(queue[count:begin].copy(), masks[count:begin].copy(), between, last.lanes))
    rows, lanes = queue[begin : counts.listed].copy(), masks[begin : counts.listed].copy()
    state.frontier[rows] = 0  # for it is shown by the caller
    return Level(rows, lanes, counts.out_edges, counts.lanes % 2**64), counts.edges


def back_over(part: Part, state: BetweennessState, kernels: Any, levels: Levels) -> tuple[Level, int]:
    """Go back over levels, from the one behind them, which is shown; return the lowest of them, which is shown then,
    and the edges that were scanned."""
    behind, above, lanes = state.levels[state.back + 1], state.value, state.lanes
    state.lanes = levels.lowest
    pack = _pack(
        part, state, queue=levels.rows, masks=levels.masks, bounds=levels.bounds, above=above, value=state.value
    )
    kernels.deep_backward(
        len(behind.rows), behind.rows, behind.masks, np.uint64(lanes), levels.count, np.uint64(levels.lowest), pack
    )
    lowest = slice(*levels.bounds[:2].tolist())
    level = Level(levels.rows[lowest], levels.masks[lowest], lanes=levels.lowest)
    state.shown = level.rows
    return level, COUNTS.of(pack.counters).edges
