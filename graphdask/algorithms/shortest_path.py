"""A shortest path between two vertices: a search that stops after the target, and the parents from there back."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms.bfs import bfs
from graphdask.algorithms.sssp import sssp
from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.parameters import documented
from graphdask.partition.given import given_array


@documented
def shortest_path(
    G: Graph,
    source: Any,
    target: Any,
    *,
    weighted: bool | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> np.ndarray:
    """Return the vertices of a shortest path, from `source` to `target`, along the direction of the edges.

    Parameters
    ----------
    G : Graph
    source : int or str
        A vertex, by the caller's id.
    target : int or str
        A vertex, by the caller's id.
    weighted : bool, optional
        True: the sum of the weights of the edges is the least. False: the number of edges is the least. Default: by
        weights if the graph has any.

    Returns
    -------
    numpy.ndarray
        The caller's ids of the vertices on the path, both ends included: one vertex if `source` is `target`, and none
        if there is no path. The ids are int64, or objects if they are strings. Of several shortest paths it is the one
        along `parent` of `bfs` or `sssp`: seen from the target, each vertex is the smallest that there can be. The
        answer is the same for every number of partitions and on every device.

    Raises
    ------
    VertexNotFound
        If `source` or `target` is not a vertex.
    InputError
        If `G` is not a Graph, `weighted` is True and the graph has no weights, or a weight is negative or infinite.

    Notes
    -----
    The search stops after `target`. To know the length too, or to prove it, call `gd.bfs(G, source, targets=target)` or
    `gd.sssp(G, source, targets=target)`.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1], [1, 2, 2], weights=[1, 5, 2], num_vertices=4)
    >>> gd.shortest_path(G, 0, 2).tolist()
    [0, 1, 2]
    >>> gd.shortest_path(G, 0, 2, weighted=False).tolist()
    [0, 2]
    >>> gd.shortest_path(G, 0, 3).tolist()
    []
    """
    checked_graph(G)
    if weighted and not G.weighted:
        raise InputError("weighted=True, but the graph has no weights; make or read it with weights, or leave it out")
    first, last = _one(G, "source", source), _one(G, "target", target)
    by_weights = G.weighted if weighted is None else weighted
    search = sssp if by_weights else bfs
    parent = search(G, source, targets=target, client=client, progress=progress)._internal("parent")
    path = [last] if parent[last] >= 0 else []
    while path and path[-1] != first:
        path.append(int(parent[path[-1]]))
    return G.ids.to_caller(np.array(path[::-1], np.int64))


def _one(G: Graph, name: str, vertex: Any) -> int:
    """Return the number of a vertex."""
    if given_array(name, vertex).ndim:
        raise InputError(f"{name}={shown(vertex)} is not one vertex")
    return int(G.ids.to_internal(vertex, name))
