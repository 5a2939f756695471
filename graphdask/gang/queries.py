"""Questions about vertices and edges of a graph in memory: each rank is asked about the vertices that it owns.

A question is a task beside the partition; no superstep runs, and only the answer travels. The first question builds the
partitions, as the first algorithm does.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from graphdask.config import Config
from graphdask.device.backend import get_backend
from graphdask.gang.building import Built
from graphdask.gang.in_memory import with_partitions
from graphdask.graph.graph import Graph
from graphdask.partition.queries import Degrees, EdgeCounts, EdgesBetween, Neighbours


def neighbours(graph: Graph, vertex: int, direction: str, client: Any, progress: bool | None) -> np.ndarray:
    """Numbers of the distinct neighbours of a vertex, ascending."""

    def action(built: Built, restarts: int) -> np.ndarray:
        rank, place = built.vertex_map.locate(vertex)
        found: np.ndarray = built.parts.take(rank, Neighbours(place, direction))
        return found

    found: np.ndarray = _asked(graph, action, client, progress, inward=direction != "out")
    return found


def edge_counts(graph: Graph, src: np.ndarray, dst: np.ndarray, client: Any, progress: bool | None) -> np.ndarray:
    """How many edges lead from each of `src` to the vertex of `dst` beside it, int64."""
    action = partial(_counted, src=src, dst=dst)
    found: np.ndarray = _asked(graph, action, client, progress)
    return found


def _counted(built: Built, restarts: int, *, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    vertex_map = built.vertex_map
    positions = vertex_map.to_position(get_backend("cpu"), src.astype(vertex_map.dtype)).astype(np.int64)
    owners = np.searchsorted(vertex_map.offsets, positions, side="right") - 1
    order = np.argsort(owners, kind="stable")
    ranks, begins = np.unique(owners[order], return_index=True)
    counts = np.zeros(len(src), np.int64)
    pairs = dict(zip(ranks.tolist(), np.split(order, begins[1:]), strict=False))
    answers = built.parts.ask(
        {rank: EdgeCounts(positions[own] - vertex_map.offsets[rank], dst[own]) for rank, own in pairs.items()}
    )
    for rank, own in pairs.items():
        counts[own] = answers[rank]
    return counts


def edge_values(graph: Graph, src: int, dst: int, rows: bool, client: Any, progress: bool | None) -> Any:
    """Rows and weights of the edges from one vertex to another; rows are None unless they are asked for."""

    def action(built: Built, restarts: int) -> Any:
        rank, place = built.vertex_map.locate(src)
        found, weights = built.parts.take(rank, EdgesBetween(place, dst))
        return found if rows else None, weights

    return _asked(graph, action, client, progress, edge_rows=False if rows else None)


def degrees(graph: Graph, direction: str, client: Any, progress: bool | None) -> np.ndarray:
    """The degrees of all vertices in the order of their numbers, int64."""

    def action(built: Built, restarts: int) -> np.ndarray:
        pieces = built.parts.fetch(Degrees(direction, graph.directed))
        degree = np.zeros(graph.num_vertices, np.int64)
        positions = np.arange(graph.num_vertices, dtype=built.vertex_map.dtype)
        degree[built.vertex_map.to_id(get_backend("cpu"), positions)] = np.concatenate(pieces)
        return degree

    found: np.ndarray = _asked(graph, action, client, progress, inward=direction != "out")
    return found


def _asked(
    graph: Graph,
    action: Any,
    client: Any,
    progress: bool | None,
    *,
    inward: bool = False,
    edge_rows: bool | None = None,
) -> Any:
    config = Config.load(progress=progress)
    return with_partitions(graph, client, config, action, inward=inward and graph.directed, edge_rows=edge_rows)
