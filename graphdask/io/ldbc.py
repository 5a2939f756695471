"""LDBC Graphalytics: `NAME.v` with one vertex a line, `NAME.e` with `source target [property]`, and the
reference answers `id value` (LDBC Graphalytics specification, section 2.2.3 and 2.3).

An undirected graph holds each edge once. Its direction is in `NAME.properties` if that file is there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from graphdask.display.phases import progress_over
from graphdask.errors import FormatError, InputError

from ._layout import numbers_above
from ._ldbc_names import ldbc_pair
from ._lines import ID, SKIP, VALUE, Columns
from ._spill import slices
from ._table import Reading, line_of_row, read_table
from .columns import Request, check_lines, count_infinite
from .edges import EdgeList
from .opening import COMPRESSION_SUFFIXES, Source

_DIRECTED = re.compile(r"graph\..*\.directed\s*=\s*(true|false)")


def read_ldbc(path: str | os.PathLike[str], request: Request, reading: Reading) -> EdgeList:
    """Read both files; every end of an edge must be a declared vertex."""
    if request.times:
        raise InputError(f"{path}: LDBC graphs have no times")
    pair = ldbc_pair(path)
    if pair is None:
        raise InputError(
            f"{path}: an LDBC graph is two files NAME.v and NAME.e side by side; one or both are "
            "missing (format='edgelist' reads the .e file alone)"
        )
    vertex_source, source = Source(pair[0], whole=True), Source(pair[1])
    vertex_source.head(4096)
    first = numbers_above(vertex_source, request, b"#")
    declared = read_table(vertex_source, Columns((ID,), comment=b"#"), reading, first.skip, first.lines + 1)
    vertices = np.unique(declared.columns[0])
    above = numbers_above(source, request, b"#")
    count = above.columns
    if count not in (0, 2, 3):
        raise FormatError(
            f"the first edge has {count} columns; it must be 'source target' or with a property", source.path
        )
    if request.weights and count == 2:
        raise FormatError("weights=True, but the edges have no property", source.path)
    kinds = (ID, ID) if count < 3 else (ID, ID, SKIP if request.weights is False else VALUE)
    columns = Columns(kinds, comment=b"#", names=("source", "target", "property"))
    part = read_table(source, columns, reading, above.skip, above.lines + 1)
    part.comments += above.comments + first.comments + declared.comments
    src, dst = part.columns[:2]
    weights = part.columns[2] if len(part.columns) == 3 else None
    for ids in (src, dst):
        for first, some in slices(ids):
            missing = np.flatnonzero(_undeclared(some, vertices))
            if len(missing):
                row = first + int(missing[0])
                raise FormatError(
                    f"the edge {src[row]} {dst[row]} names the vertex {ids[row]}, which "
                    f"{vertex_source.path.name} does not declare",
                    source.path,
                    line_of_row(source, columns, row, above.skip, above.lines + 1),
                )
    directed = request.directed if request.directed is not None else _declared_direction(source.path)
    return EdgeList(
        src,
        dst,
        weights,
        vertices=vertices,
        directed=directed,
        report={
            "format": "ldbc",
            "bytes": source.size + vertex_source.size,
            **part.report(),
            **above.report(request),
            "declared_vertices": len(vertices),
            **count_infinite(weights),
        },
    )


def _undeclared(ids: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """Which of some ids are not among the sorted ones of all vertices."""
    if not len(vertices):
        return np.ones(len(ids), bool)
    if vertices[-1] - vertices[0] + 1 == len(vertices):
        found: np.ndarray = (ids < vertices[0]) | (ids > vertices[-1])
        return found
    place = np.searchsorted(vertices, ids)
    found = vertices[np.minimum(place, len(vertices) - 1)] != ids
    return found


def read_vertex_values(
    path: str | os.PathLike[str],
    *,
    header: bool | None = None,
    skip_rows: int = 0,
    threads: int | None = None,
    progress: bool | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Read a file of `id value` lines, such as an LDBC reference answer.

    Parameters
    ----------
    path : path-like
        Text, also compressed with gzip, xz or bzip2.
    header : bool, optional
        Whether the first line that is no comment is a header. Default: if it is not of numbers and those below are.
    skip_rows : int
        Lines to pass over before anything is read.
    threads : int, optional
        Parsing threads; default: one for each core.
    progress : bool, optional
        Show a progress bar. Default: in a terminal or a notebook.

    Returns
    -------
    ids : int64[n]
        In the order of the file.
    values : int64[n] or float64[n]
        Integers if all are; 9223372036854775807 and Infinity, which mean unreachable, stay as they are.

    Raises
    ------
    FormatError
        For a line that is not an id and a number, or an id that stands twice.
    """
    check_lines(header, skip_rows)
    source = Source(path)
    source.head(4096)
    columns = Columns((ID, VALUE), comment=b"#", names=("vertex id", "value"))
    above = numbers_above(source, Request(header=header, skip_rows=int(skip_rows)), b"#")
    with progress_over(source.path, ("reading",), progress):
        ids, values = read_table(source, columns, Reading(threads), above.skip, above.lines + 1).columns
    order = np.argsort(ids, kind="stable")
    twice = np.flatnonzero(ids[order][1:] == ids[order][:-1])
    if len(twice):
        row = int(order[twice[0] + 1])
        line = line_of_row(source, columns, row, above.skip, above.lines + 1)
        raise FormatError(f"vertex {ids[row]} has a second value", source.path, line)
    return ids, values


def _declared_direction(path: Path) -> bool | None:
    """`graph.NAME.directed = true` in the properties file."""
    stem = path.with_suffix("") if path.suffix.lower() in COMPRESSION_SUFFIXES else path
    try:
        text = stem.with_suffix(".properties").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = next((found for line in text.splitlines() if (found := _DIRECTED.fullmatch(line.strip()))), None)
    return None if found is None else found.group(1) == "true"
