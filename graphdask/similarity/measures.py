"""The measures of similarity, of whole numbers that are divided once, and the order of pairs by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.backend import Array

MEASURES = ("jaccard", "overlap", "cosine", "sorensen")


def score(xp: Any, measure: str, amount: Array, total: Array, a: Array, b: Array) -> Array:
    """Return the scores, float64, 0 where there is nothing to divide by.

    Parameters
    ----------
    amount, total : int64 arrays
        The neighbours that two vertices share, without the two and with them, or what these are worth by weight.
    a, b : int64 arrays
        The numbers of neighbours of the two, or the sums of their weights; for the cosine the sums of squares.
    """
    if measure == "jaccard":
        return amount / xp.maximum(a + b - total, 1)
    if measure == "overlap":
        return amount / xp.maximum(xp.minimum(a, b), 1)
    if measure == "sorensen":
        return 2 * amount / xp.maximum(a + b, 1)
    return xp.minimum(amount / xp.sqrt(xp.maximum(a.astype(np.float64) * b, 1.0)), 1.0)  # above 1 by rounding only


def best_first(xp: Any, score: Array, first: Array, second: Array, each: bool) -> Array:
    """Places in descending order of scores, then of both vertices; if `each`, in the order of the first vertices."""
    order = xp.argsort(second, kind="stable")
    for column in (-score, first) if each else (first, -score):
        order = order[xp.argsort(column[order], kind="stable")]
    return order


def top(xp: Any, columns: dict[str, Array], number: int) -> dict[str, Array]:
    """So many of the best rows, in their order; all of them if they are fewer."""
    scores = columns["score"]
    if len(scores) > 4 * number:
        last = xp.partition(scores, len(scores) - number)[len(scores) - number]
        columns = taken(columns, scores >= last)
    return taken(columns, best_first(xp, columns["score"], columns["first"], columns["second"], each=False)[:number])


def taken(columns: dict[str, Array], places: Array | slice) -> dict[str, Array]:
    """Rows of columns."""
    return {name: values[places] for name, values in columns.items()}
