"""Columns of edges and of vertices in a layered edge list: written when it is built, mapped when they are asked for.

A column of edges has a row for each edge that the file was built from, which the rows of edges in the file name; a
column of vertices has one for each vertex number. Each column is a stream of Arrow's format, of one batch where Arrow
can hold it in one, so that rows are taken from it where it is mapped: only pages that are read come into memory, and
the operating system may drop them again. The checksum of a column is compared when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow

from graphdask.errors import FormatError
from graphdask.graph.attributes import Attributes
from graphdask.stream.format import Writer
from graphdask.stream.store import Store


def write_table(writer: Writer, table: pyarrow.Table) -> dict[str, Any]:
    """Write columns, one after the other; return what the header says of them."""
    columns = [writer.append_written(partial(_write, table.select([name]))) for name in table.column_names]
    schema = writer.append_written(lambda stream: stream.write(table.schema.serialize()))
    return {"rows": table.num_rows, "schema": schema, "columns": columns}


def _write(column: pyarrow.Table, stream: Any) -> None:
    column = column.unify_dictionaries().combine_chunks().replace_schema_metadata(None)
    with pyarrow.PythonFile(stream, "w") as file, pyarrow.ipc.new_stream(file, column.schema) as batches:
        batches.write_table(column)


class StoredTable:
    """The columns of the edges or of the vertices of a store: a pyarrow.Table, of which a column is read when it is
    asked for."""

    def __init__(self, store: Store, kind: str):
        entry = store.header["columns"][kind]
        self._store, self._kind, self._entries = store, kind, entry["columns"]
        self.num_rows: int = entry["rows"]
        found = store.mapped(entry["schema"], f"what the columns of {kind} are")
        self.schema = pyarrow.ipc.read_schema(pyarrow.py_buffer(found))
        self._there: dict[str, pyarrow.ChunkedArray] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _same, (self.select(self.column_names),)

    @property
    def column_names(self) -> list[str]:
        names: list[str] = self.schema.names
        return names

    @property
    def nbytes(self) -> int:
        """Bytes in the file."""
        return sum(entry["bytes"] for entry in self._entries)

    def __getitem__(self, name: str) -> pyarrow.ChunkedArray:
        if name not in self._there:
            what = f"the column {name!r} of {self._kind}"
            data = self._store.mapped(self._entries[self.column_names.index(name)], what)
            try:
                table = pyarrow.ipc.open_stream(pyarrow.py_buffer(data)).read_all()
            except (ValueError, OSError, pyarrow.ArrowException) as error:
                raise FormatError(f"{what} cannot be read ({str(error)[:200]})", self._store.path) from None
            self._there[name] = table[0]
        return self._there[name]

    def select(self, names: Sequence[str]) -> pyarrow.Table:
        """Return some of the columns."""
        schema = pyarrow.schema([self.schema.field(name) for name in names], metadata=self.schema.metadata)
        return pyarrow.table([self[name] for name in names], schema=schema)

    def slice(self, offset: int, length: int) -> pyarrow.Table:
        """Return some rows of all columns."""
        return self.select(self.column_names).slice(offset, length)


def _same(table: pyarrow.Table) -> pyarrow.Table:
    return table


def stored_attributes(store: Store, ids: Any = None) -> Attributes | None:
    """Return the columns of the edges of a store, or those of its vertices, which have these ids; None without any."""
    kind = "edges" if ids is None else "vertices"
    if kind not in store.header.get("columns", {}):
        return None
    return Attributes(StoredTable(store, kind), ids)
