"""What a breadth-first search keeps between its supersteps, and the bytes that it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.algorithms._targets import Targets
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.checkpoints import lowered
from graphdask.engine.direction import Direction
from graphdask.engine.frontier import Frontier
from graphdask.engine.level_search import NO_LIMIT, LevelState
from graphdask.engine.loop import Environment, Inbox
from graphdask.engine.team import Peers, TeamMemory
from graphdask.engine.team_levels import TeamLevels
from graphdask.kernels.bfs.bfs_pack import RankSearch, Search
from graphdask.kernels.common.levels_pack import COUNTS, Levels
from graphdask.partition.neighbours import places_of
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import VertexMap


@dataclass
class BfsState(LevelState):
    search: Search
    """What the kernels work on: depths, parents, and what the next launch is given."""
    kernels: Any
    targets: Targets | None
    """Vertices after which it stops."""

    def votes(self, found: int, edges: int, env: Environment, arcs: int = 0) -> tuple[float, ...]:
        """Return the vote on the direction, and that on the targets, if there are any."""
        aims = () if self.targets is None else self.targets.votes(self.search.seen, env)
        return *self.direction.votes(found, edges, arcs), *aims

    def settle_sources(self, env: Environment) -> None:
        """Settle the first frontier, and add up its edges."""
        if self.frontier.count:
            self.kernels.bfs_settle(self.frontier.count, self.frontier.level, self.search)
            self.frontier.weight = self.frontier.read(env)[COUNTS.place.weight]

    def own_parents(self, part: Part, env: Environment) -> Array:
        """Parents of the own vertices as ids, where they are kept."""
        parent: Array = self.search.parent[: part.num_owned]
        if self.frontier.pulled and env.size > 1 and type(part.vertex_map) is not VertexMap:
            places = env.xp.flatnonzero(parent < -1)
            parent[places] = part.vertex_map.to_id(env.backend, -2 - parent[places])
        return parent

    def taking(self, part: Part, inbox: Inbox, env: Environment) -> dict[str, Array]:
        """Return copies of depths and parents of the own vertices, with what has arrived for them."""
        depth, parent = self.search.depth[: part.num_owned].copy(), self.own_parents(part, env).copy()
        if not self.direction.pulls and len(inbox):  # else it is the frontier, which came to ghosts
            level, none = self.frontier.level, np.iinfo(parent.dtype)
            may_fall = env.xp.where(depth < 0, none.max, env.xp.where(depth == level, parent, none.min))
            parents = lowered(may_fall.astype(parent.dtype), inbox, "parent", env)
            new = parents != may_fall
            depth[new], parent[new] = level, parents[new]
        return {"depth": depth, "parent": parent}

    def answer(self, part: Part, env: Environment) -> dict[str, Array]:
        """Return depths and parents of the own vertices, parents as ids."""
        owned, search = part.num_owned, self.search
        self.frontier.forget_left(0)
        depth, parent = search.depth[:owned], self.own_parents(part, env)
        columns = {"depth": (depth, search.depth), "parent": (parent, search.parent)}
        return {name: column if len(of) == owned else column.copy() for name, (column, of) in columns.items()}


def amid_search(
    part: Part, env: Environment, direction: str, depth: Array, parent: Array, level: int, targets: Sequence[int],
    limit: int,
) -> BfsState:  # fmt: skip
    """Return the state of a search whose frontier are the own vertices of a level, from depths and parents of all own
    vertices up to it. Every rank calls it."""
    xp, slots, dtype = env.xp, part.num_slots, part.vertex_map.dtype
    sources = places_of(xp, depth == level).astype(dtype)
    state = before_search(part, env, direction, sources, slots, slots, targets=targets, limit=limit)
    search, frontier = state.search, state.frontier
    if level % 2:
        frontier.queues = frontier.queues[1], frontier.queues[0]
    frontier.level = level
    state.settle_sources(env)
    (depths,) = env.fetch_ghosts(part, [depth])
    search.depth[:], search.parent[: part.num_owned] = depths, parent
    reached = places_of(xp, depths >= 0).astype(dtype)
    env.kernels("codec", index_t=dtype).codec_set_bits(len(reached), reached, search.seen, slots)
    frontier.unreached = min(frontier.unreached, int((depth < 0).sum()))
    return state


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
    sources, counters
        See `Frontier.of`.
    depths, parents : int
        Of how many of the first slots depths and parents are kept.
    limit, targets, alone
        See `BfsState`.
    """
    dtype, aims = part.vertex_map.dtype, Targets.of(part, env, targets)
    own = part.ids[:0] if aims is None else aims.own
    search = Search(
        depth=env.xp.full(depths, -1, dtype), parent=env.xp.full(parents, -1, dtype), targets=own, num_targets=len(own)
    )
    frontier = Frontier.of(part, env, "BFS", search, sources, counters)
    kernels = env.kernels("bfs", index_t=dtype)
    return BfsState(frontier, Direction(direction, part.num_vertices), limit, alone, search, kernels, aims)


class TeamSearch(TeamLevels):
    """The share of one rank in a search by the GPUs of a host together (kernels/bfs/bfs_team.cu).

    Every rank makes one, in `init`; `weight` and `levels` are those of `TeamLevels`.
    """

    name = "BFS"

    def __init__(
        self, memory: TeamMemory, part: Part, state: BfsState, env: Environment, weight: int | None = None,
        levels: int | None = None,
    ):  # fmt: skip
        kernel = env.kernels("bfs_team", cooperative=True, index_t=part.vertex_map.dtype).bfs_team
        plan = Levels(deepest=state.limit, has_targets=int(state.targets is not None))
        rank = RankSearch(**state.search.as_dict())
        super().__init__(memory, part, env, kernel, rank, state.frontier, state.direction.mode, plan, weight, levels)


def search_memory(part: Part, allocation: Allocation, pulls: bool) -> int:
    """Return the bytes of the state and of what a selective exchange allocates."""
    entries = 2 * part.num_slots + Frontier.entries(part, allocation, pulls)
    return part.vertex_map.dtype.itemsize * entries + part.num_slots // 8


def team_search_memory(part: Part, pulls: bool) -> int:
    """Return the bytes of the state of a search by a team, which needs no memory for an exchange.

    At the end of the search, the parents of the own vertices are copied if ghosts are behind them.
    """
    slots, owned = part.num_slots, part.num_owned
    entries = 4 * owned + slots + (slots - owned) + (2 if pulls else int(slots > owned)) * owned
    return part.vertex_map.dtype.itemsize * entries + (slots + 31) // 32 * 4
