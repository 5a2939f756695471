"""DIMACS-like `.gr` files: the 9th DIMACS challenge (`p sp n m`, then `a u v w`), PACE (`p tw n m`, then `u
v`), the colouring format (`p edge n m`, then `e u v`), and the same without a `p` line.

`p sp` is directed, the others with a `p` line are undirected and hold each edge once. With a `p` line
vertices are 1..n; without one ids are what the edges name. `c` starts a comment.
"""

from __future__ import annotations

import os

import numpy as np

from graphdask.errors import FormatError, InputError

from ._lines import ID, SKIP, VALUE, Columns, declared_number, show
from ._spill import slices
from ._table import Reading, line_of_row, read_table
from .columns import Request, count_infinite
from .edges import EdgeList, declared_vertices
from .opening import Source

_DIRECTED = {"sp"}
_UNDIRECTED = {"tw", "edge", "edges", "col", "td", "cep", "vc", "ds", "hs", "fvs"}


def read_dimacs(path: str | os.PathLike[str], request: Request, reading: Reading) -> EdgeList:
    """Read a `.gr` file; a column after the two ids is the weight."""
    if request.times:
        raise InputError(f"{path}: .gr files have no times")
    source = Source(path)
    problem, skip, line, comments, first = _header(source)
    tag = first[0] if first and first[0] in (b"a", b"e") else b""
    count = len(first) - len(tag) if first else 2
    if count not in (2, 3):
        raise FormatError(
            f"the line has {count} numbers; an edge is 'u v' or 'u v weight', perhaps after 'a' or 'e'",
            source.path,
            line + 1,
        )
    if request.weights and count == 2 and first:
        raise FormatError("weights=True, but the edges have no third number", source.path, line + 1)
    kinds = (ID, ID) if count == 2 else (ID, ID, SKIP if request.weights is False else VALUE)
    columns = Columns(kinds, comment=b"c", tag=tag, names=("source", "target", "weight"))
    part = read_table(source, columns, reading, skip, line + 1)
    part.comments += comments
    src, dst = part.columns[:2]
    weights = part.columns[2] if len(part.columns) == 3 else None
    edges = EdgeList(
        src,
        dst,
        weights,
        directed=True if tag == b"a" else None,
        report={"format": "dimacs", "bytes": source.size, **part.report(), **count_infinite(weights)},
    )
    edges.report |= {"read_bytes": source.given} if source.given else {}
    if problem is not None:
        name, n, m = problem
        edges.directed = name in _DIRECTED
        edges.vertices = declared_vertices(n, source.path)
        edges.report |= {"problem": name, "declared_vertices": n, "declared_edges": m}
        if m != len(src) and not (source.given and len(src) < m):
            raise FormatError(f"the p line declares {m} edges, the file has {len(src)}", source.path)
        for begin, some, others in slices(src, dst):
            outside = np.flatnonzero((some < 1) | (some > n) | (others < 1) | (others > n))
            if len(outside):
                row = begin + int(outside[0])
                raise FormatError(
                    f"edge {src[row]} {dst[row]}: the p line declares vertices 1 to {n}",
                    source.path,
                    line_of_row(source, columns, row, skip, line + 1),
                )
        if request.directed is not None and request.directed != edges.directed:
            raise InputError(
                f"{source.path}: 'p {name}' files are {'' if edges.directed else 'un'}directed; "
                f"directed={request.directed} cannot be met"
            )
    elif request.directed is not None:
        edges.directed = request.directed
    return edges


def _header(source: Source) -> tuple[tuple[str, int, int] | None, int, int, int, list[bytes]]:
    """(problem, bytes up to the first edge, lines up to there, comments among them, tokens of the first
    edge)."""
    size = 1 << 18
    while True:
        head, whole = source.head(size)
        problem = None
        skip = comments = 0
        lines = head.splitlines(keepends=True)
        for number, content in enumerate(lines if whole else lines[:-2], 1):
            tokens = content.split()
            if tokens and tokens[0] == b"p":
                if problem is not None:
                    raise FormatError("a second p line", source.path, number)
                problem = _problem(tokens, source, number)
            elif tokens and not tokens[0].startswith(b"c"):
                return problem, skip, number - 1, comments, tokens
            else:
                comments += bool(tokens)
            skip += len(content)
        if whole:
            if problem is None:
                raise FormatError("the file has neither a p line nor an edge", source.path)
            return problem, skip, len(lines), comments, []
        size *= 8


def _problem(tokens: list[bytes], source: Source, line: int) -> tuple[str, int, int]:
    name = tokens[1].decode("utf-8", "replace").lower() if len(tokens) > 1 else ""
    if len(tokens) != 4 or not (tokens[2].isdigit() and tokens[3].isdigit()):
        raise FormatError(f"{show(b' '.join(tokens))}: a p line is 'p problem vertices edges'", source.path, line)
    if name not in _DIRECTED | _UNDIRECTED:
        raise FormatError(
            f"the problem {name!r} is not known; known are {', '.join(sorted(_DIRECTED | _UNDIRECTED))}",
            source.path,
            line,
        )
    return name, declared_number(tokens[2]), declared_number(tokens[3])
