"""Sizes of similarity that tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class SimilarityTuning(Tuning):
    """How rows are compared."""

    entries: int = 1 << 21
    """Entries of rows that are compared together, more only by a row."""
    paths: int = 1 << 21
    """Paths of length two that a batch of a CPU follows."""
    gpu_times: int = 16
    """How many times as many a GPU follows, where there is memory for them."""


SIMILARITY = SimilarityTuning()
"""The sizes that are used now."""
