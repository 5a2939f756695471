"""Arrow tables of results, which data frames of any library are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from graphdask.errors import InputError, shown

if TYPE_CHECKING:  # pyarrow takes long to import
    import pyarrow


class HasTable:
    """What is a table to libraries that take `__arrow_c_stream__`."""

    graph: Any
    columns: tuple[str, ...]

    to_arrow: Any

    def _column(self, name: str) -> np.ndarray:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table that `to_arrow` gives, by Arrow's C interface."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


class VertexTable(HasTable):
    """What a result with values of vertices gives as a table."""

    def to_arrow(self, columns: Any = ()) -> pyarrow.Table:
        """Return an Arrow table with the columns `vertex` and the result's own, a row for each vertex.

        Parameters
        ----------
        columns : list of str
            More columns: those of the graph's `vertex_columns`, all of them for None. Default: none.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        InputError
            For a column that the graph's vertices do not have, or whose name is one of the result's own columns.

        Examples
        --------
        >>> import graphdask as gd
        >>> r = gd.bfs(gd.from_edges([0, 1], [1, 2]), 0)
        >>> r.to_arrow().column_names
        ['vertex', 'depth', 'parent']

        The result itself is a table to libraries that take `__arrow_c_stream__`, as polars and DuckDB do:

        >>> import pyarrow
        >>> pyarrow.table(r)["depth"].to_pylist()
        [0, 1, 2]
        """
        import pyarrow

        values = {"vertex": self.graph.vertex_ids} | {name: self._column(name) for name in self.columns}
        table = pyarrow.table({name: arrow_column(each) for name, each in values.items()})
        attributes = self.graph.vertex_attributes
        return _with_columns(table, columns, attributes, lambda names: attributes.of_vertices(self.graph.ids, names))


class EdgeTable(HasTable):
    """What samples give as a table."""

    @property
    def edge(self) -> np.ndarray:
        """int64: the row of each edge; -1 for none."""
        raise NotImplementedError

    def to_arrow(self, columns: Any = ()) -> pyarrow.Table:
        """Return an Arrow table with the columns; a 2-D array becomes a column of lists.

        Parameters
        ----------
        columns : list of str
            More columns: those of the graph's `edge_columns`, whose values are taken by `edge`; None for all of them.
            Default: none.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        InputError
            For a column that the graph's edges do not have, or whose name is one of the samples' own columns.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([0, 0, 1], [2, 1, 2], edge_columns={"time": [7, 8, 9]})
        >>> gd.sample.snowball(G, [0], depth=2).to_arrow(["time"]).to_pydict()["time"]
        [8, 7, 9]
        """
        import pyarrow

        table = pyarrow.table({name: arrow_column(self._column(name)) for name in self.columns})
        return _with_columns(table, columns, self.graph.edge_attributes, self._of_each_edge)

    def _of_each_edge(self, names: list[str]) -> pyarrow.Table:
        import pyarrow

        edge = self.edge
        taken = self.graph.edge_attributes.take(edge.reshape(-1), names)
        if edge.ndim == 1:
            return taken
        ends = np.arange(len(edge) + 1, dtype=np.int64) * edge.shape[1]
        lists = [pyarrow.LargeListArray.from_arrays(ends, one.combine_chunks()) for one in taken.columns]
        return pyarrow.table(dict(zip(names, lists, strict=True)))


def _with_columns(table: pyarrow.Table, names: Any, attributes: Any, taken: Callable[[list[str]], Any]) -> Any:
    """A table with columns of the graph beside its own."""
    if isinstance(names, list | tuple) and not names:
        return table
    from graphdask.graph.attributes import beside, chosen

    wanted = chosen("columns", names, attributes)
    for name in wanted:
        if name in table.column_names:
            raise InputError(f"columns: the table has a column {shown(name)} of its own; rename that of the graph")
    return beside(table, taken(wanted)) if wanted else table


def arrow_column(values: np.ndarray) -> Any:
    """A column for Arrow, of the same type where there are no rows."""
    import pyarrow

    kind = pyarrow.string() if values.dtype.kind in "OT" else pyarrow.from_numpy_dtype(values.dtype)
    return pyarrow.array(listed(values), pyarrow.list_(kind) if values.ndim > 1 else kind)


def listed(values: np.ndarray) -> Any:
    """What pandas and Arrow take as a column: rows of a 2-D array as they are, strings as a list."""
    return list(values) if values.ndim > 1 else arrow_ready(values)


def arrow_ready(values: np.ndarray) -> Any:
    """What Arrow takes as a column: strings as a list."""
    return values.tolist() if values.dtype.kind in "OT" else values
