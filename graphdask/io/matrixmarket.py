"""Matrix Market coordinate files (Boisvert, Pozo, Remington, NISTIR 5935).

Row i, column j is the edge i -> j; vertices are 1..n. A symmetric or hermitian file is an undirected graph
with each edge once. A skew-symmetric file is a directed graph with both (i, j, w) and (j, i, -w). Infinite
values are weights, NaN is an error. Stored zeros are edges of weight 0. The entries go through the parser of
all text files: SciPy's reader passes over surplus numbers in a line, refuses comments between entries, and
doubles an edge that a symmetric file holds in both triangles.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from graphdask.errors import FormatError, InputError, Unsupported

from ._lines import ID, SKIP, VALUE, Columns, declared_number, show
from ._numbered_out import largest_vertex
from ._table import Reading, line_of_row, read_table
from .adjlist import one_direction
from .columns import Request, count_infinite
from .edges import EdgeList, declared_vertices
from .opening import Source

_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern", "complex")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


def read_matrixmarket(path: str | os.PathLike[str], request: Request, reading: Reading) -> EdgeList:
    """Read a square coordinate matrix as a graph."""
    if request.times:
        raise InputError(f"{path}: Matrix Market files have no times")
    source = Source(path, whole=request.directed is False)
    field, symmetry, n, entries, skip, lines, comments = _header(source)
    if request.weights and field == "pattern":
        raise FormatError("weights=True, but a pattern matrix has no values", source.path, 1)
    if field == "complex" and request.weights is not False:
        raise Unsupported(f"{source.path}: complex values are no edge weights; read it with weights=False")
    value = SKIP if request.weights is False else VALUE
    kinds = {"pattern": (ID, ID), "complex": (ID, ID, SKIP, SKIP)}.get(field, (ID, ID, value))
    columns = Columns(kinds, comment=b"%", names=("row", "column", "value"))
    part = read_table(source, columns, reading, skip, lines + 1)
    part.comments += comments
    src, dst = part.columns[:2]
    weights: np.ndarray | None = part.columns[2] if VALUE in kinds else None
    if len(src) != entries and not (source.given and len(src) < entries):
        raise FormatError(f"the size line declares {entries} entries, the file has {len(src)}", source.path, lines)
    outside = np.flatnonzero((src < 1) | (src > n) | (dst < 1) | (dst > n))
    if len(outside):
        row = int(outside[0])
        raise FormatError(
            f"entry ({src[row]}, {dst[row]}) is outside the {n} x {n} matrix; rows and columns count from 1",
            source.path,
            line_of_row(source, columns, row, skip, lines + 1),
        )
    vertices = declared_vertices(n, source.path)
    if weights is not None and field not in ("integer", "unsigned-integer"):
        weights = weights.astype(np.float64, copy=False)
    elif weights is not None and weights.dtype.kind == "f" and len(weights):
        raise FormatError(f"the banner says {field}, but not all values are integers that fit int64", source.path)
    report: dict[str, Any] = {
        "format": "matrixmarket",
        "bytes": source.size,
        **part.report(),
        "declared_vertices": n,
        "declared_edges": entries,
        "field": field,
        "symmetry": symmetry,
    }
    directed = True
    if symmetry != "general":
        _refuse_both_triangles(src, dst, symmetry, n, source)
        directed = symmetry == "skew-symmetric"
        if directed:
            src, dst, weights = _both_triangles(src, dst, weights, source)
        if request.directed is not None and request.directed != directed:
            raise InputError(
                f"{source.path}: a {symmetry} matrix is {'' if directed else 'un'}directed; "
                f"directed={request.directed} cannot be met"
            )
    elif request.directed is False:
        keep, once = one_direction(src, dst, weights)
        if keep is None:
            at = int(once)
            raise FormatError(
                f"directed=False, but entry ({src[at]}, {dst[at]}) has no equal entry ({dst[at]}, "
                f"{src[at]}) while "
                "others have; read it with directed=True",
                source.path,
                line_of_row(source, columns, at, skip, lines + 1),
            )
        src, dst, weights = src[keep], dst[keep], None if weights is None else weights[keep]
        directed = False
    report |= count_infinite(weights) | ({"read_bytes": source.given} if source.given else {})
    return EdgeList(src, dst, weights, vertices=vertices, directed=directed, report=report)


def _header(source: Source) -> tuple[str, str, int, int, int, int, int]:
    """(field, symmetry, order, entries, bytes up to the entries, lines up to there, comments among them)."""
    size = 1 << 18
    while True:
        head, whole = source.head(size)
        lines = head.splitlines(keepends=True)
        field, symmetry = _banner(lines[0] if lines else b"", source)
        skip = 0
        comments = -1  # the banner is none
        for number, line in enumerate(lines if whole else lines[:-1], 1):
            skip += len(line)
            words = line.split()
            if not words or words[0].startswith(b"%"):
                comments += bool(words)
                continue
            if len(words) != 3 or not all(word.isdigit() for word in words):
                raise FormatError(
                    f"the size line {show(line.strip())} is not 'rows columns entries'", source.path, number
                )
            rows, columns, entries = map(declared_number, words)
            if rows != columns:
                raise FormatError(f"the matrix is {rows} x {columns}; a graph needs a square one", source.path, number)
            return field, symmetry, rows, entries, skip, number, comments
        if whole:
            raise FormatError("there is no size line 'rows columns entries'", source.path)
        size *= 8


def _banner(line: bytes, source: Source) -> tuple[str, str]:
    words = line.decode("utf-8", "replace").lower().split()
    if not words or words[0] not in ("%%matrixmarket", "%matrixmarket"):
        raise FormatError("the first line must be '%%MatrixMarket matrix coordinate FIELD SYMMETRY'", source.path, 1)
    if len(words) != 5 or words[1] != "matrix" or words[3] not in _FIELDS or words[4] not in _SYMMETRIES:
        raise FormatError(
            f"the banner {' '.join(words)!r} is not '%%MatrixMarket matrix coordinate FIELD "
            f"SYMMETRY' with a field "
            f"of {', '.join(_FIELDS)} and a symmetry of {', '.join(_SYMMETRIES)}",
            source.path,
            1,
        )
    if words[2] != "coordinate":
        raise Unsupported(f"{source.path}: a dense ({words[2]}) matrix is no graph; write it in coordinate format")
    field, symmetry = words[3], words[4]
    if (symmetry == "hermitian" and field != "complex") or (symmetry == "skew-symmetric" and field == "pattern"):
        raise FormatError(f"a {field} matrix cannot be {symmetry}", source.path, 1)
    return field, symmetry


def _both_triangles(
    src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, source: Source
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """A skew-symmetric matrix in full."""
    if (src == dst).any():
        at = int(src[src == dst][0])
        raise FormatError(
            f"entry ({at}, {at}) is on the diagonal, which a skew-symmetric matrix does not store",
            source.path,
        )
    both = None if weights is None else np.concatenate([weights, -weights])
    return np.concatenate([src, dst]), np.concatenate([dst, src]), both


def _refuse_both_triangles(src: np.ndarray, dst: np.ndarray, symmetry: str, n: int, source: Source) -> None:
    lower, upper = src > dst, src < dst
    if not (lower.any() and upper.any()):
        return
    both = np.flatnonzero(lower)[np.isin(src[lower] * (n + 1) + dst[lower], dst[upper] * (n + 1) + src[upper])]
    if len(both):
        at = int(both[0])
        raise FormatError(
            f"entry ({src[at]}, {dst[at]}) is stored again as ({dst[at]}, {src[at]}); a {symmetry} "
            "file holds one triangle. If both are meant, its banner should say 'general'",
            source.path,
        )


def write_matrixmarket(edges: EdgeList, stream: Any) -> None:
    """Write a coordinate matrix; ids must be integers of 1 or more, and row i is vertex i."""
    import pyarrow as pa
    from pyarrow import csv

    n = largest_vertex(edges, "Matrix Market")
    src, dst = edges.src, edges.dst
    if edges.directed is False:
        src, dst = np.maximum(src, dst), np.minimum(src, dst)
    field = "pattern" if edges.weights is None else "integer" if edges.weights.dtype.kind in "iu" else "real"
    symmetry = "symmetric" if edges.directed is False else "general"
    stream.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n{n} {n} {len(src)}\n".encode())
    arrays = [pa.array(src), pa.array(dst)] + ([] if edges.weights is None else [pa.array(edges.weights)])
    csv.write_csv(
        pa.table(arrays, names=["i", "j", "w"][: len(arrays)]),
        stream,
        csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none"),
    )
