"""The progress bar of a call that reads or builds a graph: one for all its phases, which ends when the call does.

A context variable holds the bar, as one holds the memory in `io/budgets.py`: whoever does a phase reports how far it is
to the call that is open, and a call within another one opens no second bar.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from graphdask.config import Config
from graphdask.display.notebook import bar_class, is_watched
from graphdask.display.tuning import DISPLAY

WEIGHTS = {
    "reading": 45, "ids": 15, "building": 75, "partitioning": 50, "writing": 60,
    "degrees": 1000, "sorting": 1200, "layers": 1500, "storing": 3200,
}  # fmt: skip
"""What each phase takes beside the others: hundredths of a second of 5 M edges of text on two cores."""
OF_GRAPH = ("reading", "ids", "building")
"""Those of reading a graph."""
OF_ARRAYS = ("ids", "building")
"""Those of making one from arrays."""
LAST = 0.99
"""Where the bar stays once all phases are over, until the call returns."""
FORMAT = "{desc}: {percentage:.0f}%|{bar}| [{elapsed}<{remaining}]"


class _Bar:
    """What a call has done of its phases, as a share that only grows."""

    def __init__(self, path: Any, names: tuple[str, ...], show: bool):
        self._path, self._show = path, show
        whole = sum(WEIGHTS[name] for name in names)
        self._bounds: dict[str, tuple[float, float]] = {}
        end = 0
        for name in names:
            begin, end = end, end + WEIGHTS[name]
            self._bounds[name] = begin / whole, end / whole
        self._phase, self._share = "", 0.0
        self._bar: Any = None
        self._started, self._drawn = time.perf_counter(), -DISPLAY.apart

    @contextmanager
    def phase(self, name: str) -> Iterator[Callable[[float], None]]:
        if not self._show or name not in self._bounds:
            yield nothing
            return
        begin, end = self._bounds[name]
        self._phase, self._drawn = name, -DISPLAY.apart
        self._draw(begin)
        yield lambda share: self._draw(begin + (end - begin) * min(share, 1.0))
        self._draw(end)

    def redraw(self) -> None:
        if self._show:
            self._draw(self._share)

    def close(self, whole: bool) -> None:
        """Take the bar away, or leave it where the call has returned."""
        if self._bar is None:
            return
        if whole:
            self._phase, self._drawn = "", -DISPLAY.apart
            self._draw(1.0, 1.0)
        self._bar.leave = whole
        self._bar.close()

    def _draw(self, share: float, most: float = LAST) -> None:
        self._share = max(self._share, min(share, most))
        elapsed = time.perf_counter() - self._started
        if elapsed < DISPLAY.delay or elapsed - self._drawn < DISPLAY.apart:
            return
        self._drawn = elapsed
        name = os.path.basename(os.fspath(self._path).rstrip(os.sep))
        text = f"{name}: {self._phase}" if self._phase else name
        if self._bar is None:
            self._bar = bar_class()(total=1.0, desc=text, bar_format=FORMAT, leave=False)
            self._bar.start_t -= elapsed
        self._bar.n = self._share
        self._bar.set_description_str(text, refresh=False)
        self._bar.refresh()


_CURRENT: ContextVar[_Bar | None] = ContextVar("graphdask-phases", default=None)


def nothing(share: float) -> None:
    """Take the share that is done where nobody watches."""


@contextmanager
def progress_over(path: Any, names: tuple[str, ...], wanted: bool | None = None) -> Iterator[None]:
    """Show one bar over the phases of the call in here, or leave it to the call around this one.

    Parameters
    ----------
    path : path-like
        What is read or built, the name of which is shown.
    names : tuple of str
        The phases in their order, of `WEIGHTS`.
    wanted : bool, optional
        Whether to show it; default: as the setting `graphdask.progress` says, or where a person watches.
    """
    if _CURRENT.get() is not None:
        yield
        return
    bar = _Bar(path, names, is_watched(Config.load(progress=wanted).progress))
    token, whole = _CURRENT.set(bar), False
    try:
        yield
        whole = True
    finally:
        _CURRENT.reset(token)
        bar.close(whole)


def part_of(report: Callable[[float], None], number: int, parts: int) -> Callable[[float], None]:
    """What takes the share that is done of one of some equal parts, counted from 0, and reports that of all."""
    return lambda share: report((number + share) / parts)


def in_blocks(report: Callable[[float], None], count: int, begin: float, end: float) -> Iterator[slice]:
    """Yield slices of `count` items of one size, and report the share from `begin` to `end` that is done after each."""
    for first in range(0, count, DISPLAY.items):
        yield slice(first, first + DISPLAY.items)
        report(begin + (end - begin) * min(first + DISPLAY.items, count) / count)


@contextmanager
def phase(name: str) -> Iterator[Callable[[float], None]]:
    """Do a phase of the present call in here; what is given takes the share of the phase that is done."""
    bar = _CURRENT.get()
    if bar is None:
        yield nothing
        return
    with bar.phase(name) as report:
        yield report


def in_phases() -> bool:
    """Whether the present call has a bar for all it does, or wants none."""
    return _CURRENT.get() is not None


def redraw() -> None:
    """Show how long the present call has gone on; for who waits in a phase."""
    bar = _CURRENT.get()
    if bar is not None:
        bar.redraw()
