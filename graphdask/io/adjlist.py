"""Adjacency lists: `v n1 n2 ...` on each line; a line of one id is a vertex without neighbours.

Without a direction the neighbours are arcs as they stand. With directed=False the lists may hold each edge in
both directions (as the LDBC Graphalytics validation graphs do) or once (as NetworkX writes them), not a
mixture.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from graphdask.errors import FormatError, InputError

from ._layout import numbers_above
from ._table import Reading, read_ragged
from .columns import Request
from .edges import EdgeList
from .opening import Source


def read_adjlist(path: str | os.PathLike[str], request: Request, reading: Reading) -> EdgeList:
    """Read adjacency lists of integer ids; all vertices of the file are declared."""
    if request.weights or request.times:
        raise InputError(f"{path}: adjacency lists have no weights or times")
    source = Source(path, whole=request.directed is False)
    source.head(4096)
    comment = b"#%" if request.comment is None else request.comment.encode()
    above = numbers_above(source, request, comment)
    part = read_ragged(source, comment, reading, above.skip, above.lines + 1)
    values, lengths, lines = part.columns
    lengths, lines = lengths[lengths > 0], lines[lengths > 0]
    starts = np.cumsum(lengths) - lengths
    src = np.repeat(values[starts], lengths - 1)
    dst = np.delete(values, starts)
    vertices = np.unique(values)
    report: dict[str, Any] = {"format": "adjlist", "bytes": source.size, **part.report(), **above.report(request)}
    report["comments"] += above.comments
    report |= {"read_bytes": source.given} if source.given else {}
    if request.directed is False:
        keep, once = one_direction(src, dst)
        if keep is None:
            at = int(once)
            line = int(np.repeat(lines, lengths - 1)[at])
            raise FormatError(
                f"{src[at]} lists {dst[at]}, but {dst[at]} does not list {src[at]}, although others "
                "are listed in both directions; the graph is directed (directed=True) or the file "
                "is not whole",
                source.path,
                line,
            )
        report["listed"] = "once" if once else "both ways"
        src, dst = src[keep], dst[keep]
    return EdgeList(src, dst, vertices=vertices, directed=request.directed, report=report)


def one_direction(
    src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray | None, bool | int]:
    """Reduce undirected arcs to one for each edge.

    Parameters
    ----------
    src, dst : int64[m]
    weights : number[m], optional
        Both directions of an edge must have the same.

    Returns
    -------
    keep : bool[m] or None
        The arcs to keep: those with src <= dst if all other arcs stand in both directions, all if none does.
        None if some do and some do not.
    once : bool or int
        Whether each edge stood once; without `keep`, an arc that has no mirror.
    """
    loops = src == dst
    forward, backward = np.flatnonzero(src < dst), np.flatnonzero(src > dst)
    a = _sorted_arcs(src[forward], dst[forward], None if weights is None else weights[forward])
    b = _sorted_arcs(dst[backward], src[backward], None if weights is None else weights[backward])
    if len(a[0]) == len(b[0]) and all(np.array_equal(x, y) for x, y in zip(a[1:], b[1:], strict=True)):
        return src <= dst, False
    names, number = np.unique(np.concatenate([src, dst]), return_inverse=True)
    n = len(names)
    number = number.reshape(-1).astype(np.int64)
    s, d = number[: len(src)], number[len(src) :]
    if n < 2**31:
        mirrored = np.isin(s * n + d, d * n + s) & ~loops
        if not mirrored.any():
            return np.ones(len(src), np.bool_), True
        lonely = np.flatnonzero(~mirrored & ~loops)
        if len(lonely):
            return None, int(lonely[0])
    return None, int(_first_difference(a, b, forward, backward))


def _sorted_arcs(src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None) -> list[np.ndarray]:
    """The order that sorts the arcs, and the sorted columns."""
    columns = [src, dst] + ([] if weights is None else [weights])
    order = np.lexsort(columns[::-1])
    return [order] + [column[order] for column in columns]


def _first_difference(a: list[np.ndarray], b: list[np.ndarray], forward: np.ndarray, backward: np.ndarray) -> int:
    """An arc that is in one sorted list and not in the other."""
    shared = min(len(a[0]), len(b[0]))
    differ = np.zeros(shared, np.bool_)
    for x, y in zip(a[1:], b[1:], strict=True):
        differ |= x[:shared] != y[:shared]
    at = int(np.argmax(differ)) if differ.any() else shared
    if at < len(a[0]):
        return int(forward[a[0][at]])
    return int(backward[b[0][at]])
