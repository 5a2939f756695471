"""Base calls of graphs with types of vertices and edges, for `public_calls`: arguments, function, words."""

from __future__ import annotations

from typing import Any

import graphdask as gd

OF_TYPE = {"vertex_type": ("type of vertices",)}
NAME = {"name": ("type of edges",)}

OF_TYPES: dict[str, tuple[Any, ...]] = {
    "from_frames": (
        lambda w: {
            "edges": {("a", "x", "b"): ([0, 1], [3, 2])}, "src": "src", "dst": "dst", "weight": None,
            "vertices": {"a": 2}, "reverse": False, "edge_columns": None, "vertex_id": "id",
        },
        None,
        {},
    ),
    "TypedGraph.count": (lambda w: {"vertex_type": "b"}, lambda w: w.T.count, OF_TYPE),
    "TypedGraph.ids_of": (lambda w: {"vertex_type": "b"}, lambda w: w.T.ids_of, OF_TYPE),
    "TypedGraph.number": (
        lambda w: {"vertex_type": "b", "ids": [3]}, lambda w: w.T.number, OF_TYPE | {"ids": ("vertex",)},
    ),
    "TypedGraph.named": (lambda w: {"vertex_type": "b", "numbers": [2, -1]}, lambda w: w.T.named, OF_TYPE),
    "TypedGraph.edge_type": (lambda w: {"name": "x"}, lambda w: w.T.edge_type, NAME),
    "TypedGraph.of_type": (lambda w: {"name": "x"}, lambda w: w.T.of_type, NAME),
    "TypedGraph.to_undirected": (lambda w: {}, lambda w: w.T.to_undirected, {}),
    "TypedGraph.rows_of": (lambda w: {"name": "x"}, lambda w: w.T.rows_of, NAME),
    "TypedGraph.subgraph": (lambda w: {"vertices": {"b": [3]}}, lambda w: w.T.subgraph, {"vertices": ("vertex",)}),
    "TypedColumns.edge_column": (
        lambda w: {"edge_type": "x", "name": "t", "rows": [1]}, lambda w: w.T.edge_column,
        {"edge_type": ("type of edges",), "name": ("column",)},
    ),
    "TypedColumns.vertex_column": (
        lambda w: {"vertex_type": "b", "name": "size", "vertices": [3]}, lambda w: w.T.vertex_column,
        OF_TYPE | {"name": ("column",), "vertices": ("vertex",)},
    ),
    "TypedColumns.to_arrow": (lambda w: {"kind": "edges", "of_type": "x"}, lambda w: w.T.to_arrow, {}),
    "TypedColumns.to_frame": (lambda w: {"kind": "edges", "of_type": None}, lambda w: w.T.to_frame, {}),
    "TypedColumns.head": (lambda w: {"n": 1}, lambda w: w.T.head, {}),
    "TypedColumns.to_networkx": (lambda w: {"weight": "weight"}, lambda w: w.T.to_networkx, {}),
    "TypedNeighborLoader": (
        lambda w: {"G": w.T, "num_neighbors": [1], "input_nodes": ("b", [2, 3])},
        lambda w: gd.sample.TypedNeighborLoader,
        {"input_nodes": ("vertex of type", "vertices of")},
    ),
    "HGTLoader": (
        lambda w: {"G": w.T, "num_samples": [1], "input_nodes": ("b", [2, 3])},
        lambda w: gd.sample.HGTLoader,
        {"input_nodes": ("vertex of type", "vertices of")},
    ),
    "TypedLinkNeighborLoader": (
        lambda w: {"G": w.T, "num_neighbors": [1], "edge_label_index": ("x", ([0], [3]))},
        lambda w: gd.sample.TypedLinkNeighborLoader,
        {},
    ),
}  # fmt: skip
