"""GEXF and GraphML, files for drawing programs: a small graph is brought to this process and written here."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow

from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph
from graphdask.io import EdgeList, detect_format, write_edges
from graphdask.io.asked import VERTEX
from graphdask.io.kept import warn_of_types
from graphdask.io.outputs import file_output
from graphdask.io.xml import refuse_many

DRAWN = ("gexf", "graphml")
"""Formats of drawing programs."""


def drawing_format(path: Any, format: str | None) -> str | None:
    """Which of these formats is asked for; None if another is, or the path says none."""
    if format is None:
        try:
            format = detect_format(path)
        except Exception:  # whatever an object that a caller gives raises is said where it is checked
            return None
    return format if isinstance(format, str) and format in DRAWN else None


def check_drawing(graph: Graph, path: Any, format: str, files: Any, overwrite: bool) -> None:
    """Check the arguments of a write, before any work.

    Raises
    ------
    InputError
        For several files, and a path that cannot be written or has a file.
    Unsupported
        For a graph of many edges.
    """
    if files not in (None, 1):
        raise InputError(f"files={shown(files)} are of a folder, and {format} is one file; leave it out")
    if os.fspath(path).endswith(("/", os.sep)):
        raise InputError(f"{os.fspath(path)} is the name of a folder, and {format} is one file; leave the slash out")
    refuse_many(graph.source.num_edges if not graph.merge else 0, format)
    file_output(path, overwrite)


def write_drawing(
    graph: Graph, path: Any, format: str, overwrite: bool, client: Any, progress: bool | None
) -> tuple[Path, int, int]:
    """Write a graph with its columns; return where, and how many edges and bytes."""
    write_edges(edge_list(graph, client, progress), path, format=format, overwrite=overwrite)
    warn_of_types(getattr(graph, "vertex_types", ()), getattr(graph, "edge_types", ()), path)
    place = Path(os.path.realpath(path))
    return place, graph.num_edges, place.stat().st_size if place.is_file() else 0


def edge_list(graph: Graph, client: Any, progress: bool | None) -> EdgeList:
    """The edges of a graph with the caller's ids, and all columns."""
    if graph.edge_attributes is None:
        src, dst, weights = graph.edges("cpu", client=client if graph.merge else None, progress=progress)
        made = EdgeList(src, dst, weights)
    else:
        src, dst, weights, rows = graph._edges_and_rows()
        table = graph.edge_attributes.take(rows, graph.edge_attributes.table.column_names)
        made = EdgeList(graph.ids.to_caller(src), graph.ids.to_caller(dst), weights, edge_columns=table)
    of_vertices = None
    if graph.vertex_attributes is not None:
        found = graph.vertex_attributes.of_vertices(graph.ids, graph.vertex_attributes.table.column_names)
        of_vertices = found.add_column(0, VERTEX, pyarrow.array(graph.ids.values))
    return replace(made, vertices=graph.vertex_ids, directed=graph.directed, vertex_columns=of_vertices)
