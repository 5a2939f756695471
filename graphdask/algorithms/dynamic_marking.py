"""Marking vertices of a dynamic graph: the out-neighbours of those whose rank has changed, or whose edges have.

Rows are shared out by their lengths: a warp takes several short ones, a block a long one, of which it leaves all but
the first piece to other blocks, since the longest have more edges than most others together.
"""

from __future__ import annotations

from graphdask.algorithms.dynamic_ranks import DynamicRanksState
from graphdask.device.backend import BLOCK
from graphdask.dynamic.rows import DynamicPart
from graphdask.engine.loop import Environment
from graphdask.kernels.common.tuning import ROW_PIECE as PIECE
from graphdask.kernels.dynamic.dynamic_pack import COUNTS, Flagged


def pieces(part: DynamicPart) -> int:
    """How many follow the first ones of all rows at most."""
    return part.outward.used // PIECE + 1


def list_flagged(part: DynamicPart, state: DynamicRanksState, env: Environment, becomes: int, low: int) -> None:
    """List the own vertices that say that their out-neighbours are to be marked, and say from then on what they
    become."""
    state.counters.fill(0)
    env.kernels("dynamic", index_t=part.vertex_map.dtype).dynamic_split(
        part.num_owned, Flagged(
            flags=state.expand, becomes=becomes, length=part.outward.length, most=low, low=state.mark_low,
            high=state.mark_high, counters=state.counters[COUNTS.place.mark_low :],
        ),
    )  # fmt: skip


def mark(part: DynamicPart, state: DynamicRanksState, env: Environment, most: int) -> None:
    """Mark the out-neighbours of the own vertices that are listed, `most` of them, as affected."""
    kernels, rows = env.kernels("dynamic", index_t=part.vertex_map.dtype), part.outward
    places = COUNTS.place.mark_low, COUNTS.place.mark_high, COUNTS.place.pieces
    low, high, number = (state.counters[place:] for place in places)
    kernels.dynamic_mark(most, low, state.mark_low, rows.begin, rows.length, rows.indices, state.affected)
    kernels.dynamic_mark_high(
        most, high, state.mark_high, rows.begin, rows.length, rows.indices, state.affected, state.pieces, number,
        per_item=BLOCK,
    )  # fmt: skip
    kernels.dynamic_mark_pieces(len(state.pieces), number, state.pieces, rows.indices, state.affected, per_item=BLOCK)
