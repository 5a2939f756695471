"""Levels that all ranks process together: the vertices of a level move, join, and go on as those of the next level.

A sweep lets each vertex of a level move once to the neighbouring community of the largest gain (_community_moves). It
has several rounds, each for the vertices of one value of a hash of seed, sweep and vertex; after the first sweep only
vertices move whose neighbours have moved. A sweep that lowers the modularity is undone. When a sweep gains less than
LEAST_OF_SWEEP, the communities, or their connected groups, become the vertices of the next level. A small level is left
to the first rank, which goes on from it by itself (sequential_moves).

Sources: those of graphdask.algorithms.louvain and graphdask.algorithms.leiden.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphdask.algorithms._community_levels import Level, least_of, looked_up
from graphdask.algorithms._community_moves import Mover, mixed
from graphdask.algorithms.communities import Arcs, add_up, modularity_of
from graphdask.algorithms.sequential_moves import FirstRank
from graphdask.algorithms.tuning import COMMUNITIES
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.partition.part import Part

LEAST_OF_SWEEP = 1e-4
"""The modularity that a sweep must gain for another one to follow."""
ROUNDS = 8
"""Of a sweep."""


@dataclass
class Ascent:
    """The way of the graph's vertices up to the highest level. Every rank calls the methods."""

    env: Environment
    first: FirstRank
    """What the first rank does by itself."""
    base: Level
    """The vertices of the graph."""
    level: Level
    at: Array
    """int64: the vertex of `level` that each own vertex of `base` is in."""
    label: Array
    """int64 over slots of `level`: the communities."""
    sums: Array
    """int64 over own vertices of `level`: the sum of degrees of the community of this number."""
    active: Array
    """Which own vertices of `level` move in the next sweep."""
    mover: Mover | None = None
    """Moves of `level`."""
    quality: float = 0.0
    """Modularity."""
    sweeps: int = 0
    levels: int = 1
    size: int = 0
    """Vertices of the highest level."""
    refined: bool = False
    """Whether communities are refined before they join."""
    top: bool = False
    """Whether no vertices of the highest level join."""

    @classmethod
    def of(cls, part: Part, env: Environment, first: FirstRank) -> Ascent:
        """Each vertex of the graph on its own, below the first level."""
        base = Level.first(part, env, Arcs.of(part, env))
        return cls(env, first, base, base, base.numbers, base.numbers, base.degree, env.xp.zeros(part.num_owned, bool))

    def begin(self, label: Array, refined: bool) -> None:
        """Begin with communities of the graph's vertices."""
        self.at, self.levels, self.top, self.refined = self.base.numbers, 1, False, refined
        self._enter(self.base, label)

    def _enter(self, level: Level, label: Array) -> None:
        """Begin with communities of a level; a small one is left to the first rank."""
        env, few = self.env, COMMUNITIES.few_of_graph if level is self.base else COMMUNITIES.few
        if not level.total or add_up(env, [level.csr.num_edges])[0] > few:
            self.settle(level, label, env.xp.ones(len(label), bool))
            return
        up = self.first.up(env, level, None if level is self.base else label, self.sweeps, self.refined)
        self.level, self.active = level, env.xp.ones(len(label), bool)
        self.quality, self.size, self.sweeps, self.top = up.quality, up.size, up.sweeps, True
        self.at, self.levels = looked_up(env, level.bounds, self.at, up.at), self.levels + up.levels - 1

    def settle(self, level: Level, label: Array, active: Array) -> None:
        """Begin to move `active` vertices of a level from these communities."""
        self.level, self.size, self.active = level, level.size, active
        self.label, self.sums = level.over_slots(label), level.sums_of(self.env, label, level.degree)
        self.mover = Mover.of(self.env, level, self.first.resolution)
        self._measured()

    def _measured(self) -> tuple[Array, int]:
        """Note the modularity; which vertices move next, and how many of all ranks have moved."""
        assert self.mover is not None
        inside, active, moved = self.mover.settle(self.label)
        self.quality = modularity_of(self.env, self.level.total, inside, self.sums, self.first.resolution)
        return active, add_up(self.env, [moved])[0]

    def step(self) -> None:
        """Do a sweep; after the last one of a level go on with the level above, if there is one."""
        level, before, quality = self.level, (self.label.copy(), self.sums.copy()), self.quality
        assert self.mover is not None
        self.sweeps += 1
        self.mover.sweep(self.label, self.sums, self.active, mixed(self.first.seed) + self.sweeps, ROUNDS)
        self.active, moved = self._measured()
        if self.quality < quality:
            self.quality, (self.label, self.sums) = quality, before
        if moved and self.quality - quality >= LEAST_OF_SWEEP:
            return
        above, number, label = self._above()
        self.top = above.size == level.size
        if not self.top:
            self.at, self.levels = looked_up(self.env, level.bounds, self.at, number), self.levels + 1
            self._enter(above, label)

    def _above(self) -> tuple[Level, Array, Array]:
        """The next level, the number there of each own vertex's, and the communities to begin with there.

        Its vertices are the communities, or, if `refined`, their connected groups.
        """
        env, level, mover, own = self.env, self.level, self.mover, self.label[: len(self.active)]
        assert mover is not None
        if self.refined:
            groups = mover.groups(self.label, mixed(self.first.seed) - self.sweeps, ROUNDS)
            mover.free_tables()
            above, number, first = level.contracted(env, groups)
            if above.size < level.size:
                return above, number, least_of(env, level.bounds, own[first], above.numbers)
        mover.free_tables()
        above, number, _ = level.contracted(env, own)
        return above, number, above.numbers

    def smallest(self) -> Array:
        """For each own vertex of `base` the smallest one in the same vertex of `level`."""
        bounds = np.arange(self.env.size + 1) * self.size // self.env.size
        return least_of(self.env, bounds, self.at, self.base.numbers)
