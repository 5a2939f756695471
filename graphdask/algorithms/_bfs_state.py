"""What a breadth-first search keeps between its supersteps, and the bytes that it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.algorithms._targets import Targets
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation, Buffer, put_aside, reachable
from graphdask.engine.direction import Direction
from graphdask.engine.loop import Environment
from graphdask.engine.team import Peers
from graphdask.kernels.bfs.bfs_pack import Search
from graphdask.kernels.common.tuning import PULL_FEW
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import VertexMap

NO_LIMIT = 1 << 62
"""The level at which a search stops that has no limit."""


def nothing_reached(part: Part, env: Environment, depths: int, parents: int) -> Search:
    """Return what kernels work on before a search, with so many depths and parents of the first slots."""
    xp, dtype, few = env.xp, part.vertex_map.dtype, part.ghosts is not None
    return Search(
        indptr=part.out.indptr, indices=part.out.indices, out_indptr=part.out.indptr, ids=part.ids,
        seen=xp.zeros((part.num_slots + 31) // 32, np.uint32), depth=xp.full(depths, -1, dtype),
        parent=xp.full(parents, -1, dtype), owned=part.num_owned, slots=part.num_slots,
        ghosts=part.ghosts if few else part.ids[:0], few=int(few), first=part.first_position,
        vertices=part.num_vertices, plain=int(type(part.vertex_map) is VertexMap), targets=part.ids[:0], num_targets=0,
    )  # fmt: skip


@dataclass
class BfsState:
    depth: Array
    """Per slot, -1 where not reached."""
    parent: Array
    """Per slot, the id of the parent, -1 where there is none (and kernels/bfs/bfs.py)."""
    seen: Array
    """uint32 words, a bit per slot: reached, and settled."""
    queues: tuple[Buffer, Buffer]
    """Own vertices of the current level and the next, in turn."""
    ghost_queue: Buffer
    hubs: Buffer
    counters: Array
    """int64: the counters of this superstep and of the next, in turn."""
    search: Search
    """What the kernels work on."""
    direction: Direction
    kernels: Any
    unreached: int
    """Own vertices that may yet be found, at most; counted if memory is allocated in part."""
    alone: Peers | None
    """Where one GPU, which has all, pushes large levels as a team of one."""
    count: int = 0
    """Length of the frontier, or more if vertices have arrived."""
    weight: int = 0
    """Its out-edges, and LONG_ROW_MARK for each row of very many, or if vertices have arrived."""
    level: int = 0
    left: tuple[Buffer, Buffer] | None = None
    """Pull: own vertices that are not reached and have in-edges, of this superstep and the next, in turn."""
    waiting: int = 0
    """Their number, or more."""
    pulled: bool = False
    """Whether any superstep has."""
    limit: int = NO_LIMIT
    """The level at which the search stops; the same on all ranks."""
    targets: Targets | None = None
    """Vertices after which it stops."""

    @property
    def goes_on(self) -> bool:
        """Whether the frontier has vertices, and is to be followed."""
        return self.count > 0 and self.level < self.limit

    def target_votes(self, env: Environment) -> tuple[float, ...]:
        """Return the vote on the targets, if there are any."""
        return () if self.targets is None else self.targets.votes(self.seen, env)

    @property
    def queue_buffer(self) -> Buffer:
        return self.queues[self.level % 2]

    @property
    def queue(self) -> Array:
        """Where the frontier is."""
        return self.queue_buffer.array

    def read(self, env: Environment) -> list[int]:
        """Return the counters of a superstep at its end, by `COUNTS.place`; the next one has the others."""
        search = self.search
        found: list[int] = env.backend.to_host(search.counters).tolist()
        search.counters, search.after = search.after, search.counters
        return found

    def answer(self, part: Part, env: Environment) -> dict[str, Array]:
        """Return depths and parents of the own vertices, parents as ids."""
        owned = part.num_owned
        depth, parent = self.depth[:owned], self.parent[:owned]
        self.left = None
        self.search.release("left")
        if self.pulled and env.size > 1 and type(part.vertex_map) is not VertexMap:
            places = env.xp.flatnonzero(parent < -1)
            parent[places] = part.vertex_map.to_id(env.backend, -2 - parent[places])
        columns = {"depth": (depth, self.depth), "parent": (parent, self.parent)}
        return {name: column if len(of) == owned else column.copy() for name, (column, of) in columns.items()}


def search_memory(part: Part, allocation: Allocation, pulls: bool) -> int:
    """Return the bytes of the state and of what a selective exchange allocates.

    They are those of the largest level that there can be or, if memory is allocated in part, of as many vertices as
    buffers hold at first.
    """
    slots, owned = part.num_slots, part.num_owned
    ghosts = slots - owned
    if allocation.partial:
        own, listed = allocation.first(owned), allocation.first(ghosts)
        most = 2 * own + put_aside(part.out) + listed + max(7 * listed // 2, 0 if part.size == 1 else 2 * owned)
        if pulls:
            assert part.inward is not None
            left = allocation.first(owned, reachable(part))
            most += 2 * left + min(left, part.inward.num_edges // PULL_FEW)
            most += owned if part.size > 1 and type(part.vertex_map) is not VertexMap else 0
    else:
        push, pull = 3 * owned + 7 * ghosts // 2, 5 * owned + 2 * ghosts
        most = ghosts + (max(push, pull) if pulls else push)
    return part.vertex_map.dtype.itemsize * (2 * slots + most) + slots // 8


def team_search_memory(part: Part, pulls: bool) -> int:
    """Return the bytes of the state of a search by a team, which needs no memory for an exchange.

    At the end of the search, the parents of the own vertices are copied if ghosts are behind them.
    """
    slots, owned = part.num_slots, part.num_owned
    entries = 4 * owned + slots + (slots - owned) + (2 if pulls else int(slots > owned)) * owned
    return part.vertex_map.dtype.itemsize * entries + (slots + 31) // 32 * 4
