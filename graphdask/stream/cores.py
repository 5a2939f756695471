"""Cores: rows shared among threads, each of which has its own part of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.stream.tuning import STREAM

PART, PARTS = 1 << 19, 4
"""Edges, or rows, from which a part is divided, and parts for each core at most: one that reads too takes fewer."""


def available() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


class Cores:
    """The cores that this process may use, or some of them; a context manager."""

    def __init__(self, count: int = 0) -> None:
        self._count = count or available()
        self._pool = ThreadPoolExecutor(self._count, "graphdask-rows") if self._count > 1 else None

    def __enter__(self) -> Cores:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def begin(self, indptr: np.ndarray, work: Callable[[int, int], Any]) -> list[Future[Any]]:
        """Call `work(first, last)` for ranges of rows that have about as many edges each; give them to `finished`."""
        rows, edges = len(indptr) - 1, int(indptr[-1] - indptr[0])
        count = self._parts(edges)
        cuts = np.searchsorted(indptr, indptr[0] + edges * np.arange(1, count) // count)
        return self._begun([0, *np.minimum(cuts, rows).tolist(), rows], work)

    def each(self, rows: int, work: Callable[[int, int], Any]) -> list[Any]:
        """Call `work(first, last)` for ranges of about as many rows each, and wait for all; what each returned."""
        count = self._parts(rows)
        return finished(self._begun([rows * k // count for k in range(count + 1)], work))

    def _parts(self, work: int) -> int:
        if self._pool is None or work < STREAM.one_core:
            return 1
        return min(PARTS * self._count, max(self._count, work // PART))

    def _begun(self, bounds: list[int], work: Callable[[int, int], Any]) -> list[Future[Any]]:
        if self._pool is not None:
            return [self._pool.submit(work, first, last) for first, last in pairwise(bounds)]
        done: Future[Any] = Future()
        done.set_result(work(bounds[0], bounds[-1]))
        return [done]


def finished(parts: list[Future[Any]]) -> list[Any]:
    """What the parts of some rows returned, once they are worked off."""
    return [part.result() for part in parts]
