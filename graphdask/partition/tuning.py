"""Sizes of partitions that tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class PartitionTuning(Tuning):
    """How partitions hold vertices and edges."""

    narrow_ids: int = 2**31 - 1
    """Vertices of a graph from which on their numbers are of 64 bits: numbers, and one more, fit 32 bits below."""


PARTITION = PartitionTuning()
"""The sizes that partitions use now."""
