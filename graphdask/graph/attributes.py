"""Attributes: named columns of edges or of vertices, an Arrow table on the host from which rows are taken.

Row i of the columns of edges belongs to edge i of what the caller gave, so that the row of a sampled edge (`s.edge`)
finds its values. Row i of the columns of vertices belongs to vertex i of `ids`. A row beyond the table, as an edge has
that was inserted later, has nulls.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute

from graphdask.errors import InputError, MissingDependency, shown
from graphdask.graph.arrow_tables import checked_names
from graphdask.partition.ids import VertexIds

PANDAS = b"pandas"
"""Key of a schema's metadata under which pandas records the types of a frame."""


@dataclass(frozen=True, eq=False)
class Attributes:
    """Columns, in the order in which they were given."""

    table: pyarrow.Table
    """Or what reads its columns from a file when they are asked for (graphdask.stream.columns)."""
    ids: VertexIds | None = None
    """Of vertices: whose rows they are, one for each vertex."""
    known: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    """What was found of columns that functions read (graphdask.graph.column_numbers)."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "known": {}}

    @property
    def types(self) -> dict[str, pyarrow.DataType]:
        """Arrow's type of each column, by name."""
        return {entry.name: entry.type for entry in self.table.schema}

    def checked(self, what: str, names: Any) -> list[str]:
        """Return names of these columns; all of them for None.

        Raises
        ------
        InputError
            For a name that is none of theirs, listing these.
        """
        return chosen(what, names, self)

    def take(self, rows: np.ndarray, names: Sequence[str]) -> pyarrow.Table:
        """Return rows of columns; nulls for a row below 0 or beyond the table."""
        rows, table = np.asarray(rows, np.int64), self.table.select(list(names))
        beyond = (rows < 0) | (rows >= table.num_rows)
        if beyond.any():
            return table.take(pyarrow.array(rows, mask=beyond))
        if len(rows) == table.num_rows and (not len(rows) or (rows[0] == 0 and (np.diff(rows) == 1).all())):
            return table
        return table.take(pyarrow.array(rows))

    def only(self, rows: np.ndarray, names: Sequence[str] | None = None) -> Attributes:
        """Return the columns of these rows alone; `names` are those of some columns."""
        names = self.table.column_names if names is None else names
        return replace(self, table=self.take(rows, names).combine_chunks())

    def of_vertices(self, ids: VertexIds, names: Sequence[str], numbers: np.ndarray | None = None) -> pyarrow.Table:
        """Return the rows of vertices of a graph, which has these ids; by default of all, in the order of the ids."""
        assert self.ids is not None
        if numbers is None:
            numbers = np.arange(ids.count)
        if ids is not self.ids:
            numbers = self.ids.find(ids.to_caller(numbers)) if self.ids.count else np.full(len(numbers), -1)
        return self.take(numbers, names)

    def after(self, count: int, batches: Sequence[tuple[int, pyarrow.Table | None]]) -> Attributes:
        """Return the columns of `count` rows and those of batches after them.

        A batch is a number of rows and their columns, or None for nulls in all.
        """
        made = []
        for rows, table in ((count, self.table.select(list(self.types))), *batches):
            lacking = rows - (0 if table is None else table.num_rows)
            made += [] if table is None else [table]
            if lacking:
                nulls = [pyarrow.nulls(lacking, entry.type) for entry in self.table.schema]
                made.append(pyarrow.table(nulls, schema=self.table.schema))
        return replace(self, table=pyarrow.concat_tables(made).unify_dictionaries().combine_chunks())


def chosen(what: str, names: Any, attributes: Attributes | None) -> list[str]:
    """Return the names of columns that a caller asks for, of those that there are; all of them for None.

    Raises
    ------
    InputError
        For a name that is no column's.
    """
    there = [] if attributes is None else list(attributes.types)
    if names is None:
        return there
    for name in checked_names(what, names):
        if name not in there:
            raise InputError(f"{what}: there is no column {shown(name)}; there are {', '.join(there) or 'none'}")
    return list(names)


def numpy_values(column: pyarrow.ChunkedArray) -> np.ndarray:
    """Return a column as a NumPy array.

    Numbers, truth values, dates and durations have NumPy's types; others are objects. With nulls, floats have NaN,
    dates and durations NaT; whole numbers and truth values are objects with None, because no number stands for null.
    """
    kind, of = column.type, pyarrow.types
    if isinstance(kind, pyarrow.BaseExtensionType):
        return _objects(python_values(column))
    if of.is_dictionary(kind):
        return numpy_values(column.cast(kind.value_type))
    if column.null_count and not (of.is_floating(kind) or of.is_temporal(kind)):
        return _objects(column.to_pylist())
    return column.to_numpy()


def python_values(column: pyarrow.ChunkedArray) -> list[Any]:
    """Return the values of a column as objects of Python, None for those that are missing; of types that pandas has
    added to Arrow, those of pandas."""
    if type(column.type).__module__.partition(".")[0] == "pandas":
        missing = column.is_null().to_pylist()
        found = column.to_pandas().tolist()
        return [None if none else value for none, value in zip(missing, found, strict=True)]
    return column.to_pylist()


def _objects(values: list[Any]) -> np.ndarray:
    made = np.empty(len(values), object)
    made[:] = values
    return made


def pandas_frame(table: pyarrow.Table) -> Any:
    """Return a table as a pandas DataFrame; whole numbers and truth values with nulls get pandas' nullable types.

    Raises
    ------
    MissingDependency
        Without pandas.
    """
    try:
        import pandas
    except ImportError as error:
        raise MissingDependency('to_frame() needs pandas: pip install "graphdask[dataframe]"') from error
    arrow, others = _of_arrow_types(table)
    frame = others.to_pandas()
    for name in arrow:
        frame[name] = pandas.arrays.ArrowExtensionArray(table[name])
    frame = frame[table.column_names] if arrow else frame
    for name, column in zip(table.column_names, table.columns, strict=True):
        whole = pyarrow.types.is_integer(column.type) or pyarrow.types.is_boolean(column.type)
        if whole and column.null_count and not pandas.api.types.is_extension_array_dtype(frame[name].dtype):
            kind = "boolean" if pyarrow.types.is_boolean(column.type) else str(column.type).title().replace("Ui", "UI")
            frame[name] = pandas.array(column.to_pylist(), dtype=kind)
    return frame


def _of_arrow_types(table: pyarrow.Table) -> tuple[list[str], pyarrow.Table]:
    """Names of the columns that had types of Arrow in the pandas frame that they came from, and a table of the others.

    What pandas recorded of those is left out of it: Arrow does not know the names of their types (TypeError "data type
    'list<item: int64>[pyarrow]' not understood").
    """
    recorded: dict[str, Any] = json.loads((table.schema.metadata or {}).get(PANDAS, b"{}"))
    entries = recorded.get("columns", [])
    names = [entry["name"] for entry in entries if str(entry.get("numpy_type")).endswith("[pyarrow]")]
    if not names:
        return [], table
    recorded["columns"] = [entry for entry in entries if entry["name"] not in names]
    names = [name for name in names if name in table.column_names]
    metadata = table.schema.metadata | {PANDAS: json.dumps(recorded)}
    return names, table.drop_columns(names).replace_schema_metadata(metadata)


def edges_table(src: Any, dst: Any, weights: Any) -> pyarrow.Table:
    """Return a table of edges, with their weights if there are any."""
    ends = (end if end.dtype == object else end.astype(np.int64, copy=False) for end in (src, dst))
    columns = dict(zip(("src", "dst"), map(pyarrow.array, ends), strict=True))
    return pyarrow.table(columns if weights is None else columns | {"weight": pyarrow.array(weights)})


def beside(table: pyarrow.Table, more: pyarrow.Table) -> pyarrow.Table:
    """Return both tables' columns, with what pandas recorded of those that came from it."""
    return pyarrow.table(
        [*table.columns, *more.columns],
        schema=pyarrow.schema([*table.schema, *more.schema], metadata=more.schema.metadata),
    )
