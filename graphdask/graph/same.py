"""Whether two graphs have the same content, however they were made and divided."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.graph.graph import checked_graph
from graphdask.graph.type_names import EdgeType
from graphdask.graph.typed import TypedGraph


def same_graph(G: Any, H: Any, *, client: Any = None, progress: bool | None = None) -> bool:
    """Return whether two graphs have the same vertices and the same edges with the same weights.

    Parameters
    ----------
    G, H : Graph
        In memory, on disk, or changed by batches.
    client : distributed.Client, optional
        Where graphs are built whose parallel edges are merged during the build; it is not used for others. Default: the
        active client.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    bool
        True if both are directed or both are not, have the same ids and the same multiset of edges, and have weights of
        equal values or none. The order of the edges, the partitions, the types of the weights and, of undirected edges,
        the order of the ends do not matter. Of graphs with types, each type must have the same vertices and edges, in
        whatever order the types are; a graph without types is never the same. Other columns of edges and vertices are
        not compared.

    Raises
    ------
    InputError
        If one of them is not a Graph.
    OverBudget
        If the edges of both do not fit into the memory of this process.

    Notes
    -----
    The edges of both are sorted in this process, and only if the numbers of vertices and edges agree. It is no test for
    isomorphism: vertices are the same if their ids are.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1], [1, 2], directed=False)
    >>> gd.same_graph(G, gd.from_edges([2, 0], [1, 1], directed=False).partition(2))
    True
    >>> gd.same_graph(G, gd.from_edges([0, 1], [1, 2]))
    False
    """
    first, second = checked_graph(G).present, checked_graph(H, "H").present
    if isinstance(first, TypedGraph) or isinstance(second, TypedGraph):
        return isinstance(first, TypedGraph) and isinstance(second, TypedGraph) and _same_types(first, second)
    if first.directed != second.directed or first.weighted != second.weighted or not _same_ids(first, second):
        return False
    return _same_edges(*(_sorted_edges(graph, client, progress) for graph in (first, second)))


def _same_edges(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    return len(one) == len(other) and all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def _same_types(first: TypedGraph, second: TypedGraph) -> bool:
    """Whether each type of two graphs has the same vertices, and the same edges with the same weights."""
    if set(first.edge_types) != set(second.edge_types):
        return False
    one, other = first.vertex_ids_by_type, second.vertex_ids_by_type
    if not all(np.array_equal(ids.values, other[name].values) for name, ids in one.items()):
        return False
    return all(_same_edges(_edges_of(first, kind), _edges_of(second, kind)) for kind in first.edge_types)


def _edges_of(graph: TypedGraph, kind: EdgeType) -> list[np.ndarray]:
    """Sources, destinations and weights of the edges of a type, counted within the types of the ends, sorted."""
    rows = graph.rows_of(kind)
    firsts = dict(zip(graph.vertex_types, graph.vertex_bounds.tolist(), strict=False))
    src, dst, weights = graph.edges()
    ends = [src[rows] - firsts[kind[0]], dst[rows] - firsts[kind[2]]]
    return _sorted(ends if weights is None else [*ends, weights[rows]])


def _same_ids(first: Any, second: Any) -> bool:
    """Whether two graphs have the same vertices; ids without a table are compared without being made."""
    a, b = first.ids, second.ids
    if a.count != b.count:
        return False
    if a.table is None and b.table is None:
        return not a.count or a.start == b.start
    return bool(np.array_equal(a.values, b.values))


def _sorted_edges(graph: Any, client: Any, progress: bool | None) -> list[np.ndarray]:
    """Sources, destinations and weights of all edges in vertex numbers, sorted by these."""
    src, dst, weights = graph.edges(client=client if graph.merge else None, progress=progress)
    src, dst = graph.ids.to_internal(src), graph.ids.to_internal(dst)
    if not graph.directed:
        src, dst = np.minimum(src, dst), np.maximum(src, dst)
    return _sorted([src, dst] if weights is None else [src, dst, weights])


def _sorted(columns: list[np.ndarray]) -> list[np.ndarray]:
    order = np.lexsort(columns[::-1])
    return [column[order] for column in columns]
