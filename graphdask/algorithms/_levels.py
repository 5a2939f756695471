"""State of a search from several sources at once on a rank: tables of its lanes, and the levels for the way back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphdask.device.backend import Array
from graphdask.engine.buffers import Buffer
from graphdask.engine.candidates import Candidates

HALF = 31
"""Bits of a half of 1 / distance, whose unit is 2**-62: sums of halves over up to 2**31 sources fit int64."""


@dataclass
class Level:
    """One level of a batch on this rank."""

    rows: Array
    """Own vertices of the level in any lane."""
    masks: Array
    """Their lanes."""
    edges: int = 0
    """Edges out of them."""
    lanes: int = 0
    """Mask of all their lanes; of all ranks, once these have voted."""


@dataclass
class BetweennessState:
    seen: Array
    """Mask per slot: lanes that have reached it, of ghosts as far as their owners have sent it. Masks are uint8, of
    more than 8 lanes uint64. GPUs that go together have those of own vertices only."""
    bits: Array
    """uint32 words, a bit per slot: whether the vertex is in the frontier, in any lane. GPUs that go
    together have two such bitmaps."""
    frontier: Array
    """Mask per slot: in which lanes, 0 where the bit is not set. GPUs that go together have this and `values` where
    others write."""
    values: Array
    """float64, the buffer of `value`."""
    sigma: Array
    """float64 (own, lanes): numbers of shortest paths from the source."""
    delta: Array
    """float64 (own, lanes): sums over successors, then unused."""
    score: Array
    """float64 per own vertex, over the sources so far."""
    queue: Buffer
    """Own vertices that are reached now; where GPUs go together, those of all levels."""
    masks: Buffer
    """Their lanes."""
    with_edges: Array
    """Own vertices that have edges in."""
    left: Array
    """Own vertices that some lane may still reach."""
    spare: tuple[Array, Array]
    """Where `left` is written next, and after that."""
    hubs: Array
    chunks: Array
    """Rows of many edges, for the kernels."""
    partial: Array
    """float64 (chunks, lanes): their sums."""
    counters: Array
    """COUNTS of betweenness_pack.py."""
    shown: Array | None = None
    """The vertices in `frontier`, if it is known that they are own vertices only."""
    candidates: Candidates | None = None
    """Made for the first push."""
    reported: bool = False
    """Whether the last superstep sent candidates to their owners."""
    edges_in: int = 0
    """Edges out of the frontier of all ranks."""
    reached: Array | None = None
    """int64 per own vertex, of distances alone: how many sources have reached it."""
    total: Array | None = None
    """int64 per own vertex, of distances alone: their distances, added up."""
    halves: Array | None = None
    """int64 (2, own), of harmonic centrality: the sum of 1 / distance, in units of 2**-31 and of 2**-62."""
    over: dict[str, Array] = field(default_factory=dict)
    """If edges have values too: `sigma`, `here`, `edges` and `hubs` of kernels/betweenness/betweenness_pack.py."""
    levels: list[Any] = field(default_factory=list)
    """Of the batch: each a `Level`, or many in one entry (_deep_levels.py)."""
    batch: int = 0
    lanes: int = 1
    """Mask of the lanes that `value` has columns for."""
    back: int = -1
    """Level whose dependencies come next; negative while the search goes forward."""

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

    @property
    def columns(self) -> int:
        """The number of lanes that `value` has columns for."""
        return self.lanes.bit_count()

    @property
    def value(self) -> Array:
        """float64 (slots, columns): the value that a vertex of the frontier gives its neighbours."""
        return self.values[: len(self.frontier) * self.columns].reshape(len(self.frontier), self.columns)
