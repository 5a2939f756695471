"""Arrow tables of what callers give: data frames of any library that has an Arrow stream, and mappings of arrays.

Only the columns that are named are read, so that others may hold whatever they hold. A column that Arrow cannot hold is
refused with its name, its type and its first bad row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute

from graphdask.errors import InputError, shown
from graphdask.partition.conversions import class_of
from graphdask.partition.given import given_array

TABLES = "a data frame of pandas, polars, cuDF or Dask, an Arrow table, or what else has __arrow_c_stream__"


def arrow_table(what: str, given: Any, names: Sequence[str] | None = None) -> pyarrow.Table:
    """Return the named columns of a table, in this order; all of them by default.

    Parameters
    ----------
    what : str
        What messages call the table.
    given : data frame, Arrow table or stream, or mapping of str to array
    names : sequence of str, optional

    Raises
    ------
    InputError
        For what is no table, a column that is not there or stands twice, and values that Arrow cannot hold.
    """
    if isinstance(given, Mapping):
        return _of_columns(what, dict(given), names)
    if isinstance(given, np.ndarray) and given.dtype.names is not None:
        return _of_columns(what, {name: given[name] for name in given.dtype.names}, names)
    if hasattr(type(given), "to_delayed") and hasattr(type(given), "columns"):  # of Dask
        wanted = _wanted(what, list(given.columns), names)
        given = given[wanted].compute()
    if hasattr(type(given), "iloc") and hasattr(type(given), "columns") and not hasattr(type(given), "to_arrow"):
        return _of_pandas(what, given, names)
    table = _stream(what, _selected(what, given, names))
    return _plain(table.select(_wanted(what, table.column_names, names)))


def names_of(what: str, given: Any) -> list[Any]:
    """Return the names of a table's columns."""
    if isinstance(given, Mapping):
        return list(given)
    if hasattr(type(given), "collect_schema"):
        return list(given.collect_schema().names())
    if isinstance(given, np.ndarray) and given.dtype.names is not None:
        return list(given.dtype.names)
    for attribute in ("column_names", "columns"):
        if hasattr(given, attribute) and not isinstance(given, pyarrow.RecordBatch):
            return list(getattr(given, attribute))
    return list(given.schema.names if hasattr(given, "schema") else _stream(what, given).column_names)


def all_others(what: str, given: Any, taken: Collection[str]) -> list[str]:
    """Return the names of a table's columns but those that are `taken`."""
    return checked_names(what, [name for name in names_of(what, given) if name not in taken])


def device_columns(what: str, frame: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the named columns of a frame that are arrays of numbers on a GPU without nulls, as cuDF has them."""
    if not hasattr(type(frame), "iloc") or not hasattr(type(frame), "to_arrow"):
        return {}
    columns = {name: frame[name] for name in _wanted(what, list(frame.columns), names)}
    described = {name: getattr(column, "__cuda_array_interface__", None) for name, column in columns.items()}
    return {
        name: column
        for name, column in columns.items()
        if (found := described[name]) and found.get("mask") is None and found["typestr"][1] in "iuf"
    }


def checked_names(what: str, names: Any) -> list[str]:
    """Return names of columns as a list, or raise InputError."""
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{what}={shown(names)} is not a list of names of columns")
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(f"{what} names the column {shown(twice)} twice")
    return list(names)


def _wanted(what: str, there: Sequence[Any], names: Sequence[str] | None) -> list[Any]:
    wanted = list(there) if names is None else list(names)
    for name in wanted:
        if name not in there:
            raise InputError(f"{what} has no column {shown(name)}; it has {', '.join(map(str, there)) or 'none'}")
        if list(there).count(name) > 1:
            raise InputError(f"{what} has more than one column {shown(name)}; rename the others")
    return wanted


def _selected(what: str, given: Any, names: Sequence[str] | None) -> Any:
    """The named columns of a frame of polars or cuDF, so that others are neither computed nor copied from a GPU."""
    if hasattr(type(given), "collect_schema"):
        schema = given.collect_schema()
        wanted = _wanted(what, list(schema.names()), names)
        for name in wanted if type(given).__module__.partition(".")[0] == "polars" else ():
            kind = str(schema[name])
            if kind in ("Object", "Int128", "UInt128"):  # of objects, Arrow would have the addresses
                raise InputError(f"{what}: column {name!r} is of the type {kind}, which Arrow has not; cast it")
        given = given.select(wanted)
        return given.collect() if hasattr(type(given), "collect") else given
    if hasattr(type(given), "iloc") and hasattr(type(given), "columns"):  # cuDF
        return given[_wanted(what, list(given.columns), names)]
    return given


def _of_pandas(what: str, frame: Any, names: Sequence[str] | None) -> pyarrow.Table:
    wanted = _wanted(what, list(frame.columns), names)
    for name in wanted:
        if not isinstance(name, str):
            raise InputError(f"{what} has a column named {shown(name)}, which is no string; rename it")
    frame = frame[wanted]
    sparse = [name for name in wanted if hasattr(frame[name].dtype, "fill_value")]
    if sparse:
        frame = frame.assign(**{name: frame[name].sparse.to_dense() for name in sparse})
    try:
        return _plain(pyarrow.Table.from_pandas(frame, preserve_index=False))
    except (pyarrow.ArrowException, TypeError, OverflowError, ValueError):
        for name in wanted:
            column_of(f"{what}: column {name!r}", frame[name])  # which names the bad row
        raise


def _stream(what: str, given: Any) -> pyarrow.Table:
    try:
        if hasattr(given, "__arrow_c_stream__"):
            return pyarrow.table(given)
        for method in ("to_arrow", "to_arrow_table", "arrow"):  # cuDF, DuckDB
            if hasattr(type(given), method):
                return pyarrow.table(getattr(given, method)())
    except Exception as error:  # of whatever a caller gives
        if "non-struct type" in str(error):
            raise InputError(f"{what} is a {class_of(given)}, one column; give {TABLES}") from error
        raise InputError(f"{what} gives no Arrow table: {str(error)[:300]}") from error
    raise InputError(f"{what} is a {class_of(given)}; it is {TABLES}")


def _of_columns(what: str, given: Mapping[Any, Any], names: Sequence[str] | None) -> pyarrow.Table:
    for name in given:
        if not isinstance(name, str):
            raise InputError(f"{what} has a column named {shown(name)}, which is no string; rename it")
    columns = {name: column_of(f"{what}[{name!r}]", given[name]) for name in _wanted(what, list(given), names)}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"{what} has columns of different lengths: {lengths}")
    return _plain(pyarrow.table(columns))


def column_of(what: str, values: Any) -> pyarrow.ChunkedArray:
    """Return one column of Arrow, of an array or a list.

    Raises
    ------
    InputError
        Naming the first row that Arrow cannot hold.
    """
    try:
        if hasattr(values, "__arrow_c_stream__"):
            return pyarrow.chunked_array(values)
        if hasattr(values, "__arrow_c_array__"):
            return pyarrow.chunked_array([pyarrow.array(values)])
    except pyarrow.ArrowException:  # pandas makes the stream of a column of objects as it is asked for
        pass
    if hasattr(getattr(values, "dtype", None), "fill_value"):  # sparse ones of pandas
        values = values.sparse.to_dense() if hasattr(type(values), "iloc") else np.asarray(values)
    if type(values).__module__.partition(".")[0] == "pandas" and not hasattr(type(values), "iloc"):
        import pandas

        values = pandas.Series(values)  # NumPy makes floats of whole numbers of which some are missing
    if not hasattr(type(values), "iloc"):
        values = list(values) if isinstance(values, list | tuple) else given_array(what, values)
        if isinstance(values, np.ndarray) and values.ndim != 1:
            raise InputError(f"{what} has the shape {values.shape}; a column has one dimension")
    try:
        made = _of_elements(values)
    except (pyarrow.ArrowException, TypeError, OverflowError, ValueError) as error:
        row = _first_bad(values)
        bad = values.iloc[row] if hasattr(values, "iloc") else values[row]
        why = "which does not go with the rows before it" if row else "which Arrow cannot hold"
        raise InputError(
            f"{what} of the type {getattr(values, 'dtype', 'object')}: row {row} holds {shown(bad)} "
            f"({class_of(bad)}), {why} ({str(error)[:200]}); convert the column"
        ) from error
    return made if isinstance(made, pyarrow.ChunkedArray) else pyarrow.chunked_array([made])


def _of_elements(values: Any) -> pyarrow.Array | pyarrow.ChunkedArray:
    """A column of Arrow of what has none of its interfaces; of a list, of a type that has each of its numbers and
    times, which Arrow would take to be int64 and of microseconds."""
    if not isinstance(values, list):
        return pyarrow.array(values, from_pandas=True)
    try:
        made = pyarrow.array(values, from_pandas=True)
    except OverflowError:
        return pyarrow.array(values, pyarrow.uint64(), from_pandas=True)
    kind = made.type
    if pyarrow.types.is_timestamp(kind) and any(getattr(value, "nanosecond", 0) for value in values):
        return pyarrow.array(values, pyarrow.timestamp("ns", kind.tz), from_pandas=True)
    if pyarrow.types.is_duration(kind) and any(getattr(value, "nanoseconds", 0) for value in values):
        return pyarrow.array(values, pyarrow.duration("ns"), from_pandas=True)
    return made


def _first_bad(values: Any) -> int:
    """The first row with which Arrow makes no column of the rows up to it."""
    low, high = 0, len(values)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            _of_elements(values[:middle])
            low = middle
        except (pyarrow.ArrowException, TypeError, OverflowError, ValueError):
            high = middle
    return low


def _plain(table: pyarrow.Table) -> pyarrow.Table:
    """The table in one piece, with types from which rows can be taken: views of strings and bytes become these, and
    runs the values that they repeat."""
    views = {"string_view": pyarrow.large_string(), "binary_view": pyarrow.large_binary()}
    for place, entry in enumerate(table.schema):
        kind, category = entry.type, pyarrow.types.is_dictionary(entry.type)
        if pyarrow.types.is_run_end_encoded(kind):
            chunks = [pyarrow.compute.run_end_decode(chunk) for chunk in table.column(place).chunks]
            made = pyarrow.chunked_array(chunks, kind.value_type)
            table = table.set_column(place, entry.with_type(made.type), made)
            continue
        viewed = views.get(str(kind.value_type if category else kind))
        if viewed is not None:
            kind = pyarrow.dictionary(kind.index_type, viewed, kind.ordered) if category else viewed
            made = table.column(place).cast(kind)
            table = table.set_column(place, entry.with_type(made.type), made)
    return _in_one_piece(table)


def _in_one_piece(table: pyarrow.Table) -> pyarrow.Table:
    """The table without chunks. Those without rows go first: at one that came by a stream from the end of an array,
    Arrow 26 fails ("buffer slice would exceed buffer length")."""
    filled = [
        pyarrow.chunked_array([chunk for chunk in column.chunks if len(chunk)], column.type) for column in table.columns
    ]
    return pyarrow.Table.from_arrays(filled, schema=table.schema).combine_chunks()


def plain_values(what: str, column: pyarrow.ChunkedArray) -> np.ndarray:
    """Return ids or weights as a NumPy array, of a column without nulls; of a dictionary its values.

    Decimals without places after the point, such as the sums of whole numbers that DuckDB gives, become int64, others
    the nearest float64.

    Raises
    ------
    InputError
        For a null, with its row, and for a type that is neither of numbers nor of strings.
    """
    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    of = pyarrow.types
    if of.is_decimal(column.type):
        column = _of_decimals(what, column)
    text = of.is_string(column.type) or of.is_large_string(column.type)
    if not (text or of.is_integer(column.type) or of.is_floating(column.type) or of.is_boolean(column.type)):
        first = f" (its first is {shown(column[0].as_py())})" if len(column) else ""
        if not of.is_null(column.type):
            raise InputError(f"{what} is of the type {kind}; it must hold numbers or strings{first}")
        column = column.cast(pyarrow.int64())
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise InputError(f"{what}[{row}] is missing; fill it in, or leave the row out")
    return column.to_numpy() if not text else np.asarray(column.to_numpy(), object)


def _of_decimals(what: str, column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    if column.type.scale > 0:
        return column.cast(pyarrow.float64())
    try:
        return column.cast(pyarrow.int64())
    except pyarrow.ArrowInvalid as error:
        raise InputError(
            f"{what} is of the type {column.type} and has a number that int64 does not hold ({error})"
        ) from error
