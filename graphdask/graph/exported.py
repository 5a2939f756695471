"""A graph as objects of other libraries in this process: SciPy's matrix, NetworkX's graph, pandas' first rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.errors import InputError, MissingDependency, shown
from graphdask.graph.frames import edge_frame
from graphdask.partition.blocks import SMALLEST, EdgeArrays, caller_dtype, edge_blocks, edge_bytes
from graphdask.partition.vertex_map import index_dtype


def to_scipy(graph: Any, client: Any, progress: bool | None) -> Any:
    """Carry out `Graph.to_scipy`."""
    from scipy.sparse import csr_array

    n = graph.num_vertices
    rows, columns, weights = _numbered_edges(graph, client, progress)
    data = np.ones(len(rows), bool) if weights is None else weights
    if not graph.directed:
        other = rows != columns
        rows, columns = np.concatenate([rows, columns[other]]), np.concatenate([columns, rows[other]])
        data = np.concatenate([data, data[other]])
    order = np.lexsort((columns, rows))
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
    index_t = index_dtype(max(n, len(rows)))
    matrix = csr_array((data[order], columns[order].astype(index_t), indptr.astype(index_t)), shape=(n, n))
    matrix.has_sorted_indices = True
    return matrix


def to_networkx(
    graph: Any,
    weight: Any,
    multigraph: bool | None,
    client: Any,
    progress: bool | None,
    nodes: list[Any] | None = None,
    attributes: list[dict[str, Any]] | None = None,
) -> Any:
    """Carry out `Graph.to_networkx`.

    `nodes` are those of the vertices, by default the caller's ids, and `attributes` of the edges, in their order.
    """
    try:
        import networkx
    except ImportError as error:
        raise MissingDependency('to_networkx needs NetworkX: pip install "graphdask[networkx]"') from error
    rows, columns, weights = _numbered_edges(graph, client, progress)
    parallel = _first_parallel(rows, columns, graph.directed)
    if multigraph is False and parallel is not None:
        ends = graph.ids.to_caller(np.array(parallel)).tolist() if nodes is None else [nodes[end] for end in parallel]
        u, v = map(shown, ends)
        raise InputError(
            f"multigraph=False, but there are parallel edges from {u} to {v}; leave multigraph= out, or make the graph "
            f"with multi_edges='merge'"
        )
    several = parallel is not None if multigraph is None else multigraph
    kinds = {
        (False, False): networkx.Graph,
        (False, True): networkx.MultiGraph,
        (True, False): networkx.DiGraph,
        (True, True): networkx.MultiDiGraph,
    }
    g = kinds[bool(graph.directed), several]()
    ids = graph.vertex_ids.tolist() if nodes is None else nodes
    g.add_nodes_from(ids)
    pairs = zip(map(ids.__getitem__, rows.tolist()), map(ids.__getitem__, columns.tolist()), strict=True)
    if weights is not None:
        values = [{weight: value} for value in weights.tolist()]
        attributes = values if attributes is None else [a | b for a, b in zip(attributes, values, strict=True)]
    if attributes is None:
        g.add_edges_from(pairs)
    else:
        g.add_edges_from((u, v, facts) for (u, v), facts in zip(pairs, attributes, strict=True))
    return g


def first_edges(graph: Any, n: int, client: Any, progress: bool | None) -> Any:
    """Carry out `Graph.head`."""
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise MissingDependency('head() needs pandas: pip install "graphdask[dataframe]"') from error
    found: list[EdgeArrays] = []
    size, missing = max(SMALLEST, n * edge_bytes(graph.source, graph.ids)), n
    for block in edge_blocks(graph, size, "auto", client, progress):
        if missing <= 0:
            break
        found.append(EdgeArrays(*(None if column is None else column[:missing] for column in block)))
        missing -= len(found[-1].src)
    none, weight_dtype = (
        np.zeros(0, caller_dtype(graph.ids, index_dtype(graph.num_vertices))),
        graph.source.weight_dtype,
    )
    src, dst = (np.concatenate([none, *(block[end] for block in found)]) for end in (0, 1))
    if weight_dtype is None:
        return edge_frame(src, dst, None)
    return edge_frame(src, dst, np.concatenate([np.zeros(0, weight_dtype), *(block[2] for block in found)]))


def _numbered_edges(graph: Any, client: Any, progress: bool | None) -> tuple[np.ndarray, np.ndarray, Any]:
    """All edges in vertex numbers, int64, with their weights or None; an undirected edge once."""
    src, dst, weights = graph.edges(client=client, progress=progress)
    return graph.ids.to_internal(src), graph.ids.to_internal(dst), weights


def _first_parallel(rows: np.ndarray, columns: np.ndarray, directed: bool) -> tuple[int, int] | None:
    """The ends of an edge that has a parallel one; None if there is none."""
    if not directed:
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    order = np.lexsort((columns, rows))
    rows, columns = rows[order], columns[order]
    same = np.flatnonzero((rows[1:] == rows[:-1]) & (columns[1:] == columns[:-1]))
    return (int(rows[same[0]]), int(columns[same[0]])) if len(same) else None
