"""from_frames: a graph with types, made of a table of edges for each type and of tables of vertices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.graph.attributes import Attributes
from graphdask.graph.type_names import REVERSE, EdgeType, VertexNumbers, found_type
from graphdask.graph.typed import TypedGraph
from graphdask.graph.typed_tables import given_tables, joined_columns, joined_weights, vertices_of
from graphdask.partition.given import given_sequence
from graphdask.partition.ids import VertexIds
from graphdask.partition.sources import ArraySource


def from_frames(
    edges: Mapping[EdgeType, Any],
    src: str = "src",
    dst: str = "dst",
    weight: str | None = None,
    *,
    vertices: Mapping[str, Any] | None = None,
    reverse: Any = False,
    edge_columns: Any = None,
    vertex_id: str = "id",
) -> TypedGraph:
    """Make one graph of several tables of edges, each of a type of its own.

    Parameters
    ----------
    edges : mapping of (str, str, str) to table
        By type: the type of the vertices that edges leave, a name, the type of those that they lead to. A table is a
        data frame or whatever has an Arrow stream, a mapping of names to columns, a pair of arrays, or an array of
        shape (2, m), sources first.
    src, dst : str
        Columns of the edges' ends: whole numbers or strings, of one kind for each type of vertices.
    weight : str, optional
        Column of the weights, which all tables have. Default: edges have no weights. `edge_columns` keeps numbers that
        edges of some types have.
    vertices : mapping of str to int, array or table, optional
        By type: the number of vertices, which are 0 to that - 1; or all ids, isolated vertices included; or a table
        with a row for each vertex, whose ids are the column `vertex_id` and whose other columns are kept with the
        vertices. Default: those that edges name.
    reverse : bool or list of types of edges
        Add the reversed edges of types (a, name, b), with their weights and columns, as types (b, "rev_" + name, a).
        True: of all types whose a and b differ, because messages reach one of them only. Tables of one type of vertices
        often have both directions already, so these are added where they are named: `reverse=["rates", "cites"]`.
    edge_columns : list of str, mapping of types of edges to such, or bool, optional
        More columns to keep with the edges. Of a list, those that the table of each type has; True: all others of each
        table, but those with names of graphdask's own. Default: none. A column
        of one name has one type in all tables that have it.
    vertex_id : str
        The column of the ids in tables of `vertices`.

    Returns
    -------
    TypedGraph
        With `vertex_column`, `edge_column`, `to_frame` and `to_arrow`. The row of an edge is its row in the table of
        its type.

    Raises
    ------
    InputError
        For a key that is not three names, a column that is not there, weights that some types lack, weights of whole
        numbers that no float is where other types have floats, ids of different kinds in one type of vertices, a type
        of vertices that no edges have, or a vertex that has two rows.
    VertexNotFound
        For an edge to a vertex that `vertices` leaves out.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_frames({
    ...     ("user", "rates", "item"): (["ann", "bob"], [7, 9]), ("user", "knows", "user"): (["ann"], ["bob"]),
    ... })
    >>> G
    <TypedGraph: vertices 2 user, 2 item; edges 2 user rates item, 1 user knows user>
    >>> G.number("item", [9])
    array([3])
    >>> gd.bfs(G, G.number("user", "ann")).depth.tolist()
    [0, 1, 1, 2]

    With columns of edges and of vertices:

    >>> users = {"id": ["ann", "bob"], "age": [28, 31]}
    >>> rates = {"src": ["ann", "bob"], "dst": [7, 9], "stars": [5, 3]}
    >>> G = gd.from_frames({("user", "rates", "item"): rates}, vertices={"user": users}, edge_columns=["stars"])
    >>> G.vertex_column("user", "age").tolist(), G.edge_column("rates", "stars").tolist()
    ([28, 31], [5, 3])
    """
    if not isinstance(edges, Mapping) or not edges:
        raise InputError(f"edges={shown(edges)} is not a mapping of types of edges to tables, one at least")
    tables = given_tables(edges, (src, dst, weight), edge_columns)
    turning = _turning(tuple(tables), reverse)
    named, columns = vertices_of(tables, vertices, vertex_id)
    firsts = dict(zip(named, np.cumsum([0, *(ids.count for ids in named.values())]).tolist(), strict=False))
    made: dict[EdgeType, tuple[np.ndarray, np.ndarray]] = {}
    beside = dict(tables)
    for (a, name, b), table in tables.items():
        made[a, name, b] = _numbers(named[a], a, table.src) + firsts[a], _numbers(named[b], b, table.dst) + firsts[b]
        if (a, name, b) in turning:
            turned = b, REVERSE + name, a
            if turned in tables:
                raise InputError(
                    f"reverse={shown(reverse)} makes the type {turned}, which edges has too; leave one of them out"
                )
            made[turned], beside[turned] = made[a, name, b][::-1], table
    bounds = np.cumsum([0, *(len(ends[0]) for ends in made.values())]).tolist()
    total = sum(ids.count for ids in named.values())
    one, other = (np.concatenate([ends[end] for ends in made.values()]) for end in (0, 1))
    weights = None if weight is None else joined_weights(weight, {kind: beside[kind].weights for kind in made})
    report = {"edges_read": len(one), "vertices": total, "self_loops": int(np.count_nonzero(one == other))}
    ids = VertexNumbers(total, types=tuple(named))
    of_edges = joined_columns("edge_columns", {kind: (len(made[kind][0]), beside[kind].columns) for kind in made})
    of_vertices = joined_columns("vertices", {name: (ids.count, columns.get(name)) for name, ids in named.items()})
    return TypedGraph(
        ArraySource(total, one, other, weights), ids, True, report, vertex_ids_by_type=named, edge_types=tuple(made),
        edge_bounds=tuple(bounds),
        edge_attributes=None if of_edges is None else Attributes(of_edges),
        vertex_attributes=None if of_vertices is None else Attributes(of_vertices, ids),
        columns_of_edges=_names({kind: beside[kind].columns for kind in made}), columns_of_vertices=_names(columns),
    )  # fmt: skip


def _turning(kinds: tuple[EdgeType, ...], reverse: Any) -> set[EdgeType]:
    """The types whose reversed edges are added."""
    if isinstance(reverse, bool | np.bool_):
        return {kind for kind in kinds if reverse and kind[0] != kind[2]}
    wanted = given_sequence("reverse", reverse, "neither True nor False, nor a list of types of edges")
    return {found_type(kinds, name, "reverse: ") for name in wanted}


def _numbers(ids: VertexIds, name: str, given: np.ndarray) -> np.ndarray:
    return ids.to_internal(given, f"vertex of type {name!r}") if len(given) else np.zeros(0, np.int64)


def _names(tables: Mapping[Any, Any]) -> dict[Any, tuple[str, ...]]:
    return {kind: tuple(table.column_names) for kind, table in tables.items() if table is not None}
