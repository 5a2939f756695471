"""Distances from many sources at once over a store: one sweep lowers the distances from all sources.

Each source is a lane. A superstep is a sweep over the own chunks with active rows. While a chunk is in memory, its rows
are relaxed until none of them is active. Distances that fell at vertices of other ranks are sent to their owners, which
keep the lower ones. Distances only fall, and at the end no edge can lower one, so they are those in memory, whatever
the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.algorithms.shortest_tree import unreached
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import HUB_THREADS, Environment, Inbox, Messages, Primitive
from graphdask.kernels.betweenness.lane_distances_pack import COUNTS, LaneRows
from graphdask.stream.chunked_rows import ChunkedRows
from graphdask.stream.shared_store import StreamedPart
from graphdask.stream.stopping import Unsent

LEAST = 256
"""Vertices whose values a rank sends in a superstep, if there are so many."""


@dataclass
class LaneDistancesState:
    """Tables and masks, see kernels/betweenness/lane_distances.py."""

    distance: Array
    active: Array
    now: Array
    counters: Array
    hubs: Array
    unsent: bool = False
    """Whether a rank still has values to send."""


class LaneDistances(Unsent, Primitive[LaneDistancesState]):
    """The primitive: the table of distances over slots, of which those of own vertices are right."""

    name = "search for betweenness by weight"

    def __init__(self, sources: Sequence[int], lanes: int, rows: ChunkedRows, types: Mapping[str, Any], hubs: int):
        """`sources` are one for each lane, or for fewer than there are; `rows` has the chunks; `types` are those of
        kernels; `hubs` is the number of high-degree rows that they can defer."""
        self.sources, self.lanes, self.rows, self.types, self.hubs = sources, lanes, rows, types, hubs

    @property
    def columns(self) -> Mapping[str, Any]:  # type: ignore[override]
        return {"value": (self.types["dist_t"], (self.lanes,))}

    def memory(self, part: Any, allocation: Allocation) -> int:
        return 8 * (self.lanes + 1) * part.num_slots + 8 * part.num_owned

    def init(self, part: StreamedPart, env: Environment) -> tuple[LaneDistancesState, Messages]:  # type: ignore[override]
        xp, n, owned, dtype = env.xp, part.num_slots, part.num_owned, np.dtype(self.types["dist_t"])
        state = LaneDistancesState(
            xp.full((n, self.lanes), unreached(dtype), dtype), xp.zeros(n, np.uint64), xp.zeros(owned, np.uint64),
            xp.zeros(len(COUNTS), np.int64), xp.empty(self.hubs, part.vertex_map.dtype),
        )  # fmt: skip
        for lane, source in enumerate(self.sources):
            rank, local = part.vertex_map.locate(source)
            if rank == part.rank:
                state.distance[local, lane] = 0
                state.active[local] |= np.uint64(1 << lane)
        return state, self._messages(part, state, env, 0, 0)

    def _messages(
        self, part: StreamedPart, state: LaneDistancesState, env: Environment, worked: int, edges: int
    ) -> Messages:
        """What has fallen elsewhere, for the owners, as much at a time as fits."""
        xp, owned, index = env.xp, part.num_owned, part.vertex_map.dtype
        none = xp.zeros(0, index)
        waiting, unsent, ghosts = bool(state.active[:owned].any()), False, none
        if part.size > 1:
            found, most = xp.flatnonzero(state.active[owned:]), max(LEAST, part.num_vertices // (4 * part.size))
            unsent = len(found) > most
            ghosts = (found[:most] + owned).astype(index)
            state.active[ghosts] = 0
        return Messages(
            none, ghosts, {"value": state.distance}, waiting or unsent, worked, edges, votes=(float(unsent),)
        )  # fmt: skip

    def superstep(self, part: StreamedPart, state: LaneDistancesState, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        kernels = env.kernels("lane_distances", **self.types)
        for message in inbox.received:
            values = message.columns["value"]
            kernels.lane_distances_arrive(
                message.count, message.slots, values, self.lanes, state.distance, state.active, per_item=self.lanes
            )
        worked, edges = 0, 0
        if not state.unsent:
            worked, edges = self._sweep(part, state, env)
        return self._messages(part, state, env, worked, edges)

    def _sweep(self, part: StreamedPart, state: LaneDistancesState, env: Environment) -> tuple[int, int]:
        """Relax the edges of active rows, chunk by chunk; how many rows, and edges."""
        xp, index, owned, worked = env.xp, part.vertex_map.dtype, part.num_owned, 0
        kernels = env.kernels("lane_distances", **self.types)
        pack = LaneRows(
            now=state.now, lanes=self.lanes, distance=state.distance, active=state.active, hubs=state.hubs,
            counters=state.counters,
        )  # fmt: skip
        state.counters.fill(0)
        active = xp.flatnonzero(state.active[:owned]).astype(index)
        for _, first, csr in self.rows.pieces(part, "out", active, env):
            here = state.active[first : first + csr.num_rows]
            pack.assign(first=first, indptr=csr.indptr, indices=csr.indices, weights=csr.weights)
            while True:
                rows = xp.flatnonzero(here).astype(index)
                if not len(rows):
                    break
                rows += index.type(first)
                state.now[rows] = state.active[rows]
                state.active[rows] = 0
                pack.set_counters(hubs=0)
                kernels.lane_distances_relax(len(rows), rows, pack)
                kernels.lane_distances_relax_hubs(HUB_THREADS, rows, pack)
                worked += len(rows)
            self.rows.log.check()
        return worked, pack.read_counters(env.backend).edges

    def result(self, part: StreamedPart, state: LaneDistancesState, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        return {"distance": state.distance}
