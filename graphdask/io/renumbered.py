"""Edges with consecutive ids in place of those of a file, and the table that says which each one was."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.display.phases import phase

from .asked import VERTEX, with_ids
from .edges import EdgeList
from .kept import is_text

PIECE = 1 << 16
"""Rows of the table that are made text at a time."""


def renumbered(edges: EdgeList, first: int) -> tuple[EdgeList, np.ndarray]:
    """Number the vertices from `first` on in ascending order of their ids; return the edges, and the ids in order."""
    table = edges.vertex_columns
    columns = [edges.src, edges.dst] + ([] if edges.vertices is None else [edges.vertices])
    columns += [] if table is None else [table[VERTEX].to_numpy()]
    if any(is_text(column) for column in columns):
        columns = [column.astype(object) for column in columns]
    ids = np.unique(np.concatenate(columns))
    src, dst = (np.searchsorted(ids, column) + first for column in columns[:2])
    vertices = np.arange(first, first + len(ids))
    if table is not None:
        table = with_ids(table.drop_columns([VERTEX]), np.searchsorted(ids, columns[-1]) + first)
    return replace(edges, src=src, dst=dst, vertices=vertices, vertex_columns=table), ids


def write_table(ids: np.ndarray, first: int, stream: Any) -> None:
    """Write CSV with the columns `number` and `id`, a line for each vertex."""
    with phase("writing"):
        stream.write(b"number,id\n")
        for begin in range(0, len(ids), PIECE):
            text = io.StringIO()
            rows = enumerate(ids[begin : begin + PIECE].tolist(), first + begin)
            csv.writer(text, lineterminator="\n").writerows(rows)
            stream.write(text.getvalue().encode())
