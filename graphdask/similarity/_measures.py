"""The measures of similarity, of whole numbers that are divided once, and the order of pairs by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.device.backend import Array

MEASURES = ("jaccard", "overlap", "cosine", "sorensen")


def score(xp: Any, measure: str, common: Array, both: Array, a: Array, b: Array) -> Array:
    """Return the scores, float64, 0 where there is nothing to divide by.

    Parameters
    ----------
    common, both : int64 arrays
        The neighbours that two vertices share, without the two and with them.
    a, b : int64 arrays
        The sizes of the two neighbourhoods.
    """
    if measure == "jaccard":
        return common / xp.maximum(a + b - both, 1)
    if measure == "overlap":
        return common / xp.maximum(xp.minimum(a, b), 1)
    if measure == "sorensen":
        return 2 * common / xp.maximum(a + b, 1)
    return common / xp.sqrt(xp.maximum(a.astype(np.float64) * b, 1.0))


def best_first(xp: Any, score: Array, first: Array, second: Array, each: bool) -> Array:
    """Places in descending order of scores, then of both vertices; if `each`, in the order of the first vertices."""
    order = xp.argsort(second, kind="stable")
    for column in (-score, first) if each else (first, -score):
        order = order[xp.argsort(column[order], kind="stable")]
    return order


def ranks_within(xp: Any, ordered: Array) -> Array:
    """For equal values that stand together: which of them each is, from 0."""
    begins = xp.searchsorted(ordered, ordered) if len(ordered) else xp.zeros(0, np.int64)
    return xp.arange(len(ordered)) - begins


def taken(columns: dict[str, Array], places: Array | slice) -> dict[str, Array]:
    """Rows of columns."""
    return {name: values[places] for name, values in columns.items()}


def joined(xp: Any, blocks: Sequence[dict[str, Array]]) -> dict[str, Array]:
    """The rows of several blocks of columns."""
    return {name: xp.concatenate([block[name] for block in blocks]) for name in blocks[0]}
