"""How the columns that a caller gives are checked and attached to a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow

from graphdask.device.arrays import on_gpu, on_host
from graphdask.device.backend import get_backend
from graphdask.device.limits import refuse_beyond_memory
from graphdask.errors import InputError, shown
from graphdask.graph.arrow_tables import arrow_table, plain_values
from graphdask.graph.attributes import Attributes
from graphdask.graph.checked import check_ids, check_weights, checked_ids
from graphdask.io.asked import OF_EDGES, OF_VERTICES, VERTEX
from graphdask.partition.given import given_where_it_is
from graphdask.partition.ids import check_same_kind

BYTES = 16
"""About what a value of a vertex takes, with its row."""


def table_of_edges(what: str, given: Any, names: Any, count: int) -> pyarrow.Table | None:
    """Return columns for `count` edges, checked; None without any.

    Raises
    ------
    InputError
        For another number of rows, and a name that edges have already.
    """
    if given is None:
        return None
    table = arrow_table(what, given, names)
    for name in table.column_names:
        if name in OF_EDGES:
            raise InputError(f"{what}: {name!r} is what graphdask calls a column of its own; rename yours")
    if not table.num_columns:
        return None
    if table.num_rows != count:
        raise InputError(f"{what} has {table.num_rows:,} rows; one for each of the {count:,} edges is needed")
    return table


def table_of_vertices(what: str, given: Any, id_column: Any) -> pyarrow.Table | None:
    """Return columns for vertices, checked; the column of their ids is among them where there is one."""
    if given is None:
        return None
    if not isinstance(id_column, str):
        raise InputError(f"vertex_id={shown(id_column)} is no name of a column")
    table = arrow_table(what, given)
    if id_column not in table.column_names and not isinstance(given, Mapping):
        raise InputError(
            f"{what} has no column {id_column!r} of the vertices' ids; it has "
            f"{', '.join(table.column_names) or 'none'}; name it with vertex_id="
        )
    for name in table.column_names:
        if name in OF_VERTICES and name != id_column:
            raise InputError(f"{what}: {name!r} is what graphdask calls the vertices' ids; rename yours")
    return table


def attached(graph: Any, edges: pyarrow.Table | None, vertices: Any, id_column: str, ids: np.ndarray | None) -> Any:
    """Return the graph with columns; `ids` are the checked ids of the vertices that rows of columns belong to.

    Raises
    ------
    InputError
        For an id that stands twice, or rows without ids that are not one for each vertex.
    VertexNotFound
        For an id that is no vertex.
    """
    of_edges = None if edges is None else Attributes(edges)
    of_vertices = None
    if vertices is not None:
        rows: np.ndarray | None = None
        if ids is not None:
            numbers = graph.ids.to_internal(ids, "vertex_columns: vertex") if len(ids) else np.zeros(0, np.int64)
            _check_once(ids, numbers)
            refuse_beyond_memory(
                f"vertex_columns of num_vertices={graph.ids.count:,}", BYTES * vertices.num_columns * graph.ids.count,
                "give fewer vertices, or no columns of them",
            )  # fmt: skip
            rows = np.full(graph.ids.count, -1, np.int64)
            rows[numbers] = np.arange(len(numbers))
            vertices = vertices.drop_columns([id_column])
        elif vertices.num_columns and vertices.num_rows != graph.ids.count:
            raise InputError(
                f"vertex_columns has {vertices.num_rows:,} rows; one for each of the {graph.ids.count:,} vertices, in "
                f"the order of vertex_ids, or a column {id_column!r} of the vertices' ids is needed"
            )
        if vertices.num_columns:
            plain = Attributes(vertices, graph.ids)
            of_vertices = plain if rows is None else replace(plain, table=plain.take(rows, vertices.column_names))
    return replace(graph, edge_attributes=of_edges, vertex_attributes=of_vertices)


def _check_once(ids: np.ndarray, numbers: np.ndarray) -> None:
    order = np.argsort(numbers, kind="stable")
    again = order[1:][np.diff(numbers[order]) == 0]
    if len(again):
        row = int(again.min())
        raise InputError(f"vertex_columns: row {row} repeats the vertex {ids[row]}; each stands once")


def with_columns_read(graph: Any, edges: Any, vertices: Any) -> Any:
    """Return the graph with the columns of edges and of vertices, or None, that were read with it."""
    of_vertices = table_of_vertices("vertex_columns", vertices, VERTEX)
    name = f"vertex_columns: column {VERTEX!r}"
    ids = None if of_vertices is None else checked_ids(name, plain_values(name, of_vertices[VERTEX]))
    of_edges = table_of_edges("edge_columns", edges, None, 0 if edges is None else edges.num_rows)
    return attached(graph, of_edges, of_vertices, VERTEX, ids)


@dataclass(frozen=True)
class EdgesWithColumns:
    """Checked edges, and the columns that are attached to the graph that is made of them."""

    src: Any
    dst: Any
    weights: Any
    vertices: Any
    of_edges: pyarrow.Table | None
    of_vertices: pyarrow.Table | None
    vertex_id: str
    own: np.ndarray | None
    """Ids of the rows of `of_vertices`."""

    def attached_to(self, graph: Any) -> Any:
        return attached(graph, self.of_edges, self.of_vertices, self.vertex_id, self.own)


def edges_with_columns(
    src: Any, dst: Any, weights: Any, vertices: Any, edge_columns: Any, vertex_columns: Any, vertex_id: Any,
    num_vertices: Any, names: tuple[str, str, str],
) -> EdgesWithColumns:  # fmt: skip
    """Check what a caller gives for edges with columns; vertices with a row join those that edges name."""
    source, destination = _ids(names[0], src), _ids(names[1], dst)
    of_edges = table_of_edges("edge_columns", edge_columns, None, len(source))
    of_vertices = table_of_vertices("vertex_columns", vertex_columns, vertex_id)
    own: np.ndarray | None = None
    if of_vertices is not None and vertex_id in of_vertices.column_names:
        name = f"vertex_columns: column {vertex_id!r}"
        own = checked_ids(name, plain_values(name, of_vertices[vertex_id]))
        if vertices is None and num_vertices is None and len(own):
            filled = [on_host(ids) for ids in (source, destination, own) if len(ids)]
            for ids in filled[:-1]:
                check_same_kind(ids, own, "ids of edges", "of vertices")
            vertices = np.unique(np.concatenate(filled))
    if weights is not None:
        weights = check_weights(given_where_it_is(names[2], weights), len(source), names[2])
    return EdgesWithColumns(source, destination, weights, vertices, of_edges, of_vertices, vertex_id, own)


def _ids(name: str, values: Any) -> Any:
    """Vertex ids that a caller gives, checked where they are."""
    array = given_where_it_is(name, values)
    if not on_gpu(array):
        return check_ids(name, array)
    with get_backend("cuda", array.device.id).activate():
        return check_ids(name, array)
