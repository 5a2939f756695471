"""State of betweenness and of sums of distances on a rank, besides that of their search in lanes: tables and sums."""

from __future__ import annotations

from dataclasses import dataclass, field

from graphdask.device.backend import Array
from graphdask.engine.lane_search import LaneState

HALF = 31
"""Bits of a half of 1 / distance, whose unit is 2**-62: sums of halves over up to 2**31 sources fit int64."""


@dataclass(kw_only=True)
class BetweennessState(LaneState):
    sigma: Array
    """float64 (own, lanes): numbers of shortest paths from the source."""
    delta: Array
    """float64 (own, lanes): sums over successors, then unused."""
    score: Array
    """float64 per own vertex, over the sources so far."""
    hubs: Array
    chunks: Array
    """Rows of many edges, for the kernels."""
    partial: Array
    """float64 (chunks, lanes): their sums."""
    counters: Array
    """COUNTS of betweenness_pack.py."""
    reached: Array | None = None
    """int64 per own vertex, of distances alone: how many sources have reached it."""
    total: Array | None = None
    """int64 per own vertex, of distances alone: their distances, added up."""
    halves: Array | None = None
    """int64 (2, own), of harmonic centrality: the sum of 1 / distance, in units of 2**-31 and of 2**-62."""
    over: dict[str, Array] = field(default_factory=dict)
    """If edges have values too: `sigma`, `here`, `edges` and `hubs` of kernels/betweenness/betweenness_pack.py."""

    @property
    def sums(self) -> dict[str, Array]:
        """What is added up over the batches, per own vertex."""
        found = {"score": self.score, "reached": self.reached, "total": self.total}
        if self.halves is not None:
            found |= {"inverse": self.halves[0], "inverse_low": self.halves[1]}
        return {name: sums for name, sums in found.items() if sums is not None}

    @property
    def inverse(self) -> Array:
        """float64 per own vertex, of harmonic centrality: the sum of 1 / distance."""
        assert self.halves is not None
        high, low = self.halves
        high, low = high + (low >> HALF), low & (1 << HALF) - 1
        return high * 2.0**-HALF + low * 2.0 ** (-2 * HALF)
