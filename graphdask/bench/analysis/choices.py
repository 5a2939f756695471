"""The paper's table of choices, one of them changed at a time: what each costs or gains.

Source: Pan et al., Multi-GPU Graph Analytics, Sections III-B (ghosts), III-C (communication), V-C (partitioners), VI-B
(memory allocation), VI-C (fused kernels) and VI-D (the width of ids).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Choice:
    """One way to divide a graph and to exchange."""

    name: str
    divide: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `Graph.partition`."""
    where: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of an algorithm."""


AS_GIVEN = Choice("")
CHOICES = (
    Choice("default"),
    Choice("ghosts all", {"ghosts": "all"}),
    Choice("ghosts 1-hop", {"ghosts": "1-hop"}),
    Choice("selective", where={"exchange": "selective"}),
    Choice("broadcast", where={"exchange": "broadcast"}),
    Choice("by range", {"by": "range"}),
    Choice("by random", {"by": "random"}),
    Choice("by biased-random", {"by": "biased-random"}),
    Choice("by metis", {"by": "metis"}),
    Choice("64-bit ids", {"id_width": 64}),
    Choice("just-enough", where={"allocation": "just-enough"}),
    Choice("fixed", where={"allocation": "fixed"}),
    Choice("not fused", where={"fused": False}),
)
