"""What a graph gives of the columns of its edges and of its vertices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphdask.comm.single import SingleCommunicator
from graphdask.device.backend import get_backend
from graphdask.device.limits import refuse_beyond_memory
from graphdask.errors import InputError, shown
from graphdask.partition.edge_rows import LEAVE_COLUMNS, numbered_edges, numbered_pieces
from graphdask.partition.given import given_array
from graphdask.partition.ids import VertexIds
from graphdask.partition.parallel_edges import group_parallel

if TYPE_CHECKING:  # pyarrow takes long to import
    import pyarrow

    from graphdask.graph.attributes import Attributes

KINDS = ("edges", "vertices")
BYTES_PER_EDGE = 64
"""About what finding the row of an edge takes."""


class GraphColumns:
    """What a graph gives of its columns."""

    source: Any
    ids: VertexIds
    directed: bool
    merge: bool
    edge_attributes: Attributes | None
    vertex_attributes: Attributes | None

    @property
    def edge_columns(self) -> dict[str, pyarrow.DataType]:
        """Names and Arrow types of the columns of the edges, without their ends and their weight."""
        return {} if self.edge_attributes is None else self.edge_attributes.types

    @property
    def vertex_columns(self) -> dict[str, pyarrow.DataType]:
        """Names and Arrow types of the columns of the vertices."""
        return {} if self.vertex_attributes is None else self.vertex_attributes.types

    def edge_column(self, name: str, rows: Any = None) -> np.ndarray:
        """Return values of a column of the edges, by rows such as `s.edge` of samples or `e_id` of minibatches.

        Parameters
        ----------
        name : str
            One of `edge_columns`.
        rows : array-like of int, optional
            Rows of edges in what the graph was made of. Default: all of them, in order.

        Returns
        -------
        numpy.ndarray, shape (len(rows),)
            Numbers, truth values, dates and durations in NumPy's types, others as objects. A row below 0 or beyond the
            columns has no value. Floats have NaN in place of what is missing, dates and durations NaT; columns of
            whole numbers or truth values are objects then, with None.

        Raises
        ------
        InputError
            For a column that is not there, or rows that are not whole numbers.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([0, 0, 1], [2, 1, 2], edge_columns={"time": [7, 8, 9]})
        >>> s = gd.sample.snowball(G, [0], depth=2)
        >>> G.edge_column("time", s.edge).tolist()
        [8, 7, 9]
        """
        from graphdask.graph.attributes import chosen, numpy_values

        chosen("name", [name], self.edge_attributes)
        assert self.edge_attributes is not None
        if rows is None:
            rows = np.arange(self.edge_attributes.table.num_rows)
        given = given_array("rows", rows)
        if (given.size and given.dtype.kind not in "iu") or given.ndim != 1:
            raise InputError(f"rows has the dtype {given.dtype} and {given.ndim} dimensions; give whole numbers in one")
        return numpy_values(self.edge_attributes.take(given.astype(np.int64), [name])[name])

    def vertex_column(self, name: str, vertices: Any = None) -> np.ndarray:
        """Return values of a column of the vertices.

        Parameters
        ----------
        name : str
            One of `vertex_columns`.
        vertices : array of vertex ids, optional
            Default: all, in the order of `vertex_ids`.

        Returns
        -------
        numpy.ndarray, shape (len(vertices),)
            As `edge_column` returns.

        Raises
        ------
        InputError
            For a column that is not there.
        VertexNotFound
            For an id that is no vertex.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([0, 1], [1, 2], vertex_columns={"name": ["a", "b", "c"]})
        >>> G.vertex_column("name", [2, 0]).tolist()
        ['c', 'a']
        """
        from graphdask.graph.attributes import chosen, numpy_values

        chosen("name", [name], self.vertex_attributes)
        assert self.vertex_attributes is not None
        numbers = None
        if vertices is not None:
            given = given_array("vertices", vertices).reshape(-1)
            numbers = self.ids.to_internal(given) if given.size else np.zeros(0, np.int64)
        return numpy_values(self.vertex_attributes.of_vertices(self.ids, [name], numbers)[name])

    def with_weights(self: Any, column: str) -> Any:
        """Return the same graph with a column of the edges as their weights.

        So algorithms and biases read the column. Functions of programs and samplers read columns by name.

        Parameters
        ----------
        column : str
            One of `edge_columns`, of numbers, truth values, dates or durations. Dates and durations become whole
            numbers in the unit of their type.

        Returns
        -------
        Graph
            With the same edges, columns and rows; of a `DynamicGraph`, those of its present version. Its partitions
            are its own.

        Raises
        ------
        InputError
            For a column that is not there, holds no numbers or has missing values.
        OverBudget
            If edges that are made on the workers are more than the memory of this process holds.

        Notes
        -----
        The edges of a graph that is made on the workers, merged there, or changed by batches are brought to this
        process. Edges that `from_edges` or `from_frame` merged were chosen by the weights that were given there.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([0, 0, 1], [2, 1, 2], edge_columns={"km": [9.0, 2.0, 3.0]})
        >>> gd.sssp(G.with_weights("km"), 0).distance.tolist()
        [0.0, 2.0, 5.0]
        """
        from graphdask.graph.edge_values import with_edge_values

        if not isinstance(column, str):
            raise InputError(f"column={shown(column)} is no name of a column")
        return with_edge_values(self, "column", column)

    def to_arrow(self, kind: str = "edges", columns: Any = None) -> pyarrow.Table:
        """Return the edges or the vertices, with their columns, as an Arrow table.

        Parameters
        ----------
        kind : {"edges", "vertices"}
            "edges": `src`, `dst`, with weights `weight`, and columns of edges. An undirected edge stands once.
            "vertices": `vertex`, in the order of `vertex_ids`, and columns of vertices.
        columns : list of str, optional
            Columns besides the ends, weights or vertices. Default: all of them.

        Returns
        -------
        pyarrow.Table
            A graph with columns of edges gives its edges in the order of what it was made of. A value that no edge or
            vertex was given, as after an insertion without it, is null.

        Raises
        ------
        InputError
            For another kind, or a column that is not there.
        OverBudget
            If memory cannot hold the edges.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([0, 1], [1, 2], edge_columns={"time": [7, 9]})
        >>> G.to_arrow().to_pydict()
        {'src': [0, 1], 'dst': [1, 2], 'time': [7, 9]}
        """
        if not isinstance(kind, str) or kind not in KINDS:
            raise InputError(f"kind={shown(kind)} is not one of {', '.join(KINDS)}")
        import pyarrow

        from graphdask.graph.attributes import beside, chosen, edges_table

        if kind == "vertices":
            names = chosen("columns", columns, self.vertex_attributes)
            table = pyarrow.table({"vertex": pyarrow.array(self.ids.values)})
            if names:
                assert self.vertex_attributes is not None
                table = beside(table, self.vertex_attributes.of_vertices(self.ids, names))
            return table
        names = chosen("columns", columns, self.edge_attributes)
        if self.edge_attributes is None:
            return edges_table(*self.edges("cpu"))  # type: ignore[attr-defined]
        src, dst, weights, rows = self._edges_and_rows()
        table = edges_table(self.ids.to_caller(src), self.ids.to_caller(dst), weights)
        return beside(table, self.edge_attributes.take(rows, names)) if names else table

    def to_frame(self, kind: str = "edges", columns: Any = None) -> Any:
        """Return the edges or the vertices, with their columns, as a pandas DataFrame.

        Parameters
        ----------
        kind, columns
            As in `to_arrow`.

        Returns
        -------
        pandas.DataFrame
            Columns that came from pandas have the types that they had there, but that whole numbers and truth values
            become nullable if some are missing.

        Raises
        ------
        MissingDependency
            Without pandas.
        InputError
            For another kind, or a column that is not there.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([0, 1], [1, 2], vertex_columns={"name": ["a", "b", "c"]})
        >>> G.to_frame("vertices").name.tolist()
        ['a', 'b', 'c']
        """
        from graphdask.graph.attributes import pandas_frame

        return pandas_frame(self.to_arrow(kind, columns))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table of edges that `to_arrow` gives, by Arrow's C interface, so that other libraries take the graph."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _edges_and_rows(self) -> tuple[Any, Any, Any, np.ndarray]:
        """Vertex numbers and weights of all edges, in the order of their rows, and these rows."""
        source = self.source
        refuse_beyond_memory(
            f"the {source.num_edges:,} edges and their rows", BYTES_PER_EDGE * source.num_edges,
            "take those of a subgraph or of samples",
        )  # fmt: skip
        (piece,) = numbered_pieces(source, 1, LEAVE_COLUMNS)
        src, dst, weights, rows = numbered_edges(SingleCommunicator(), get_backend("cpu"), piece, np.dtype(np.int64))
        columns = [src, dst, rows, *([] if weights is None else [weights])]
        if len(rows) and (np.diff(rows) < 0).any():
            order = np.argsort(rows, kind="stable")
            columns = [column[order] for column in columns]
        if self.merge and len(rows):
            src, dst, rows, *rest = columns
            kept = group_parallel(src, dst, rest[0] if rest else None, self.ids.count, self.directed).kept
            columns = [column[kept] for column in columns]
        return columns[0], columns[1], columns[3] if len(columns) > 3 else None, columns[2]
