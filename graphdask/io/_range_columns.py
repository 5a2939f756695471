"""Columns of files whose edges are read range by range: of Parquet the columns alone, of native files their bytes.

They stay in the memory of the process that reads them, held to what may be used before a byte of them is fetched.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from graphdask.errors import FormatError, OverBudget

from ._column_estimate import bytes_in
from ._ipc import of_bytes
from .asked import VERTEX, Asked, picked
from .estimates import usable_memory


def parquet_columns(place: Any, what: str, asked: Asked, taken: Collection[str] = ()) -> Any:
    """Return the columns of a Parquet file that are asked for, as they were written; None without any.

    Parameters
    ----------
    place : graphdask.io.ranges.Place
    what : {"edge_columns", "vertex_columns"}
    taken : collection of str
        Names of ends and weights.
    """
    if not asked:
        return None
    from pyarrow import parquet

    from .parquet import restored_columns

    with place.readable(), place.filesystem.open(place.path, "rb") as stream:
        footer = parquet.read_metadata(stream)
        schema = footer.schema.to_arrow_schema()
        names = picked(what, asked, schema.names, taken, place.label)
        if not names:
            return None
        refuse_large(place, what, bytes_in(footer, tuple(names), ()))
        with parquet.ParquetFile(stream, pre_buffer=True, page_checksum_verification=True) as file:
            table = file.read(columns=names)
    return restored_columns(table, schema, place.label)


def native_columns(place: Any, what: str, asked: Asked, data: Any, nbytes: int) -> Any:
    """Return the columns of a native file that are asked for; None without any.

    Parameters
    ----------
    data : callable or None
        Returns their `nbytes` bytes, checked; None where the file has no columns.
    """
    if not asked:
        return None
    if data is None:
        picked(what, asked, (), (), place.label)
        return None
    refuse_large(place, what, nbytes)
    table = of_bytes(data(), f"the {what.replace('_', ' ')}", place.label)
    names = picked(what, asked, table.column_names, (), place.label)
    return table.select([VERTEX, *names] if VERTEX in table.column_names and what == "vertex_columns" else names)


def check_rows(place: Any, what: str, table: Any, rows: int) -> None:
    """Raise FormatError where columns have another number of rows."""
    if table is not None and table.num_columns and table.num_rows != rows:
        of = "edges" if what == "edge_columns" else "vertices"
        raise FormatError(f"{what} has {table.num_rows:,} rows, and there are {rows:,} {of}", place.label)


def refuse_large(place: Any, what: str, nbytes: int) -> None:
    """Raise OverBudget for columns that this process cannot hold."""
    usable = usable_memory()
    if nbytes > usable:
        raise OverBudget(
            f"{place.label}: {what}= needs {nbytes / 2**30:,.3g} GiB in this process, which keeps columns, and "
            f"{usable / 2**30:,.3g} GiB may be used; name fewer columns"
        )
