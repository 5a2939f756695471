"""Columns that files of a format have no place for."""

from __future__ import annotations

from typing import Any

from .formats import FORMATS


def columns_lost(table: Any, kind: str, format: str, single: bool = True) -> list[str]:
    """Return names of columns, of edges or of vertices as `kind` says, that a file of a format has no place for.

    `table` has no rows; `single`: it is a file, not a folder of parts.
    """
    known = FORMATS[format]
    if kind == "vertex" and not single:
        format = "parquet"  # of the table of the vertices
    elif not (known.holds_edge_columns if kind == "edge" else known.holds_vertex_columns):
        return list(table.column_names)
    if format in ("edgelist", "temporal"):  # whose headers are read, but none is written
        return list(table.column_names)
    if format in ("gexf", "graphml"):
        from ._xml_columns import lost_in_xml

        return lost_in_xml(table)
    if format == "csv":
        from .text_columns import lost_in_csv

        return lost_in_csv(table)
    if format == "parquet":
        from .parquet import unwritable

        return unwritable(table)
    return []
