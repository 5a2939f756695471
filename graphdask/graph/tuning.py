"""Sizes of graphs that tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class GraphTuning(Tuning):
    """Where graphs are made."""

    device_edges: int = 1 << 22
    """Edges of the host from which on a GPU is worth the copies."""


GRAPH = GraphTuning()
"""The sizes that graphs are made with now."""
