"""Parallel edges of an edge list: how many there are, and which of each group stays where they are merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from graphdask.device.host_memory import reserved
from graphdask.display.phases import BLOCK, in_blocks, nothing
from graphdask.partition.ids import COMPILED


def count_parallel(
    src: np.ndarray, dst: np.ndarray, n: int, directed: bool, report: Callable[[float], None] = nothing
) -> int:
    """Count the edges that are parallel to another one before them; ends are vertex numbers below `n`.

    Where there are many edges they are counted in linear time, with 2 bytes for each edge and 8 for each vertex.
    `report` takes the share that is done.
    """
    edges = len(src)
    if not edges:
        return 0
    if edges < COMPILED or n > 4 * edges or max(n + 2, edges) >= 2**31:
        low, high = (src, dst) if directed else (np.minimum(src, dst), np.maximum(src, dst))
        if n < 2**31:
            key = _keys(low, high)
            key.sort()
            return int(np.count_nonzero(key[1:] == key[:-1]))
        order = np.lexsort((high, low))
        return edges - 1 - int(np.count_nonzero(_differ(low[order], high[order])))
    return count_in_rows(src, dst, n, directed, edges // 2 + 1, report)


def count_in_rows(
    src: np.ndarray, dst: np.ndarray, n: int, directed: bool, capacity: int, report: Callable[[float], None] = nothing
) -> int:
    """Count parallel edges by bringing those of a vertex together, for as many vertices at a time as have a place.

    Parameters
    ----------
    src, dst : ndarray
        Ends of the edges, below `n`.
    n : int
        Number of vertices.
    directed : bool
        Whether an edge and its reverse are two.
    capacity : int
        Ends for which there is a place at a time, 1 or more. All edges are gone through for each part of the vertices,
        and the edges of one vertex that have no place are marked as they come.
    report : callable
        Takes the share that is done.
    """
    from graphdask.device.backend import get_backend

    begins, columns, seen = (reserved(size, np.int32) for size in (n + 2, capacity, n))
    kernels, edges = get_backend("cpu").kernels("rows"), len(src)
    for some in in_blocks(report, edges, 0.0, 0.2):
        kernels.rows_ends(len(src[some]), src[some], dst[some], directed, begins)
    np.cumsum(begins, dtype=np.int32, out=begins)
    repeats = first = 0
    while first < n:
        base = int(begins[first + 1])
        last = first + _up_to(begins[first + 2 :], min(base + capacity, edges))
        done, behind = (0.2 + 0.8 * int(end) / edges for end in (base, begins[max(last, first + 1) + 1]))
        if last == first:
            for some in in_blocks(report, edges, done, behind):
                repeats += kernels.rows_repeats_of(len(src[some]), src[some], dst[some], directed, first, seen)
            first += 1
            continue
        middle = (done + behind) / 2
        for some in in_blocks(report, edges, done, middle):
            kernels.rows_gather(len(src[some]), src[some], dst[some], directed, first, last, begins, base, columns)
        start = 0
        for rows in _rows_in_blocks(begins, first, last, base):
            repeats += kernels.rows_repeats(len(rows), rows.start, start, begins, base, columns, seen)
            start = int(begins[rows.stop]) - base
            report(middle + (behind - middle) * start / max(int(begins[last]) - base, 1))
        first = last
    return int(repeats)


def _up_to(ends: np.ndarray, most: int) -> int:
    """Count the ascending `ends` up to `most`, which is of their type, so that NumPy converts no copy of them."""
    return int(np.searchsorted(ends, ends.dtype.type(most), side="right"))


def _rows_in_blocks(begins: np.ndarray, first: int, last: int, base: int) -> Iterator[range]:
    """Yield ranges of the rows `first` to `last`, of about `BLOCK` edges or rows each; begins[r + 1] ends row r."""
    while first < last:
        start = max(int(begins[first]), base)
        ends = begins[first + 1 : min(last, first + BLOCK) + 1]
        behind = first + max(_up_to(ends, min(start + BLOCK, int(ends[-1]))), 1)
        yield range(first, behind)
        first = behind


@dataclass
class Parallel:
    """Groups of parallel edges."""

    kept: np.ndarray
    """Which edge of each group stays, ascending."""
    order: np.ndarray
    starts: np.ndarray

    def first_repeat(self) -> int:
        """Number of the first edge that has an earlier parallel one."""
        later = np.ones(len(self.order), bool)
        firsts = np.minimum.reduceat(self.order, self.starts)
        later[firsts] = False
        return int(np.flatnonzero(later)[0])


def group_parallel(src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, n: int, directed: bool) -> Parallel:
    """Group the parallel ones of one edge or more; of each group the lightest stays, among equals the first."""
    low, high = (src, dst) if directed else (np.minimum(src, dst), np.maximum(src, dst))
    if n < 2**31:
        key = _keys(low, high)
        order = np.argsort(key, kind="stable")
        differs = key[order][1:] != key[order][:-1]
    else:
        order = np.lexsort((high, low))
        differs = _differ(low[order], high[order])
    starts = np.flatnonzero(np.concatenate(([True], differs)))
    if weights is None:
        kept = order[starts]
    else:
        group = np.cumsum(np.concatenate(([0], differs.astype(np.int64))))
        lightest = np.lexsort((order, weights[order], group))
        kept = order[lightest[starts]]
    return Parallel(np.sort(kept), order, starts)


def _differ(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Whether each edge but the first is another one than that before it."""
    return np.asarray((low[1:] != low[:-1]) | (high[1:] != high[:-1]))


def _keys(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Both ends of each edge in one int64."""
    key = low.astype(np.int64)
    key <<= 32
    key |= high
    return key
