"""How many vertices of a graph have each degree, counted from its lineage without building its partitions.

The edges are made or read in pieces on one device and dropped, so that a graph whose edges do not fit the memory can be
counted; the counters, 8 bytes a vertex, must fit. Parallel edges that are merged are so in the partitions alone, which
are built for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphdask import execute
from graphdask.device.backend import Array, Backend, get_backend
from graphdask.errors import InputError, OverBudget, Unsupported, shown
from graphdask.graph.graph import checked_graph
from graphdask.partition.vertex_map import index_dtype

DIRECTIONS = ("both", "in", "out")


def degree_counts(G: Any, direction: str = "both", *, device: str = "auto") -> tuple[np.ndarray, np.ndarray]:
    """Count the vertices of each degree.

    Parameters
    ----------
    G : Graph
    direction : {"both", "in", "out"}
        `both`: every end of an edge counts, so a self-loop counts twice. `in` and `out`: of an edge (u, v), as it was
        read or generated, v and u; of a generated preferential attachment graph v is the target, also where the graph
        is undirected.
    device : {"auto", "cpu", "cuda"}

    Returns
    -------
    degree, count : arrays of int64
        The degrees that occur, ascending, 0 among them where vertices are isolated, and how many vertices have each.

    Raises
    ------
    InputError
        For an unknown direction or device.
    Unsupported
        For `in` and `out` of an undirected graph whose parallel edges are merged.
    OverBudget
        If the counters do not fit the memory.

    Examples
    --------
    >>> import graphdask as gd
    >>> degree, count = degree_counts(gd.from_edges([0, 0, 1], [1, 2, 2], num_vertices=4))
    >>> degree.tolist(), count.tolist()
    ([0, 2], [1, 3])
    """
    n = checked_graph(G).num_vertices
    if direction not in DIRECTIONS:
        raise InputError(f"direction={shown(direction)} is not one of {', '.join(DIRECTIONS)}")
    if G.merge and not G.directed and direction != "both":
        raise Unsupported(
            f"of merged parallel edges without a direction nobody knows how they were given; "
            f"direction={shown(direction)} needs multi_edges='keep'"
        )
    backend = get_backend(device)
    with backend.activate():
        xp = backend.xp
        pieces = _pieces(backend, n, G.source.num_edges)
        degree = xp.zeros(n, np.int64)
        for src, dst in _blocks(G, backend, pieces):
            for column, unwanted in ((src, "in"), (dst, "out")):
                if direction != unwanted:
                    backend.kernels("tally", index_t=column.dtype).tally_count(len(column), column, degree)
            del src, dst
        if not n:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        found, count = xp.unique(degree, return_counts=True)
        return backend.to_host(found).astype(np.int64), backend.to_host(count).astype(np.int64)


def _blocks(G: Any, backend: Backend, pieces: int) -> Iterator[tuple[Array, Array]]:
    """Sources and destinations of all edges, made piece by piece, or as partitions have merged them."""
    if G.merge:
        for src, dst, _ in execute.edge_blocks(G, max(1, G.source.num_edges // pieces)):
            yield backend.from_host(src), backend.from_host(dst)
        return
    for rank in range(pieces):
        src, dst, _ = G.source.piece(rank, pieces).edges(backend)
        yield src, dst


def _pieces(backend: Backend, n: int, num_edges: int) -> int:
    """Pieces of the edges, so that one and the counters take no more than is free."""
    counters, free = 8 * n, backend.free_memory()
    if counters > free // 2:
        raise OverBudget(
            f"counting the degrees of {n:,} vertices needs {counters / 2**30:.3g} GiB, and of "
            f"{free / 2**30:.3g} GiB that are free on {backend.description} half are for edges; take a larger device"
        )
    return max(1, -(-2 * index_dtype(n).itemsize * num_edges // max(free // 4, 1)))
