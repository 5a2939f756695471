"""TypedColumns: what a graph with types gives of its edges, vertices and columns, by type and in the caller's ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.graph.columns import KINDS
from graphdask.graph.exported import first_edges, to_networkx
from graphdask.graph.type_names import EdgeType, checked_vertex_type, found_type
from graphdask.interface.kinds import whole
from graphdask.interface.suggest import public
from graphdask.partition.given import given_array
from graphdask.partition.ids import VertexIds


@public
class TypedColumns:
    """What a graph with types gives of its columns, and in the caller's ids."""

    vertex_ids_by_type: Mapping[str, VertexIds]
    edge_types: tuple[EdgeType, ...]
    edge_bounds: tuple[int, ...]
    columns_of_edges: Mapping[EdgeType, tuple[str, ...]]
    columns_of_vertices: Mapping[str, tuple[str, ...]]

    def edge_column(self: Any, edge_type: Any, name: str, rows: Any = None) -> np.ndarray:
        """Return values of a column of the edges of a type, by rows such as `s.edge[type]` and `e_id[type]`.

        Parameters
        ----------
        edge_type : str or (str, str, str)
            The name of a type if no other has it, or its three parts.
        name : str
            A column that edges of the type have. `edge_columns` has those of all types.
        rows : array-like of int, optional
            Rows of edges in the table of the type. Default: all of them, in order.

        Returns
        -------
        numpy.ndarray, shape (len(rows),)
            As `Graph.edge_column` returns.

        Raises
        ------
        InputError
            For a type or a column that is not there, or rows that are not whole numbers.
        """
        found: np.ndarray = self.of_type(edge_type).edge_column(name, rows)
        return found

    def vertex_column(self: Any, vertex_type: str, name: str, vertices: Any = None) -> np.ndarray:
        """Return values of a column of the vertices of a type.

        Parameters
        ----------
        vertex_type : str
            One of `vertex_types`.
        name : str
            A column that vertices of the type have. `vertex_columns` has those of all types.
        vertices : array of the caller's ids, optional
            Default: all of the type, in the order of `ids_of(vertex_type)`.

        Returns
        -------
        numpy.ndarray, shape (len(vertices),)
            As `Graph.vertex_column` returns.

        Raises
        ------
        InputError
            For a type or a column that is not there.
        VertexNotFound
            For an id that no vertex of the type has.

        Examples
        --------
        >>> import graphdask as gd
        >>> users = {"id": ["bob", "ann"], "age": [31, 28]}
        >>> G = gd.from_frames({("user", "rates", "item"): (["ann"], [7])}, vertices={"user": users})
        >>> G.vertex_column("user", "age").tolist(), G.vertex_column("user", "age", ["bob"]).tolist()
        ([28, 31], [31])
        """
        from graphdask.graph.attributes import numpy_values

        there = self.columns_of_vertices.get(checked_vertex_type(self, vertex_type), ())
        if name not in there:
            raise InputError(
                f"name: vertices of type {vertex_type!r} have no column {shown(name)}; they have "
                f"{', '.join(there) or 'none'}"
            )
        ids = self.ids_of(vertex_type) if vertices is None else given_array("vertices", vertices).reshape(-1)
        numbers = self.number(vertex_type, ids)
        return numpy_values(self.vertex_attributes.take(numbers, [name])[name])

    def to_arrow(self, kind: str = "edges", columns: Any = None, *, of_type: Any = None) -> Any:
        """Return the edges or the vertices, with their types, the caller's ids and columns, as an Arrow table.

        Parameters
        ----------
        kind : {"edges", "vertices"}
            "edges": `src_type`, `src`, `edge_type`, `dst_type`, `dst`, with weights `weight`, and columns of edges.
            "vertices": `vertex_type`, `vertex`, and columns of vertices.
        columns : list of str, optional
            Columns besides these. Default: all of them.
        of_type : str or (str, str, str), optional
            One type of edges, or of vertices. The table has no types then, and the columns that the type has. Default:
            all types.

        Returns
        -------
        pyarrow.Table
            Edges in the order of `edges`, vertices in that of their numbers. Other types have nulls in a column.

        Raises
        ------
        InputError
            For another kind, or a type or column that is not there; without `of_type`, if ids of some types are whole
            numbers and those of others strings, because a column of Arrow holds one of both.
        """
        table, objects = _table(self, kind, columns, of_type)
        if objects:
            raise InputError(
                "ids of some types are whole numbers and those of others strings, and a column of Arrow holds one of "
                "both; name one type with of_type=, or take to_frame()"
            )
        return table

    def to_frame(self, kind: str = "edges", columns: Any = None, *, of_type: Any = None) -> Any:
        """Return the edges or the vertices, with their types, the caller's ids and columns, as a pandas DataFrame.

        Parameters
        ----------
        kind, columns, of_type
            As in `to_arrow`.

        Returns
        -------
        pandas.DataFrame
            Ids are objects if those of some types are whole numbers and those of others strings.

        Raises
        ------
        MissingDependency
            Without pandas.
        InputError
            For another kind, or a type or column that is not there.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_frames({("user", "rates", "item"): (["ann", "bob"], [7, 9])})
        >>> G.to_frame()
          src_type  src edge_type dst_type dst
        0     user  ann     rates     item   7
        1     user  bob     rates     item   9
        >>> G.to_frame("vertices", of_type="item").vertex.tolist()
        [7, 9]
        """
        return self._frame(kind, columns, of_type)

    def _frame(self, kind: Any, columns: Any, of_type: Any, first: int | None = None) -> Any:
        from graphdask.graph.attributes import pandas_frame

        table, objects = _table(self, kind, columns, of_type, first)
        frame = pandas_frame(table)
        for name, ids in objects.items():
            frame[name] = ids
        return frame

    def head(self, n: int = 5, *, client: Any = None, progress: bool | None = None) -> Any:
        """Return the first edges as a pandas DataFrame, as `to_frame` without the columns of edges.

        Parameters
        ----------
        n : int
            How many, 0 or more.
        client, progress
            No partitions are built, so a client is refused, as by `edges`.
        """
        count = len(first_edges(self, whole("n", n, 0), client, progress))
        return self._frame("edges", [], None, count)

    def to_networkx(
        self, weight: str = "weight", *, edge_columns: Any = True, vertex_columns: Any = True,
        multigraph: bool | None = None, client: Any = None, progress: bool | None = None,
    ) -> Any:  # fmt: skip
        """Return the graph as one of NetworkX, with types as attributes.

        Parameters
        ----------
        weight, edge_columns, vertex_columns, multigraph, client, progress
            As for a Graph. By default columns called `type` or, of vertices, `id` are left out.

        Returns
        -------
        networkx.DiGraph or MultiDiGraph
            A node is a pair (type, id), so that a user 7 is not the item 7, and has the attributes `type` and `id`. An
            edge has the attribute `type`, which are its three parts.

        Raises
        ------
        InputError
            With multigraph=False, if there are parallel edges, of one type or of several; for weight="type".

        Examples
        --------
        >>> import graphdask as gd
        >>> g = gd.from_frames({("user", "rates", "item"): (["ann"], [7])}).to_networkx()
        >>> list(g.edges(data=True))
        [(('user', 'ann'), ('item', 7), {'type': ('user', 'rates', 'item')})]
        """
        if weight == "type":
            raise InputError("weight='type' is the attribute that types of edges have; name another")
        types = [{"type": kind} for kind, size in zip(self.edge_types, np.diff(self.edge_bounds).tolist(), strict=True)
                 for _ in range(size)]  # fmt: skip
        nodes = _nodes(self)
        g = to_networkx(self, weight, multigraph, client, progress, nodes, types, (edge_columns, vertex_columns))
        for node in nodes:
            g.nodes[node].update(type=node[0], id=node[1])
        return g


def _ids_by_number(G: Any) -> tuple[np.ndarray, bool]:
    """The caller's ids of all vertices, in the order of their numbers, and whether they are of one kind."""
    ids = [each.values for each in G.vertex_ids_by_type.values() if each.count]
    one_kind = len({each.dtype.kind == "O" for each in ids}) < 2
    if not ids:
        return np.zeros(0, np.int64), True
    return np.concatenate(ids if one_kind else [each.astype(object) for each in ids]), one_kind


def _types_of(names: Any, counts: np.ndarray) -> Any:
    """A column of Arrow with so many of each name."""
    import pyarrow

    codes = pyarrow.array(np.repeat(np.arange(len(counts), dtype=np.int32), counts))
    return pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(list(names), pyarrow.string())).cast(
        pyarrow.string()
    )


def _facts(G: Any, kind: Any, of_type: Any, first: int | None) -> tuple[dict[str, Any], slice, tuple[str, ...] | None]:
    """Types and numbers of vertices by column, the rows that are asked for, and the columns that their type has."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"kind={shown(kind)} is not one of {', '.join(KINDS)}")
    if kind == "vertices":
        bounds, one = G.vertex_bounds, None if of_type is None else checked_vertex_type(G, of_type, "of_type: ")
        if one is None:
            rows = slice(0, G.num_vertices)
            return {"vertex_type": _types_of(G.vertex_types, np.diff(bounds)), "vertex": np.arange(len(G))}, rows, None
        place = G.vertex_types.index(one)
        rows = slice(int(bounds[place]), int(bounds[place + 1]))
        return {"vertex": np.arange(rows.start, rows.stop)}, rows, G.columns_of_vertices.get(one, ())
    if of_type is None:
        last = G.num_edges if first is None else min(first, G.num_edges)
        rows, sizes = slice(0, last), np.diff(np.minimum(G.edge_bounds, last))
        sources, names, ends = zip(*G.edge_types, strict=True)
        made = {
            "src_type": _types_of(sources, sizes), "src": G.source.src[rows], "edge_type": _types_of(names, sizes),
            "dst_type": _types_of(ends, sizes), "dst": G.source.dst[rows],
        }  # fmt: skip
        return made, rows, None
    edge_type = found_type(G.edge_types, of_type, "of_type: ")
    rows, own = G.rows_of(edge_type), G.columns_of_edges.get(edge_type, ())
    return {"src": G.source.src[rows], "dst": G.source.dst[rows]}, rows, own


def _table(
    G: Any, kind: Any, columns: Any, of_type: Any, first: int | None = None
) -> tuple[Any, dict[str, np.ndarray]]:
    """A table, and by name the columns of ids that Arrow cannot hold, which are numbers there."""
    import pyarrow

    from graphdask.graph.attributes import beside, checked_names, chosen

    made, rows, own = _facts(G, kind, of_type, first)
    attributes = G.edge_attributes if kind == "edges" else G.vertex_attributes
    names = chosen("columns", columns, attributes)
    if own is not None:
        if columns is not None and (absent := [name for name in checked_names("columns", columns) if name not in own]):
            raise InputError(
                f"columns: {shown(of_type)} has no column {shown(absent[0])}; it has {', '.join(own) or 'none'}"
            )
        names = [name for name in names if name in own]
    ids, one_kind = _ids_by_number(G)
    objects: dict[str, np.ndarray] = {}
    for name in ("src", "dst", "vertex"):
        if name in made:
            values = ids[made[name]]
            if of_type is not None and len(values) and not one_kind:  # those of one type are of one kind
                values = values if isinstance(values[0], str) else values.astype(np.int64)
            elif not one_kind:
                objects[name], values = values, made[name]
            made[name] = pyarrow.array(values)
    if kind == "edges" and G.source.weights is not None:
        made["weight"] = pyarrow.array(G.source.weights[rows])
    table = pyarrow.table(made)
    if names:
        table = beside(table, attributes.take(np.arange(rows.start, rows.stop), names))
    return table, objects


def _nodes(G: Any) -> list[tuple[str, Any]]:
    return [(name, id) for name, ids in G.vertex_ids_by_type.items() for id in ids.values.tolist()]
