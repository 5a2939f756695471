"""Parquet files, or directories of them, with columns for source, target and perhaps weight and time.

Columns are found by name, or are the first two, or are given. The writer keeps the direction, and which
consecutive ids the vertices are, in the schema's metadata.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import FormatError, GraphdaskError, InputError
from graphdask.io.tuning import FILES

from ._missing_names import check_names, check_numbers
from ._parquet_pages import Pages, check_columns, check_pages
from ._spill import NotKept, SpilledColumn
from ._stated_columns import read_stated, restored, stated
from ._table import Reading, string_array
from ._text_out import table_of
from .asked import Asked, beside, picked
from .budgets import budget
from .columns import Chosen, Request, choose, count_infinite, without_asked_time
from .edges import EdgeList, stated_vertices
from .opening import existing_file

_KEY = b"graphdask"
BUFFER = 1 << 18
"""Bytes of a column that are read at a time."""
WINDOW = 1 << 28
"""Bytes that strings may become at a time where they may be longer than what they are made of."""


def read_parquet(path: str | os.PathLike[str], request: Request, reading: Reading) -> EdgeList:
    """Read a Parquet table as edges."""
    import pyarrow as pa
    from pyarrow import parquet

    file = Path(path).expanduser()
    if not file.is_dir():
        file = existing_file(path)
    reading.workers()
    try:
        stored = parquet.ParquetDataset(file)
        schema = stored.schema
        chosen = choose_of(schema, request, file)
        positions = [i for i in (chosen.src, chosen.dst, chosen.weight, chosen.time) if i is not None]
        names = [schema.names[i] for i in positions]
        taken = {*names, *([] if chosen.direction is None else [schema.names[chosen.direction]])}
        more = picked("edge_columns", request.edge_columns, schema.names, taken, file)
        for i, name in enumerate(names):
            _check_type(schema.field(name).type, f"column {name!r}", file, i < 2)
        text = [name for name in names[:2] if is_text(schema.field(name).type)]
        for name in names[:2]:
            if name not in text:
                check_numbers(request, f"column {name!r}", file, schema.field(name).type)
        pages = check_pages(stored.files, names, text, reading.spill is not None and not text)
        if more:
            pages.whole &= check_columns(stored.files, schema, more)
        columns = None
        if reading.spill is None or text:
            table = _table(file, list(dict.fromkeys([*names, *more])), text, pages, reading)
            columns = restored_columns(table.select(more), schema, file) if more else None
            arrays = [values_of(table.column(name), name, file, i < 2) for i, name in enumerate(names)]
            own = _KEY in (schema.metadata or {})
            for name, each in zip(names[:2], arrays[:2], strict=True):
                if name in text:
                    check_names(each, f"column {name!r}", file, request, own)
        else:
            arrays = _spilled(file, schema, names, reading.spill)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, GraphdaskError | NotKept | MemoryError):
            raise
        raise FormatError(f"not a readable Parquet file ({_first_sentence(error)})", file) from None
    ids, numbers = arrays[:2], arrays[2:]
    if ids[0].dtype != ids[1].dtype:
        raise FormatError(f"the columns {names[0]!r} and {names[1]!r} are of different types", file)
    weights = numbers.pop(0) if chosen.weight is not None else None
    times = numbers.pop(0) if chosen.time is not None else None
    stated_directed, vertices, _ = stated_of(schema, file)
    directed = stated_directed if request.directed is None else request.directed
    size = file.stat().st_size if file.is_file() else sum(f.stat().st_size for f in file.rglob("*") if f.is_file())
    report: dict[str, Any] = {
        "format": "parquet",
        "bytes": size,
        "columns": names,
        **count_infinite(weights),
    }
    unread = len(set(range(len(schema.names))) - set(positions)) - len(set(more) - set(names))
    if unread > 0:
        report["unread_columns"] = unread
    return EdgeList(ids[0], ids[1], weights, times, vertices, directed, report, columns)


def choose_of(schema: Any, request: Request, file: Any) -> Chosen:
    """Which columns are the ends, the weight and the time: none of those that graphdask stated as more columns."""
    stated_columns = read_stated(stated_of(schema, file)[2], file)
    more = () if stated_columns is None or request.columns is not None else stated_columns.column_names
    places = [place for place, name in enumerate(schema.names) if name not in more]
    chosen = choose([schema.names[place] for place in places], len(places), request, file)
    found = (chosen.src, chosen.dst, chosen.weight, chosen.time, chosen.direction)
    chosen = Chosen(*(None if place is None else places[place] for place in found))  # type: ignore[arg-type]
    return without_asked_time(chosen, schema.names, request)


def restored_columns(table: Any, schema: Any, file: Path) -> Any:
    """More columns of edges, as those that were written, where graphdask wrote them."""
    kept = {key: value for key, value in (table.schema.metadata or {}).items() if key != _KEY}
    table = restored(table, read_stated(stated_of(schema, file)[2], file), file)
    return table.replace_schema_metadata(kept or None)


def stated_of(schema: Any, file: Any) -> tuple[bool | None, np.ndarray | None, str | None]:
    """The direction, the vertices and, as text, the further columns that the schema states."""
    try:
        stated = json.loads((schema.metadata or {}).get(_KEY, b"{}"))
        directed, vertex_range, columns = (stated.get(key) for key in ("directed", "vertex_range", "columns"))
    except (ValueError, AttributeError, RecursionError) as error:
        raise FormatError(f"the metadata that graphdask wrote is damaged ({error})", file) from None
    if directed not in (None, True, False) or isinstance(directed, int) != isinstance(directed, bool):
        raise FormatError(f"the metadata that graphdask wrote is damaged (directed is {directed!r:.80})", file)
    return directed, None if vertex_range is None else stated_vertices(vertex_range, file), columns


def _table(file: Path, names: list[str], text: list[str], pages: Pages, reading: Reading) -> Any:
    """The columns of a table that fits memory. Strings of a dictionary stay numbers and a dictionary; where each is
    made of the previous one, few enough are read at a time, because all may be as long as their page.
    """
    import pyarrow as pa
    from pyarrow import parquet

    if pages.whole:
        kept = [name for name in text if name in names] or None
        return parquet.read_table(
            file, columns=names, use_threads=reading.threads != 1, read_dictionary=kept, page_checksum_verification=True
        )
    rows = max(1, min(FILES.parquet_rows, min(WINDOW, budget().usable // 4) // max(pages.largest, 1)))
    parts, size = [], 0
    for part in _batches(file, names, rows):
        size += part.nbytes
        budget().refuse_bytes(size, "its strings, as far as they are read, take")
        parts.append(pa.table(part) if isinstance(part, pa.RecordBatch) else part)
    return pa.concat_tables(parts)


def _spilled(file: Path, schema: Any, names: list[str], folder: Path) -> list[np.ndarray]:
    """The columns of a table that may be larger than memory, mapped from files in a folder."""
    columns, row = [SpilledColumn(folder) for _ in names], 0
    empty = schema.empty_table()  # its types, where there is no row
    for some in chain(_batches(file, names, FILES.parquet_rows), [empty]):
        for i, (column, name) in enumerate(zip(columns, names, strict=True)):
            column.append(values_of(some.column(name), name, file, i < 2, row))
        row += some.num_rows
    return [column.array() for column in columns]


def _batches(file: Path, names: list[str], rows: int) -> Iterator[Any]:
    """Some rows of these columns at a time. Files are read piece by piece; scans of data sets, which read columns of
    row groups whole, are for files whose columns are not of the types of all.
    """
    from pyarrow import dataset, parquet

    whole = dataset.dataset(file, format="parquet")
    types = [whole.schema.field(name).type for name in names]
    for each in whole.files:
        with parquet.ParquetFile(each, pre_buffer=False, buffer_size=BUFFER, page_checksum_verification=True) as part:
            own = part.schema_arrow
            if [own.field(name).type if name in own.names else None for name in names] == types:
                yield from part.iter_batches(rows, columns=names, use_threads=False)
                continue
        yield from dataset.dataset(each, format="parquet", schema=whole.schema).to_batches(
            columns=names, batch_size=rows, batch_readahead=1
        )


def write_parquet(edges: EdgeList, path: Path) -> None:
    """Write columns src, dst, weight, time where there are any, and further columns."""
    from pyarrow import parquet

    table, more = table_of(edges), edges.edge_columns
    if more is not None:
        table = beside(table, more)
    table = table.replace_schema_metadata(schema_metadata(edges.directed, edges.vertex_range, more))
    parquet.write_table(table, path, **column_options(table.schema))


def schema_metadata(
    directed: bool | None, vertex_range: tuple[int, int] | None = None, more: Any = None
) -> dict[bytes, Any]:
    """What the schema says of the graph: its direction, (first id, number) where its vertices are consecutive, and the
    types of further columns, with what pandas recorded of them."""
    metadata: dict[str, Any] = {"directed": directed}
    metadata |= {} if vertex_range is None else {"vertex_range": vertex_range}
    metadata |= {} if more is None else {"columns": stated(more)}
    recorded = {} if more is None else more.schema.metadata or {}
    return {**recorded, _KEY: json.dumps(metadata)}


def write_columns(table: Any, path: Path, more: Any = None) -> None:
    """Write a table; `more`: those of its columns whose types are stated."""
    from pyarrow import parquet

    metadata = {} if more is None else {**(more.schema.metadata or {}), _KEY: json.dumps({"columns": stated(more)})}
    parquet.write_table(table.replace_schema_metadata(metadata), path, write_page_checksum=True)


def read_columns(file: Path, asked: Asked, what: str) -> Any:
    """The columns of a table that are asked for, as they were written."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(file)
        names = picked(what, asked, schema.names, (), file)
        check_columns([str(file)], schema, names)
        table = parquet.read_table(file, columns=names, page_checksum_verification=True)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, GraphdaskError):
            raise
        raise FormatError(f"not a readable Parquet file ({_first_sentence(error)})", file) from None
    return restored_columns(table, schema, file)


def unwritable(table: Any) -> list[str]:
    """Names of columns of types that Parquet does not hold."""
    import pyarrow as pa
    from pyarrow import parquet

    lost = []
    for name in table.column_names:
        try:
            parquet.write_table(table.select([name]).slice(0, 0), pa.BufferOutputStream())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
            lost.append(name)
    return lost


def column_options(schema: Any) -> dict[str, Any]:
    """How the columns are coded: integers as packed differences, which are smaller than compressed and quicker."""
    import pyarrow as pa

    whole = [field.name for field in schema if pa.types.is_integer(field.type)]
    others = {field.name: "snappy" for field in schema if field.name not in whole}
    strings = [field.name for field in schema if is_text(field.type) or pa.types.is_dictionary(field.type)]
    return {
        "use_dictionary": strings or False,
        "column_encoding": dict.fromkeys(whole, "DELTA_BINARY_PACKED") or None,
        "compression": dict.fromkeys(whole, "none") | others,
        "write_page_checksum": True,
    }


def _first_sentence(error: BaseException) -> str:
    return str(error).split("\n")[0].split(". ")[0]


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is of strings, perhaps as a dictionary."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    found: bool = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return found


def values_of(column: Any, name: str, path: Any, ids: bool, first: int = 0) -> np.ndarray:
    """Vertex ids, or weights or times, of a column whose rows count from `first`."""
    import pyarrow as pa

    if column.null_count:
        row = next(i for i, value in enumerate(column) if not value.is_valid)
        raise FormatError(f"row {first + row}: column {name!r} is null", path)
    what = f"column {name!r}"
    _check_type(column.type, what, path, ids)
    if is_text(column.type):
        return strings(column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not ids:
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
        return checked_numbers(column.to_numpy(), what, path, first)
    return checked_ids(column.to_numpy(), what, path, first)


def _check_type(kind: Any, what: str, path: Any, ids: bool) -> None:
    """Raise FormatError or InputError for a column that holds neither ids, where it should, nor numbers."""
    import pyarrow as pa

    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if ids and not (pa.types.is_integer(value) or is_text(kind)):
        raise FormatError(f"{what} is of type {value}; vertex ids are integers or strings", path)
    numeric = pa.types.is_integer(value) or pa.types.is_floating(value) or pa.types.is_timestamp(value)
    if not ids and not numeric:
        raise InputError(f"{path}: {what} is of type {value}; weights and times are numbers")


def strings(column: Any) -> np.ndarray:
    """The strings of a column without nulls; OverBudget where a dictionary makes more of them than memory holds."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return string_array(column.to_pylist())
    found: list[str] = []
    size = 0
    for chunk in column.chunks:
        words, numbers = np.array(chunk.dictionary.to_pylist(), object), chunk.indices.to_numpy()
        lengths = np.array([len(word.encode()) for word in words], np.int64)
        size += int(np.bincount(numbers, minlength=len(words)) @ lengths)
        budget().refuse_bytes(size, "its strings, as far as they are read, take")
        found += words[numbers].tolist()
    return string_array(found)


def checked_ids(values: np.ndarray, what: str, path: Any, first: int = 0) -> np.ndarray:
    """int64 ids, once none is negative or above 2^63 - 1; rows count from `first`."""
    if len(values):
        if values.dtype.kind == "i" and values.min() < 0:
            row = int(np.argmax(values < 0))
            raise FormatError(f"row {first + row}: {what} has the negative id {values[row]}", path)
        if values.dtype == np.uint64 and values.max() > np.iinfo(np.int64).max:
            row = int(np.argmax(values > np.iinfo(np.int64).max))
            raise FormatError(f"row {first + row}: {what} has the id {values[row]}, which is above 2^63 - 1", path)
    return values.astype(np.int64, copy=False)


def checked_numbers(values: np.ndarray, what: str, path: Any, first: int = 0) -> np.ndarray:
    """Weights or times as float64, float32, int64 or int32, once none is NaN; rows count from `first`."""
    if values.dtype.kind == "f":
        if np.isnan(values).any():
            raise FormatError(f"row {first + int(np.argmax(np.isnan(values)))}: {what} is NaN", path)
        if values.dtype in (np.float32, np.float64):
            return values
        return values.astype(np.float32 if values.dtype.itemsize <= 4 else np.float64)
    if values.dtype.kind not in "iub":
        raise FormatError(f"{what} is of type {values.dtype}; it must hold numbers", path)
    if values.dtype == np.uint64 and len(values) and values.max() > np.iinfo(np.int64).max:
        raise FormatError(f"{what} has the value {values.max()}, which does not fit int64", path)
    return values if values.dtype in (np.int32, np.int64) else values.astype(np.int64)
