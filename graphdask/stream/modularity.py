"""Modularity of given communities over a store: one pass over the edges, or two if weights have to be rounded first.

Labels and the sums of the weights at each label are in memory. Weights are whole numbers, as
`graphdask.algorithms.communities` makes them, so that the sums are exact in any order, and the answer is the same as
in memory.

The proof: as `graphdask.verify.modularity` describes; the sums are those of the weights as they are, in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphdask.algorithms.communities import add_up, modularity_of, shift_of, whole_weights
from graphdask.algorithms.modularity import Modularity
from graphdask.engine.loop import RankResult
from graphdask.engine.violation import Violation
from graphdask.stream.everywhere import Rows, Work, by_position, first_wrong, streams
from graphdask.verify.modularity import TOLERANCE

BYTES = 36
"""Per vertex: labels in two orders, sums, those of other ranks, and the answer."""
EDGE = 64
"""Bytes for each edge of a chunk, while its weights are added up."""
Weigh = Callable[[Rows], np.ndarray]
"""Gives the weights of the edges of some rows."""


def _weights(rows: Rows) -> np.ndarray:
    """The weights of the edges of some rows, 1 if there are none."""
    begin, end = int(rows.indptr[0]), int(rows.indptr[-1])
    return rows.weights[begin:end] if len(rows.weights) else np.ones(end - begin, np.int64)


def _added(work: Work, label: np.ndarray, weigh: Weigh, sums: np.ndarray) -> tuple[Any, Any]:
    """The weights of own rows, and how much of that is within labels; `sums` gets what there is at each label."""
    total = inside = sums.dtype.type(0)
    edges = 0
    for rows in work.rows("out"):
        begin, end, weights = int(rows.indptr[0]), int(rows.indptr[-1]), weigh(rows)
        here = np.repeat(np.arange(rows.first, rows.first + rows.number, dtype=np.int32), np.diff(rows.indptr))
        there = rows.targets[begin:end]
        weights[here == there] *= 2
        of_here = label[here]
        np.add.at(sums, of_here, weights)
        total, inside = total + weights.sum(), inside + weights[of_here == label[there]].sum()
        edges += end - begin
    work.log.sweep(work.own.count, edges)
    return total, inside


def _wrong(work: Work, primitive: Modularity, result: RankResult) -> Violation | None:
    label, values, number = result.columns["label"], result.values, np.arange(work.num_vertices)
    mine = first_wrong(
        label != primitive.labels, "vertex {vertex} has not the smallest id of its community as its label"
    )
    mine = mine or first_wrong(label > number, "vertex {vertex} has a label that is larger than its id")
    mine = mine or first_wrong(label[label] != label, "vertex {vertex} has a label that has another label itself")
    communities = int((label == number).sum())
    if mine or communities != values["num_communities"]:
        return mine or Violation(-1, -1, f"there are {communities} communities, not {values['num_communities']}")
    del number
    work.open(BYTES, EDGE * work.most_edges)
    sums = np.zeros(work.num_vertices)
    total, inside = _added(work, by_position(work.store, label), lambda rows: _weights(rows).astype(np.float64), sums)
    found = inside / total - primitive.resolution * ((sums / total) ** 2).sum() if total else 0.0
    if not abs(found - values["modularity"]) <= TOLERANCE * max(1.0, primitive.resolution):
        return Violation(-1, -1, f"the modularity is {found}, not {values['modularity']}")
    return None


@streams(Modularity, _wrong)
def modularity(work: Work, primitive: Modularity) -> tuple[dict[str, Any], int]:
    """Return the labels and their modularity, and the bytes of the state."""
    store, env, own = work.store, work.context.environment("selective"), slice(work.own.begin, work.own.end)
    state, facts = work.open(BYTES, EDGE * work.most_edges), store.facts
    label, sums = by_position(store, primitive.labels.astype(np.int32)), np.zeros(work.num_vertices, np.int64)

    def rough(shift: int) -> int:
        here = sum(int(whole_weights(np, _weights(rows), shift).sum()) for rows in work.rows("out"))
        work.log.sweep(work.own.count, store.sections["out"].num_edges // work.part.size)
        return add_up(env, [here])[0]

    whole, greatest = store.weights is None or store.weights.kind in "iu", 1 if facts is None else facts.greatest
    shift = shift_of(store.sections["out"].num_edges, greatest, whole, rough)
    total, inside = _added(work, label, lambda rows: whole_weights(np, _weights(rows), shift), sums)
    work.join(sums, np.add)
    communities = int((primitive.labels == np.arange(work.num_vertices)).sum())
    return {
        "label": work.answer(label),
        "modularity": modularity_of(env, add_up(env, [int(total)])[0], int(inside), sums[own], primitive.resolution),
        "num_communities": communities,
        "resolution": primitive.resolution,
    }, state
