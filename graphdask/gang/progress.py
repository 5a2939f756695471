"""Progress of a run: one bar, fed by every rank, shown only where a person watches; and lines in the log elsewhere."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

from graphdask.display.first_use import FirstUse
from graphdask.display.notebook import bar_class, is_watched
from graphdask.display.phases import in_phases, redraw
from graphdask.display.tuning import DISPLAY
from graphdask.engine.loop import Superstep
from graphdask.gang.tuning import GANG

COUNTED = "{desc}: {percentage:.0f}%|{bar}| {n:.0f} of {total:.0f}{unit} [{elapsed}<{remaining}{postfix}]"


_logger = logging.getLogger("graphdask")


def signed(count: float) -> str:
    """A number with its SI prefix."""
    for limit, sign in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if count >= limit:
            return f"{count / limit:.3g}{sign}"
    return f"{count:.3g} "


class Progress:
    """Context manager around a run.

    `total`: the edges that all ranks go through, of which the bar then shows the share. `goal`: how many of what are to
    be done, as in (64, "sources"); the bar then shows how many are, and the time left, and stays when the run is over.
    `note` is called by ranks, from any thread; the bar is drawn by the thread that calls `draw`. Where nobody watches,
    a line every 30 s goes to the logger `graphdask`, at the level INFO.
    """

    def __init__(self, label: str, show: bool, total: int | None = None, goal: tuple[int, str] | None = None):
        self.label, self.show, self.total, self.goal = label, show, total, goal
        self._ranks: dict[int, tuple[int, int, int, float]] = {}
        self._lock = threading.Lock()
        self._first_use = FirstUse(label, show)
        self._bar: Any = None
        self._in_phases = in_phases()
        self._started, self._drawn, self._logged = time.perf_counter(), -DISPLAY.apart, 0.0

    def __enter__(self) -> Progress:
        self._started = time.perf_counter()
        self._first_use.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._bar is not None:
            self._bar.leave = self.goal is not None and exception[0] is None
            self._bar.close()
        self._first_use.__exit__(*exception)

    def compiling(self, seconds: float) -> None:
        """Record for how long a worker has compiled kernels. Any thread may call it."""
        self._first_use.elsewhere(seconds)

    def note(self, rank: int, superstep: int, frontier: int, edges: int, done: float = 0.0) -> None:
        """Record the progress of a rank: its superstep, its frontier, the edges scanned so far, and what is done."""
        with self._lock:
            self._ranks[rank] = (superstep, frontier, edges, done)

    def of_rank(self, rank: int) -> _RankProgress:
        """Return what the engine calls after each superstep of a rank in this process."""
        return _RankProgress(self, rank)

    def finish(self, results: Sequence[Any]) -> None:
        """Show the final progress of all ranks, which is not received before the end; `results` are those of ranks."""
        if self.goal is None:
            return
        for rank, result in enumerate(results):
            steps = result.supersteps
            self.note(rank, len(steps) - 1, 0, sum(step.edges for step in steps), steps[-1].done)
        self._drawn = -DISPLAY.apart
        self.draw()

    def draw(self) -> None:
        """Show the state, at most ten times a second; that of the call around this run, where it shows its phases."""
        self.log()
        if self._in_phases:
            redraw()
            return
        elapsed = time.perf_counter() - self._started
        if not self.show or elapsed < DISPLAY.delay or elapsed - self._drawn < DISPLAY.apart:
            return
        with self._lock:
            ranks = list(self._ranks.values())
        if ranks:
            self._drawn = elapsed
        if self.goal is not None:
            self._draw_done(ranks, elapsed)
            return
        if self._bar is None:
            self._bar = bar_class()(desc=self.label, unit=" supersteps", bar_format="{desc} [{elapsed}]", leave=False)
        self._bar.set_description_str(self._text(ranks, elapsed))

    def log(self) -> None:
        """Log the state if 30 s have passed since the run began or logged it last. Any thread may call it."""
        elapsed = time.perf_counter() - self._started
        if elapsed - self._logged < GANG.log_every or not _logger.isEnabledFor(logging.INFO) or is_watched():
            return
        with self._lock:
            if elapsed - self._logged < GANG.log_every:
                return
            self._logged = elapsed
            ranks = list(self._ranks.values())
        text = self._text(ranks, elapsed)
        if self.goal is not None and ranks:
            text += f", {min(rank[3] for rank in ranks):.0f} of {self.goal[0]:,} {self.goal[1]}"
        _logger.info("%s, for %.0f s", text, elapsed)

    def _text(self, ranks: list[tuple[int, int, int, float]], elapsed: float) -> str:
        """How far the ranks are, in words."""
        if not ranks:
            return self.label
        edges = sum(rank[2] for rank in ranks)
        speed = f"{signed(edges / elapsed)}edges/s"
        if self.total is not None:
            share = min(edges / self.total, 1.0) if self.total else 1.0
            return f"{self.label}: {share:.0%}, {signed(edges).strip()} of {signed(self.total)}edges, {speed}"
        superstep, frontier = max(rank[0] for rank in ranks), sum(rank[1] for rank in ranks)
        return f"{self.label}: superstep {superstep}, frontier {frontier:,}, {speed}"

    def _draw_done(self, ranks: list[tuple[int, int, int, float]], elapsed: float) -> None:
        """Show how many are done of the goal, as all ranks have reported, and the time left at the mean pace."""
        count, unit = self.goal or (0, "")
        if self._bar is None:
            self._bar = bar_class()(desc=self.label, total=count, unit=f" {unit}", bar_format=COUNTED, leave=False)
            self._bar.start_t -= elapsed
        if ranks:
            self._bar.n = min(rank[3] for rank in ranks)
            speed = signed(sum(rank[2] for rank in ranks) / elapsed)
            self._bar.set_postfix_str(f"superstep {max(rank[0] for rank in ranks)}, {speed}edges/s", refresh=False)
        self._bar.refresh()


class _RankProgress:
    def __init__(self, progress: Progress, rank: int):
        self._progress, self._rank, self._edges = progress, rank, 0

    def __call__(self, step: Superstep) -> None:
        self._edges += step.edges
        self._progress.note(self._rank, step.number, step.frontier, self._edges, step.done)
        if self._rank == 0:
            self._progress.log()
            if threading.current_thread() is threading.main_thread():
                self._progress.draw()
