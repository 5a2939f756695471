"""Weights of sampled edges, by their rows in what a graph was made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.residency import fetched
from graphdask.errors import InputError, Unsupported
from graphdask.partition.sources import ArraySource, GeneratedSource


def weights_at(graph: Any, rows: np.ndarray) -> np.ndarray:
    """Return the weight of each row, of the graph's weight dtype; float64 with NaN if there are rows below 0.

    Raises
    ------
    InputError
        For a graph without weights.
    Unsupported
        If the weights are made on the workers, or an edge was inserted after the graph was made.
    """
    if not graph.weighted:
        raise InputError("the edges of this graph carry no weights")
    source, none = graph.source, rows < 0
    if isinstance(source, ArraySource):
        values, kept = fetched(source.weights), source.rows
        places = rows if kept is None else np.searchsorted(kept, rows)
    elif isinstance(source, GeneratedSource):
        values, places = graph.edges(device="cpu").weights, rows
    else:
        raise Unsupported(
            "weights of sampled edges are known of graphs of arrays and of generated ones; those of this graph are "
            "made on the workers: take them from what it was made of, by s.edge"
        )
    if places.size and int(places.max()) >= len(values):
        raise Unsupported("some of these edges were inserted after the graph was made, and their weights are not kept")
    if not none.any():
        found: np.ndarray = values[places]
        return found
    if not len(values):
        return np.full(rows.shape, np.nan)
    return np.where(none, np.nan, values[np.where(none, 0, places)])
