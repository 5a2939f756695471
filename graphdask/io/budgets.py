"""The memory that a reader may take, held to while it reads: what is decompressed is not known before.

`within_memory` of `estimates.py` and `spilled_edges` announce it; the loops of the readers ask it before they go on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from graphdask.errors import OverBudget

WEIGHT = 8
"""Bytes of a weight, or a time."""


@dataclass(frozen=True)
class PerEdge:
    """Bytes that an edge takes at most, by what its ends are; without its weight.

    What an id takes besides depends on how many edges name it, and is counted as where few do.
    """

    narrow: int
    """Numbers below 2**31."""
    wide: int
    """Larger ones, which lie far apart."""
    names: int

    def __or__(self, other: PerEdge) -> PerEdge:
        return PerEdge(max(self.narrow, other.narrow), max(self.wide, other.wide), max(self.names, other.names))


NAMES = 192
"""Bytes of an edge whose ends are names: two strings, and places for them in a list and in an array."""
NOTHING, ARRAYS, GRAPH = PerEdge(0, 0, NAMES), PerEdge(16, 16, NAMES), PerEdge(28, 76, 288)
"""What is mapped from files, or goes there; arrays of the ends; and all with which a Graph is made, measured as
`tests/io/test_estimate.py` does."""


@dataclass(frozen=True)
class Budget:
    """What reading one file may take."""

    path: str
    usable: int
    """Bytes."""
    each: PerEdge
    """Until its graph is there."""
    instead: str
    """What to do with a larger file."""
    line: int
    """Bytes that one line may take."""

    def refuse_rows(self, rows: int, each: int, share: float = 1.0) -> None:
        """Raise OverBudget where so many edges of so many bytes do not fit; they are this share of the file."""
        if rows * each > self.usable:
            whole = "" if share <= 0 or share >= 1 else f", of about {int(rows / share):,} in all"
            self._refuse(f"{rows:,} edges{whole}, read so far need {rows * each / 2**30:,.3g} GiB")

    def refuse_bytes(self, size: int, what: str) -> None:
        """Raise OverBudget where so many bytes do not fit."""
        if size > self.usable:
            self._refuse(f"{what} {size / 2**30:,.3g} GiB")

    def refuse_line(self, size: int, needed: int) -> None:
        """Raise OverBudget where a line that has this size already, and needs so many bytes, does not fit."""
        if needed > self.line:
            self._refuse(f"a line of more than {size >> 20:,} MiB needs {needed / 2**30:,.3g} GiB", self.line)

    def _refuse(self, needed: str, usable: int = -1) -> None:
        usable = self.usable if usable < 0 else usable
        raise OverBudget(f"{self.path}: {needed}, and {usable / 2**30:,.3g} GiB may be used; {self.instead}")


_CURRENT: ContextVar[Budget | None] = ContextVar("graphdask-reading", default=None)
_NONE = Budget("", 1 << 62, NOTHING, "", 1 << 62)


def budget() -> Budget:
    """What the present call may take; without bound where nobody announced any."""
    return _CURRENT.get() or _NONE


@contextmanager
def announced(
    path: str | os.PathLike[str], usable: int, each: PerEdge, instead: str, line: int | None = None
) -> Iterator[None]:
    """Hold readers in here to so many bytes, of which a line may take `line`, and to what an outer call announced."""
    outer = budget()
    usable, line = min(usable, outer.usable), min(usable if line is None else line, outer.line)
    token = _CURRENT.set(Budget(os.fspath(path), usable, each | outer.each, instead, line))
    try:
        yield
    finally:
        _CURRENT.reset(token)
