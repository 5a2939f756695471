"""Tables that `from_frames` is given, checked: edges of each type, vertices of each type, and columns of both.

Columns of all types become one table, in which other types have nulls, so that functions of samplers and programs read
a column as on any graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.graph.arrow_tables import TABLES, arrow_table, checked_names, names_of, plain_values
from graphdask.graph.checked import checked_ids, checked_weights
from graphdask.graph.type_names import EdgeType, found_type, listed
from graphdask.interface.kinds import whole
from graphdask.partition.conversions import class_of
from graphdask.partition.given import given_array
from graphdask.partition.ids import VertexIds

if TYPE_CHECKING:  # pyarrow takes long to import
    import pyarrow

OF_EDGES = ("src", "dst", "weight", "edge", "src_type", "edge_type", "dst_type")
OF_VERTICES = ("vertex", "vertex_type")
"""What graphdask calls columns of its own."""


@dataclass
class EdgeTable:
    """The edges of a type."""

    src: np.ndarray
    """The caller's ids of the sources, int64 or strings."""
    dst: np.ndarray
    weights: Any
    """None without."""
    columns: pyarrow.Table | None


def given_tables(
    edges: Mapping[Any, Any], names: tuple[str, str, str | None], edge_columns: Any
) -> dict[EdgeType, EdgeTable]:
    """Return the table of each type; `names` are the columns of sources, destinations and weights.

    Raises
    ------
    InputError
        For a key that is no type, a table that is none, a column that is not there, and ids or weights that are not
        valid.
    """
    src, dst, weight = names
    tables = {_checked_type(kind): _table(f"edges[{kind}]", table) for kind, table in edges.items()}
    there = {kind: () if isinstance(table, tuple) else _columns_of(table) for kind, table in tables.items()}
    lacking = [kind for kind, own in there.items() if weight is not None and weight not in own]
    if lacking:
        raise InputError(
            f"weight={weight!r} is no column of the edges of {listed(lacking)}; all types have weights, or none; "
            f"edge_columns=[{weight!r}] keeps those of some types"
        )
    if edge_columns is True:
        own = (*names, *OF_EDGES)
        edge_columns = {kind: [name for name in there[kind] if name not in own] for kind in there}
    kept, made = _kept(there, edge_columns), {}
    for kind, table in tables.items():
        what, columns, weights = f"edges[{kind}]", None, None
        if isinstance(table, tuple):
            one, other = table
        else:
            wanted = [src, dst, *([] if weight is None else [weight]), *kept[kind]]
            found = arrow_table(what, table, list(dict.fromkeys(wanted)))
            one, other = (plain_values(f"{what}: column {name!r}", found[name]) for name in (src, dst))
            if weight is not None:
                weights = plain_values(f"{what}: column {weight!r}", found[weight])
            columns = found.select(kept[kind]) if kept[kind] else None
        one, other = checked_ids(f"{src} of {kind}", one), checked_ids(f"{dst} of {kind}", other)
        if len(one) != len(other):
            raise InputError(f"{what} has {len(one)} sources and {len(other)} destinations")
        made[kind] = EdgeTable(one, other, checked_weights(weights, len(one), f"{weight} of {kind}"), columns)
    return made


def _checked_type(given: Any) -> EdgeType:
    if not isinstance(given, tuple) or len(given) != 3 or not all(isinstance(part, str) and part for part in given):
        raise InputError(
            f"{shown(given)} is no type of edges; it is a tuple of the type of the sources, a name, and the type of "
            f"the destinations"
        )
    return given


def _table(what: str, table: Any) -> Any:
    """A table, or a pair of arrays."""
    if isinstance(table, tuple | list) and len(table) == 2 and not isinstance(table[0], str):
        return tuple(table)
    if not hasattr(type(table), "columns") and getattr(table, "ndim", None) == 2:
        array = given_array(what, table)
        if len(array) == 2:
            return array[0], array[1]
    if not is_table(table):
        raise InputError(
            f"{what} is a {class_of(table)}; it is {TABLES}, a mapping of names to columns, a pair of arrays, or an "
            f"array of shape (2, m)"
        )
    return table if isinstance(table, Mapping) or hasattr(type(table), "columns") else arrow_table(what, table)


def is_table(given: Any) -> bool:
    """Whether something has columns with names, as a Series of ids has not."""
    return isinstance(given, Mapping) or hasattr(type(given), "columns") or (
        hasattr(given, "schema") and hasattr(given, "__arrow_c_stream__")
    )  # fmt: skip


def _columns_of(table: Any) -> tuple[Any, ...]:
    return tuple(names_of("edges", table))


def _kept(there: Mapping[EdgeType, Sequence[Any]], given: Any) -> dict[EdgeType, list[str]]:
    """The columns that edges of each type keep."""
    kept: dict[EdgeType, list[str]] = {kind: [] for kind in there}
    if isinstance(given, Mapping):
        for key, names in given.items():
            kind = found_type(tuple(there), key, "edge_columns: ")
            kept[kind] = checked_names(f"edge_columns[{shown(key)}]", names)
            absent = [name for name in kept[kind] if name not in there[kind]]
            if absent:
                raise InputError(f"edge_columns: the edges of {kind} have no column {absent[0]!r}; {_has(there[kind])}")
    elif given is not None:
        names = checked_names("edge_columns", given)
        for name in names:
            if not any(name in own for own in there.values()):
                raise InputError(f"edge_columns: no type of edges has a column {name!r}")
        kept = {kind: [name for name in names if name in own] for kind, own in there.items()}
    for kind, own in kept.items():
        for name in own:
            if name in OF_EDGES:
                raise InputError(
                    f"edge_columns: {name!r} of {kind} is what graphdask calls a column of its own; rename yours"
                )
    return kept


def _has(names: Sequence[Any]) -> str:
    return f"they have {', '.join(map(str, names)) or 'none'}"


def vertices_of(
    tables: Mapping[EdgeType, EdgeTable], vertices: Any, vertex_id: str
) -> tuple[dict[str, VertexIds], dict[str, pyarrow.Table]]:
    """Return the ids of each type of vertices, in the order in which the types are named, and columns in theirs."""
    found: dict[str, list[tuple[str, np.ndarray]]] = {}
    for kind, table in tables.items():
        found.setdefault(kind[0], []).append((f"the sources of {kind}", table.src))
        found.setdefault(kind[2], []).append((f"the destinations of {kind}", table.dst))
    if vertices is not None and not isinstance(vertices, Mapping):
        raise InputError(f"vertices={shown(vertices)} is not a mapping of types to their vertices")
    given = dict(vertices or {})
    for name in given:
        if name not in found:
            raise InputError(f"vertices has the type {shown(name)}, which no type of edges has")
    made, columns = {}, {}
    for name, arrays in found.items():
        stated, what = given.get(name), f"vertices[{name!r}]"
        if stated is None:
            check_one_kind(name, arrays)
            filled = [array for _, array in arrays if len(array)]
            made[name] = VertexIds.of_sorted(np.unique(np.concatenate(filled)) if filled else np.zeros(0, np.int64))
        elif isinstance(stated, int | np.integer) and not isinstance(stated, bool):
            check_one_kind(name, [(f"{what}={stated}", np.arange(1)), *arrays])
            made[name] = VertexIds(whole(what, stated))
        else:
            if is_table(stated):
                ids, columns[name] = _rows_of_vertices(what, stated, vertex_id)
            else:
                ids = np.unique(checked_ids(what, stated))
            check_one_kind(name, [(what, ids), *arrays])
            made[name] = VertexIds.of_sorted(ids)
    return made, {name: table for name, table in columns.items() if table.num_columns}


def check_one_kind(name: str, arrays: Sequence[tuple[str, np.ndarray]]) -> None:
    """Raise InputError if ids of a type of vertices are whole numbers in one place and strings in another."""
    filled = [(where, array) for where, array in arrays if len(array)]
    for where, array in filled[1:]:
        first, one = filled[0]
        if (one.dtype.kind == "O") != (array.dtype.kind == "O"):
            kinds = [f"{'strings' if each.dtype.kind == 'O' else 'whole numbers'} such as {shown(each.tolist()[0])}"
                     for each in (one, array)]  # fmt: skip
            raise InputError(
                f"ids of vertices of type {name!r} are not of one kind: {first} has {kinds[0]}, {where} has "
                f"{kinds[1]}; ids of a type are all whole numbers, or all strings"
            )


def _rows_of_vertices(what: str, given: Any, vertex_id: str) -> tuple[np.ndarray, pyarrow.Table]:
    """The ids of a table of vertices, ascending, and the other columns in this order."""
    import pyarrow

    table = arrow_table(what, given)
    if vertex_id not in table.column_names:
        raise InputError(
            f"{what} has no column {vertex_id!r} of the vertices' ids; it has {', '.join(table.column_names) or 'none'}"
            f"; name it with vertex_id="
        )
    for name in table.column_names:
        if name in OF_VERTICES and name != vertex_id:
            raise InputError(f"{what}: {name!r} is what graphdask calls a column of its own; rename yours")
    ids = checked_ids(f"{what}: column {vertex_id!r}", plain_values(f"{what}: column {vertex_id!r}", table[vertex_id]))
    order = np.argsort(ids, kind="stable")
    again = order[1:][ids[order][1:] == ids[order][:-1]]
    if len(again):
        row = int(again.min())
        raise InputError(f"{what}: row {row} repeats the vertex {shown(ids.tolist()[row])}; each has one row")
    return ids[order], table.drop_columns([vertex_id]).take(pyarrow.array(order))


def joined_weights(name: str, weights: Mapping[EdgeType, np.ndarray]) -> np.ndarray:
    """Return the weights of all types one after the other, of one dtype.

    Raises
    ------
    InputError
        For a whole number that the floats of another type do not hold exactly.
    """
    dtype = np.result_type(*weights.values())
    floats = [kind for kind, of_type in weights.items() if of_type.dtype.kind == "f"]
    for kind, of_type in weights.items() if floats else ():
        if of_type.dtype.kind == "f":
            continue
        as_floats = of_type.astype(dtype)
        fits = as_floats < 2.0**63
        inexact = np.flatnonzero(~fits | (np.where(fits, as_floats, 0).astype(np.int64) != of_type))
        if len(inexact):
            raise InputError(
                f"weight={name!r}: row {inexact[0]} of {kind} is {of_type[inexact[0]]}, which no float is, and weights "
                f"of {floats[0]} are floats; give whole numbers for all types, or floats"
            )
    return np.concatenate([of_type.astype(dtype, copy=False) for of_type in weights.values()])


def joined_columns(what: str, tables: Mapping[Any, tuple[int, pyarrow.Table | None]]) -> pyarrow.Table | None:
    """Return the columns of all types one after the other, with nulls where a type has none; None without any.

    Raises
    ------
    InputError
        For columns of one name and of several types.
    """
    import pyarrow

    types: dict[str, tuple[Any, Any]] = {}
    for kind, (_, table) in tables.items():
        for entry in () if table is None else table.schema:
            known = types.get(entry.name)
            if known is None or pyarrow.types.is_null(known[0]):
                types[entry.name] = entry.type, kind
            elif entry.type != known[0] and not pyarrow.types.is_null(entry.type):
                raise InputError(
                    f"{what}: the column {entry.name!r} is of the type {known[0]} for {known[1]} and {entry.type} for "
                    f"{kind}; convert one of them, or rename it"
                )
    if not types:
        return None
    made = {}
    for name, (of_column, _) in types.items():
        pieces = []
        for count, table in tables.values():
            if table is None or name not in table.column_names:
                pieces.append(pyarrow.nulls(count, of_column))
            else:
                column = table[name]
                chunks = column.chunks if column.type == of_column else column.cast(of_column).chunks
                pieces.extend(chunks)
        made[name] = pyarrow.chunked_array(pieces, of_column)
    return pyarrow.table(made).unify_dictionaries().combine_chunks()
