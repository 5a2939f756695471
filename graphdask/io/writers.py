"""Writing edges: the checks that come before, and which writer a format has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphdask.device.limits import least_of_edges, refuse_beyond_disk
from graphdask.errors import InputError, Unsupported, shown

from .edges import EdgeList
from .formats import FORMATS, format_of, refuse_compressed, refuse_packed
from .opening import COMPRESSION_SUFFIXES

NUMBERED = ("matrixmarket", "metis", "dimacs")
"""Formats whose vertices are the numbers from 1 on."""
MANY = 1 << 18
"""Edges up to which the free space of the disk is not checked."""


def write_edges(
    edges: EdgeList,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    overwrite: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Write edges to a file, whole or not at all.

    Parameters
    ----------
    edges : EdgeList
    path : path-like
        Text formats are compressed if the name ends in .gz, .xz or .bz2. Also an address that fsspec opens, such as
        "s3://bucket/graph.parquet", to which the file is sent when it is complete.
    format : str, optional
        A key of `FORMATS` that can be written; default: what the name says.
    overwrite : bool
        Replace a file that is there, once the new one is whole. Default: raise OutputExists.
    storage_options : mapping, optional
        What fsspec opens an address with, such as credentials. Default: none.

    Raises
    ------
    InputError
        If the format cannot hold the graph, or the file cannot be written.
    OutputExists
        If the file is there, without `overwrite=True`.
    WriteError
        If the disk is full or fails; nothing is left of the file then, and an old one is unchanged.

    Warns
    -----
    GraphdaskWarning
        For each thing that the format cannot keep: vertices without edges, the type of weights, and that ids are names
        where they look like numbers.
    """
    from .sent import sent

    with sent(path, overwrite, storage_options) as place:
        _write_file(edges, place, format, overwrite)


def _write_file(edges: EdgeList, path: str | os.PathLike[str], format: str | None, overwrite: bool) -> None:
    """Write edges to a file of this host."""
    from .opening import compressing
    from .outputs import file_output

    chosen = format_of(path, format)
    if not chosen.writes:
        able = ", ".join(f.name for f in FORMATS.values() if f.writes)
        raise Unsupported(f"graphdask does not write {chosen.name}; it writes {able}")
    refuse_packed(path)
    refuse_compressed(path, chosen)
    out = file_output(path, overwrite)
    _check(edges, chosen.name)
    edges = kept_columns(edges, chosen.name, out.path)
    _refuse_beyond_disk(edges, path, chosen.name)
    if chosen.name == "parquet":
        from .parquet import write_parquet

        with out.unfinished() as temporary:
            write_parquet(edges, temporary)
    elif chosen.name == "npz":
        from .npz import write_npz

        with out.unfinished() as temporary:
            write_npz(edges, temporary)
    else:
        writer = _text_writer(chosen.name)
        with out.stream() as file, compressing(file, out.path.name) as stream:
            writer(edges, stream)


def _refuse_beyond_disk(edges: EdgeList, path: str | os.PathLike[str], name: str) -> None:
    """Raise WriteError if the disk has no space for the edges."""
    if edges.num_edges < MANY:
        return
    suffix = Path(path).suffix.lower()
    compression = suffix if suffix in COMPRESSION_SUFFIXES else ""
    needed = least_of_edges(name, compression, edges.num_edges, 1, 1, 0)  # ids may all be short
    refuse_beyond_disk(path, f"{edges.num_edges:,} edges", needed, "write to a larger disk, or a compressed file")


def text_writer(edges: EdgeList, name: str) -> Any:
    """What writes edges to a stream in this format, once they are known to fit it."""
    _check(edges, name)
    writer, kept = _text_writer(name), kept_columns(edges, name, "the stream")

    def write(_: EdgeList, stream: Any) -> None:
        writer(kept, stream)

    return write


def kept_columns(edges: EdgeList, name: str, target: object) -> EdgeList:
    """The edges with the columns that the format holds, once it has been warned of the others."""
    from . import kept
    from .asked import VERTEX
    from .lost_columns import columns_lost

    of_edges, of_vertices = edges.edge_columns, edges.vertex_columns
    if of_edges is None and of_vertices is None:
        return edges
    lost: list[list[str]] = [[], []]
    if of_edges is not None:
        lost[0] = columns_lost(of_edges.slice(0, 0), "edge", name)
        of_edges = of_edges.drop_columns(lost[0]) if len(lost[0]) < of_edges.num_columns else None
    if of_vertices is not None:
        lost[1] = columns_lost(of_vertices.drop_columns([VERTEX]).slice(0, 0), "vertex", name)
        of_vertices = of_vertices.drop_columns(lost[1]) if len(lost[1]) + 1 < of_vertices.num_columns else None
    kept.warn_of_columns(lost[0], lost[1], target)
    if name == "csv" and of_edges is not None:
        from .text_columns import warn_of_column_types

        warn_of_column_types(of_edges, edges.weights is not None)
    if name in ("gexf", "graphml"):
        from ._xml_columns import warn_of_xml_types
        from .text_columns import warn_of_weight_names

        if of_edges is not None and edges.weights is None:
            warn_of_weight_names(of_edges, name)
        for table, what in ((of_edges, "edge"), (of_vertices, "vertex")):
            if table is not None:
                warn_of_xml_types(table, what, name)
    return replace(edges, edge_columns=of_edges, vertex_columns=of_vertices)


def _check(edges: EdgeList, name: str) -> None:
    if not isinstance(edges, EdgeList):
        raise InputError(f"edges={shown(edges)} is not an EdgeList, as read_edges returns")
    if len(edges.src) != len(edges.dst):
        raise InputError(f"{len(edges.src)} sources and {len(edges.dst)} targets")
    _check_names(edges, name)
    _warn_of_lost(edges, name)


def _text_writer(name: str) -> Any:
    if name == "edgelist":
        from ._text_out import write_edgelist

        return write_edgelist
    if name == "csv":
        from ._text_out import write_csv

        return write_csv
    if name == "matrixmarket":
        from .matrixmarket import write_matrixmarket

        return write_matrixmarket
    if name == "native":
        from .native import write_native

        return write_native
    if name in ("metis", "dimacs"):
        from . import _numbered_out

        return _numbered_out.write_metis if name == "metis" else _numbered_out.write_dimacs
    from . import xml

    return xml.write_gexf if name == "gexf" else xml.write_graphml


def _check_names(edges: EdgeList, name: str) -> None:
    """Raise InputError, before anything is written, for an id that the format cannot hold."""
    from .kept import is_text, refuse_names

    for ids in (edges.src, edges.dst, edges.vertices):
        if ids is not None and is_text(ids):
            refuse_names(dict.fromkeys(ids.tolist()), name)


def _warn_of_lost(edges: EdgeList, name: str) -> None:
    """Warn of each thing that the format does not keep."""
    import numpy as np

    from . import kept

    if name in NUMBERED and kept.is_text(edges.src):
        return  # which they refuse
    if kept.is_text(edges.src):
        kept.warn_of_names(dict.fromkeys([*edges.src.tolist(), *edges.dst.tolist()]), name)
    kept.warn_of_weights(None if edges.weights is None else edges.weights.dtype, name, edges=edges.num_edges)
    if edges.vertices is None and name not in NUMBERED:
        return
    named = np.unique(np.concatenate([edges.src, edges.dst]))
    if name == "csv" or (name in ("edgelist", "parquet") and edges.vertex_range is None):
        assert edges.vertices is not None
        kept.warn_of_vertices(len(edges.vertices) - len(named), name)
    if name in NUMBERED and named.dtype.kind in "iu":
        there = named if edges.vertices is None else edges.vertices
        kept.warn_of_added(int(there.max()) - len(there) if len(there) else 0, name)
