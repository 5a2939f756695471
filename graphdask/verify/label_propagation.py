"""The last iteration of a label propagation computed again in another way, distributed.

The result keeps the labels before the last iteration. Every row is sorted by label, and its most frequent one, the
smallest of several, must be the vertex's label. After no iteration labels are ids, and after one they were before it;
where fewer iterations were computed than asked for, the last must have changed nothing. What is proved is one step:
that the labels before it are those of the iterations before is not, where there are several.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms.label_propagation import LabelPropagation
from graphdask.device.backend import Array
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.ghosts import fetch_ghosts
from graphdask.partition.neighbours import Block, edge_blocks, firsts
from graphdask.partition.part import Part
from graphdask.verify.table import verifies
from graphdask.verify.triangles import first_where


@verifies(LabelPropagation)
def verify(context: RankContext, part: Part, primitive: LabelPropagation, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    label, before = result.columns["label"], result.columns["before"]
    iterations, n = int(result.values["iterations"]), part.num_vertices
    mine = first_where(part, (before < 0) | (before >= n) | (label < 0) | (label >= n), "vertex {vertex} has a label "
                       "that is no vertex")  # fmt: skip
    if iterations < 2:
        mine = mine or first_where(part, before != part.ids, "vertex {vertex} does not begin with its own label")
    if iterations < primitive.iterations or iterations == 0:
        mine = mine or first_where(part, before != label, "vertex {vertex} changed its label in the last iteration")
    if first_of_all(context, mine):
        return mine
    if iterations == 0:
        return None
    (labels,) = fetch_ghosts(context.comm, context.backend, part, [before])
    expected = before.copy()
    for block in edge_blocks(context.backend, part):
        most_frequent(context.backend.xp, block, labels[block.slots], n, expected)
    return first_where(part, expected != label, "vertex {vertex} has not the most frequent label of its neighbours")


def most_frequent(xp: Any, block: Block, labels: Array, n: int, out: Array) -> None:
    """Write the most frequent label of each row of the block."""
    if not len(labels):
        return
    key = (block.rows - block.rows.dtype.type(block.first)).astype(np.int64) * n + labels
    key.sort()
    starts = xp.flatnonzero(firsts(xp, key))
    counts = xp.diff(xp.append(starts, len(key)))
    key = key[starts]
    row = key // n
    most = int(counts.max())
    best = xp.argsort(row * (most + 1) + (most - counts), kind="stable")  # the smaller label of equals stays before
    best = best[firsts(xp, row[best])]
    out[row[best] + block.first] = (key[best] - row[best] * n).astype(out.dtype)
