"""What a breadth-first search keeps between its supersteps, and the bytes that it takes."""

from __future__ import annotations

from collections.abc import Sequence
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
from graphdask.kernels.common.levels_pack import COUNTS
from graphdask.kernels.common.tuning import PULL_FEW
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import VertexMap

NO_LIMIT = 1 << 62
"""The level at which a search stops that has no limit."""


@dataclass
class BfsState:
    search: Search
    """What the kernels work on: depths, parents, and what the next launch is given."""
    queues: tuple[Buffer, Buffer]
    """Own vertices of the current level and the next, in turn."""
    ghost_queue: Buffer
    hubs: Buffer
    counters: Array
    """int64: the counters of three levels, in turn."""
    rows: tuple[Array, ...]
    """Its rows."""
    direction: Direction
    kernels: Any
    unreached: int
    """Own vertices that may yet be found, at most; counted if memory is allocated in part."""
    limit: int
    """The level at which the search stops; the same on all ranks."""
    targets: Targets | None
    """Vertices after which it stops."""
    alone: Peers | None
    """Where one GPU, which has all, pushes large levels as a team of one."""
    count: int
    """Length of the frontier, or more if vertices have arrived."""
    weight: int = 0
    """Its out-edges, and LONG_ROW_MARK for each row of very many, or if vertices have arrived."""
    level: int = 0
    turn: int = 0
    """The counters of the frontier are in row turn % 3."""
    left: tuple[Buffer, Buffer] | None = None
    """Pull: own vertices that are not reached and have in-edges, of this superstep and the next, in turn."""
    waiting: int = 0
    """Their number, or more."""
    pulled: bool = False
    """Whether any superstep has."""

    @property
    def goes_on(self) -> bool:
        """Whether the frontier has vertices, and is to be followed."""
        return self.count > 0 and self.level < self.limit

    def target_votes(self, env: Environment) -> tuple[float, ...]:
        """Return the vote on the targets, if there are any."""
        return () if self.targets is None else self.targets.votes(self.search.seen, env)

    @property
    def queue_buffer(self) -> Buffer:
        return self.queues[self.level % 2]

    @property
    def queue(self) -> Array:
        """Where the frontier is."""
        return self.queue_buffer.array

    def advance(self, levels: int = 1) -> None:
        """Go on to the next row of counters."""
        self.turn += levels
        self.search.assign(here=self.rows[(self.turn - 1) % 3], next=self.rows[self.turn % 3])

    def read(self, env: Environment) -> list[int]:
        """Return the counters of the frontier, by `COUNTS.place`."""
        found: list[int] = env.backend.to_host(self.rows[self.turn % 3]).tolist()
        return found

    def answer(self, part: Part, env: Environment) -> dict[str, Array]:
        """Return depths and parents of the own vertices, parents as ids."""
        owned, search = part.num_owned, self.search
        depth, parent = search.depth[:owned], search.parent[:owned]
        self.left = None
        search.release("left")
        if self.pulled and env.size > 1 and type(part.vertex_map) is not VertexMap:
            places = env.xp.flatnonzero(parent < -1)
            parent[places] = part.vertex_map.to_id(env.backend, -2 - parent[places])
        columns = {"depth": (depth, search.depth), "parent": (parent, search.parent)}
        return {name: column if len(of) == owned else column.copy() for name, (column, of) in columns.items()}


def before_search(
    part: Part, env: Environment, direction: str, sources: Array, depths: int, parents: int,
    counters: np.ndarray | None = None, limit: int = NO_LIMIT, targets: Sequence[int] = (),
    alone: Peers | None = None,
) -> BfsState:  # fmt: skip
    """Return the state of a search whose frontier are the sources; nothing is settled yet.

    Parameters
    ----------
    direction : str
        `push`, `pull` or `auto`.
    sources : array
        Distinct slots of own vertices; on the host if they are few.
    depths, parents : int
        Of how many of the first slots depths and parents are kept.
    counters : array, optional
        int64, three rows of counters, and more that the caller wants behind them. Default: three rows of zeros.
    limit, targets, alone
        See `BfsState`.
    """
    xp, backend, dtype, owned, slots = env.xp, env.backend, part.vertex_map.dtype, part.num_owned, part.num_slots
    counters = np.zeros((3, len(COUNTS)), np.int64) if counters is None else counters
    (first, *_), place = counters, COUNTS.place
    first[place.found], first[place.edges] = len(sources), part.out.num_edges
    words = backend.from_host(np.append(counters, 0))  # the last is of a barrier
    counters = words[:-1].reshape(counters.shape)
    aims, few = Targets.of(part, env, targets), part.ghosts is not None
    ghost_queue = env.buffer("a level of BFS, of ghosts,", slots - owned, dtype)
    search = Search(
        indptr=part.out.indptr, indices=part.out.indices, out_indptr=part.out.indptr, ids=part.ids,
        seen=xp.zeros((slots + 31) // 32, np.uint32), depth=xp.full(depths, -1, dtype),
        parent=xp.full(parents, -1, dtype), owned=owned, slots=slots, ghosts=part.ghosts if few else part.ids[:0],
        few=int(few), first=part.first_position, vertices=part.num_vertices,
        plain=int(type(part.vertex_map) is VertexMap), ghost_queue=ghost_queue.array, arrived=words[-1:],
        targets=part.ids[:0] if aims is None else aims.own, num_targets=0 if aims is None else len(aims.own),
    )  # fmt: skip
    state = BfsState(
        search, queues=(env.buffer("a level of BFS", owned, dtype), env.buffer("a level of BFS", owned, dtype)),
        ghost_queue=ghost_queue, hubs=env.scratch("BFS's list of long rows", owned, dtype, put_aside(part.out)),
        counters=counters, rows=tuple(counters), direction=Direction(direction, part.num_vertices),
        kernels=env.kernels("bfs", index_t=dtype), unreached=reachable(part) if env.allocation.partial else owned,
        limit=limit, targets=aims, alone=alone, count=len(sources),
    )  # fmt: skip
    state.advance(0)
    search.own_queue = state.queue_buffer.fit(state.count)
    search.own_queue[: state.count] = backend.from_host(sources)
    return state


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
