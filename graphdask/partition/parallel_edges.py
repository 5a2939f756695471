"""Parallel edges of an edge list: how many there are, and which of each group stays where they are merged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphdask.device.host_memory import reserved
from graphdask.partition.ids import COMPILED


def count_parallel(src: np.ndarray, dst: np.ndarray, n: int, directed: bool) -> int:
    """Count the edges that are parallel to another one before them; ends are vertex numbers below `n`.

    Where there are many edges they are counted in linear time, with 2 bytes for each edge and 8 for each vertex.
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
    from graphdask.device.backend import get_backend

    begins, columns, seen = (reserved(size, np.int32) for size in (n + 2, edges // 2 + 1, n))
    kernels = get_backend("cpu").kernels("rows")
    return int(kernels.rows_repeats(edges, src, dst, bool(directed), begins, columns, seen))


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
