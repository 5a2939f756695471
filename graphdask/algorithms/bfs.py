"""Breadth-first search by levels, push.

State: `depth` and `parent` for every slot of the partition. A superstep first takes in the vertices that other ranks
reached for this one, then pushes the frontier over its out-edges. A ghost is reached at most once per rank, and only
then is its owner told. Every rank is at the same level, so depths are exact, and the parent, the smallest id among all
candidates of one level, depends on neither the partitioning nor the order of events.

Source: Pan et al., Multi-GPU Graph Analytics, Section IV (BFS).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask.backend import Array
from graphdask.engine import HUB_THREADS, INDEX, Environment, Inbox, Messages, Primitive
from graphdask.errors import InputError
from graphdask.graph import Csr, Graph, Part, checked_graph
from graphdask.result import Result
from graphdask.runtime import runtime


@dataclass
class State:
    depth: Array
    """Per slot, -1 where not reached."""
    parent: Array
    """Per slot, the id of the parent; the largest integer where there is none."""
    frontier: Array
    """Slots of the own vertices of the current level."""
    level: int
    queues: tuple[Array, Array]
    """Own vertices of the next level; this one and the next in turn."""
    ghost_queue: Array
    hubs: Array
    counters: Array
    """int64: own queue length, ghost queue length, hubs, edges looked at."""


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
    verifier = "graphdask.verify.bfs"
    result_type = BfsResult

    def __init__(self, sources: tuple[int, ...], either_way: bool = False):
        self.sources, self.either_way = sources, either_way

    @property
    def inward(self) -> bool:
        return self.either_way

    def memory(self, part: Part) -> int:
        return 6 * part.num_slots * part.vertex_map.dtype.itemsize

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
        state = State(
            depth, parent, frontier, 0, queues, ghost_queue, xp.empty(part.num_owned, dtype), xp.zeros(4, np.int64)
        )
        return state, Messages(frontier, ghost_queue[:0], {"parent": parent}, active=len(frontier) > 0)

    def superstep(self, part: Part, state: State, inbox: Inbox, env: Environment) -> Messages:
        kernels = env.kernels("bfs", index_t=part.vertex_map.dtype)
        queue = state.queues[state.level % 2]
        if len(inbox):
            state.counters[0] = len(state.frontier)
            kernels.bfs_visit(
                len(inbox), inbox.slots, inbox.columns["parent"], state.depth, state.parent, state.level,
                part.num_owned, queue, state.counters,
            )  # fmt: skip
            state.frontier = queue[: int(state.counters[0])]
        state.counters.fill(0)
        state.level += 1
        queue = state.queues[state.level % 2]
        for csr in [part.out, part.inward] if self.either_way and part.inward is not part.out else [part.out]:
            self._push(kernels, part, csr, state, queue)
        own, ghosts, _, edges = (int(x) for x in env.backend.to_host(state.counters))
        frontier, state.frontier = len(state.frontier), queue[:own]
        reached = state.ghost_queue[:ghosts]
        return Messages(state.frontier, reached, {"parent": state.parent}, own > 0, frontier, edges)

    def _push(self, kernels: Any, part: Part, csr: Csr | None, state: State, queue: Array) -> None:
        assert csr is not None
        shared = (
            csr.indptr, csr.indices, part.ids, state.depth, state.parent, state.level, part.num_owned, queue,
            state.ghost_queue, state.hubs, state.counters,
        )  # fmt: skip
        kernels.bfs_push(len(state.frontier), state.frontier, *shared)
        kernels.bfs_push_hubs(HUB_THREADS, *shared)
        if self.either_way:
            state.counters[2] = 0

    def result(self, part: Part, state: State, env: Environment) -> dict[str, Array]:
        depth = state.depth[: part.num_owned].copy()
        parent = env.xp.where(depth < 0, part.vertex_map.dtype.type(-1), state.parent[: part.num_owned])
        return {"depth": depth, "parent": parent}


def bfs(
    G: Graph,
    source: Any,
    *,
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
    Pan, Wang, Wu, Yang, Owens: Multi-GPU Graph Analytics, IPDPS 2017, Section IV.

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
    start = int(G.ids.to_internal(source, "source"))
    return runtime().run(G, BreadthFirstSearch((start,)), exchange=exchange, client=client, progress=progress)
