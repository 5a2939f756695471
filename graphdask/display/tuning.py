"""When progress is shown, as tests vary it."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class DisplayTuning(Tuning):
    """When bars and messages appear, and how often a bar can move."""

    delay: float = 0.7
    """Seconds before a bar appears: what is over by then needs none."""
    apart: float = 0.1
    """Seconds between two drawings of a bar at least."""
    compiling: float = 0.3
    """Seconds of compilation above which a person gets a message."""
    items: int = 1 << 22
    """Items that a kernel does in one call where the bar moves between calls: some hundredths of a second."""


DISPLAY = DisplayTuning()
"""The sizes that progress uses now."""
