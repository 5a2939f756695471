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
            "vertices": {"a": 2}, "reverse": False,
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
    "TypedNeighborLoader": (
        lambda w: {"G": w.T, "num_neighbors": [1], "input_nodes": ("b", [2, 3])},
        lambda w: gd.sample.TypedNeighborLoader,
        {"input_nodes": ("vertex of type", "vertices of")},
    ),
}  # fmt: skip
