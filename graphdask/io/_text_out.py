"""Edge lists and CSV as they are written: what stands above the edges, and the lines.

An edge list begins with comments that `read_edges` understands: direction, vertices, whether ids are names, the type of
weights, and the names of the columns, which say that no header follows. CSV begins with a header of quoted names; a
column `directed` of zeros says that its edges have no direction.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from graphdask.display.phases import phase

from ._layout import TEXT_IDS
from .asked import beside
from .edges import EdgeList
from .kept import is_text
from .text_columns import as_written

COMPILED_ROWS = 100_000
"""Rows from which lines are formatted by compiled code: for fewer, loading it takes longer."""

LINES_AT_ONCE = 1 << 16


def column_text(array: np.ndarray) -> Any:
    """A column as a pyarrow array; strings become Arrow strings."""
    import pyarrow as pa

    if array.dtype.kind in "OTU":
        return pa.array([str(value) for value in array], pa.string())
    return pa.array(np.ascontiguousarray(array))


def table_of(edges: EdgeList) -> Any:
    """The edges as a pyarrow table of two to four columns."""
    import pyarrow as pa

    names, arrays = ("src", "dst", "weight", "time"), (edges.src, edges.dst, edges.weights, edges.times)
    there = [(name, column_text(array)) for name, array in zip(names, arrays, strict=True) if array is not None]
    return pa.table([array for _, array in there], names=[name for name, _ in there])


def write_edgelist(edges: EdgeList, stream: Any) -> None:
    """Write SNAP text: comments with direction, counts and column names, then tab-separated lines."""
    counts = "" if edges.vertices is None else f"Nodes: {len(edges.vertices)} Edges: {edges.num_edges}"
    columns = [name for name, values in (("Weight", edges.weights), ("Time", edges.times)) if values is not None]
    dtype = None if edges.weights is None else edges.weights.dtype
    header = edgelist_header(
        edges.directed, [counts, vertices_line(edges.vertex_range)], is_text(edges.src), columns, dtype
    )
    stream.write(header)
    write_lines(table_of(edges), stream, "\t")


def vertices_line(vertex_range: tuple[int, int] | None) -> str:
    """What says that the vertices are consecutive; empty where they are not."""
    return "" if vertex_range is None else f"Vertices: {vertex_range[1]}, counted from {vertex_range[0]}"


def edgelist_header(
    directed: bool | None, counts: list[str], names: bool, columns: list[str], weights: np.dtype | None
) -> bytes:
    """The comments above the edges: direction, counts, whether ids are names, the type of weights, further columns."""
    lines = [] if directed is None else [f"# {'Directed' if directed else 'Undirected'} graph"]
    lines += [f"# {count}" for count in counts if count]
    lines += [TEXT_IDS] if names else []
    lines += [] if weights is None else [f"# Weights: {weights.name}"]
    lines.append("# " + "\t".join(["FromNodeId", "ToNodeId", *columns]))
    return "".join(line + "\n" for line in lines).encode()


def write_csv(edges: EdgeList, stream: Any) -> None:
    """Write CSV with a header: src, dst, and weight, time, directed where they are needed."""
    table = with_direction(table_of(edges), edges.directed)
    table = table if edges.edge_columns is None else beside(table, as_written(edges.edge_columns))
    stream.write(csv_header(table.column_names))
    write_lines(table, stream, ",")


def with_direction(table: Any, directed: bool | None) -> Any:
    """The table of CSV: with a column of zeros where edges have no direction, which is what CSV means otherwise."""
    import pyarrow as pa

    if directed is not False:
        return table
    return table.append_column("directed", pa.array(np.zeros(table.num_rows, np.int8)))


def csv_header(columns: list[str]) -> bytes:
    """The first line."""
    return (",".join('"' + name.replace('"', '""') + '"' for name in columns) + "\n").encode()


def write_lines(table: Any, stream: Any, delimiter: str) -> None:
    """Write the rows of a table as lines: tables of two or three integers compiled, others by Arrow."""
    import pyarrow as pa
    from pyarrow import csv

    table = _with_negative_zeros(table)
    if delimiter == "," and table.num_rows and _looks_whole(table):
        stream.write(_first_row(table))
        table = table.slice(1)
    rows = table.num_rows
    whole = all(
        pa.types.is_integer(column.type) and column.type != pa.uint64() and not column.null_count
        for column in table.columns
    )
    if rows < COMPILED_ROWS or table.num_columns > 3 or not whole:
        strings = any(pa.types.is_string(field.type) or pa.types.is_large_string(field.type) for field in table.schema)
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
    with phase("writing") as report:
        for first in range(0, rows, lines):
            length = put(*(column[first : first + lines] for column in columns), np.uint8(ord(delimiter)), out)
            stream.write(out[:length].data)
            report((first + lines) / rows)


def _with_negative_zeros(table: Any) -> Any:
    """The table with texts for floats where one of them is -0.0, which Arrow writes as an integer, that has no sign."""
    import pyarrow as pa
    from pyarrow import compute

    for place, column in enumerate(table.columns):
        if not pa.types.is_floating(column.type):
            continue
        values = column.to_numpy()  # nulls become NaN
        negative = np.signbit(values) & (values == 0)
        if negative.any():
            texts = compute.if_else(pa.array(negative), "-0.0", compute.cast(column, pa.string()))
            table = table.set_column(place, table.column_names[place], texts)
    return table


def _looks_whole(table: Any) -> bool:
    """Whether Arrow writes a float of the first row as an integer, so that the column may be read as integers."""
    import pyarrow as pa

    floats = [column[0].as_py() for column in table.columns if pa.types.is_floating(column.type)]
    return any(value is not None and value.is_integer() for value in floats)


def _first_row(table: Any) -> bytes:
    """The first row with a point in its floats."""
    from pyarrow import csv

    fields = []
    for name in table.column_names:
        value = table[name][0].as_py()
        if isinstance(value, float | int) and not isinstance(value, bool):
            fields.append(repr(value).encode())
            continue
        out = io.BytesIO()
        csv.write_csv(table.select([name]).slice(0, 1), out, csv.WriteOptions(include_header=False))
        fields.append(out.getvalue().rstrip(b"\n"))
    return b",".join(fields) + b"\n"
