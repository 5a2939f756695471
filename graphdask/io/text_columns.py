"""More columns of edges in text with a header, which Arrow reads in a second pass and writes beside the ends.

Arrow infers the types: whole numbers, floats, truth values, dates, times, and strings. Whole numbers that need uint64,
which Arrow takes for floats, are read once more. An empty field is null, and so are words such as `NA`, but for `nan`,
which is a float; quoted fields are strings as they are.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import IO, Any

from graphdask.errors import FormatError, InputError, shown

from ._header import find_ends
from ._layout import Layout
from ._line_estimate import estimated_lines
from ._lines import Marker, split
from .asked import picked
from .budgets import budget
from .columns import WEIGHT_NAMES, Chosen, Request
from .kept import warn
from .opening import Source

_BOM = b"\xef\xbb\xbf"
NULLS = ["", "#N/A", "#N/A N/A", "#NA", "N/A", "NA", "NULL", "n/a", "null", "None", "<NA>"]
SAMPLE = 1 << 17
"""Bytes of the first lines by which the memory for columns is estimated."""
BLOCK = 1 << 22
"""Bytes that Arrow parses at a time."""
_LIKE_OTHERS = re.compile(r"[+-]?(\d|\.\d|inf|nan)|true|false", re.IGNORECASE)
"""How strings begin that Arrow may read as another type."""


def columns_of_text(source: Source, layout: Layout, request: Request, chosen: Chosen, rows: int, bare: bool) -> Any:
    """Return the columns that are asked for, of a text whose other columns were read as so many rows; None for none.

    `bare`: there are neither comments nor blank lines among the rows.

    Raises
    ------
    FormatError
        If there is no header, a column is not there, or Arrow finds other rows.
    """
    import pyarrow as pa

    names = names_of_text(source, layout, request, chosen)
    if not names:
        return None
    if not rows:
        return pa.table({name: pa.nulls(0) for name in names})
    try:
        with source.open() as stream:
            table = _parsed(stream, source, layout, names, bare)
        for name in filter(lambda name: _beyond_int64(table[name]), names):
            table = _with_wide(table, name, source, layout, bare)
    except pa.ArrowException as error:
        raise FormatError(f"edge_columns: {str(error)[:300]}", source.path) from None
    if table.num_rows != rows:
        raise FormatError(
            f"edge_columns: Arrow finds {table.num_rows:,} rows, and there are {rows:,} edges", source.path
        )
    budget().refuse_bytes(table.nbytes, "the columns of its edges take")
    return table


def _beyond_int64(column: Any) -> bool:
    """Whether Arrow may have read whole numbers of 64 bits without a sign as floats."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_float64(column.type):
        return False
    ends = compute.min_max(column).as_py()
    return ends["max"] is not None and ends["min"] >= 0 and 2.0**63 <= ends["max"] <= 2.0**64


def _with_wide(table: Any, name: str, source: Source, layout: Layout, bare: bool) -> Any:
    """The table with a column as uint64, if all of its values are such."""
    import pyarrow as pa

    try:
        with source.open() as stream:
            column = _parsed(stream, source, layout, [name], bare, {name: pa.uint64()})[name]
    except pa.ArrowInvalid:
        return table
    return table.set_column(table.column_names.index(name), name, column)


def names_of_text(source: Source, layout: Layout, request: Request, chosen: Chosen) -> list[str]:
    """Return the names of the columns that are asked for.

    Raises
    ------
    FormatError
        If there is no header, or a column is not there.
    """
    if layout.names is None:
        raise FormatError(
            "edge_columns: the file has no header that names its columns; header=True says that the first line is one",
            source.path,
        )
    roles = (chosen.src, chosen.dst, chosen.weight, chosen.time, chosen.direction)
    taken = {layout.names[place] for place in roles if place is not None}
    return picked("edge_columns", request.edge_columns, layout.names, taken, source.path)


def refuse_beyond_memory(source: Source, layout: Layout, request: Request, chosen: Chosen) -> None:
    """Raise OverBudget, before edges are read, if memory cannot hold them and the columns that are asked for: others
    are taken to be like those of the first lines."""
    import pyarrow as pa

    names = names_of_text(source, layout, request, chosen)
    if not names:
        return
    with source.open() as stream:
        text = stream.read(SAMPLE + layout.skip)
    try:
        table = _parsed(io.BytesIO(text[: text.rfind(b"\n") + 1]), source, layout, names, False)
    except pa.ArrowException:  # who reads all lines says which is wrong
        return
    if table.num_rows:
        rows = estimated_lines(source)[0]
        listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        each = budget().each.narrow + table.nbytes / table.num_rows
        budget().refuse_bytes(int(rows * each), f"about {rows:,} edges with the columns {listed} need")


def _parsed(stream: IO[bytes], source: Source, layout: Layout, names: list[str], bare: bool, types: Any = None) -> Any:
    """The columns of these names, of the text in a stream."""
    from pyarrow import csv

    assert layout.names is not None
    twice = {name for name in layout.names if layout.names.count(name) > 1}
    called = [f"{name}#{place}" if name in twice else name for place, name in enumerate(layout.names)]
    tab = any("\t" in each for each in layout.comments[-1:]) or _has_tab(source, layout)
    delimiter = (layout.delimiter or (b"\t" if tab else b" ")).decode()
    return csv.read_csv(
        _After(stream, layout, bare),
        read_options=csv.ReadOptions(column_names=called, block_size=BLOCK),
        parse_options=csv.ParseOptions(delimiter=delimiter),
        convert_options=csv.ConvertOptions(
            include_columns=names,
            column_types=types,
            null_values=NULLS,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _has_tab(source: Source, layout: Layout) -> bool:
    head, _ = source.head(min(layout.skip + (1 << 12), 1 << 20))
    return b"\t" in head[layout.skip :].split(b"\n")[0]


class _After(io.RawIOBase):
    """What is below the header of a text; unless it is `bare`, without comments and blank lines."""

    def __init__(self, stream: IO[bytes], layout: Layout, bare: bool):
        self._stream, self._layout = stream, layout
        head = stream.read(len(_BOM))
        self._head = head[len(_BOM) :] if head == _BOM else head
        left = layout.skip
        self._head, left = self._head[left:], max(left - len(self._head), 0)
        while left and (some := stream.read(min(left, 1 << 20))):
            left -= len(some)
        self._lines = None if bare else self._data()

    def _data(self) -> Iterator[bytes]:
        text = io.BufferedReader(_Joined(self._head, self._stream))  # type: ignore[arg-type]
        for line in text:
            for each in line.splitlines(keepends=True):
                tokens = split(each.rstrip(b"\r\n"), self._layout.delimiter, self._layout.comment)
                if not isinstance(tokens, Marker):
                    yield each

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._lines is not None:
            found, length = [], 0
            while (size < 0 or length < size) and (line := next(self._lines, b"")):
                found.append(line)
                length += len(line)
            data = b"".join(found)
            if 0 <= size < length:
                self._lines = _before(data[size:], self._lines)
                data = data[:size]
            return data
        data, self._head = self._head, b""
        return data or self._stream.read(size)


def _before(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


class _Joined(io.RawIOBase):
    """Some bytes, and a stream after them."""

    def __init__(self, first: bytes, stream: IO[bytes]):
        self._first, self._stream = first, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._first[: len(buffer)]
        self._first = self._first[len(data) :]
        data = data or self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def lost_in_csv(table: Any) -> list[str]:
    """Return names of columns that CSV has no place for: by their types, or by names that would be others there."""
    import pyarrow as pa

    of, lost = pa.types, []
    for field in table.schema:
        kind, name = field.type, field.name
        value = kind.value_type if of.is_dictionary(kind) else kind
        held = of.is_boolean(value) or of.is_integer(value) or of.is_float32(value) or of.is_float64(value)
        held = held or of.is_string(value) or of.is_large_string(value) or of.is_null(value) or of.is_date(value)
        held = held or of.is_timestamp(value) or of.is_time(value) or of.is_decimal(value)
        ends = find_ends(["src", "dst", name])
        clear = ends is not None and (ends.src, ends.dst) == (0, 1) and not ends.rivals
        if (
            not held
            or not clear
            or name == "directed"
            or name != name.strip()
            or re.search(r"[\r\n]", name)
            or not name
        ):
            lost.append(name)
    return lost


def as_written(table: Any) -> Any:
    """Return columns in the types in which Arrow writes them as text.

    Raises
    ------
    InputError
        For a string with a line break: a line of the file is an edge.
    """
    import pyarrow as pa
    from pyarrow import compute

    for place, field in enumerate(table.schema):
        kind, column = field.type, table.column(place)
        if pa.types.is_dictionary(kind):
            kind, column = kind.value_type, column.cast(kind.value_type)
            table = table.set_column(place, field.name, column)
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            broken = compute.match_substring_regex(column, "[\r\n]").fill_null(False)
            if compute.any(broken).as_py():
                row = compute.index(broken, True).as_py()
                raise InputError(
                    f"the edge column {field.name}: {shown(column[row].as_py())[:80]} has a line break, and a line of "
                    f"csv is an edge; write Parquet or .gdg, or leave the column out"
                )
    return table


def warn_of_column_types(table: Any, weighted: bool, where: str = "") -> None:
    """Warn of columns that are read back as another type, or as weights."""
    import pyarrow as pa

    same = (
        pa.int64(),
        pa.float64(),
        pa.bool_(),
        pa.string(),
        pa.date32(),
        pa.timestamp("s"),
        pa.time32("s"),
        pa.null(),
    )
    others = [field.name for field in table.schema if field.type not in same]
    for name in table.column_names:
        if name not in others and pa.types.is_string(table.schema.field(name).type):
            first = next((value.as_py() for value in table[name] if value.is_valid), "")
            others += [name] if _LIKE_OTHERS.match(first) else []
    if others:
        warn(f"{where}csv does not say the types of the columns {', '.join(others)}: they are read back as what their "
              "values look like; Parquet and .gdg say them")  # fmt: skip
    if not weighted:
        warn_of_weight_names(table, "csv", where)


def warn_of_weight_names(table: Any, format: str, where: str = "") -> None:
    """Warn of columns that are read back as weights, unless the reader says that there are none."""
    named = [name for name in table.column_names if name.lower() in WEIGHT_NAMES]
    if named:
        warn(f"{where}{format} does not say that {', '.join(named)} are no weights; read it with weights=False")
