"""Sizes of the engine that tests vary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class EngineTuning(Tuning):
    """How ranks divide their supersteps."""

    least_queue: int = 1 << 12
    """Smallest number of entries that a just-enough queue begins with."""
    sparse: int = 256
    """Vertices of a mirror that are scanned in less time than one own vertex is looked up among them."""
    team_steps: int = 1 << 10
    """Supersteps of a launch of a team: some ten milliseconds, after which the host checks its deadline."""
    staged_from: int = 1 << 15
    """Edges of chunks for each block, below which it does not pay to fill its shared memory first: what its 1024
    threads sum at the same time, eight of them a chunk of 256 edges."""
    binned_from: int = 1 << 18
    """Edges for each processor, below which bins do not pay."""
    bin_teams: int = 4
    """Teams of a block, each with a bin of its own."""
    bin_threads: int = 1024
    """Threads of a block that puts values into bins or sums them."""
    bin_launch: Mapping[str, int] = field(default_factory=lambda: {"threads": 256, "per_processor": 1 << 16})
    """Shape of a launch that has a block for each bin."""


ENGINE = EngineTuning()
"""The sizes that are used now."""
