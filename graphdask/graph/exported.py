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
    columns: tuple[Any, Any] = (False, False),
) -> Any:
    """Carry out `Graph.to_networkx`.

    `nodes` are those of the vertices, by default the caller's ids, and `attributes` of the edges, in their order.
    `columns` are those of edges and of vertices that are asked for.
    """
    try:
        import networkx
    except ImportError as error:
        raise MissingDependency('to_networkx needs NetworkX: pip install "graphdask[networkx]"') from error
    taken = {weight} if graph.weighted else set()
    of_edges = _asked("edge_columns", columns[0], graph.edge_attributes, taken | set((attributes or [{}])[0]))
    of_vertices = _asked(
        "vertex_columns", columns[1], graph.vertex_attributes, set() if nodes is None else {"type", "id"}
    )
    src, dst, weights, facts = _with_facts(graph, of_edges, client, progress)
    if facts is not None:
        attributes = facts if attributes is None else [a | b for a, b in zip(facts, attributes, strict=True)]
    parallel = _first_parallel(src, dst, graph.directed)
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
    if of_vertices:
        g.add_nodes_from(zip(ids, _facts(graph.vertex_attributes.of_vertices(graph.ids, of_vertices)), strict=True))
    else:
        g.add_nodes_from(ids)
    pairs = zip(map(ids.__getitem__, src.tolist()), map(ids.__getitem__, dst.tolist()), strict=True)
    if weights is not None:
        values = [{weight: value} for value in weights.tolist()]
        attributes = values if attributes is None else [a | b for a, b in zip(attributes, values, strict=True)]
    if attributes is None:
        g.add_edges_from(pairs)
    else:
        g.add_edges_from((u, v, facts) for (u, v), facts in zip(pairs, attributes, strict=True))
    return g


def _asked(what: str, given: Any, attributes: Any, taken: set[Any]) -> list[str]:
    """Names of the columns that become attributes: those that are asked for, or all but those with names of others.

    Raises
    ------
    InputError
        For a column that is not there, or has the name of another attribute.
    """
    if given is None or isinstance(given, bool | np.bool_):
        return [name for name in ({} if attributes is None else attributes.types) if name not in taken] if given else []
    from graphdask.graph.attributes import chosen

    names = chosen(what, given, attributes)
    for name in names:
        if name in taken:
            raise InputError(
                f"{what}: {name!r} is the name of another attribute; leave it out, or give weight= another"
            )
    return names


def _with_facts(graph: Any, names: list[str], client: Any, progress: bool | None) -> Any:
    """Vertex numbers and weights of all edges, and the values of columns as a mapping for each; None without any."""
    if not names:
        return *_numbered_edges(graph, client, progress), None
    src, dst, weights, rows = graph._edges_and_rows()
    return src, dst, weights, _facts(graph.edge_attributes.take(rows, names))


def _facts(table: Any) -> list[dict[str, Any]]:
    """A mapping for each row of the values that are there."""
    from graphdask.graph.attributes import python_values

    columns = [python_values(table[name]) for name in table.column_names]
    names = table.column_names
    return [
        {name: value for name, value in zip(names, row, strict=True) if value is not None}
        for row in zip(*columns, strict=True)
    ]


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
