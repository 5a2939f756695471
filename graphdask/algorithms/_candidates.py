"""The vertices that a front of several lanes may reach next, found from the front: a push.

Each rank goes along the edges out of its part of the front and lists, once each, the vertices that a lane of these has
still to reach. Of ghosts their owners are told; what is then listed there is all that they need to look at. As owners
tell their ghosts of every level, a rank knows of a ghost too which lanes have reached it, so that all of the candidates
will be reached. Only who is meant travels, so the order in which it arrives does not show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.engine.loop import HUB_THREADS, Environment, Received
from graphdask.partition.part import Part

PUSH = 4
"""The ends of the edges out of the front look for it, not all that is left, where those are so many times as many."""
HUB = 4096
"""Rows of more edges are put aside (kernels/common/rows.cuh)."""


def _most(part: Part) -> tuple[int, int, int]:
    """The most candidates that there can be, own ones and ghosts, and rows that are put aside."""
    edges = part.num_vertices // PUSH
    return min(edges, part.num_owned), min(edges, part.num_slots - part.num_owned), edges // HUB


def candidates_memory(part: Part) -> int:
    """Bytes of the lists."""
    return part.num_slots // 8 + sum(_most(part)) * part.vertex_map.dtype.itemsize


@dataclass
class Candidates:
    """The lists of one rank."""

    kernels: Any
    backend: Backend
    chosen: Array
    """uint32 words, a bit per slot: who is listed."""
    own: Array
    ghosts: Array
    hubs: Array
    """Rows of very many edges, for the kernels."""
    counters: Array
    told: int = 0
    """Ghosts that are listed."""

    @classmethod
    def of(cls, part: Part, mask: Any, env: Environment) -> Candidates:
        """Empty ones."""
        xp, dtype = env.xp, part.vertex_map.dtype
        own, ghosts, hubs = (xp.empty(most, dtype) for most in _most(part))
        chosen = xp.zeros((part.num_slots + 31) // 32, np.uint32)
        kernels = env.kernels("candidates", index_t=dtype, mask_t=mask)
        return cls(kernels, env.backend, chosen, own, ghosts, hubs, xp.zeros(4, np.int64))

    def find(self, part: Part, rows: Array, front: Array, seen: Array) -> tuple[Array, int]:
        """List what the rows may reach; returns those that are ghosts, and how many edges were looked at."""
        self.counters.fill(0)
        shared = (
            rows, part.out.indptr, part.out.indices, front, seen, part.num_owned, part.num_slots, self.chosen,
            self.own, self.ghosts, self.hubs, self.counters,
        )  # fmt: skip
        self.kernels.candidates_list(len(rows), *shared)
        self.kernels.candidates_list_hubs(HUB_THREADS, *shared)
        _, _, edges, self.told = self.backend.to_host(self.counters).tolist()
        return self.ghosts[: self.told], edges

    def take(self, part: Part, message: Received) -> None:
        """Add what another rank has found of the own vertices here."""
        self.kernels.candidates_take(message.count, message.slots, part.num_owned, self.chosen, self.own, self.counters)

    def take_out(self) -> Array:
        """All own ones; the lists are empty then."""
        own = self.own[: int(self.counters[0])]
        for some in (own, self.ghosts[: self.told]):
            self.kernels.candidates_forget(len(some), some, self.chosen)
        return own
