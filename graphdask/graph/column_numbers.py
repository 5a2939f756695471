"""Columns as numbers that functions of programs and samplers compute with.

Whole numbers and truth values are integers and bools, dates, times and durations whole numbers in the unit of their
type (nanoseconds for those of pandas), floats floats. Other types, and missing values, are refused with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.partition.edge_rows import rows_given
from graphdask.partition.sources import ArraySource


@dataclass(frozen=True)
class ColumnType:
    """What functions read a column as."""

    kind: str
    """`int`, `float` or `bool`."""
    refused: str = ""
    """Why they may not read it; empty where they may."""


def attributes_of(G: Any, of: str) -> Any:
    """Return the columns of the edges or of the vertices of a graph; None without any."""
    return G.edge_attributes if of == "edges" else G.vertex_attributes


def column_types(G: Any, of: str) -> Mapping[str, ColumnType]:
    """Return what functions read the columns of the edges or of the vertices as, by name."""
    attributes = attributes_of(G, of)
    return {} if attributes is None else {name: _type_of(kind) for name, kind in attributes.types.items()}


def _type_of(kind: Any) -> ColumnType:
    import pyarrow

    of = pyarrow.types
    plain = kind.value_type if of.is_dictionary(kind) else kind
    if of.is_boolean(plain):
        return ColumnType("bool")
    if of.is_floating(plain):
        return ColumnType("float")
    if of.is_integer(plain) or _counts(plain):
        return ColumnType("int")
    return ColumnType(
        "int", f"the column is of the type {kind}; functions read numbers, truth values, dates, times and durations"
    )


def _counts(kind: Any) -> bool:
    """Whether values are whole numbers of a unit of time."""
    import pyarrow

    of = pyarrow.types
    return bool(of.is_date(kind) or of.is_time(kind) or of.is_timestamp(kind) or of.is_duration(kind))


def why_not(G: Any, of: str, name: str) -> str:
    """Return why functions cannot read a column of numbers: a missing or too large value; empty where they can.

    What is found is kept beside the column.
    """
    attributes, made_of = attributes_of(G, of), G.source if of == "edges" else G.ids
    found = attributes.known.get((of, name))
    if found is None or found[0] is not made_of:
        found = attributes.known[of, name] = made_of, _why_not(G, of, name)
    return str(found[1])


def _why_not(G: Any, of: str, name: str) -> str:
    import pyarrow

    column = _column(G, of, name)
    if column.null_count:
        rows = np.flatnonzero(column.is_null().to_numpy())
        if of == "vertices":
            return f"vertex {G.ids.to_caller(rows[:1])[0]} has no value in the column; fill it in"
        rows = rows[_there(G.source, rows)]
        if len(rows):
            return f"row {rows[0]} of the column is missing; fill it in, or leave the edge out"
    if of == "edges" and rows_given(G.source) > len(column):
        return f"row {len(column)} of the column is missing"
    if pyarrow.types.is_uint64(column.type):
        greatest = column.drop_null().to_numpy().max(initial=0)
        if greatest > np.iinfo(np.int64).max:
            return f"the column has {greatest}, which does not fit an integer of 64 bits"
    return ""


def _there(source: Any, rows: np.ndarray) -> np.ndarray:
    """Which rows are edges of the graph, as far as that is known here."""
    if not isinstance(source, ArraySource) or source.rows is None:
        return np.ones(len(rows), bool)
    return np.isin(rows, source.rows)


def _column(G: Any, of: str, name: str) -> Any:
    """A column of edges by row, or of vertices in the order of their numbers."""
    attributes = attributes_of(G, of)
    return _plain(attributes.table[name] if of == "edges" else attributes.of_vertices(G.ids, [name])[name])


def _plain(column: Any) -> Any:
    """The same column without a dictionary."""
    import pyarrow

    return column.cast(column.type.value_type) if pyarrow.types.is_dictionary(column.type) else column


def numbers_of(G: Any, of: str, name: str) -> np.ndarray:
    """Return the values of a column of edges, by row, or of vertices, in the order of their numbers.

    Returns
    -------
    numpy.ndarray of int32, int64, float32, float64 or uint8 (truth values)
        0 in rows that belong to no edge and have no value.
    """
    return as_numbers(_column(G, of, name))


def as_numbers(column: Any) -> np.ndarray:
    """Return the values of an Arrow column, as `numbers_of` does."""
    import pyarrow

    column, of_type = _plain(column), pyarrow.types
    kind = column.type
    if column.null_count and not of_type.is_floating(kind) and not _counts(kind):
        column = column.fill_null(False if of_type.is_boolean(kind) else 0)
    if _counts(kind):
        column = column.cast(pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64())
        column = column.fill_null(0) if column.null_count else column
    values = column.to_numpy()
    if values.dtype.kind == "b":
        return values.astype(np.uint8)
    if values.dtype.kind == "f":
        return values.astype(np.float64 if values.dtype == np.float64 else np.float32)
    return values.astype(np.int64 if values.dtype.itemsize == 8 or values.dtype == np.uint32 else np.int32)
