"""Pairs of a source and a vertex that searches have reached on a rank, in two representations with the same methods.

With few sources, a bit for each source and slot says whether the pair was reached. It is set for an own vertex when it
is reached, and for a ghost when its owner is notified, so that a rank sends each pair at most once. With many sources
the pairs of own vertices are sorted, and searched for; a ghost's may be sent again. A search sees no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.kernels.common.tuning import FLAT_TILE
from graphdask.kernels.subgraphs.reached_pack import REACHED, ReachedPairs
from graphdask.partition.part import Csr, Part
from graphdask.sample.beyond_memory import refuse_beyond_memory
from graphdask.subgraphs.rows import places_in, row_blocks
from graphdask.subgraphs.selected import words_of
from graphdask.subgraphs.tuning import SUBGRAPHS


def fits(part: Part, sources: int) -> bool:
    """Whether marks of so many sources need as little memory as those of subgraphs."""
    return sources * words_of(part) <= SUBGRAPHS.marks


def reached_pairs(part: Part, env: Environment, sources: int, name: str) -> MarkedPairs | SortedPairs:
    """Return no pairs of so many sources; `name` is what errors call the search."""
    return MarkedPairs(part, env, sources, name) if fits(part, sources) else SortedPairs(part, env, name)


@dataclass
class Found:
    """What a frontier leads to for the first time."""

    own: Array
    """source * num_owned + own vertex, int64, in any order."""
    remote: Array
    """source * num_slots + slot of a ghost, int64, in any order."""
    edges: int
    """Edges of the frontier."""


class MarkedPairs:
    """The pairs as bits."""

    def __init__(self, part: Part, env: Environment, sources: int, name: str):
        self._env, self._most, self._name = env, sources * part.num_slots, name
        self._kernels = env.kernels("reached", index_t=part.vertex_map.dtype)
        self._pack = ReachedPairs(
            owned=part.num_owned, slots=part.num_slots, marks=env.xp.zeros(sources * words_of(part), np.uint32),
            stride=words_of(part), counters=env.xp.zeros(len(REACHED), np.int64),
        )  # fmt: skip

    def take(self, pairs: Array) -> Array:
        """Mark pairs of own vertices, and return those that were not marked, once each, in any order."""
        if not len(pairs):
            return pairs
        self.begin(pairs)
        return self._pack.own[: self._pack.read_counters(self._env.backend).own]

    def begin(self, pairs: Array) -> None:
        """Mark pairs of own vertices."""
        if len(pairs):
            self._pack.assign(pairs=pairs, own=self._env.xp.empty(len(pairs), np.int64), remote=None)
            self._pack.counters.fill(0)
            self._kernels.reached_take(len(pairs), self._pack)

    def visit(self, csr: Csr, pairs: Array) -> Found:
        """Mark the neighbours of distinct pairs, and return those that were not marked."""
        xp, pack, nothing = self._env.xp, self._pack, pairs[:0]
        if not len(pairs):
            return Found(nothing, nothing, 0)
        pack.assign(
            indptr=csr.indptr, indices=csr.indices, pairs=pairs, items=len(pairs),
            begins=xp.empty(len(pairs), np.int64), ends=xp.empty(len(pairs), np.int64),
        )  # fmt: skip
        self._kernels.reached_rows(len(pairs), pack)
        pack.ends = xp.cumsum(pack.ends)
        edges = int(pack.ends[-1])
        if not edges:
            return Found(nothing, nothing, 0)
        most = min(edges, self._most)
        refuse_beyond_memory(self._env, self._name, "pairs of source and vertex", most, 40)
        pack.assign(own=xp.empty(most, np.int64), remote=xp.empty(0 if self._env.size == 1 else most, np.int64))
        pack.counters.fill(0)
        self._kernels.reached_visit(-(-edges // FLAT_TILE), pack, per_item=32)
        found = pack.read_counters(self._env.backend)
        return Found(pack.own[: found.own], pack.remote[: found.remote], edges)


class SortedPairs:
    """The pairs as a sorted array."""

    def __init__(self, part: Part, env: Environment, name: str):
        self._part, self._env, self._name = part, env, name
        self._visited: Array = env.xp.zeros(0, np.int64)

    def begin(self, pairs: Array) -> None:
        """Take in pairs of own vertices."""
        self.take(pairs)

    def take(self, pairs: Array) -> Array:
        """Take in pairs of own vertices, and return those that were not there, once each, in ascending order."""
        if not len(pairs):
            return pairs
        xp = self._env.xp
        fresh = xp.unique(pairs)
        fresh = fresh[~places_in(xp, self._visited, fresh)[1]]
        self._visited = xp.concatenate([self._visited, fresh])
        self._visited.sort()
        return fresh

    def visit(self, csr: Csr, pairs: Array) -> Found:
        """Take in the neighbours of distinct pairs, and return those that were not there; ghosts' once each."""
        instances, slots, edges = neighbours_of(self._part, self._env, [csr], pairs, self._name)
        here = slots < self._part.num_owned
        own = self.take(instances[here] * self._part.num_owned + slots[here])
        return Found(own, instances[~here] * self._part.num_slots + slots[~here], edges)


def neighbours_of(
    part: Part, env: Environment, csrs: Sequence[Csr], pairs: Array, name: str
) -> tuple[Array, Array, int]:
    """Distinct pairs that an edge leads to from some pairs: sources, slots; and how many edges there are."""
    xp, slots = env.xp, max(part.num_slots, 1)
    instances = pairs // max(part.num_owned, 1)
    rows = (pairs - instances * part.num_owned).astype(part.vertex_map.dtype)
    found, edges = pairs[:0], 0
    for csr in csrs:
        for of_each, places in row_blocks(env, csr, rows):
            edges += len(places)
            found = xp.unique(xp.concatenate([found, instances[of_each] * slots + csr.indices[places]]))
            refuse_beyond_memory(env, name, "pairs of source and vertex", len(found), 64)
    return *split(part, found), edges


def split(part: Part, pairs: Array) -> tuple[Array, Array]:
    """Sources and slots of pairs, source * num_slots + slot."""
    slots = max(part.num_slots, 1)
    sources = pairs // slots
    return sources, (pairs - sources * slots).astype(part.vertex_map.dtype)
