"""Graphs whose edges each rank reads itself, when it builds its partition: no process has all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph
from graphdask.io.ranges import Ranges, ranges_of
from graphdask.partition.ids import VertexIds, checked_count
from graphdask.partition.sources import ChunkSource

LEFT_OUT = {"self_loops": "keep", "multi_edges": "keep", "skip_rows": 0}
"""Arguments of `read_graph` that have no meaning for ranges, with their defaults; the default of others is None."""


@dataclass(frozen=True)
class NumberedRange:
    """Reads a range of edges, in graphdask's numbers of vertices."""

    read: Any
    ids: VertexIds
    weight_dtype: np.dtype | None

    def __call__(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        src, dst, weights = self.read()
        if weights is not None and self.weight_dtype is not None:
            weights = weights.astype(self.weight_dtype, copy=False)
            if weights.dtype.kind == "f" and np.isnan(weights).any():
                raise InputError(f"{self.read.place.label}: a weight is NaN; every edge needs a weight")
        return self.ids.to_internal(src, "edge source"), self.ids.to_internal(dst, "edge destination"), weights


def graph_by_ranges(
    path: Any, format: Any, directed: bool | None, weights: Any, num_vertices: Any, storage_options: Any,
    others: dict[str, Any],
) -> Graph:  # fmt: skip
    """Carry out `read_graph` with `lazy=True`."""
    for name, value in others.items():
        none = LEFT_OUT.get(name)
        same = value is none or (isinstance(value, str | int) and value == none)
        if not same and not (name.endswith("_columns") and value is False):
            raise InputError(f"{name}={shown(value)} is not for lazy=True, which reads no edge; leave one of them out")
    if not (weights is None or isinstance(weights, bool)):
        raise InputError(f"weights={shown(weights)} is not for lazy=True; it is None, True or False")
    if not (directed is None or isinstance(directed, bool | np.bool_)):
        raise InputError(f"directed={shown(directed)} must be True or False")
    found: Ranges = ranges_of(path, format, weights, storage_options)
    if num_vertices is not None:
        ids = VertexIds(checked_count(num_vertices))
    elif found.vertices is None:
        raise InputError(
            f"{shown(path)} does not state that its vertices are a range of ids, as files do that Graph.write made of "
            "such; give num_vertices=, or read it with lazy=False"
        )
    else:
        first, count = found.vertices
        ids = VertexIds(checked_count(count), first)
    if directed is None:
        directed = True if found.directed is None else found.directed
    chunks = [NumberedRange(chunk, ids, found.weight_dtype) for chunk in found.chunks]
    report = {"edges_stated": found.num_edges, "vertices": ids.count, "renumbered": False, "ranges": len(chunks)}
    source = ChunkSource(ids.count, found.num_edges, chunks, found.weight_dtype, skewed=True)
    return Graph(source, ids, bool(directed), report)
