"""Graphs whose edges each rank reads itself, when it builds its partition: no process has all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph
from graphdask.io.asked import Asked
from graphdask.io.columns import Request, checked_columns
from graphdask.io.ranges import Ranges, ranges_of
from graphdask.partition.ids import VertexIds, checked_count
from graphdask.partition.sources import ChunkSource


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
    self_loops: Any, multi_edges: Any, columns: Any, asked: tuple[Asked, Asked], others: dict[str, Any],
) -> Graph:  # fmt: skip
    """Carry out `read_graph` with `lazy=True`; `asked` are the columns of edges and of vertices to keep."""
    if not isinstance(self_loops, str) or self_loops != "keep":
        raise InputError(
            f"self_loops={shown(self_loops)} is not for lazy=True, which reads no edge: the rows of edges count those "
            "in the file; give self_loops='keep', or read it with lazy=False"
        )
    if not isinstance(multi_edges, str) or multi_edges not in ("keep", "merge"):
        raise InputError(
            f"multi_edges={shown(multi_edges)} is not for lazy=True, which reads no edge; give 'keep', or 'merge', "
            "which ranks do as they build their partitions"
        )
    for name, value in others.items():
        if value is not None and not (name == "skip_rows" and isinstance(value, int) and not value):
            raise InputError(f"{name}={shown(value)} is not for lazy=True, which reads no text; leave one of them out")
    if not (weights is None or isinstance(weights, bool)):
        raise InputError(f"weights={shown(weights)} is not for lazy=True; it is None, True or False")
    if not (directed is None or isinstance(directed, bool | np.bool_)):
        raise InputError(f"directed={shown(directed)} must be True or False")
    request = Request(weights, columns=checked_columns(columns), edge_columns=asked[0], vertex_columns=asked[1])
    found: Ranges = ranges_of(path, format, request, storage_options)
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
    graph = Graph(source, ids, bool(directed), report, merge=multi_edges == "merge")
    if found.edge_columns is None and found.vertex_columns is None:
        return graph
    from graphdask.graph.attached import with_columns_read  # it imports pyarrow

    made: Graph = with_columns_read(graph, found.edge_columns, found.vertex_columns)
    return made
