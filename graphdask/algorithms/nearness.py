"""Sums of distances in hops, for closeness and harmonic centrality: how near a vertex is to those that reach it.

Up to 64 sources are searched at once (graphdask.engine.lane_search), by the kernels of betweenness without its paths.
Each level adds to its vertices how many lanes reached them there, as integers, and their depth; then it is dropped. So
sums of distances are exact, and depend neither on the number of partitions nor on how many sources go together. The
same holds for sums of 1 / distance, which are added as whole multiples of 2**-62.

Source: Then et al., The more the merrier: efficient multi-source graph traversal (2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphdask.algorithms.betweenness import Betweenness
from graphdask.algorithms.betweenness_state import HALF, BetweennessState
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.lane_search import Level, Sources
from graphdask.engine.loop import Environment, Messages
from graphdask.partition.part import Part
from graphdask.partition.queries import own_places

BITS = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)
"""How many bits of a byte are set."""
SUMS = 80
"""Bytes per vertex of the sums, of a level that is added to them, and of the scores."""


class Nearness(Betweenness):
    """The primitive of both. Its result also has `reached` and `total`, over the sources besides the vertex itself."""

    by_teams = goes_deep = False
    with_inverse = False
    """Whether 1 / distance is summed too."""

    def __init__(self, sources: Sequence[int], lanes: int):
        super().__init__(sources, lanes, 1.0)

    @property
    def width(self) -> int:
        return 1

    @property
    def ghost_columns(self) -> Mapping[str, Any]:  # type: ignore[override]
        return {"mask": self.mask}

    @property
    def _kept_levels(self) -> int:
        return 2

    def memory(self, part: Part, allocation: Allocation) -> int:
        return super().memory(part, allocation) + SUMS * part.num_owned

    def init(self, part: Part, env: Environment) -> tuple[BetweennessState, Messages]:
        state, messages = super().init(part, env)
        self.clear_sums(part, state, env)
        return state, messages

    def clear_sums(self, part: Part, state: BetweennessState, env: Environment) -> None:
        """Begin all sums at 0."""
        state.reached, state.total = (env.xp.zeros(part.num_owned, np.int64) for _ in range(2))
        state.halves = env.xp.zeros((2, part.num_owned), np.int64) if self.with_inverse else None

    def settle(self, part: Part, state: BetweennessState, sources: Sources, env: Environment) -> None:
        """No paths are counted, so sources have no values."""

    def gather(self, part: Part, state: BetweennessState, level: Level, env: Environment) -> None:
        """Gather nothing: no paths are counted."""

    def show_level(
        self, part: Part, state: BetweennessState, level: Level, lanes: int, env: Environment, edges: int
    ) -> Messages:
        """Add a level to the sums, and drop the previous one; there is one column of values, which nothing reads."""
        depth = len(state.levels)
        if depth:
            bits = env.xp.asarray(BITS)[level.masks.view(np.uint8)].reshape(-1, level.masks.itemsize)
            self._add(state, level.rows, depth, bits.sum(axis=1, dtype=np.int64))
            state.levels[-1] = Level(level.rows[:0], level.masks[:0])
        return super().show_level(part, state, level, 1, env, edges)

    def _add(self, state: BetweennessState, rows: Array, depth: int, lanes: Array) -> None:
        """Add to the sums of some own vertices, each of which so many lanes have reached at a depth."""
        assert state.reached is not None
        assert state.total is not None
        state.reached[rows] += lanes
        state.total[rows] += depth * lanes
        if state.halves is not None:
            units = ((1 << 2 * HALF) + depth // 2) // depth
            for half, share in zip(state.halves, (units >> HALF, units & (1 << HALF) - 1), strict=True):
                half[rows] += share * lanes

    def _chunks(self, part: Part) -> int:
        return 0

    def turn(self, part: Part, state: BetweennessState, env: Environment) -> Messages:
        return self.next_batch(part, state, env, 0)

    def result(self, part: Part, state: BetweennessState, env: Environment) -> dict[str, Array]:
        assert state.reached is not None
        assert state.total is not None
        others = env.xp.full(part.num_owned, len(self.sources), np.int64)
        others[env.backend.from_host(own_places(part, self.sources))] -= 1
        score = self.scores(state, others, env.xp)
        return {"score": score, "reached": state.reached, "total": state.total}

    def scores(self, sums: Any, others: Array, xp: Any) -> Array:
        """Return the scores of own vertices, each of which has so many other vertices among the sources."""
        raise NotImplementedError
