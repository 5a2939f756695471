"""Candidates: the vertices that the edges of a frontier lead to, once each, for a search in several lanes; a push.

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
from graphdask.engine.advance import advance
from graphdask.engine.loop import Environment, Received
from graphdask.kernels.common.candidates_pack import COUNTS, CandidateLists
from graphdask.kernels.common.tuning import HUB
from graphdask.partition.part import Csr, Part

PUSH = 4
"""A superstep pushes only if the vertices that are left are at least PUSH times as many as the edges out of the
frontier."""


def pushes(edges: float, left: float, many: float, ranks: int) -> bool:
    """Return whether candidates are looked for from so many edges of the frontier, rather than from those left.

    If there are several ranks, a superstep that notifies the owners of candidates comes first, so that it pays only
    where many vertices are left on some rank.
    """
    return bool(edges * PUSH <= left and (many or ranks == 1))


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
    rows: Csr
    """The out-edges."""
    lists: CandidateLists
    reported: int = 0
    """Ghosts that are listed."""

    @classmethod
    def of(cls, part: Part, mask: Any, env: Environment) -> Candidates:
        """Return empty lists."""
        xp, dtype = env.xp, part.vertex_map.dtype
        own, ghosts, hubs = (xp.empty(most, dtype) for most in _most(part))
        lists = CandidateLists(
            owned=part.num_owned, slots=part.num_slots, own=own, ghosts=ghosts, hubs=hubs,
            chosen=xp.zeros((part.num_slots + 31) // 32, np.uint32), counters=xp.zeros(len(COUNTS), np.int64),
        )  # fmt: skip
        return cls(env.kernels("candidates", index_t=dtype, mask_t=mask), env.backend, part.out, lists)

    def find(self, rows: Array, frontier: Array, seen: Array) -> tuple[Array, int]:
        """List the candidates that the rows may reach; return the ghosts among them and the number of edges visited."""
        lists = self.lists
        lists.counters.fill(0)
        lists.frontier, lists.seen = frontier, seen
        kernels = self.kernels
        advance(kernels.candidates_list, kernels.candidates_list_hubs, self.rows, rows, lists, cleared=True)
        _, _, edges, self.reported = lists.read_counters(self.backend)
        return lists.ghosts[: self.reported], edges

    def take(self, message: Received) -> None:
        """Add the own vertices that another rank has found."""
        self.kernels.candidates_take(message.count, message.slots, self.lists)

    def take_out(self) -> Array:
        """Return all own candidates, and empty the lists."""
        own = self.lists.own[: self.lists.read_counters(self.backend).own]
        for some in (own, self.lists.ghosts[: self.reported]):
            self.kernels.candidates_forget(len(some), some, self.lists.chosen)
        return own
