"""Edges of a step chosen by what is kept of all biases: their sums, or alias tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.kernels.choice.aliases_pack import AliasDraws
from graphdask.kernels.choice.selection_pack import Selections
from graphdask.sample._choosing import Choices, Chooser, Found, chosen_of_sums
from graphdask.sample._items import Items

DRAW_EDGE = 265
"""What is drawn, as in kernels/common/philox.py."""


def summed(expander: Any, items: Items, choices: Choices, step: int, chooser: Chooser) -> Found:
    """Edges by sums that are kept."""
    assert expander.sums is not None
    buffers, of = chooser.allocate(choices), expander.sums
    if chooser.redraws:
        everything, rows = slice(0, len(choices.wanted)), items.rows.astype(np.int64)
        chosen_of_sums(chooser, choices, everything, rows, expander.rows.indptr, of.values, of.positives, buffers)
        return buffers.filled(expander.env.xp)
    expander.env.kernels("selection").selection_summed(
        len(choices.wanted), Selections(
            rows=items.rows.astype(np.int64), bounds=expander.rows.indptr, sums=of.values, positives=of.positives,
            starts=buffers.starts, counts=choices.wanted, replace=int(expander.options.replace), seed=expander.seed,
            what=DRAW_EDGE, tags=items.places, instances=items.instances, step=step, chosen=buffers.chosen,
            owner=buffers.owners,
        ),
    )  # fmt: skip
    return buffers.filled(expander.env.xp)


def layered(
    expander: Any, rows: Array, at: Array, groups: Array, choices: Choices, step: int, chooser: Chooser
) -> Found:  # fmt: skip
    """Edges of groups of items by sums that are kept."""
    assert expander.sums is not None
    xp, indptr, buffers, of = expander.env.xp, expander.rows.indptr, chooser.allocate(choices), expander.sums
    ends, totals = indptr[rows + 1], xp.zeros(len(rows) + 1, np.uint64)
    if len(of.values):
        own = xp.where(ends > indptr[rows], of.values[xp.maximum(ends - 1, 0)], 0).view(np.uint64)
        xp.cumsum(own, out=totals[1:])
    expander.env.kernels("selection").selection_layered(
        len(choices.wanted), Selections(
            groups=groups, rows=rows, bounds=indptr, sums=of.values, positives=of.positives, at=at, totals=totals,
            starts=buffers.starts, counts=choices.wanted, replace=int(expander.options.replace), seed=expander.seed,
            what=DRAW_EDGE, tags=choices.tags, instances=choices.instances, step=step, chosen=buffers.chosen,
            owner=buffers.owners, failure=chooser.failure,
        ),
    )  # fmt: skip
    return buffers.filled(xp)


def aliased(expander: Any, items: Items, choices: Choices, step: int, chooser: Chooser) -> Found:
    """Edges by an alias table."""
    assert expander.aliases is not None
    buffers, of = chooser.allocate(choices), expander.aliases
    expander.env.kernels("aliases", index_t=expander.dtype).aliases_draw(
        len(choices.wanted), AliasDraws(
            rows=items.rows, indptr=expander.rows.indptr, totals=of.totals, share=of.share, other=of.other,
            starts=buffers.starts, counts=choices.wanted, seed=expander.seed, what=DRAW_EDGE, tags=items.places,
            instances=items.instances, step=step, chosen=buffers.chosen, owner=buffers.owners,
        ),
    )  # fmt: skip
    return buffers.filled(expander.env.xp)
