"""Progress of a run: one bar, fed by every rank, shown only where a person watches."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from graphdask.engine import Superstep
from graphdask.notebook import bar_class, in_notebook

DELAY = 0.7
"""Seconds before a bar appears: what is over by then needs none."""


def is_watched(wanted: bool | None) -> bool:
    """Whether to show progress: as asked, or where standard error is a terminal or a notebook."""
    if wanted is not None:
        return wanted
    return sys.stderr.isatty() or in_notebook()


def signed(count: float) -> str:
    """A number with its SI prefix."""
    for limit, sign in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if count >= limit:
            return f"{count / limit:.3g}{sign}"
    return f"{count:.3g} "


class Progress:
    """Context manager around a run.

    `total`: the edges that all ranks go through, of which the bar then shows the share. `note` is called by ranks, from
    any thread; the bar is drawn by the thread that calls `draw`.
    """

    def __init__(self, label: str, show: bool, total: int | None = None):
        self.label, self.show, self.total = label, show, total
        self._ranks: dict[int, tuple[int, int, int]] = {}
        self._lock = threading.Lock()
        self._bar: Any = None
        self._started = time.perf_counter()

    def __enter__(self) -> Progress:
        self._started = time.perf_counter()
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    def note(self, rank: int, superstep: int, frontier: int, edges: int) -> None:
        """Take in where a rank is: its superstep, its frontier, and all edges it has looked at."""
        with self._lock:
            self._ranks[rank] = (superstep, frontier, edges)

    def of_rank(self, rank: int) -> _RankProgress:
        """Return what the engine calls after each superstep of a rank in this process."""
        return _RankProgress(self, rank)

    def draw(self) -> None:
        """Show the state, at most ten times a second."""
        elapsed = time.perf_counter() - self._started
        if not self.show or elapsed < DELAY:
            return
        if self._bar is None:
            self._bar = bar_class()(desc=self.label, unit=" supersteps", bar_format="{desc} [{elapsed}]", leave=False)
        with self._lock:
            ranks = list(self._ranks.values())
        text = self.label
        if ranks:
            edges = sum(rank[2] for rank in ranks)
        if ranks and self.total is not None:
            share = min(edges / self.total, 1.0) if self.total else 1.0
            text += (
                f": {share:.0%}, {signed(edges).strip()} of {signed(self.total)}edges, {signed(edges / elapsed)}edges/s"
            )
        elif ranks:
            text += f": superstep {max(rank[0] for rank in ranks)}, frontier {sum(rank[1] for rank in ranks):,}"
            text += f", {signed(edges / elapsed)}edges/s"
        self._bar.set_description_str(text)


class _RankProgress:
    def __init__(self, progress: Progress, rank: int):
        self._progress, self._rank, self._edges = progress, rank, 0

    def __call__(self, step: Superstep) -> None:
        self._edges += step.edges
        self._progress.note(self._rank, step.number, step.frontier, self._edges)
        if self._rank == 0 and threading.current_thread() is threading.main_thread():
            self._progress.draw()
