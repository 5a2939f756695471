"""Levels that one rank processes by itself, on its host: vertices move one after the other, up to the highest level.

Sequential moves find better communities than those of many vertices at a time, and a GPU takes longer for a small level
than its host, because each round is several launches. Vertices are visited in the order of a hash. After the first
visit of each, those are visited again whose neighbours have moved, until no move gains anything.

Sources: those of graphdask.algorithms.louvain and graphdask.algorithms.leiden.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphdask.algorithms._communities import modularity_of
from graphdask.algorithms._community_levels import Level, least_of
from graphdask.algorithms._community_moves import LEAST_GAIN, mixed, round_of_each
from graphdask.engine.loop import Environment
from graphdask.engine.owners import sum_at
from graphdask.kernels.communities.sequential_pack import Sequential


@dataclass
class Climb:
    """The way of a level's vertices up to the highest level."""

    env: Environment
    """Of a rank alone, on the CPU."""
    resolution: float
    seed: int
    refined: bool
    """Whether communities are refined before they join, as in the method of Leiden."""

    def __call__(self, level: Level, label: np.ndarray, number: int) -> tuple[np.ndarray, list[float]]:
        """Let the vertices of a level move that have these labels, and go on with the levels above.

        Returns
        -------
        ndarray
            int64: the vertex of the highest level that each vertex of this one is in.
        list of float
            Modularity before and after, the number of levels, and of vertices of the highest level.
        """
        env, at, levels = self.env, level.numbers, 0
        before = self._modularity(level, label)
        while True:
            levels += 1
            moved = self._moved(level, label, number + levels)
            groups = self._refined(level, moved, number + levels) if self.refined else moved
            if self.refined and (groups == level.numbers).all():
                groups = moved
            above, place, first = level.contracted(env, groups)
            if above.size == level.size:
                return at, [before, self._modularity(level, moved), levels, level.size]
            label = least_of(env, level.bounds, moved[first], above.numbers)
            level, at = above, place[at]

    def _modularity(self, level: Level, label: np.ndarray) -> float:
        inside = int(level.weights[label[level.rows] == label[level.csr.indices]].sum())
        sums = sum_at(np, level.size, label, level.degree)
        return modularity_of(self.env, level.total, inside, sums, self.resolution)

    def _moved(self, level: Level, label: np.ndarray, number: int) -> np.ndarray:
        """Labels after local moving; a label is the number of a vertex of the level."""
        pack = self._pack(level, label, mixed(self.seed) + number)
        pack.assign(waiting=np.ones(level.size, np.uint8), empty=np.empty(level.size, np.int64))
        least = LEAST_GAIN * max(1.0, self.resolution)
        self.env.kernels("sequential").sequential_move(level.size, self.resolution / level.total, least, pack)
        return pack.label

    def _refined(self, level: Level, outer: np.ndarray, number: int) -> np.ndarray:
        """Connected groups within communities, as the number of a vertex for each."""
        pack = self._pack(level, level.numbers, mixed(self.seed) - number)
        outer_sums = sum_at(np, level.size, outer, level.degree)
        pack.assign(outer=outer, outer_sums=outer_sums, border=np.empty(level.size, np.int64))
        self.env.kernels("sequential").sequential_refine(level.size, self.resolution / level.total, pack)
        return pack.label

    def _pack(self, level: Level, label: np.ndarray, key: int) -> Sequential:
        order = np.argsort(round_of_each(level.numbers, key, 1 << 32), kind="stable")
        return Sequential(
            indptr=level.csr.indptr, indices=level.csr.indices, weights=level.weights, degree=level.degree,
            label=label.copy(), sums=sum_at(np, level.size, label, level.degree),
            members=np.bincount(label, minlength=level.size), queue=order, keys=np.empty(level.size + 1, np.int64),
            total=np.full(level.size, -1, np.int64),
        )  # fmt: skip
