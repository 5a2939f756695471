"""METIS graph files (METIS manual 5.1, section 4.1.1): a header `n m [fmt [ncon]]`, then line i holds the
neighbours of vertex i, numbered from 1; fmt is three digits: vertex sizes, vertex weights, edge weights.

Each edge stands twice in the file and once in the EdgeList, as (smaller, larger). Self-loops, which some
programs write, stand once. Vertex sizes and weights are read past and reported.
"""

from __future__ import annotations

import os

import numpy as np

from graphdask.errors import FormatError, InputError

from ._table import Reading, read_ragged
from .adjlist import one_direction
from .columns import Request
from .edges import EdgeList
from .opening import Source


def read_metis(path: str | os.PathLike[str], request: Request, reading: Reading) -> EdgeList:
    """Read a METIS graph: undirected, vertices 1..n, int64 weights where the file has them."""
    if request.directed:
        raise InputError(f"{path}: METIS graphs are undirected; directed=True cannot be met")
    if request.times:
        raise InputError(f"{path}: METIS graphs have no times")
    source = Source(path, whole=True)
    source.head(4096)
    part = read_ragged(source, b"%" if request.comment is None else request.comment.encode(), reading)
    values, lengths, lines = part.columns
    filled = np.flatnonzero(lengths)
    if not len(filled):
        raise FormatError(
            "the file has no header; a METIS graph starts with a line 'vertices edges [fmt [ncon]]'",
            source.path,
        )
    row = int(filled[0])
    header = values[: lengths[row]].tolist()
    header_line = int(lines[row])
    n, m, sizes, constraints, weighted = header_of(header, source, header_line)
    values, lengths, lines = values[len(header) :], lengths[row + 1 :], lines[row + 1 :]
    if len(lengths) < n:
        raise FormatError(
            f"the header declares {n} vertices, but the file has lines for {len(lengths)}",
            source.path,
            header_line,
        )
    if lengths[n:].any():
        extra = n + int(np.flatnonzero(lengths[n:])[0])
        raise FormatError(
            f"a line for vertex {extra + 1}, but the header declares {n} vertices",
            source.path,
            int(lines[extra]),
        )
    lengths = lengths[:n]
    src, dst, weights = _arcs(values, lengths, lines, sizes + constraints, weighted, n, source)
    loops = int((src == dst).sum())
    if m * 2 != len(src) + loops:
        raise FormatError(
            f"the header declares {m} edges, but the lines hold {len(src)} neighbours"
            f"{f', {loops} of them self-loops,' if loops else ''} which is "
            f"{(len(src) + loops) / 2:g} edges",
            source.path,
            header_line,
        )
    keep, lonely = one_direction(src, dst, weights)
    if keep is None or lonely:
        at = int(lonely) if keep is None else int(np.argmax(src != dst))
        raise FormatError(
            f"vertex {src[at]} lists {dst[at]}, but {dst[at]} does not list {src[at]}"
            f"{' with the same weight' if weighted else ''}; every edge must stand in both lines",
            source.path,
            int(np.repeat(lines[:n], _degrees(lengths, sizes + constraints, weighted))[at]),
        )
    if request.weights and weights is None:
        raise FormatError("weights=True, but the header says that edges have no weights", source.path, header_line)
    report = {
        "format": "metis",
        "bytes": source.size,
        **part.report(),
        "declared_vertices": n,
        "declared_edges": m,
    }
    if loops:
        report["self_loops"] = loops
    if sizes + constraints:
        report["unread_vertex_values"] = sizes + constraints
    return EdgeList(
        src[keep],
        dst[keep],
        None if weights is None or request.weights is False else weights[keep],
        vertices=np.arange(1, n + 1),
        directed=False,
        report=report,
    )


def header_of(header: list[int], source: Source, line: int) -> tuple[int, int, int, int, bool]:
    """(vertices, edges, sizes per vertex, weights per vertex, edges are weighted)."""
    if not 2 <= len(header) <= 4:
        raise FormatError(
            f"the header has {len(header)} numbers; it must be 'vertices edges [fmt [ncon]]'",
            source.path,
            line,
        )
    code = f"{header[2]:03d}" if len(header) > 2 else "000"
    if len(code) != 3 or set(code) - {"0", "1"}:
        raise FormatError(
            f"fmt is {header[2]}; it must be three digits of 0 and 1, such as 1, 10, 11 or 100",
            source.path,
            line,
        )
    constraints = header[3] if len(header) == 4 else 1
    if len(header) == 4 and ((code[1] == "0" and constraints > 0) or (code[1] == "1" and constraints == 0)):
        raise FormatError(
            f"ncon is {constraints}, but fmt {code} says {'no ' if code[1] == '0' else ''}vertex weights",
            source.path,
            line,
        )
    return header[0], header[1], int(code[0]), constraints if code[1] == "1" else 0, code[2] == "1"


def _degrees(lengths: np.ndarray, prefix: int, weighted: bool) -> np.ndarray:
    return (lengths - prefix) // (2 if weighted else 1)


def _arcs(
    values: np.ndarray,
    lengths: np.ndarray,
    lines: np.ndarray,
    prefix: int,
    weighted: bool,
    n: int,
    source: Source,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """(source, target, weights) of all neighbours, as they stand."""
    wrong = np.flatnonzero((lengths < prefix) | ((lengths - prefix) % (2 if weighted else 1) != 0))
    if len(wrong):
        at = int(wrong[0])
        raise FormatError(
            f"vertex {at + 1} has {lengths[at]} numbers; with this header it must have {prefix}"
            f"{' and then pairs of neighbour and weight' if weighted else ' and then neighbours'}",
            source.path,
            int(lines[at]),
        )
    if prefix and len(lengths):
        starts = np.cumsum(lengths) - lengths
        values = np.delete(values, (starts[:, None] + np.arange(prefix)).ravel())
    degrees = _degrees(lengths, prefix, weighted)
    src = np.repeat(np.arange(1, n + 1), degrees)
    dst, weights = (values[::2], values[1::2]) if weighted else (values, None)
    outside = np.flatnonzero((dst < 1) | (dst > n))
    if len(outside):
        at = int(outside[0])
        raise FormatError(
            f"vertex {src[at]} lists {dst[at]}, but vertices are numbered 1 to {n}",
            source.path,
            int(lines[src[at] - 1]),
        )
    return src, dst, weights
