"""Candidates for the next level of a search in several lanes, found from its frontier: a push.

Each rank visits the edges out of its own vertices of the frontier. It lists, once each, the vertices that a lane of
these has not reached yet. It sends the ghosts among them to their owners. An owner then searches for the frontier from
its listed vertices only. Owners send every level to their ghosts, so a rank also knows which lanes have reached a
ghost; therefore all candidates will be reached. A message holds vertices without values, so the order in which messages
arrive does not affect the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.engine.loop import HUB_THREADS, Environment, Received
from graphdask.partition.part import Part

PUSH = 4
"""A superstep pushes only if the vertices that are left are at least PUSH times as many as the edges out of the
frontier."""
HUB = 4096
"""Rows of more edges are deferred (kernels/common/rows.cuh)."""


def _most(part: Part) -> tuple[int, int, int]:
    """The most candidates that there can be, own ones and ghosts, and the most rows that are deferred."""
    edges = part.num_vertices // PUSH
    return min(edges, part.num_owned), min(edges, part.num_slots - part.num_owned), edges // HUB


def candidates_memory(part: Part) -> int:
    """Return the bytes of the lists."""
    return part.num_slots // 8 + sum(_most(part)) * part.vertex_map.dtype.itemsize


@dataclass
class Candidates:
    """The lists of candidates of one rank."""

    kernels: Any
    backend: Backend
    chosen: Array
    """uint32 words, a bit per slot: whether it is listed."""
    own: Array
    ghosts: Array
    hubs: Array
    """Rows of very many edges, for the kernels."""
    counters: Array
    told: int = 0
    """Ghosts that are listed."""

    @classmethod
    def of(cls, part: Part, mask: Any, env: Environment) -> Candidates:
        """Return empty lists."""
        xp, dtype = env.xp, part.vertex_map.dtype
        own, ghosts, hubs = (xp.empty(most, dtype) for most in _most(part))
        chosen = xp.zeros((part.num_slots + 31) // 32, np.uint32)
        kernels = env.kernels("candidates", index_t=dtype, mask_t=mask)
        return cls(kernels, env.backend, chosen, own, ghosts, hubs, xp.zeros(4, np.int64))

    def find(self, part: Part, rows: Array, front: Array, seen: Array) -> tuple[Array, int]:
        """List the candidates that the rows may reach; return the ghosts among them and the number of edges visited."""
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
        """Add the own vertices that another rank has found."""
        self.kernels.candidates_take(message.count, message.slots, part.num_owned, self.chosen, self.own, self.counters)

    def take_out(self) -> Array:
        """Return all own candidates, and empty the lists."""
        own = self.own[: int(self.counters[0])]
        for some in (own, self.ghosts[: self.told]):
            self.kernels.candidates_forget(len(some), some, self.chosen)
        return own
