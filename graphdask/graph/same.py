"""Whether two graphs have the same content, however they were made and divided."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.graph.graph import checked_graph


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
        the order of the ends do not matter. Other columns of edges and vertices are not compared.

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
    if first.directed != second.directed or first.weighted != second.weighted or not _same_ids(first, second):
        return False
    one, other = (_sorted_edges(graph, client, progress) for graph in (first, second))
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


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
    columns = [src, dst] if weights is None else [src, dst, weights]
    order = np.lexsort(columns[::-1])
    return [column[order] for column in columns]
