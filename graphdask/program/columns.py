"""Columns of a graph as fields of functions: `e.NAME` of an edge, `v.NAME` and `e.destination.NAME` of vertices.

A program or a Spec is made before its graph is known. Then any name that is no other field may be a column, and is
taken for a number. For a graph the functions are translated again with the columns that it has; those that they read
are numbered, and a number is part of a field's name, so that texts that read different arrays differ
(kernels/functions/functions_fields.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from graphdask.errors import InputError
from graphdask.graph.column_numbers import ColumnType, column_types, why_not
from graphdask.kernels.functions.functions_fields import COLUMN, COLUMNS
from graphdask.partition.column_values import ColumnAt
from graphdask.program._fields import Field

ON_DISK = "the file was built without columns; gd.stream.build keeps those of the graph that it is given"

Read = tuple[str, str]
"""`edges` or `vertices`, and the name of a column."""


@dataclass(frozen=True)
class Columns:
    """The columns that functions may read."""

    types: Mapping[str, Mapping[str, ColumnType]] | None = None
    """Of the `edges` and of the `vertices` of a graph, by name; None where the graph is not known yet."""
    kind: str = "int"
    """What functions read a column as before the graph is known."""
    numbers: Mapping[Read, int] = field(default_factory=dict)
    """Of those that are read: which array it is."""
    why_none: str = ""
    """Why a graph has none, if that is not because nobody gave any."""

    @classmethod
    def of(cls, G: Any) -> Columns:
        """Those of a graph."""
        graph = G.present
        types = {of: column_types(graph, of) for of in ("edges", "vertices")}
        on_disk = getattr(graph, "store", None) is not None and not any(types.values())
        return cls(types, why_none=ON_DISK if on_disk else "")

    def read(self, G: Any, fields: Iterable[str]) -> Columns:
        """The same with numbers for the columns among the fields that functions read, if they may read these.

        Raises
        ------
        InputError
            For more columns than there are arrays.
        """
        read = sorted({read for each in fields if (read := read_by(each)) is not None})
        numbers: dict[Read, int] = {}
        for of in ("edges", "vertices"):
            names = [name for kind, name in read if kind == of]
            if len(names) > COLUMNS:
                raise InputError(
                    f"functions read {len(names)} columns of {of}: {', '.join(names)}; they read {COLUMNS} at most"
                )
            numbers |= {(of, name): number for number, name in enumerate(names)}
        if not numbers:
            return self
        types = {of: dict(columns) for of, columns in (self.types or {}).items()}
        for of, name in numbers:
            types[of][name] = replace(types[of][name], refused=why_not(G.present, of, name))
        return replace(self, types=types, numbers=numbers)

    @cached_property
    def of_edge(self) -> dict[str, Field]:
        """The columns that a function of an edge reads: the edge's, and those of its ends."""
        return self.fields({"": "edge", "source": "source", "destination": "destination"})

    @cached_property
    def of_vertex(self) -> dict[str, Field]:
        """The columns that a function of a vertex reads."""
        return self.fields({"": "vertex"})

    def fields(self, owners: Mapping[str, str]) -> dict[str, Field]:
        """The fields of columns, by their paths; `owners` says whose columns, by the path that precedes the name."""
        found: dict[str, Field] = {}
        for path, role in owners.items():
            before, of = f"{path}." if path else "", "edges" if role == "edge" else "vertices"
            types = {} if self.types is None else self.types[of]
            for name, column in types.items():
                found[f"{before}{name}"] = Field(self._field(of, role, name), column.kind, column.refused)
            refused = "" if self.types is None else self._refused(of, types)
            found[f"{before}*"] = Field(f"{role}_column", self.kind, refused)
        return found

    def _field(self, of: str, role: str, name: str) -> str:
        plain = name if name.isidentifier() and name.isascii() else name.encode().hex()
        return f"{role}_column{self.numbers.get((of, name), '')}_{plain}"

    def _refused(self, of: str, types: Mapping[str, ColumnType]) -> str:
        return f"Columns of the {of}: {', '.join(types) or 'none'}" + (f"; {self.why_none}" if self.why_none else "")

    def at(self, of_edges: Iterable[str], of_vertices: str) -> tuple[ColumnAt, ...]:
        """Where ranks need the columns that are read: those of edges at some places, those of vertices at one."""
        found = [
            ColumnAt(place, name)
            for of, name in self.numbers
            for place in (of_edges if of == "edges" else (of_vertices,))
        ]
        return tuple(found)


def read_by(name: str) -> Read | None:
    """The column that a field reads; None for other fields."""
    found = COLUMN.fullmatch(name)
    return None if found is None else ("edges" if found[1] == "edge" else "vertices", found[3])
