"""Columns of a graph that changes: those of its base, and those of the edges that batches insert, in the same types."""

from __future__ import annotations

from typing import Any

from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph
from graphdask.partition.edge_rows import rows_given


class ColumnsOfBatches:
    """What a DynamicGraph has of columns."""

    base: Graph
    _values: tuple[tuple[int, Any], ...]
    """Of each batch the number of entries that it inserted, and their columns or None."""

    @property
    def present(self) -> Graph:
        """The present version."""
        raise NotImplementedError

    @property
    def edge_attributes(self) -> Any:
        """Columns of the edges: those of the base, and then those of each entry that was inserted."""
        return self.present.edge_attributes

    @property
    def vertex_attributes(self) -> Any:
        """Columns of the vertices; null for those that have appeared."""
        return self.base.vertex_attributes

    def with_columns(self, graph: Graph) -> Graph:
        """Give a graph of the present version its columns, and return it."""
        graph.edge_attributes, graph.vertex_attributes = self.base.edge_attributes, self.vertex_attributes
        if graph.edge_attributes is not None and self._values:
            graph.edge_attributes = graph.edge_attributes.after(rows_given(self.base.source), self._values)
        return graph


def inserted_columns(attributes: Any, given: Any, count: int) -> tuple[int, Any]:
    """Return the number of rows of a batch, and their table in the types of the graph's columns; None for nulls.

    Raises
    ------
    InputError
        For a column that the graph does not have, another number of rows, and values that its type cannot hold.
    """
    if given is None:
        return count, None
    import pyarrow

    from graphdask.graph.arrow_tables import arrow_table

    table = arrow_table("columns", given)
    there = [] if attributes is None else list(attributes.types)
    for name in table.column_names:
        if name not in there:
            raise InputError(
                f"columns: the graph has no edge column {shown(name)}; it has {', '.join(there) or 'none'}"
            )
    if not table.num_columns:
        return count, None
    if table.num_rows != count:
        raise InputError(
            f"columns has {table.num_rows:,} rows; one for each of the {count:,} entries of insert is needed"
        )
    made = []
    for entry in attributes.table.schema:
        if entry.name not in table.column_names:
            made.append(pyarrow.chunked_array([pyarrow.nulls(count, entry.type)]))
            continue
        column = table[entry.name]
        try:
            made.append(_as(column, entry.type))
        except pyarrow.ArrowException as error:
            raise InputError(
                f"columns[{entry.name!r}] is of the type {column.type}, and the graph has {entry.type}: {error}"
            ) from error
    return count, pyarrow.table(made, schema=attributes.table.schema)


def _as(column: Any, kind: Any) -> Any:
    import pyarrow

    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not pyarrow.types.is_dictionary(kind):
        return column.cast(kind)
    encoded = column.cast(kind.value_type).combine_chunks().dictionary_encode()
    return pyarrow.chunked_array([encoded.cast(kind)])
