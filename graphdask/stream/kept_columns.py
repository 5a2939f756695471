"""Which columns of a graph or a file go into the layered edge list that is built from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphdask.errors import InputError, shown
from graphdask.graph.column_numbers import attributes_of
from graphdask.graph.graph import Graph
from graphdask.io.asked import WANTED


@dataclass(frozen=True)
class KeptColumns:
    """What a caller says of columns, and of the rows of edges by which those of edges are found."""

    edges: Any
    """Names, True or False; None: all of a graph, none of a file."""
    vertices: Any
    edge_rows: bool | None
    """None: if there are columns of edges."""

    def __post_init__(self) -> None:
        for what, asked in (("edge_columns", self.edges), ("vertex_columns", self.vertices)):
            if not (asked is None or isinstance(asked, bool | list | tuple)):
                raise InputError(f"{what}={shown(asked)} is not {WANTED}")

    @property
    def of_file(self) -> bool:
        """Whether columns of a file are asked for."""
        return bool(self.edges or self.vertices)

    def rows_of(self, graph: Graph) -> bool:
        """Whether the rows of the edges of a graph go into the file.

        Raises
        ------
        InputError
            For columns of edges without them.
        """
        kept = bool(self.names_of(graph, "edges"))
        if kept and self.edge_rows is not None and not self.edge_rows:
            raise InputError(
                "edge_rows=False leaves out the rows by which columns of edges are found; leave it out, or give "
                "edge_columns=False"
            )
        return kept or bool(self.edge_rows)

    def names_of(self, graph: Graph, kind: str) -> list[str]:
        """The columns of the edges or of the vertices of a graph that go into the file."""
        attributes = attributes_of(graph, kind)
        asked = self.edges if kind == "edges" else self.vertices
        if asked is False or (attributes is None and not isinstance(asked, list | tuple)):
            return []
        from graphdask.graph.attributes import chosen  # it imports pyarrow

        what = "edge_columns" if kind == "edges" else "vertex_columns"
        return chosen(what, None if asked is True else asked, attributes)

    def tables_of(self, graph: Graph) -> dict[str, Any]:
        """The columns that go into the file, as tables of Arrow: of the edges, and of the vertices by their numbers."""
        found = {}
        if names := self.names_of(graph, "edges"):
            found["edges"] = graph.edge_attributes.table.select(names)
        if names := self.names_of(graph, "vertices"):
            found["vertices"] = graph.vertex_attributes.of_vertices(graph.ids, names)
        return found
