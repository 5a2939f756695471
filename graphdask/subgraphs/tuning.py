"""Sizes of subgraphs that tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class SubgraphsTuning(Tuning):
    """How vertices and edges are selected."""

    marks: int = 1 << 26
    """Words that the marks of all sets may have, 256 MiB; more sets have marks in common."""
    tiles: int = 1 << 22
    """Tiles of entries that are checked at a time: 2^30 entries, of which bits and counts take 144 MiB."""


SUBGRAPHS = SubgraphsTuning()
"""The sizes that are used now."""
