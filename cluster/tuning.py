"""Sizes of clusters and jobs that tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class ClusterTuning(Tuning):
    """What workers take, and how often a batch system is asked."""

    worker_bytes: int = 128 << 20
    """About what a worker takes before it holds anything: Python, Dask and what kernels import."""
    longest_pause: float = 5.0
    """Seconds between two requests for the state of a job at most: longer, the longer nothing happens."""
    away_seconds: float = 120.0
    """Seconds that a batch system may be away while a job is followed."""


CLUSTER = ClusterTuning()
"""The sizes that clusters and jobs use now."""
