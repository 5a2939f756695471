"""The columns that loaders draw neighbours by: weights, and times of edges or of vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.arrays import on_host
from graphdask.errors import InputError, shown
from graphdask.graph.edge_values import arrays_of_edges, column_numbers, with_edge_values
from graphdask.graph.graph import Graph


def weighted_by(G: Graph, weight_attr: str | None, bias: Any, in_time: bool) -> tuple[Graph, Any]:
    """The graph whose weights neighbours are drawn by, and the bias of the draws.

    `weight_attr` is the name of a column of the edges, or "weight" for the weights of the graph; with None the graph
    and the bias stay what they are.
    """
    if weight_attr is None:
        return G, bias
    refuse_weights(weight_attr, bias, in_time)
    if weight_attr == "weight" and G.weighted and weight_attr not in G.edge_columns:
        return G, "weight"
    return with_edge_values(G, "weight_attr", weight_attr), "weight"


def refuse_weights(weight_attr: str, bias: Any, in_time: bool) -> None:
    """Raise InputError for weights of draws in time, and beside another bias."""
    if in_time:
        raise InputError(f"weight_attr={shown(weight_attr)} is not for draws in time; leave it out, or the times")
    if bias not in (None, "weight"):
        raise InputError(
            f"bias={shown(bias)} and weight_attr={shown(weight_attr)} exclude each other; give one of them"
        )


def is_of_vertices(G: Graph, time_attr: str | None) -> bool:
    """Whether a name of times is a column of the vertices; False for None."""
    if time_attr is None:
        return False
    of_vertices = time_attr in G.vertex_columns
    if of_vertices and time_attr in G.edge_columns:
        raise InputError(
            f"time_attr={shown(time_attr)} is a column of the edges and of the vertices; rename one of them"
        )
    return of_vertices


def times_of_vertices(G: Graph, time_attr: str) -> np.ndarray:
    """The numbers of a column of the vertices, in the order of `G.vertex_ids`."""
    assert G.vertex_attributes is not None
    values = G.vertex_attributes.of_vertices(G.ids, [time_attr])[time_attr]
    return column_numbers("time_attr", time_attr, values, lambda place: f"vertex {G.vertex_ids[place]!s}")


def with_times_of_vertices(G: Graph, time_attr: str, of_vertices: np.ndarray, direction: str) -> Graph:
    """The graph whose edges have the time of the vertex that is drawn along them."""
    if not G.directed:
        raise InputError(
            f"time_attr={shown(time_attr)} is a column of the vertices, and an undirected edge would have two times; "
            f"make a directed graph of both directions of the edges, or name a column of the edges"
        )
    if not arrays_of_edges(G):
        raise InputError(
            f"time_attr={shown(time_attr)} is a column of the vertices, and the edges of this graph are made on the "
            f"workers, or batches have changed them; make it with from_edges or name a column of the edges"
        )
    ends: Any = G.source.src if direction == "in" else G.source.dst  # type: ignore[attr-defined]
    return with_edge_values(G, "time_attr", of_vertices[on_host(ends)])
