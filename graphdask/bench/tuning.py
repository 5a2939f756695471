"""Sizes of benchmarks that tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class BenchTuning(Tuning):
    """How long benchmarks measure."""

    link_bytes: int = 1 << 28
    """Bytes that are copied to measure the link of a device."""
    peer_seconds: float = 10.0
    """Seconds that a peer is given for one algorithm on one graph; at least one run is made."""


BENCH = BenchTuning()
"""The sizes that benchmarks use now."""
