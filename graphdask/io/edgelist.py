"""Edge lists: one edge a line, `source target [weight] [time]`, as SNAP, KONECT and many others give them;
and CSV.

Ids are all int64, or all strings: strings if the first data line shows a name, or with ids="str". A third
column without a name is not read unless asked for. CSV differs in that it splits at commas, semicolons or
tabs, and that a first line of names above a line of integers is a header; known names (source, target,
weight, time, ...) are a header in both.
"""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from graphdask.errors import FormatError, GraphdaskWarning, InputError

from ._columns import (
    SOURCE_NAMES,
    TARGET_NAMES,
    Chosen,
    Request,
    choose,
    count_infinite,
    is_number,
    look_like_times,
    named,
)
from ._lines import ID, SKIP, TEXT, VALUE, Columns, LineError, Marker, split, vertex_id
from ._open import Source
from ._table import Reading, read_table
from .edges import EdgeList, consecutive_vertices

COMPILED_ROWS = 100_000
"""Rows from which lines are formatted by compiled code: for fewer, loading it takes longer."""

LINES_AT_ONCE = 1 << 16

_HEAD_BYTES = 1 << 18
_DECLARED = re.compile(r"Nodes:\s*([\d,]+)\s+Edges:\s*([\d,]+)", re.IGNORECASE)
_DIRECTION = re.compile(r"[#%\s]*(un)?directed graph", re.IGNORECASE)
_VERTICES = re.compile(r"# Vertices: (\d+), counted from (\d+)\s*$")
_TEXT_IDS = "# Ids: text"
_KONECT = re.compile(r"%\s*(sym|asym|bip)\s")
_NUMBER_LIKE = re.compile(rb"[+-]?\.?[0-9][0-9.eE+-]*\Z|[+-]?(nan|inf)\Z", re.IGNORECASE)


@dataclass
class Layout:
    """What the first lines of a file show."""

    delimiter: bytes = b""
    """One byte, or empty for white space."""
    names: list[str] | None = None
    """Column names, from a header or from the last comment before the data."""
    header: bool = False
    """The first line that is no comment holds names."""
    first: list[bytes] = field(default_factory=list)
    """Tokens of the first data line; empty if there is none."""
    first_line: int = 1
    """The line number of the first data line."""
    skip: int = 0
    """Bytes up to the end of the header line; 0 without header."""
    skipped: tuple[int, int, int] = (0, 0, 0)
    """Lines, comments and blank lines within `skip`."""
    comments: list[str] = field(default_factory=list)
    """Comments before the data."""
    second_is_integers: bool = False
    """The line after the first data line has integer ids."""


def read_edgelist(path: str | os.PathLike[str], request: Request, reading: Reading, name: str = "edgelist") -> EdgeList:
    """Read an edge list; see the head of this file and `graphdask.io.read_edges`."""
    source = Source(path)
    comment = b"#%" if request.comment is None else _single_bytes(request.comment)
    layout = _look(source, comment, request.delimiter, name == "csv")
    report: dict[str, Any] = {"format": name, "bytes": source.size}
    if source.compression:
        report["compression"] = source.compression
    columns, chosen = _columns(layout, request, comment, source)
    part = read_table(source, columns, reading, layout.skip, layout.skipped[0] + 1)
    report |= part.report()
    report["comments"] += layout.skipped[1]
    report["blank_lines"] += layout.skipped[2]
    if layout.header:
        report["header"] = layout.names
    wanted = [i for i, kind in enumerate(columns.kinds) if kind != SKIP]
    arrays = dict(zip(wanted, part.columns, strict=True))
    weights = None if chosen.weight is None else arrays[chosen.weight]
    times = None if chosen.time is None else arrays[chosen.time]
    unread = len(columns.kinds) - len(wanted)
    if _takes_third(layout, request, chosen):
        report["third_column"] = "not numbers" if weights is None else "weights"
        if weights is not None and look_like_times(weights):
            report["third_column"], weights, unread = "times", None, unread + 1
    if unread:
        report["unread_columns"] = unread
    report |= count_infinite(weights)
    edges = EdgeList(arrays[chosen.src], arrays[chosen.dst], weights, times, report=report)
    _heed_comments(edges, layout, request, source)
    return edges


def _single_bytes(characters: str) -> bytes:
    data = characters.encode()
    if any(byte in b"0123456789 \t\r\n+-." or byte > 127 for byte in data):
        raise InputError(
            f"comment={characters!r}: give the characters that start a comment, e.g. '#%', "
            "no digits, signs or white space"
        )
    return data


def _delimiter(given: str | None, line: bytes, csv: bool) -> bytes:
    if given is not None:
        if given in ("", " ", "whitespace"):
            return b""
        if len(given) != 1 or given in '\r\n"0123456789' or ord(given) > 127:
            raise InputError(f"delimiter={given!r}: give one character, or 'whitespace' for runs of spaces and tabs")
        return given.encode()
    for candidate in (b",", b";", b"\t", b"|") if csv else (b",", b";"):
        if candidate in line:
            return candidate
    return b""


def _look(source: Source, comment: bytes, delimiter: str | None, csv: bool) -> Layout:
    """Read as much of the beginning as it takes to see two data lines."""
    size = _HEAD_BYTES
    while True:
        head, whole = source.head(size)
        layout = _layout(head, whole, comment, delimiter, csv, source)
        if layout is not None:
            return layout
        size *= 8


def _layout(
    head: bytes, whole: bool, comment: bytes, delimiter: str | None, csv: bool, source: Source
) -> Layout | None:
    layout = Layout()
    data: list[tuple[int, int, list[bytes]]] = []
    end = blanks = comments = number = 0
    lines = head.splitlines(keepends=True)
    for number, line in enumerate(lines if whole else lines[:-2], 1):
        end += len(line)
        content = line.rstrip(b"\r\n")
        if not data:
            layout.delimiter = _delimiter(delimiter, content, csv)
        try:
            tokens = split(content, layout.delimiter, comment)
        except LineError as error:
            raise FormatError(str(error), source.path, number) from None
        if isinstance(tokens, Marker):
            if content.strip():
                comments += 1
                if not data:
                    layout.comments.append(content.decode("utf-8", "replace"))
            else:
                blanks += 1
            continue
        data.append((number, end, tokens))
        if len(data) == 1:
            if content.lstrip()[:1] == b"<":
                raise FormatError("this looks like HTML or XML, not an edge list", source.path, number)
            layout.skip, layout.skipped = end, (number, comments, blanks)
        if len(data) == 2:
            break
    if not whole and len(data) < 2:
        return None
    if not data:
        layout.skip, layout.skipped = 0, (0, 0, 0)
        return layout
    names = [token.decode("utf-8", "replace") for token in data[0][2]]
    known = named(names, SOURCE_NAMES) is not None and named(names, TARGET_NAMES) is not None
    integers = [all(_is_integer(token) for token in tokens[:2]) for _, _, tokens in data]
    named_above = not any(_NUMBER_LIKE.match(token) for token in data[0][2])
    if known or (csv and named_above and integers[-1]):
        layout.header, layout.names = True, names
        del data[0]
    else:
        layout.skip, layout.skipped = 0, (0, 0, 0)
        if layout.comments:
            names = re.split(r"[\s,;]+", layout.comments[-1].lstrip("#% \t").rstrip())
            if (
                named(names, SOURCE_NAMES) is not None
                and named(names, TARGET_NAMES) is not None
                and len(names) == len(data[0][2])
            ):
                layout.names = names
        layout.second_is_integers = integers[-1] and len(integers) > 1
    if data:
        layout.first_line, _, layout.first = data[0]
    return layout


def _is_integer(token: bytes) -> bool:
    try:
        vertex_id(token)
    except LineError:
        return False
    return True


def _columns(layout: Layout, request: Request, comment: bytes, source: Source) -> tuple[Columns, Chosen]:
    """The columns as the parser needs them, and which is which."""
    names = layout.names
    count = len(layout.first) or len(names or ()) or 2 + bool(request.weights) + bool(request.times)
    if names and layout.first and len(names) != len(layout.first):
        raise FormatError(
            f"the header names {len(names)} columns, the first data line has {len(layout.first)}",
            source.path,
            layout.first_line,
        )
    chosen = choose(names, count, request, source.path, layout.first_line if layout.first else None)
    if _takes_third(layout, request, chosen) and is_number(layout.first[2]):
        chosen = replace(chosen, weight=2)
    text = request.ids == "str" or (request.ids is None and _TEXT_IDS in layout.comments)
    if request.ids is None and not text and layout.first:
        text = any(
            token and not _NUMBER_LIKE.match(token) for token in (layout.first[chosen.src], layout.first[chosen.dst])
        )
        if text and layout.second_is_integers:
            warnings.warn(
                GraphdaskWarning(
                    f"{source.path}:{layout.first_line}: ids are read as strings because the first "
                    f"line is not of "
                    "integers, but the second is; if the first line is a header, comment it out or "
                    "pass format='csv'"
                ),
                stacklevel=4,
            )
    kinds = [SKIP] * count
    labels = [""] * count
    for column, kind, label in (
        (chosen.src, TEXT if text else ID, "source"),
        (chosen.dst, TEXT if text else ID, "target"),
        (chosen.weight, VALUE, "weight"),
        (chosen.time, VALUE, "time"),
    ):
        if column is not None:
            kinds[column], labels[column] = kind, label
    return Columns(tuple(kinds), layout.delimiter, comment, names=tuple(labels)), chosen


def _takes_third(layout: Layout, request: Request, chosen: Chosen) -> bool:
    """Whether the third column may be the weights: it was asked for if so, and nothing gives it a name."""
    free = request.columns is None and layout.names is None and chosen.time is None
    return request.third and free and chosen.weight in (None, 2) and len(layout.first) > 2


def _heed_comments(edges: EdgeList, layout: Layout, request: Request, source: Source) -> None:
    """What comments state: SNAP's `# Nodes: N Edges: M`, KONECT's `% asym`, ours, `# Vertices: N, counted from F`."""
    for text in layout.comments:
        if found := _DECLARED.search(text):
            vertices, count = (int(number.replace(",", "")) for number in found.groups())
            edges.report |= {"declared_vertices": vertices, "declared_edges": count}
            if count != edges.num_edges:
                warnings.warn(
                    GraphdaskWarning(
                        f"{source.path}: a comment declares {count:,} edges, the file has {edges.num_edges:,}"
                    ),
                    stacklevel=4,
                )
        if found := _VERTICES.match(text):
            count, first = (int(number) for number in found.groups())
            edges.vertices = consecutive_vertices(first, count, source.path)
        if edges.directed is None and (found := _DIRECTION.match(text)):
            edges.directed = found.group(1) is None
        if found := _KONECT.match(text):
            edges.directed = found.group(1) == "asym"
            if found.group(1) == "bip":
                warnings.warn(
                    GraphdaskWarning(
                        f"{source.path}: the file declares a bipartite graph, whose two sides both "
                        f"count from 1; "
                        "equal ids of both sides are read as one vertex"
                    ),
                    stacklevel=4,
                )
    if request.directed is not None:
        edges.directed = request.directed


def column_text(array: np.ndarray) -> Any:
    """A column as a pyarrow array; strings become Arrow strings."""
    import pyarrow as pa

    if array.dtype.kind in "OTU":
        return pa.array([str(value) for value in array], pa.string())
    return pa.array(np.ascontiguousarray(array))


def table_of(edges: EdgeList, names: tuple[str, str, str, str] = ("src", "dst", "weight", "time")) -> Any:
    """The edges as a pyarrow table of two to four columns."""
    import pyarrow as pa

    arrays = (edges.src, edges.dst, edges.weights, edges.times)
    there = [(name, column_text(array)) for name, array in zip(names, arrays, strict=True) if array is not None]
    return pa.table([array for _, array in there], names=[name for name, _ in there])


def write_edgelist(edges: EdgeList, stream: Any) -> None:
    """Write SNAP text: comments with direction, counts and column names, then tab-separated lines."""
    names = False
    for ids in (edges.src, edges.dst):
        if ids.dtype.kind in "OTU":
            names = True
            check_edgelist_names(ids)
    counts = "" if edges.vertices is None else f"Nodes: {len(edges.vertices)} Edges: {edges.num_edges}"
    columns = [name for name, values in (("Weight", edges.weights), ("Time", edges.times)) if values is not None]
    stream.write(edgelist_header(edges.directed, counts, names, columns))
    write_lines(table_of(edges), stream, "\t")


def edgelist_header(directed: bool | None, counts: str, names: bool, columns: list[str]) -> bytes:
    """The comments above the edges: direction, counts, whether ids are names, further columns."""
    lines = [] if directed is None else [f"# {'Directed' if directed else 'Undirected'} graph"]
    lines += [f"# {counts}"] if counts else []
    lines += [_TEXT_IDS] if names else []
    lines.append("# " + "\t".join(["FromNodeId", "ToNodeId", *columns]))
    return "".join(line + "\n" for line in lines).encode()


def check_edgelist_names(names: Any) -> None:
    """Raise InputError for the first id that cannot stand in an edge list."""
    for value in names:
        if not value or value[0] in "#%" or re.search(r"[\s,;\"]", value):
            raise InputError(
                f"the id {value!r} cannot stand in an edge list (white space, ',', ';', '\"' or "
                "a leading '#' or '%'); write CSV, Parquet or .gdg"
            )


def check_csv_names(names: Any) -> None:
    """Raise InputError for the first id that cannot stand in CSV."""
    for value in names:
        if not value or value.strip() != value or "\n" in value or "\r" in value or value[0] in "#%":
            raise InputError(f"the id {value!r} cannot stand in CSV that reads back the same; write Parquet or .gdg")


def write_csv(edges: EdgeList, stream: Any) -> None:
    """Write CSV with a header: src, dst, and weight, time where there are any."""
    table = table_of(edges)
    for ids in (edges.src, edges.dst):
        if ids.dtype.kind in "OTU":
            check_csv_names(ids)
    stream.write(csv_header(table.column_names))
    write_lines(table, stream, ",")


def csv_header(columns: list[str]) -> bytes:
    """The first line."""
    return (",".join(f'"{name}"' for name in columns) + "\n").encode()


def write_lines(table: Any, stream: Any, delimiter: str) -> None:
    """Write the rows of a table as lines: tables of two or three integers compiled, others by Arrow."""
    import pyarrow as pa
    from pyarrow import csv

    rows, whole = table.num_rows, all(pa.types.is_integer(field.type) for field in table.schema)
    if rows < COMPILED_ROWS or table.num_columns > 3 or not whole:
        strings = any(pa.types.is_string(field.type) for field in table.schema)
        quoting = "needed" if strings and delimiter == "," else "none"
        csv.write_csv(table, stream, csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=quoting))
        return
    from ._digits import put_pairs, put_triples, widest

    columns = [column.to_numpy() for column in table.columns]
    put: Any = put_pairs if len(columns) == 2 else put_triples
    lines = LINES_AT_ONCE
    if len(columns) == 3:
        columns = [column.astype(np.int64, copy=False) for column in columns]
    out = np.empty(lines * sum(widest(column) + 1 for column in columns), np.uint8)
    for first in range(0, rows, lines):
        length = put(*(column[first : first + lines] for column in columns), np.uint8(ord(delimiter)), out)
        stream.write(out[:length].data)
