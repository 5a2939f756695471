"""Columns of edges and of vertices as bytes in a file of arrays: Arrow IPC streams in native files and NPZ archives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import FormatError

from ._ipc import of_bytes
from .asked import VERTEX, Asked, picked, with_ids
from .edges import EdgeList


def of_vertices(edges: EdgeList) -> Any:
    """The columns of the vertices, without their ids where they are in the order of the vertices."""
    table = edges.vertex_columns
    if table is None or edges.vertices is None or table.num_rows != len(edges.vertices):
        return table
    ids = table[VERTEX].to_numpy()
    return table.drop_columns([VERTEX]) if np.array_equal(ids.astype(edges.vertices.dtype), edges.vertices) else table


def table_of(data: Any, what: str, asked: Asked, values: dict[str, Any], file: Path) -> Any:
    """The columns that are asked for, of what `of_vertices` and `as_bytes` gave."""
    if data is None:
        picked(what, asked, (), (), file)
        return None
    table = of_bytes(data, f"the {what.replace('_', ' ')}", file)
    names = picked(what, asked, table.column_names, (), file)
    if what == "edge_columns":
        _check_rows(table, what, values["src"], file)
        return table.select(names) if names else None
    if VERTEX in table.column_names:
        return table.select([VERTEX, *names])
    _check_rows(table, what, values["vertices"], file)
    return with_ids(table.select(names), values["vertices"])


def _check_rows(table: Any, what: str, ids: Any, file: Path) -> None:
    rows = 0 if ids is None else len(ids)
    if table.num_rows != rows:
        raise FormatError(f"{what} has {table.num_rows:,} rows, and there are {rows:,} ids", file)
