"""Sizes of proofs that tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class VerifyTuning(Tuning):
    """What proofs check at a time."""

    stored_edges: int = 1 << 24
    """Edges of a graph that are hashed at a time."""
    attached_edges: int = 1 << 22
    """Edges of preferential attachment that are made again at a time."""
    numbered_edges: int = 1 << 20
    """Edges that are functions of their number, and are made again at a time."""


VERIFY = VerifyTuning()
"""The sizes that proofs use now."""
