"""Sizes of generators that tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class GenerateTuning(Tuning):
    """What generators make at a time."""

    rmat_edges: int = 1 << 24
    """Edges of R-MAT that are made before their self-loops are dropped."""
    queue_records: int = 4096
    """Records of a first run of waiting queues; one that makes more is run again with a buffer for them."""


GENERATE = GenerateTuning()
"""The sizes that generators use now."""
