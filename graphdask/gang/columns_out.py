"""Columns of edges and of vertices on their way out: which ones a file keeps, and the edges with theirs, in blocks.

Columns are in the memory of this process, so that graphs with columns are written here, in the order of what they were
made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.graph.graph import Graph
from graphdask.io.lost_columns import columns_lost
from graphdask.io.parts import Content


@dataclass(frozen=True)
class ColumnShare:
    """A contiguous share of the edges of a graph, with their columns: what a writer of a part gets."""

    edges: tuple[Any, Any, Any, np.ndarray]
    """Vertex numbers of the ends, weights or None, and rows of the columns."""
    table: Any
    """Attributes; None without columns of edges."""
    names: tuple[str, ...]

    def blocks(self, max_edges: int) -> Iterator[tuple[Any, ...]]:
        """The edges in blocks, each with a table of its columns."""
        src, dst, weights, rows = self.edges
        for first in range(0, len(src), max_edges):
            part = slice(first, first + max_edges)
            more = None if self.table is None else self.table.take(rows[part], self.names)
            yield src[part], dst[part], None if weights is None else weights[part], more


def kept_columns(graph: Graph, format: str, single: bool) -> tuple[Any, Any]:
    """Return the columns of edges, without rows, and those of vertices that a file keeps; None for none."""
    edges = vertices = None
    if graph.edge_attributes is not None:
        table = graph.edge_attributes.table
        lost = columns_lost(table.slice(0, 0), "edge", format, single)
        names = [name for name in table.column_names if name not in lost]
        edges = table.select(names).slice(0, 0) if names else None
    if graph.vertex_attributes is not None:
        table = graph.vertex_attributes.table
        lost = columns_lost(table.slice(0, 0), "vertex", format, single)
        names = [name for name in table.column_names if name not in lost]
        vertices = graph.vertex_attributes.of_vertices(graph.ids, names).combine_chunks() if names else None
    return edges, vertices


def lost_columns(graph: Graph, content: Content) -> tuple[list[str], list[str]]:
    """Return names of columns of edges and of vertices that are not written."""
    pairs = (graph.edge_columns, content.edge_columns), (graph.vertex_columns, content.vertex_columns)
    edges, vertices = (
        [name for name in there if kept is None or name not in kept.column_names] for there, kept in pairs
    )
    return edges, vertices


def shares_with_columns(graph: Graph, content: Content, count: int) -> list[ColumnShare]:
    """Return the edges in contiguous shares, with the columns that are kept."""
    src, dst, weights, rows = graph._edges_and_rows()
    names = () if content.edge_columns is None else tuple(content.edge_columns.column_names)
    bounds = [len(src) * number // count for number in range(count + 1)]
    shares = []
    for number in range(count):
        part = slice(bounds[number], bounds[number + 1])
        ends = src[part], dst[part], None if weights is None else weights[part], rows[part]
        shares.append(ColumnShare(ends, graph.edge_attributes if names else None, names))
    return shares
