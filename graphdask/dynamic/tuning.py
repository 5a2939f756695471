"""Sizes of graphs that change, which tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class DynamicTuning(Tuning):
    """How the rows of a batch are changed."""

    hub: int = 1 << 14
    """Entries from which on blocks of a GPU share a row that stays where it is, 4096 of them each. From 4096 on, it
    takes a third more there."""
    share_made: int = 8
    """The workspace for such rows holds one in so many of all entries."""


DYNAMIC = DynamicTuning()
"""The sizes that are used now."""
