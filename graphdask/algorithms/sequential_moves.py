"""Levels that one rank processes by itself, on its host: vertices move one after the other, up to the highest level.

Sequential moves find better communities than those of many vertices at a time, and a GPU takes longer for a small level
than its host, because each round is several launches. Vertices are visited in the order of a hash. After the first
visit of each, those are visited again whose neighbours have moved, until none of them moves.

A pass of a small graph joins what several partitions agree on: their common parts are nearly always right, and what
they disagree on is decided again, from the smaller graph of these parts. The result is often better than each of them.
A graph of few edges does this several times in a pass.

Sources: those of graphdask.algorithms.louvain and graphdask.algorithms.leiden; Ovelgönne, Geyer-Schulz, An ensemble
learning strategy for graph clustering (2013), for what partitions agree on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from graphdask.algorithms._community_levels import Level
from graphdask.algorithms._community_moves import LEAST_GAIN, mixed, round_of_each
from graphdask.algorithms.communities import modularity_of
from graphdask.device.backend import Array
from graphdask.engine.alone import alone_on_host
from graphdask.engine.loop import Environment
from graphdask.engine.owners import sum_at
from graphdask.kernels.communities.sequential_pack import Sequential
from graphdask.partition.neighbours import places_of

STARTS = 2
"""Starts of a pass from vertices on their own."""
SMALL, AGAIN = 1 << 11, 3
"""Entries of a graph of which a pass does all that again, and how often: in some milliseconds, communities that are not
clear become as good as those of other seeds."""


@dataclass
class Rows:
    """The weighted graph of a level, without vertices that have no entries; rows are in no order."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    degree: np.ndarray
    places: np.ndarray
    """The numbers of the vertices in the level that was gathered."""

    def __len__(self) -> int:
        return len(self.degree)

    def joined(self, kernels: Any, place: np.ndarray, size: int) -> Rows:
        """The graph whose vertices are `size` communities, of which `place` has the number for each vertex."""
        count, wide = len(self.indices), np.int64
        starts, targets, sums = np.empty(size + 1, wide), np.empty(count, wide), np.empty(count, wide)
        begin, members, total = np.zeros(size + 1, wide), np.empty(len(self), wide), np.full(size, -1)
        kept = kernels.sequential_join(
            size, place, begin, members, total, self.indptr, self.indices, self.weights, starts, targets, sums
        )
        degree = sum_at(np, size, place, self.degree)
        return Rows(starts, targets[:kept].copy(), sums[:kept].copy(), degree, np.arange(size))

    def among_these(self, label: np.ndarray) -> np.ndarray:
        """Labels of the vertices here as numbers below `len(self)`."""
        used = np.zeros(int(label.max(initial=-1)) + 1, bool)
        used[label] = True
        return (used.cumsum() - 1)[label]

    def among_all(self, env: Environment, found: Climbed, size: int) -> tuple[Array, int]:
        """The vertex of the highest level of each of `size` vertices of the level, where those without entries stay on
        their own, and the number of vertices of the highest level; the array is on the device."""
        xp, places = env.xp, env.backend.from_host(self.places)
        at, alone = xp.empty(size, np.int64), xp.ones(size, bool)
        alone[places] = False
        at[alone] = xp.arange(found.size, found.size + size - len(self))
        at[places] = env.backend.from_host(found.at)
        return at, found.size + size - len(self)


def gathered(env: Environment, level: Level) -> Rows:
    """The rows of all ranks on the host of the first one, in order; on the others none. Every rank calls it."""
    if env.size > 1:
        ends = level.numbers[level.rows], level.over_slots(level.numbers)[level.csr.indices]
        src, dst, weights = (to_first(env, each) for each in (*ends, level.weights))
        env = alone_on_host(env)
        level = Level.built(env, np.array([0, level.size], np.int64), level.total, [(src, dst, weights)])
    xp, indptr = env.xp, level.csr.indptr
    places = places_of(xp, indptr[1:] != indptr[:-1])
    number = xp.zeros(level.size, np.int64)
    number[places] = xp.arange(len(places))
    starts = xp.concatenate([indptr[:-1][places], indptr[-1:]])
    found = starts, number[level.csr.indices], level.weights, level.degree[places], places
    return Rows(*(env.backend.to_host(each) for each in found))


def to_first(env: Environment, values: Array) -> np.ndarray:
    """The values of all ranks on the host of the first one; on the others none. Every rank calls it."""
    return env.backend.to_host(env.xp.concatenate(env.alltoall([values, *[values[:0]] * (env.size - 1)])))


@dataclass
class Climbed:
    """What a pass has found."""

    at: np.ndarray
    """int64: the vertex of the highest level that each vertex is in."""
    size: int
    """Vertices of the highest level."""
    levels: int
    """Levels of the pass."""
    quality: float
    """Modularity."""
    sweeps: int
    """Orders in which vertices were visited so far."""


@dataclass
class Climb:
    """The way of a level's vertices up to the highest level."""

    env: Environment
    """Of a rank alone, on the CPU."""
    resolution: float
    total: int
    """Sum of the weights of all arcs."""
    seed: int
    refined: bool
    """Whether communities of new starts are refined before they join, as in the method of Leiden."""

    def __post_init__(self) -> None:
        self.kernels = self.env.kernels("sequential")
        self.scale = self.resolution / self.total

    def best(self, rows: Rows, known: Climbed | None, number: int) -> Climbed:
        """The best of known communities, of `STARTS` new ones, and of those that begin with what all these agree on.

        Known ones climb once more, and new ones begin with vertices on their own. Vertices that are together everywhere
        become those of a smaller graph, whose communities are a further start. Only the first ones of Louvain are not
        refined: without refinement, communities that have joined never part again.
        """
        alone, found = np.arange(len(rows)), []
        if known:
            again = self.up(rows, known.at, number, True)
            number = again.sweeps
            found.append(max(known, again, key=attrgetter("quality")))
        for _ in range(STARTS):
            found.append(self.up(rows, alone, number, self.refined or known is not None))
            number = found[-1].sweeps
        place, size = alone * 0, 1
        for each in found:
            pairs, place = np.unique(place * each.size + each.at, return_inverse=True)
            size = len(pairs)
        agreed = self.up(rows.joined(self.kernels, place, size), np.arange(size), number, True)
        found.append(self.up(rows, agreed.at[place], agreed.sweeps, True))
        return replace(max(found, key=attrgetter("quality")), sweeps=found[-1].sweeps)

    def up(self, rows: Rows, label: np.ndarray, number: int, refined: bool) -> Climbed:
        """Let the vertices of a level with these labels move, and go on above; `number` is that of the orders so far.

        Communities join after they were `refined`, or without.
        """
        at, levels = np.arange(len(rows)), 0
        while True:
            levels += 1
            moved = self._moved(rows, label, number + levels)
            groups = self._refined(rows, moved, number + levels) if refined else moved
            place, size = self.numbered(groups)
            if refined and size == len(rows):
                place, size = self.numbered(moved)
            if size == len(rows):
                return Climbed(at, size, levels, self.modularity(rows), number + levels)
            some = np.empty(size, np.int64)
            some[place] = moved
            label, _ = self.numbered(some, len(rows))
            rows, at = rows.joined(self.kernels, place, size), place[at]

    def modularity(self, rows: Rows) -> float:
        """The modularity where each vertex of a level is a community."""
        inside = int(rows.weights[rows.indices == np.repeat(np.arange(len(rows)), np.diff(rows.indptr))].sum())
        return modularity_of(self.env, self.total, inside, rows.degree, self.resolution)

    def numbered(self, label: np.ndarray, labels: int | None = None) -> tuple[np.ndarray, int]:
        """The number of each vertex's community, in the order of their smallest vertices, and how many there are."""
        place = np.empty(len(label), np.int64)
        return place, self.kernels.sequential_number(len(label), label, np.full(labels or len(label), -1), place)

    def _moved(self, rows: Rows, label: np.ndarray, number: int) -> np.ndarray:
        """Labels after local moving; a label is the number of a vertex of the level."""
        pack, n = self._pack(rows, label, mixed(self.seed) + number), len(rows)
        pack.assign(waiting=np.ones(n, np.uint8), empty=np.empty(n, np.int64))
        self.kernels.sequential_move(n, self.scale, LEAST_GAIN * max(1.0, self.resolution), pack)
        return pack.label

    def _refined(self, rows: Rows, outer: np.ndarray, number: int) -> np.ndarray:
        """Connected groups within communities, as the number of a vertex for each."""
        pack, n = self._pack(rows, np.arange(len(rows)), mixed(self.seed) - number), len(rows)
        pack.assign(outer=outer, outer_sums=sum_at(np, n, outer, rows.degree), border=np.empty(n, np.int64))
        self.kernels.sequential_refine(n, self.scale, pack)
        return pack.label

    def _pack(self, rows: Rows, label: np.ndarray, key: int) -> Sequential:
        n = len(rows)
        return Sequential(
            indptr=rows.indptr, indices=rows.indices, weights=rows.weights, degree=rows.degree,
            label=label.copy(), sums=sum_at(np, n, label, rows.degree), members=np.bincount(label, minlength=n),
            queue=np.argsort(round_of_each(np.arange(n), key, 1 << 32), kind="stable"),
            keys=np.empty(n + 1, np.int64), total=np.full(n, -1),
        )  # fmt: skip


@dataclass
class FirstRank:
    """Levels that the first rank processes by itself; all ranks know what it finds, and call `up`."""

    resolution: float
    seed: int
    refined: bool
    """As `Climb` has it."""
    rows: Rows | None = None
    """Those of the graph on its host, if it processes the graph."""
    found: Climbed | None = None
    """The best communities of the graph so far."""

    def up(self, env: Environment, level: Level, label: Array | None, sweeps: int, refined: bool) -> Climbed:
        """Go on from a level with these labels to the highest one; None for the level of the graph, where a pass begins
        anew. `at` of what is found is that of own vertices."""
        made, number = np.zeros(4), level.numbers[:0]
        climbed = self._climbed(env, level, label, sweeps, refined)
        if climbed:
            rows, found = climbed
            number, size = rows.among_all(env, found, level.size)
            made[:] = (size, found.levels, found.quality, found.sweeps)
        cuts = level.bounds if climbed else np.zeros(env.size + 1, np.int64)
        number = env.alltoall([number[int(a) : int(b)] for a, b in pairwise(cuts)])[0]
        assert env.comm is not None
        size, levels, quality, sweeps = env.comm.allreduce(made, "sum").tolist()
        return Climbed(number, int(size), int(levels), quality, int(sweeps))

    def _climbed(
        self, env: Environment, level: Level, label: Array | None, sweeps: int, refined: bool
    ) -> tuple[Rows, Climbed] | None:
        """What the first rank finds; other ranks find nothing."""
        rows = gathered(env, level) if label is not None or self.rows is None else self.rows
        if label is None:
            self.rows = rows
        elif env.size > 1:
            label = env.backend.from_host(to_first(env, label))
        if env.rank:
            return None
        climb = Climb(alone_on_host(env), self.resolution, level.total, self.seed, self.refined)
        if label is None:
            found = climb.best(rows, self.found, sweeps)
            for _ in range(AGAIN if len(rows.indices) <= SMALL else 0):
                found = climb.best(rows, found, found.sweeps)
            self.found = found
            return rows, found
        some = env.backend.to_host(label[env.backend.from_host(rows.places)])
        return rows, climb.up(rows, rows.among_these(some), sweeps, refined)
