"""Base calls of what takes and gives columns of edges and vertices, for `public_calls`: arguments, function, words."""

from __future__ import annotations

from typing import Any

import graphdask as gd

FRAME = {"src": [0, 1], "dst": [1, 2], "w": [1, 2], "t": [1, 2]}
OF_FRAME = {"df": FRAME, "weight": "w", "edge_columns": ["t"], "vertex_columns": {"id": [5], "s": [1]}}


def graph() -> gd.Graph:
    return gd.from_frame(FRAME, edge_columns=["t"], vertex_columns={"s": [1, 2, 3]}).partition(1, device="cpu")


def samples() -> Any:
    return gd.sample.neighbors(graph(), [0], fanouts=[1])


NAME = {"name": ("column",)}

OF_COLUMNS: dict[str, tuple[Any, ...]] = {
    "from_frame": (
        lambda w: OF_FRAME | {"src": "src", "dst": "dst", "vertex_id": "id"},
        None,
        {"src": ("df",), "dst": ("df",), "weight": ("df",), "vertex_id": ("vertex_columns", "column")},
    ),
    "GraphColumns.edge_column": (lambda w: {"name": "t", "rows": [0]}, lambda w: graph().edge_column, NAME),
    "GraphColumns.vertex_column": (
        lambda w: {"name": "s", "vertices": [0]},
        lambda w: graph().vertex_column,
        NAME | {"vertices": ("vertex",)},
    ),
    "GraphColumns.with_weights": (lambda w: {"column": "t"}, lambda w: graph().with_weights, {}),
    "GraphColumns.to_arrow": (lambda w: {"kind": "edges", "columns": ["t"]}, lambda w: graph().to_arrow, {}),
    "GraphColumns.to_frame": (lambda w: {"kind": "edges", "columns": ["t"]}, lambda w: graph().to_frame, {}),
    "Result.column": (lambda w: {"name": w.result.columns[0]}, lambda w: w.result.column, {}),
    "VertexTable.to_arrow": (lambda w: {"columns": ["s"]}, lambda w: gd.bfs(graph(), 0).to_arrow, {}),
    "EdgeTable.to_arrow": (lambda w: {"columns": ["t"]}, lambda w: samples().to_arrow, {}),
    "Result.to_frame": (lambda w: {"columns": ["s"]}, lambda w: gd.bfs(graph(), 0).to_frame, {}),
    "Samples.column": (lambda w: {"name": "src"}, lambda w: w.neighborhoods.column, {}),
    "Samples.to_frame": (lambda w: {"columns": ["t"]}, lambda w: samples().to_frame, {}),
}
