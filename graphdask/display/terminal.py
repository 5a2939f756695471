"""What the commands show: aligned tables, numbers for people, JSON, and progress where a person watches."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import click

from graphdask.display.first_use import FirstUse
from graphdask.display.tuning import DISPLAY
from graphdask.kernels.common.compiling import NOTHING, Compiled

STEPS = "GRAPHDASK_STEPS"
"""Environment: "lines" has each step named on a line of standard error, for the log of a job."""


def width() -> int:
    """Columns of the terminal; 100 where there is none."""
    return max(40, shutil.get_terminal_size((100, 24)).columns)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Align the cells of a table in columns; the last column is wrapped to the width of the terminal.

    Parameters
    ----------
    header : sequence of str
        Names of the columns; all empty for a table without a header.
    rows : sequence of sequences of str
    right : sequence of int
        Columns aligned to the right, counted from 0.
    """
    lines = [list(header), *map(list, rows)] if any(header) else [list(row) for row in rows]
    if not lines:
        return ""
    widths = [max(len(row[k]) for row in lines) for k in range(len(header))]
    before = 2 + sum(widths[:-1]) + 2 * (len(widths) - 1)
    available = max(20, width() - before)
    out = []
    for row in lines:
        padded = zip(row, widths, strict=True)
        cells = [cell.rjust(w) if k in right else cell.ljust(w) for k, (cell, w) in enumerate(padded)]
        if widths[-1] > available:
            last = textwrap.wrap(row[-1], available, break_long_words=False, break_on_hyphens=False) or [""]
        else:
            last = [cells[-1]]
        first = "  " + "  ".join([*cells[:-1], last[0]])
        out += [first.rstrip(), *(" " * before + rest for rest in last[1:])]
    if any(header):
        out.insert(1, "  " + "-" * (min(before + min(widths[-1], available), width()) - 2))
    return "\n".join(out)


def pairs(items: Sequence[tuple[str, str]]) -> str:
    """A table of names and values, without a header."""
    return table(("", ""), items)


def bullet(text: str) -> str:
    """A paragraph of a list, as wide as the terminal."""
    return textwrap.fill(
        text, width(), initial_indent="  - ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def count(number: int, noun: str) -> str:
    """`1 vertex`, `2,000 vertices`, `3 communities`, `2 passes`."""
    if number != 1:
        for end, plural in (("ex", "ices"), ("ity", "ities"), ("ss", "sses"), ("", "s")):
            if noun.endswith(end):
                noun = noun.removesuffix(end) + plural
                break
    return f"{number:,} {noun}"


def rate(number: float, seconds: float) -> str:
    """Per second, with three digits and a unit: `12.3 M`."""
    return quantity(number / seconds) if seconds > 0 and number > 0 else ""


def quantity(value: float) -> str:
    """Three digits and a decimal unit: `12.3 M`."""
    for factor, unit in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= factor * 0.9995:
            return f"{value / factor:.3g}{unit}"
    return f"{value:.3g}"


def size(nbytes: float) -> str:
    """Bytes in binary units: `1.5 GiB`."""
    for factor, unit in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if nbytes >= factor:
            value = nbytes / factor
            return f"{value:.3g} {unit}" if value < 999.5 else f"{value:.0f} {unit}"
    return f"{nbytes:.0f} B"


def seconds(value: float) -> str:
    """Seconds to a few milliseconds: `12.3`, `0.45`, `0.045`."""
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def print_json(record: Any) -> None:
    """One JSON object on standard output."""
    click.echo(to_json(record))


def to_json(record: Any) -> str:
    """JSON of a record: NumPy values and paths as JSON has them, and what it has no numbers for as "inf", "nan"."""
    return json.dumps(_plain(record), allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if value is None or isinstance(value, bool | int | str):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)


def watched() -> bool:
    """Whether a person watches standard error."""
    return sys.stderr.isatty()


@dataclass
class Step:
    """A row of the table of steps."""

    name: str
    seconds: float = 0.0
    edges: int = 0
    """Edges worked on, for the rate; 0 where that says nothing."""
    detail: str = ""
    compiled: Compiled = NOTHING
    """Kernels that were compiled in it, and how many of the seconds that took."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        record: dict[str, Any] = {"step": self.name, "seconds": round(self.seconds, 6), "detail": self.detail}
        if self.compiled.kernels:
            record |= {"compiled": self.compiled.kernels, "compile_seconds": round(self.compiled.seconds, 6)}
        if self.edges and self.running > 0:
            record |= {"edges": self.edges, "edges_per_second": self.edges / self.running}
        return record

    @property
    def running(self) -> float:
        """Seconds without those for compiling."""
        return self.seconds - self.compiled.seconds

    @property
    def in_words(self) -> str:
        """The detail, and how much of the time went into compiling where that was long."""
        if self.compiled.seconds <= DISPLAY.compiling:
            return self.detail
        spent = f"{seconds(self.compiled.seconds)} s for compiling {count(self.compiled.kernels, 'kernel')}, once"
        return f"{self.detail}; {spent}" if self.detail else spent


def besides(compiled: Compiled) -> str:
    """What compiling took besides, as the end of a sentence; empty where nothing was compiled."""
    if not compiled.kernels:
        return ""
    return f", and {seconds(compiled.seconds)} s for compiling {count(compiled.kernels, 'kernel')}, once"


@dataclass
class Steps:
    """Times the steps of a command and names the current one on the terminal while it runs."""

    steps: list[Step] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)

    @contextmanager
    def step(self, name: str) -> Iterator[Step]:
        """Time a step; the body fills in what is known only afterwards."""
        current = Step(name)
        self.announce(name)
        begin = time.perf_counter()
        first_use = FirstUse(name, watched() or os.environ.get(STEPS) == "lines", self._line)
        try:
            with first_use:
                yield current
        finally:
            current.seconds, current.compiled = time.perf_counter() - begin, first_use.spent
            self.announce("")
        self.steps.append(current)

    def announce(self, name: str) -> None:
        """Name what runs now, where a person watches; nothing for an empty name."""
        if os.environ.get(STEPS) == "lines":
            if name:
                click.echo(f"{name} ...", err=True)
        elif watched():
            click.echo("\r\x1b[K" + (f"{name} ..." if name else ""), nl=False, err=True)

    def _line(self, text: str) -> None:
        """A line on standard error, in place of the name of the step, which follows again."""
        clear, again = ("\r\x1b[K", "...") if watched() else ("", "")
        click.echo(f"{clear}{text}\n{again}", nl=False, err=True)

    def add(self, name: str, detail: str) -> None:
        """Add a step that took from the start, or the end of the last step, until now."""
        self.announce("")
        spent = sum(step.seconds for step in self.steps)
        self.steps.append(Step(name, time.perf_counter() - self.started - spent, detail=detail))

    def table(self, format_rate: Callable[[float, float], str] = rate) -> str:
        """The steps, with a line for all of them."""
        rows = [[s.name, seconds(s.seconds), format_rate(s.edges, s.running), s.in_words] for s in self.steps]
        rows.append(["total", seconds(time.perf_counter() - self.started), "", ""])
        return table(("step", "seconds", "edges/s", "result"), rows, right=(1, 2))
