"""Columns of edges and of vertices, beside ends, weights and times, that a caller asks a file for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from graphdask.errors import FormatError, InputError, shown

from .formats import FORMATS, Format

OF_EDGES = ("src", "dst", "weight", "edge")
"""What graphdask calls columns of edges of its own."""
OF_VERTICES = ("vertex",)
VERTEX = "vertex"
"""The column of the ids in `EdgeList.vertex_columns`."""
WANTED = "a list of names of columns, True for all, or None"

Asked = tuple[str, ...] | bool
"""Names; True: all that there are; False: none."""


def asked_columns(what: str, given: Any) -> Asked:
    """Return what a caller asks for, once it is names of columns, True, False or None."""
    if given is None or isinstance(given, bool):
        return bool(given)
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise InputError(f"{what}={shown(given)} is not {WANTED}")
    for place, name in enumerate(given):
        if name in given[:place]:
            raise InputError(f"{what} names the column {shown(name)} twice")
    return tuple(given)


def refuse_columns(chosen: Format, edges: Asked, vertices: Asked) -> None:
    """Raise InputError for columns that files of a format do not hold."""
    for what, asked, holds in (("edge", edges, "holds_edge_columns"), ("vertex", vertices, "holds_vertex_columns")):
        if asked and not getattr(chosen, holds):
            able = ", ".join(known.name for known in FORMATS.values() if getattr(known, holds))
            more = "; so does a folder that Graph.write made" if what == "vertex" else ""
            raise InputError(
                f"{what}_columns={shown(_given(asked))}: {chosen.name} holds no columns of "
                f"{'edges' if what == 'edge' else 'vertices'}; these formats do: {able}{more}"
            )


def picked(what: str, asked: Asked, there: Sequence[str], taken: Collection[str], path: Any) -> list[str]:
    """Return the names of columns to read; for True all but those that are `taken` and graphdask's own names.

    Raises
    ------
    FormatError
        For a name that is none of the file's.
    InputError
        For a name that stands twice, or that graphdask has a column of its own for.
    """
    own = OF_EDGES if what == "edge_columns" else OF_VERTICES
    if not asked:
        return []
    free = [name for name in there if name not in own and name not in taken]
    names = free if isinstance(asked, bool) else list(asked)
    for name in names:
        if name not in there:
            raise FormatError(f"{what}: there is no column {name!r}; the file has {', '.join(there) or 'none'}", path)
        if name in own:
            raise InputError(f"{path}: {what}: {name!r} is what graphdask calls a column of its own; rename it there")
        if there.count(name) > 1:
            raise InputError(f"{path}: {what}: the file has more than one column {name!r}; rename the others")
    return names


def beside(table: Any, more: Any) -> Any:
    """Return both tables' columns in one table."""
    import pyarrow as pa

    return pa.table([*table.columns, *more.columns], schema=pa.schema([*table.schema, *more.schema]))


def with_ids(table: Any, ids: np.ndarray) -> Any:
    """Return columns of vertices with the ids of these before them."""
    import pyarrow as pa

    column = pa.array(ids.tolist(), pa.string()) if ids.dtype.kind in "OTU" else pa.array(ids)
    return table.add_column(0, VERTEX, column)


def once_each(table: Any) -> Any:
    """Return columns of vertices with one row for each, where several files have the same row of it, or one of nulls.

    Raises
    ------
    InputError
        For a vertex with two rows that differ.
    """
    import pyarrow as pa

    empty = np.ones(table.num_rows, bool)
    for name in table.column_names:
        empty &= table[name].is_null().to_numpy() if name != VERTEX else True
    table = table.filter(pa.array(~empty)) if empty.any() else table
    ids = table[VERTEX].to_numpy()
    _, first, place = np.unique(ids.astype(object) if ids.dtype.kind in "OTU" else ids, True, True)
    if len(first) == len(ids):
        return table
    again = np.flatnonzero(first[place] != np.arange(len(ids)))
    one, other = (table.take(rows).to_pylist() for rows in (first[place[again]], again))
    for row, (before, after) in enumerate(zip(one, other, strict=True)):
        if before != after and repr(before) != repr(after):  # NaN
            raise InputError(f"vertex_columns: the files have different rows of the vertex {ids[again[row]]}")
    return table.take(np.sort(first))


def joined_columns(tables: Sequence[Any], names: Sequence[str], what: str) -> Any:
    """Return the rows of several files' tables behind each other; None where there are none.

    Numbers of different widths become the widest, and categories those of all.

    Raises
    ------
    InputError
        If the files have other columns, or types of which none holds the other's values, naming both.
    """
    if all(table is None for table in tables):
        return None
    import pyarrow as pa

    there = [[] if table is None else table.column_names for table in tables]
    first = there[0]
    for own, name in zip(there[1:], names[1:], strict=True):
        if set(own) != set(first):
            one, other = sorted(set(first) - set(own)), sorted(set(own) - set(first))
            has, lacks, differing = (names[0], name, one) if one else (name, names[0], other)
            raise InputError(f"{what}: {has} has the column {differing[0]!r} and {lacks} has none of this name")
    made = []
    for column in first:
        parts = [table[column] for table in tables]
        filled = [part for part in parts if len(part) and not pa.types.is_null(part.type)] or parts[:1]
        try:
            made.append(_joined([pa.table({column: part}) for part in parts], filled[0].type, column))
        except pa.ArrowException as error:
            name, kind = next(
                (name, part.type) for name, part in zip(names, parts, strict=True) if part.type != filled[0].type
            )
            raise InputError(
                f"{what}: the column {column!r} is {filled[0].type} in one file and {kind} in {name} "
                f"({str(error)[:200]}); read them one by one"
            ) from error
    return pa.table(dict(zip(first, made, strict=True))).replace_schema_metadata(tables[0].schema.metadata)


def _joined(parts: list[Any], kind: Any, name: str) -> Any:
    """A column of several tables of it, of one type."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind) and len({part.schema.field(0).type for part in parts}) > 1:
        values = [
            part.set_column(0, name, part[name].cast(each.value_type))
            if pa.types.is_dictionary(each := part.schema.field(0).type) else part
            for part in parts
        ]  # fmt: skip
        plain = pa.concat_tables(values, promote_options="permissive")[name]
        return plain.combine_chunks().dictionary_encode()
    return pa.concat_tables(parts, promote_options="permissive").unify_dictionaries()[name].combine_chunks()


def _given(asked: Asked) -> Any:
    return list(asked) if isinstance(asked, tuple) else asked
