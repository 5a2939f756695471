"""Columns by type that loaders draw neighbours by: weights of edges, and times of edges or of vertices.

A type whose edges have no such column is drawn from uniformly, or seen at all times, as PyTorch Geometric does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.graph.edge_values import column_numbers, with_edge_values
from graphdask.graph.graph import Graph
from graphdask.graph.type_names import EdgeType
from graphdask.graph.typed import TypedGraph
from graphdask.partition.sources import ArraySource
from graphdask.sample._column_names import refuse_weights


def weighted_types(
    G: TypedGraph, weight_attr: str | None, bias: Any, in_time: bool
) -> tuple[dict[EdgeType, Graph], dict[EdgeType, Any]]:
    """The graph of each type of edges, whose weights neighbours are drawn by, and the bias of the draws.

    `weight_attr` is the name of a column of the edges of some types, or "weight" for the weights of the graph; with
    None the graphs and the bias stay what they are.
    """
    graphs = {kind: G.of_type(kind) for kind in G.edge_types}
    if weight_attr is None:
        return graphs, dict.fromkeys(graphs, bias)
    refuse_weights(weight_attr, bias, in_time)
    having = [kind for kind in graphs if weight_attr in G.columns_of_edges.get(kind, ())]
    if not having and weight_attr == "weight" and G.weighted:
        return graphs, dict.fromkeys(graphs, "weight")
    if not having:
        raise InputError(
            f"weight_attr={shown(weight_attr)}: no type of edges has such a column; columns are "
            f"{', '.join(G.edge_columns) or 'none'}"
        )
    for kind in having:
        graphs[kind] = with_edge_values(graphs[kind], "weight_attr", weight_attr)
    return graphs, {kind: "weight" if kind in having else None for kind in graphs}


def times_of_attribute(
    G: TypedGraph, time_attr: str, direction: str
) -> tuple[dict[EdgeType, Any], dict[str, np.ndarray]]:
    """The times of the edges of each type that has some, and the times of vertices if these are what has the column.

    Every edge has the time of the vertex that is drawn along it, if the column is one of vertices.
    """
    edges = [kind for kind in G.edge_types if time_attr in G.columns_of_edges.get(kind, ())]
    vertices = [name for name in G.vertex_types if time_attr in G.columns_of_vertices.get(name, ())]
    if edges and vertices:
        raise InputError(
            f"time_attr={shown(time_attr)} is a column of the edges of type {edges[0]} and of the vertices of type "
            f"{vertices[0]!r}; rename one of them"
        )
    if edges:
        return dict.fromkeys(edges, time_attr), {}
    if not vertices:
        raise InputError(
            f"time_attr={shown(time_attr)}: no type of edges or of vertices has such a column; edges have "
            f"{', '.join(G.edge_columns) or 'none'}, vertices {', '.join(G.vertex_columns) or 'none'}"
        )
    of_vertices, firsts = {}, {}
    for name in vertices:
        ids = G.ids_of(name)
        numbers = G.number(name, ids)
        firsts[name] = int(numbers[0]) if len(numbers) else 0
        assert G.vertex_attributes is not None
        values = G.vertex_attributes.take(numbers, [time_attr])[time_attr]

        def where(place: int, ids: np.ndarray = ids, name: str = name) -> str:
            return f"vertex {ids[place]!s} of type {name!r}"

        of_vertices[name] = column_numbers("time_attr", time_attr, values, where)
    far, times = 0 if direction == "in" else 2, {}
    for kind in G.edge_types:
        if kind[far] in of_vertices:
            source = G.of_type(kind).source
            assert isinstance(source, ArraySource)
            ends = source.src if direction == "in" else source.dst
            times[kind] = of_vertices[kind[far]][ends - firsts[kind[far]]]
    return times, of_vertices


def times_of_inputs(G: TypedGraph, time_attr: str, name: str, numbers: np.ndarray, of: dict[str, np.ndarray]) -> Any:
    """The times of input vertices of a type, by their numbers."""
    if name not in of:
        raise InputError(
            f"time_attr={shown(time_attr)} is a column of the vertices of type {next(iter(of))!r}, and input vertices "
            f"are of type {name!r}; give input_time="
        )
    return of[name][numbers - int(G.number(name, G.ids_of(name)[:1])[0])] if len(numbers) else of[name][:0]
