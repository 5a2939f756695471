"""Sizes of gangs that tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class GangTuning(Tuning):
    """When a gang reports and hands over, and what it writes at a time."""

    log_every: float = 30.0
    """Seconds between the lines in the log that say how far a run is."""
    settle: float = 0.05
    """Seconds after which the values of a run become Dask's."""
    large_graph: int = 2_000_000
    """Edges from which a graph is divided among the cores where the caller leaves it open: fewer take no longer on one
    core than the cores wait for each other."""
    write_bytes: int = 32 << 20
    """Bytes of a block that a writer makes at a time."""


GANG = GangTuning()
"""The sizes that gangs use now."""
