"""Pairs of a source and a vertex that searches have reached, as a bit for each source and slot, and the next ones.

State: `marks`, set for an own vertex when it is reached, and for a ghost when its owner is notified, so that a rank
sends each pair at most once. New pairs come from kernels in any order and are sorted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.kernels.common.tuning import FLAT_TILE
from graphdask.kernels.subgraphs.reached_pack import REACHED, ReachedPairs
from graphdask.partition.part import Csr, Part
from graphdask.sample._beyond_memory import refuse_beyond_memory
from graphdask.subgraphs.selected import words_of
from graphdask.subgraphs.tuning import SUBGRAPHS


def fits(part: Part, sources: int) -> bool:
    """Whether marks of so many sources need as little memory as those of subgraphs."""
    return sources * words_of(part) <= SUBGRAPHS.marks


@dataclass
class Found:
    """What a frontier leads to for the first time."""

    own: Array
    """source * num_owned + own vertex, int64, in any order."""
    remote: Array
    """source * num_slots + slot of a ghost, int64, in any order."""
    edges: int
    """Edges of the frontier."""


class Reached:
    """The pairs that searches from some sources have reached on a rank, or notified its peers of."""

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
