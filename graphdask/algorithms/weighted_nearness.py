"""Closeness and harmonic centrality by weight: the sums over the distances of searches by buckets (`sssp`).

Every source takes a search. Its distances are added to the sums of own vertices, in the order of the sources, so that
the bits depend on nothing but the graph and the sources: neither on partitions, nor on how many sources a run over a
graph on disk takes at a time. Distances of whole weights are added as whole numbers, in two halves that cannot
overflow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms._weighted_searches import Distances, Lengths
from graphdask.algorithms.shortest_tree import unreached
from graphdask.algorithms.sssp import NO_VERTEX
from graphdask.algorithms.weighted_betweenness import WeightedBetweenness
from graphdask.algorithms.weighted_paths import rows_memory
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.checkpoints import Saved
from graphdask.engine.loop import Environment, Messages
from graphdask.partition.part import Part
from graphdask.partition.queries import own_places

SUMS = 112
"""Bytes per vertex of the sums, of the distances that are added to them, and of the scores."""
HALF = 32
"""Bits of the lower half of a sum of whole distances."""


@dataclass
class Sums:
    """Sums over the sources so far, one for each own vertex."""

    reached: Array
    """int64: sources that reach the vertex, besides itself."""
    high: Array
    """Of distances: float64; of whole ones int64, in units of 2**32."""
    low: Array
    """int64: the rest of whole distances."""
    inverse: Array
    """float64: 1 / distance, where that is not 0."""
    done: int = 0
    """How many sources these are."""

    @classmethod
    def zero(cls, xp: Any, owned: int, dtype: np.dtype) -> Sums:
        """Return sums over no sources, of distances of a dtype."""
        high = xp.zeros(owned, np.float64 if dtype.kind == "f" else np.int64)
        return cls(xp.zeros(owned, np.int64), high, xp.zeros(owned, np.int64), xp.zeros(owned))

    def add(self, xp: Any, distance: Array) -> None:
        """Add the distances from a source, of own vertices."""
        reached = distance != unreached(distance.dtype)
        self.reached += reached
        known = xp.where(reached, distance, distance.dtype.type(0))
        if distance.dtype.kind == "f":
            self.high += known
        else:
            self.high += known >> HALF
            self.low += known & (1 << HALF) - 1
        near = known > 0
        with np.errstate(over="ignore"):  # 1 / distance may be infinite, as it is in NetworkX
            self.inverse += xp.where(near, 1.0 / xp.where(near, known, distance.dtype.type(1)), 0.0)

    @property
    def total(self) -> Array:
        """The sums of distances, float64."""
        if self.high.dtype.kind == "f":
            return self.high
        high, low = self.high + (self.low >> HALF), self.low & (1 << HALF) - 1
        return high * 2.0**HALF + low


class WeightedNearness(WeightedBetweenness):
    """The primitive of both. Its result has the sums too, over the sources besides the vertex itself."""

    kept: ClassVar[tuple[str, ...]] = ("reached", "high", "low", "inverse")
    """The sums in the result."""

    def __init__(self, sources: Sequence[int], lanes: int, lengths: Lengths):
        """`lanes` is how many sources at most are searched from together."""
        super().__init__(sources, lanes, 1.0, 1.0, lengths)

    @property
    def checked(self) -> bool:
        """Whether distances are checked, as one may be too large for its dtype."""
        return self.lengths.checked

    @property
    def inward(self) -> bool:
        return self.checked

    def memory(self, part: Part, allocation: Allocation) -> int:
        checks = 0 if part.inward is None else 16 * part.num_slots + 17 * part.inward.num_edges + rows_memory(part)
        return Distances(0, self.lengths).memory(part, allocation) + SUMS * part.num_owned + checks

    def saved(self, part: Part, state: Any, inbox: Any, env: Environment) -> Saved | None:
        """Return the sums between two sources."""
        return None if state is None else ({name: getattr(state, name) for name in self.kept}, {"done": state.done})

    def resumed(
        self, part: Part, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[Any, Messages]:
        _, messages = self.init(part, env)
        return Sums(**columns, done=numbers["done"]), messages

    def searched(self, part: Part, env: Environment, first: int) -> Iterator[tuple[int, Array]]:
        """Sources that are done, and the distances from some of them, from the one at `first` on, over slots, a column
        for each, of own vertices at least."""
        for number, source in enumerate(self.sources[first:], first + 1):
            own = env.run(part, Distances(source, self.lengths)).columns["distance"]
            if self.checked:
                (own,) = env.fetch_ghosts(part, [own])
            yield number, own[:, None]

    def result(self, part: Part, state: Any, env: Environment) -> dict[str, Any]:
        xp, owned = env.xp, part.num_owned
        sums: Sums = Sums.zero(xp, owned, self.table) if state is None else state
        rows = self.rows(part, env) if self.checked else None
        for done, distance in self.searched(part, env, sums.done):
            too_far = NO_VERTEX if rows is None else rows.too_far(part, env, distance)
            if too_far != NO_VERTEX:
                return self._columns(xp.zeros(owned), sums, too_far)
            for lane in range(distance.shape[1]):
                sums.add(xp, distance[:owned, lane])
            sums.done = done
            env.advance(done)
            self.save(part, sums, env)
        return self.result_of(part, env, sums)

    def result_of(self, part: Part, env: Environment, sums: Sums) -> dict[str, Any]:
        """Return the columns of the result, of sums over all sources."""
        own = env.backend.from_host(own_places(part, self.sources))
        sums.reached[own] -= 1
        others = env.xp.full(part.num_owned, len(self.sources), np.int64)
        others[own] -= 1
        return self._columns(self.scores(sums, others, env.xp), sums, NO_VERTEX)

    def _columns(self, score: Array, sums: Sums, too_far: int) -> dict[str, Any]:
        return {"score": score, "too_far": too_far} | {name: getattr(sums, name) for name in self.kept}

    def scores(self, sums: Sums, others: Array, xp: Any) -> Array:
        """Return the scores of own vertices, each of which has so many other vertices among the sources."""
        raise NotImplementedError
