"""Breadth-first search by levels: push, pull, or whichever looks at fewer edges (direction-optimising).

State: `depth` and `parent` for every slot of the partition. A push superstep first takes in the vertices that other
ranks reached for this one, then pushes the frontier over its out-edges. A ghost is reached at most once per rank, and
only then is its owner told. A pull superstep looks, for each own vertex that is not reached, for the first in-neighbour
in the frontier; the frontier is a bitmap over slots, for which owners tell the ghosts of their new vertices. A push
therefore becomes a pull through a superstep that only tells; a pull becomes a push without one.

Every rank is at the same level, so depths are exact. The parent is the smallest id among all candidates of one level,
so it depends on neither the partitioning nor the order of events; a pull finds it first, as rows are in order of ids.

Sources: Pan et al., Multi-GPU Graph Analytics, Sections IV and VI-A; Beamer, Asanovic, Patterson, Direction-optimizing
breadth-first search (2012), whose rule decides, from the edges of the frontier, which every rank votes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms._direction import Direction
from graphdask.backend import Array
from graphdask.build import from_cyclic, to_cyclic_positions
from graphdask.engine import HUB_THREADS, INDEX, Environment, Inbox, Messages, Primitive
from graphdask.errors import InputError
from graphdask.graph import Graph, checked_graph
from graphdask.part import Csr, Part
from graphdask.result import Result
from graphdask.runtime import runtime

DIRECTIONS = ("auto", "push", "pull")


@dataclass
class State:
    depth: Array
    """Per slot, -1 where not reached."""
    parent: Array
    """Per slot, the id of the parent; the largest integer where there is none; -2 - slot where a pull found it."""
    frontier: Array
    """Slots of the own vertices of the current level."""
    level: int
    queues: tuple[Array, Array]
    """Own vertices of the next level; this one and the next in turn."""
    ghost_queue: Array
    hubs: Array
    counters: Array
    """int64: own queue length, ghost queue length (pull: vertices left), hubs, edges looked at."""
    direction: Direction
    front: Array | None = None
    """Pull: uint32 words, a bit per slot."""
    left: Array | None = None
    """Pull: own vertices that are not reached and have in-edges."""


class BfsResult(Result):
    """What `bfs` returns."""

    columns = ("depth", "parent")
    vertex_valued = ("parent",)

    @property
    def depth(self) -> np.ndarray:
        """Hops from the source, -1 where unreachable; shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("depth")

    @property
    def parent(self) -> np.ndarray:
        """The caller's id of the parent in the search tree; the source is its own, -1 or None where unreachable."""
        return self._column("parent")


class BreadthFirstSearch(Primitive[State]):
    """The primitive: from a set of sources, over out-edges, or over edges either way."""

    name = "BFS"
    ghosts = "all"
    columns: ClassVar[Mapping[str, Any]] = {"parent": INDEX}
    ghost_columns: ClassVar[Mapping[str, Any]] = {}
    votes = Direction.VOTES
    verifier = "graphdask.verify.bfs"
    result_type = BfsResult

    def __init__(self, sources: tuple[int, ...], either_way: bool = False, direction: str = "push"):
        self.sources, self.either_way, self.direction = sources, either_way, direction

    @property
    def inward(self) -> bool:
        return self.either_way or self.direction == "pull"

    @property
    def tells_ghosts(self) -> bool:  # type: ignore[override]
        return self.direction != "push"

    def memory(self, part: Part) -> int:
        return 11 * part.num_slots * part.vertex_map.dtype.itemsize

    def own_sources(self, part: Part, env: Environment) -> Array:
        """Distinct slots of the sources that this rank owns."""
        places = [part.vertex_map.locate(source) for source in self.sources]
        return env.backend.from_host(
            np.array(sorted({local for rank, local in places if rank == part.rank}), part.vertex_map.dtype)
        )

    def init(self, part: Part, env: Environment) -> tuple[State, Messages]:
        xp, dtype = env.xp, part.vertex_map.dtype
        sources = self.own_sources(part, env)
        queues = (xp.empty(part.num_owned, dtype), xp.empty(part.num_owned, dtype))
        frontier = queues[0][: len(sources)]
        frontier[:] = sources
        depth = xp.full(part.num_slots, -1, dtype)
        parent = xp.full(part.num_slots, np.iinfo(dtype).max, dtype)
        depth[frontier] = 0
        parent[frontier] = part.ids[frontier]
        ghost_queue = xp.empty(part.num_slots - part.num_owned, dtype)
        # in-edges that an earlier call has made are used, but none are made for "auto"
        can_pull = self.direction == "pull" or (self.direction == "auto" and part.inward is not None)
        state = State(
            depth, parent, frontier, 0, queues, ghost_queue, xp.empty(part.num_owned, dtype), xp.zeros(4, np.int64),
            Direction(self.direction if can_pull else "push", part.num_vertices),
        )  # fmt: skip
        votes = state.direction.votes(len(frontier), self._weigh(part, state, env), part.out.num_edges)
        active = len(frontier) > 0
        return state, Messages(frontier, ghost_queue[:0], {"parent": parent}, active, votes=votes)

    def _weigh(self, part: Part, state: State, env: Environment) -> int:
        """Out-edges of the frontier's own vertices, where the direction depends on them."""
        if not state.direction.weighs:
            return 0
        state.counters.fill(0)
        kernels = env.kernels("bfs", index_t=part.vertex_map.dtype)
        kernels.bfs_weigh(len(state.frontier), state.frontier, part.out.indptr, state.counters)
        return int(state.counters[0])

    def superstep(self, part: Part, state: State, inbox: Inbox, env: Environment) -> Messages:
        pulled = state.direction.pulls
        if len(inbox):
            self._take_in(part, state, inbox, env, pulled)
        pulls = state.direction.choose(inbox.votes)
        if pulls and not pulled:
            state.front = env.xp.zeros((part.num_slots + 31) // 32, np.uint32)
            state.left = None
            if env.size > 1:
                none = state.ghost_queue[:0]
                state.direction.pause()
                return Messages(state.frontier, none, {}, len(state.frontier) > 0, to="ghosts")
        return self._pull(part, state, inbox, env) if pulls else self._push(part, state, env)

    def _take_in(self, part: Part, state: State, inbox: Inbox, env: Environment, pulled: bool) -> None:
        if pulled:
            state.depth[inbox.slots] = state.level
            return
        queue = state.queues[state.level % 2]
        state.counters[0] = len(state.frontier)
        env.kernels("bfs", index_t=part.vertex_map.dtype).bfs_visit(
            len(inbox), inbox.slots, inbox.columns["parent"], state.depth, state.parent, state.level,
            part.num_owned, queue, state.counters,
        )  # fmt: skip
        state.frontier = queue[: int(state.counters[0])]

    def _push(self, part: Part, state: State, env: Environment) -> Messages:
        kernels = env.kernels("bfs", index_t=part.vertex_map.dtype)
        state.counters.fill(0)
        state.level += 1
        queue = state.queues[state.level % 2]
        for csr in part.directions if self.either_way else [part.out]:
            self._push_over(kernels, part, csr, state, queue)
        own, ghosts, _, edges = (int(x) for x in env.backend.to_host(state.counters))
        frontier, state.frontier = len(state.frontier), queue[:own]
        reached = state.ghost_queue[:ghosts]
        votes = state.direction.votes(own + ghosts, self._weigh(part, state, env) * (own + ghosts) // max(own, 1))
        return Messages(state.frontier, reached, {"parent": state.parent}, own > 0, frontier, edges, votes=votes)

    def _push_over(self, kernels: Any, part: Part, csr: Csr, state: State, queue: Array) -> None:
        shared = (
            csr.indptr, csr.indices, part.ids, state.depth, state.parent, state.level, part.num_owned, queue,
            state.ghost_queue, state.hubs, state.counters,
        )  # fmt: skip
        kernels.bfs_push(len(state.frontier), state.frontier, *shared)
        kernels.bfs_push_hubs(HUB_THREADS, *shared)
        if self.either_way:
            state.counters[2] = 0

    def _pull(self, part: Part, state: State, inbox: Inbox, env: Environment) -> Messages:
        csr, kernels = part.inward, env.kernels("bfs", index_t=part.vertex_map.dtype)
        assert csr is not None
        assert state.front is not None
        state.counters.fill(0)
        if state.left is None:
            state.left = env.xp.empty(part.num_owned, part.vertex_map.dtype)
            kernels.bfs_unvisited(part.num_owned, state.depth, csr.indptr, state.left, state.counters)
            state.left = state.left[: int(state.counters[1])]
            state.counters.fill(0)
        else:
            state.front.fill(0)
        kernels.bfs_mark(len(state.frontier), state.frontier, state.front)
        kernels.bfs_mark(len(inbox), inbox.slots, state.front)
        state.level += 1
        queue = state.queues[state.level % 2]
        unvisited, remaining = state.left, env.xp.empty(len(state.left), part.vertex_map.dtype)
        shared = (
            csr.indptr, csr.indices, state.front, state.depth, state.parent, state.level, queue, remaining, state.hubs,
            state.counters,
        )  # fmt: skip
        kernels.bfs_pull(len(unvisited), unvisited, *shared)
        kernels.bfs_pull_hubs(HUB_THREADS, *shared)
        own, count, _, edges = (int(x) for x in env.backend.to_host(state.counters))
        frontier, state.frontier, state.left = len(state.frontier), queue[:own], remaining[:count]
        votes = state.direction.votes(own, self._weigh(part, state, env))
        none = state.ghost_queue[:0]
        return Messages(state.frontier, none, {}, own > 0, frontier, edges, "ghosts", votes)

    def result(self, part: Part, state: State, env: Environment) -> dict[str, Array]:
        xp, owned = env.xp, part.num_owned
        depth = state.depth[:owned].copy()
        parent = xp.where(depth < 0, part.vertex_map.dtype.type(-1), state.parent[:owned])
        pulled = xp.flatnonzero(parent < -1)
        if len(pulled):
            positions = from_cyclic(part, to_cyclic_positions(part, -2 - parent[pulled]))
            parent[pulled] = part.vertex_map.to_id(env.backend, positions)
        return {"depth": depth, "parent": parent}


def bfs(
    G: Graph,
    source: Any,
    *,
    direction: str = "auto",
    exchange: str | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> BfsResult:
    """Breadth-first search: hops from `source` to every vertex, along the direction of the edges.

    Parameters
    ----------
    G : Graph
    source : int or str
        A vertex, by the caller's id.
    direction : {"auto", "push", "pull"}
        Push the frontier over its out-edges, or let vertices that are not reached look for it over their in-edges.
        `auto` takes what looks at fewer edges, level by level; in a directed graph it pulls only where an earlier
        call has made the in-edges. The answer is the same.
    exchange : {"selective", "broadcast"}, optional
        Send a reached vertex to its owner only, or to everyone. Default: selective. The answer is the same.
    client : distributed.Client, optional
        Where to run. Default: the active client, or this process if there is none.
    progress : bool, optional
        Show a progress bar. Default: in a terminal or a notebook.

    Returns
    -------
    BfsResult
        With `depth`, int32 of shape (num_vertices,), -1 where unreachable (int64 above 2**31 - 2 vertices), and
        `parent`, the smallest id among the neighbours one level nearer to the source; the source is its own parent,
        -1 (None among string ids) where unreachable. Both in the order of `G.vertex_ids`, identical bit for bit for
        every number of partitions and on every device.

    Raises
    ------
    VertexNotFound
        Where `source` is not a vertex.
    InputError
        Where `G` is not a Graph, or an argument has no such value.
    OverBudget
        Where it would need more memory than there is.
    PeerLost
        Where a worker died and could not be replaced in time.

    References
    ----------
    Pan, Wang, Wu, Yang, Owens: Multi-GPU Graph Analytics, IPDPS 2017, Sections IV and VI-A. Beamer, Asanovic,
    Patterson: Direction-optimizing breadth-first search, SC 2012.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 1], [1, 2, 3], num_vertices=5)
    >>> gd.bfs(G, 0).depth.tolist()
    [0, 1, 2, 2, -1]
    """
    checked_graph(G)
    if np.ndim(source) != 0:
        raise InputError(f"bfs starts from one vertex; source={source!r} is an array")
    if direction not in DIRECTIONS:
        raise InputError(f"direction={direction!r} is not one of {', '.join(DIRECTIONS)}")
    start = int(G.ids.to_internal(source, "source"))
    return runtime().run(
        G, BreadthFirstSearch((start,), direction=direction), exchange=exchange, client=client, progress=progress
    )
