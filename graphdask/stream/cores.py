"""Cores: the rows of a chunk shared among threads, each of which has its own part of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np

LEAST = 1 << 16
"""Edges of a chunk below which one core does it all."""


class Cores:
    """The cores that this process may use; a context manager."""

    def __init__(self) -> None:
        self._count = len(os.sched_getaffinity(0))
        self._pool = ThreadPoolExecutor(self._count - 1, "graphdask-rows") if self._count > 1 else None

    def __enter__(self) -> Cores:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def each(self, indptr: np.ndarray, work: Callable[[int, int], None]) -> None:
        """Call `work(first, last)` for ranges of rows that have about as many edges each, and wait for all."""
        rows, edges = len(indptr) - 1, int(indptr[-1] - indptr[0])
        if self._pool is None or edges < LEAST:
            work(0, rows)
            return
        cuts = np.searchsorted(indptr, indptr[0] + edges * np.arange(1, self._count) // self._count)
        bounds = [0, *np.minimum(cuts, rows).tolist(), rows]
        parts = [self._pool.submit(work, bounds[k], bounds[k + 1]) for k in range(1, self._count)]
        try:
            work(bounds[0], bounds[1])
        finally:
            wait(parts)
        for part in parts:
            part.result()
