"""The edges of a layered edge list, with columns, as what readers of other files give."""

from __future__ import annotations

from typing import Any

from graphdask.errors import InputError
from graphdask.io import EdgeList
from graphdask.io.asked import asked_columns, with_ids
from graphdask.stream.graph import StreamedGraph


def edge_list(S: StreamedGraph, edge_columns: Any = None, vertex_columns: Any = None) -> EdgeList:
    """Return the edges of a graph on disk, in memory.

    Parameters
    ----------
    edge_columns, vertex_columns : list of str or bool, optional
        As those of `graphdask.io.read_edges`. With columns of edges, these are in the order of what the file was built
        from.

    Raises
    ------
    InputError
        For a column that is not there.
    OverBudget
        If memory cannot hold the edges.
    """
    edges = _asked(S, "edge_columns", edge_columns, S.edge_attributes)
    vertices = _asked(S, "vertex_columns", vertex_columns, S.vertex_attributes)
    of_edges = of_vertices = None
    if edges:
        src, dst, weights, rows = S._edges_and_rows()
        src, dst = S.ids.to_caller(src), S.ids.to_caller(dst)
        of_edges = S.edge_attributes.take(rows, edges)
    else:
        src, dst, weights = S.edges("cpu")
    if vertices:
        of_vertices = with_ids(S.vertex_attributes.of_vertices(S.ids, vertices), S.ids.values)
    report = {"format": "layered", "bytes": S.nbytes}
    return EdgeList(src, dst, weights, None, S.ids.values, S.directed, report, of_edges, of_vertices)


def _asked(S: StreamedGraph, what: str, given: Any, attributes: Any) -> list[str]:
    """The names of columns that a caller asks for; True is for all."""
    asked = asked_columns(what, given)
    if not asked or (asked is True and attributes is None):
        return []
    from graphdask.graph.attributes import chosen  # it imports pyarrow

    try:
        return chosen(what, None if isinstance(asked, bool) else list(asked), attributes)
    except InputError as error:
        raise InputError(f"{S.store.path}: {error}") from None
