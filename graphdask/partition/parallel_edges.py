"""Parallel edges of an edge list: how many there are, and which of each group stays where they are merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.arrays import module_of, on_gpu
from graphdask.device.backend import Array
from graphdask.device.counting import count_set
from graphdask.device.host_memory import reserved
from graphdask.display.phases import in_blocks, nothing
from graphdask.display.tuning import DISPLAY
from graphdask.partition.ids import COMPILED


def count_parallel(src: Array, dst: Array, n: int, directed: bool, report: Callable[[float], None] = nothing) -> int:
    """Count the edges that are parallel to another one before them; ends are vertex numbers below `n`.

    Many edges of the host are counted in linear time, with 2 bytes for each edge and 8 for each vertex. Those of a GPU
    are sorted there, with 16 bytes for each edge. `report` takes the share that is done.
    """
    edges = len(src)
    if not edges:
        return 0
    xp = module_of(src)
    if on_gpu(src) or edges < COMPILED or n > 4 * edges or max(n + 2, edges) >= 2**31:
        low, high = (src, dst) if directed else (xp.minimum(src, dst), xp.maximum(src, dst))
        if n < 2**31:
            key = _keys(low, high)
            key.sort()
            return count_set(key[1:] == key[:-1])
        order = _sorted_by(xp, (low, high))
        return edges - count_set(_begins(xp, (low[order], high[order])))
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
    """Yield ranges of the rows `first` to `last`, of about `DISPLAY.items` edges or rows; begins[r + 1] ends row r."""
    while first < last:
        start = max(int(begins[first]), base)
        ends = begins[first + 1 : min(last, first + DISPLAY.items) + 1]
        behind = first + max(_up_to(ends, min(start + DISPLAY.items, int(ends[-1]))), 1)
        yield range(first, behind)
        first = behind


@dataclass
class Parallel:
    """Groups of parallel edges."""

    kept: Array
    """Which edge of each group stays, ascending."""
    later: Array
    """Which edges have an earlier parallel one, in no order."""

    def first_repeat(self) -> int:
        """Number of the first edge that has an earlier parallel one."""
        return int(self.later.min())


def group_parallel(src: Array, dst: Array, weights: Array | None, n: int, directed: bool) -> Parallel:
    """Group the parallel ones of one edge or more; of each group the lightest stays, among equals the first."""
    xp = module_of(src)
    low, high = (src, dst) if directed else (xp.minimum(src, dst), xp.maximum(src, dst))
    keys = (_keys(low, high),) if n < 2**31 else (low, high)
    order = _sorted_by(xp, keys)
    begins = _begins(xp, [key[order] for key in keys])
    later = order[~begins]
    if weights is not None:
        lightest = xp.argsort(weights, kind="stable")
        order = lightest[_sorted_by(xp, [key[lightest] for key in keys])]
    return Parallel(xp.sort(order[begins]), later)


def _sorted_by(xp: Any, keys: Sequence[Array]) -> Array:
    """The stable order by the first key, then the next one."""
    order = xp.argsort(keys[-1], kind="stable")
    for key in reversed(keys[:-1]):
        order = order[xp.argsort(key[order], kind="stable")]
    return order


def _begins(xp: Any, keys: Sequence[Array]) -> Array:
    """Whether an edge is another one than that before it, of edges that are sorted."""
    begins = xp.ones(len(keys[0]), bool)
    begins[1:] = keys[0][1:] != keys[0][:-1]
    for key in keys[1:]:
        begins[1:] |= key[1:] != key[:-1]
    return begins


def _keys(low: Array, high: Array) -> Array:
    """Both ends of each edge in one int64."""
    key = low.astype(np.int64)
    key <<= 32
    key |= high
    return key
