"""What the pages of a Parquet file say of themselves, before any is decompressed.

The footer states how many rows a column has, but decoders follow the pages: each has a header with its size before
compression and its number of values, and no decoder makes more of a page than that. So the headers are read first,
compared with the footer, and held to the memory that may be used. If an encoding may write a value of any length in a
few bytes, the result says so. The footer is read here too, because Arrow ends the process over some damage to it.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphdask.errors import FormatError

from ._thrift import Decoder
from .budgets import budget

DATA, DICTIONARY, DATA_2 = 0, 2, 3
"""Kinds of pages that hold values; others are passed over."""
_HELD = {DATA: (5, 2), DICTIONARY: (7, 2), DATA_2: (8, 4)}
"""For each, which field of the header says how many values it has, and which field of that how they are coded."""
_PAGE = {1: None, 2: None, 3: None, 5: {1: None, 2: None}, 7: {1: None, 2: None}, 8: {1: None, 4: None}}
"""Fields of the header of a page: its kind, its bytes before compression and as they are stored, its values."""
_FOOTER = {
    2: [{1: None, 3: None, 4: None, 5: None}],
    4: [{1: [{3: {1: None, 5: None, 9: None, 11: None}}], 3: None}],
}
"""Fields of the footer: of a column its type, repetition, name and children; of a row group its rows, and of each
column there its type, number of values, and where its pages and its dictionary begin."""
_REPEATED = 2
OFFSET = 4
"""Bytes that say where a value of no fixed width begins, at least."""
_WHOLE, _STRINGS = (0, 2, 8), (0, 2, 6, 7, 8)
"""Encodings of strings in which they stand as they are, or are numbers in a dictionary of such; and all there are."""
_LEAST = {1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 4}
"""Bytes of a value in a dictionary, at least, by its type."""


@dataclass
class Pages:
    """What the pages of some columns take."""

    rows: int = 0
    largest: int = 0
    """Bytes of the largest page, compressed and not."""
    total: int = 0
    """Bytes of all pages before compression."""
    whole: bool = True
    """Strings are as long as their pages are, or as the dictionary is."""


def check_pages(files: Iterable[str], columns: Sequence[str], text: Sequence[str], spilled: bool) -> Pages:
    """Read the headers of all pages of some columns, and hold what they say to the memory that may be used.

    Parameters
    ----------
    files : iterable of str
    columns, text : sequences of str
        Names of the columns that will be read, and those of them that are strings.
    spilled : bool
        Columns are no ends of edges in memory: they go to disk as they are read, or the caller counts their bytes.

    Raises
    ------
    FormatError
        If the pages hold other than the footer states, or cannot hold what they state.
    OverBudget
        If memory cannot hold what they contain.
    """
    found = Pages()
    for name in files:
        file = Path(name)
        with file.open("rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as data:
            _check_file(data, columns, text, spilled, found, file)
    return found


def check_columns(files: Iterable[str], schema: Any, names: Sequence[str]) -> bool:
    """Hold further columns of edges to the memory that may be used, and return whether strings are as long as their
    pages are. A value counts by its type, or if it has no width as its pages hold it. Of nested columns, whose pages
    are not read here, what the footer states is held to it.
    """
    import pyarrow as pa
    from pyarrow import parquet

    files = list(files)
    stored = {name: _stored(schema.field(name).type) for name in names}
    flat = [name for name in names if not pa.types.is_nested(stored[name])]
    kinds = [stored[name] for name in flat]
    values = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds]
    long = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
    text = [name for name, kind in zip(flat, values, strict=True) if kind in long]
    widths = dict(zip(flat, map(width_of, kinds), strict=True))
    varied = [name for name in flat if widths[name] is None or name in text]
    fixed = [name for name in flat if name not in varied]
    size = 0
    for name in files if len(flat) < len(names) else []:
        footer = parquet.read_metadata(name)
        for group in range(footer.num_row_groups):
            for place in range(footer.num_columns):
                chunk = footer.row_group(group).column(place)
                size += chunk.total_uncompressed_size if chunk.path_in_schema.split(".")[0] in names else 0
    budget().refuse_bytes(size, "the pages of its columns take")
    whole = True
    for some in (fixed, varied):
        if not some:
            continue
        found = check_pages(files, some, [name for name in some if name in text], True)
        size += found.rows * sum(widths[name] or OFFSET for name in some) + (found.total if some is varied else 0)
        whole &= found.whole
    budget().refuse_bytes(size, "its columns take")
    return whole


def _stored(kind: Any) -> Any:
    """The Arrow type of what is stored of a type; of one that others have added, such as pandas' intervals, its own."""
    import pyarrow as pa

    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def width_of(kind: Any) -> int | None:
    """Bytes of a value of an Arrow type, of a dictionary those of its numbers; None where values differ."""
    import pyarrow as pa

    kind = _stored(kind)
    if pa.types.is_dictionary(kind):
        kind = kind.index_type
    try:
        return -(-int(kind.bit_width) // 8)
    except ValueError:
        return None


def _check_file(
    data: Any, columns: Sequence[str], text: Sequence[str], spilled: bool, found: Pages, file: Path
) -> None:  # fmt: skip
    schema, groups = _footer(data, file)
    chosen = [(place, name, kind) for place, (name, kind) in enumerate(schema) if name in columns]
    for _, name, kind in chosen:
        if kind is None:
            raise FormatError(f"the column {name!r} is nested; ids, weights and times are not", file)
    for number, group in enumerate(groups):
        rows, chunks = group.get(3, -1), group.get(1, [])
        if rows < 0 or len(chunks) != len(schema):
            raise FormatError(f"row group {number} of the footer has {len(chunks)} columns and {rows:,} rows", file)
        found.rows += rows
        if not spilled:
            budget().refuse_rows(found.rows, budget().each.names if text else budget().each.wide)
        for place, name, kind in chosen:
            where = f"row group {number}, column {name!r}"
            own = _check_chunk(data, chunks[place].get(3, {}), kind, rows, name in text, where, file)
            found.largest = max(found.largest, own.largest)
            found.total += own.total
            found.whole &= own.whole
            budget().refuse_bytes(own.largest, f"{where}: a page takes")
            if name in text and not spilled:
                budget().refuse_bytes(found.total, "the pages of its columns take")


def _footer(data: Any, file: Path) -> tuple[list[tuple[str, int | None]], list[dict[int, Any]]]:
    """The columns, each with its type or None where it is nested, and the row groups."""
    try:
        size = int.from_bytes(data[-8:-4], "little")
        footer = Decoder(data, len(data) - 8 - size, len(data) - 8).struct(_FOOTER)
        elements = iter(footer[2])
        columns = [
            (name, None if nested else kind)
            for _ in range(next(elements).get(5, 0))
            for name, kind, nested in _columns(elements)
        ]
    except (ValueError, KeyError, StopIteration, RuntimeError) as error:
        raise FormatError(f"not a readable Parquet file (its footer is damaged: {error})", file) from None
    return columns, footer.get(4, [])


def _columns(elements: Any) -> list[tuple[str, int | None, bool]]:
    """The columns of the next element of the schema: itself, or those that are nested in it, by its name."""
    top = next(elements)
    name, inside = top.get(4, b"").decode("utf-8", "replace"), top.get(5) or 0
    if not inside:
        return [(name, top.get(1), top.get(3) == _REPEATED or 1 not in top)]
    found: list[tuple[str, int | None, bool]] = []
    while inside:
        element = next(elements)
        inside += (element.get(5) or 0) - 1
        if not element.get(5):
            found.append((name, None, True))
    return found


def _check_chunk(
    data: Any, chunk: dict[int, Any], kind: int | None, rows: int, text: bool, where: str, file: Path
) -> Pages:
    """The pages of a column of a row group."""
    own = Pages()
    at, dictionary = chunk.get(9, -1), chunk.get(11) or 0
    at = dictionary if 0 < dictionary < at else at
    if chunk.get(5) != rows or chunk.get(1) != kind:
        raise FormatError(f"{where}: the footer states {rows:,} rows, and {chunk.get(5)} values of other columns", file)
    while own.rows < rows:
        begin = at
        try:
            decoder = Decoder(data, at, len(data))
            header = decoder.struct(_PAGE)
            which, size, stored = header[1], header[2], header[3]
            inner, coded = _HELD.get(which, (0, 0))
            values, encoding = (header[inner][1], header[inner][coded]) if inner else (0, 0)
        except (ValueError, KeyError) as error:
            raise FormatError(f"{where}: the header of the page at byte {at:,} is damaged ({error})", file) from None
        at = decoder.at + stored
        if min(size, stored, values) < 0 or at > len(data):
            raise FormatError(
                f"{where}: the page at byte {begin:,} states {size:,} bytes, {stored:,} of them stored, and {values:,} "
                f"values; the file has {len(data):,} bytes",
                file,
            )
        own.largest = max(own.largest, size + stored)
        own.total += size
        if which == DICTIONARY:
            if values * _LEAST.get(kind or 0, 1) > size:
                raise FormatError(f"{where}: a dictionary of {size:,} bytes cannot hold {values:,} values", file)
        elif inner:
            own.rows += values
            own.whole &= not text or encoding in _WHOLE
            if text and encoding not in _STRINGS:
                raise FormatError(f"{where}: strings are never coded as number {encoding} says", file)
    if own.rows != rows:
        raise FormatError(f"{where}: the footer states {rows:,} rows, the pages hold {own.rows:,}", file)
    return own
