"""Breadth-first search by levels: push, pull, or the direction that visits fewer edges (direction-optimising).

State: `depth` and `parent` for every slot of the partition, and a bit for each slot that is settled. For a ghost that
its owner settles, the bit is all. Every rank is at the same level (graphdask.engine.level_search), so depths are exact.
The parent is the smallest id among all candidates of one level, so it depends on neither the partitioning nor the order
of events. A pull finds it first, because rows are in order of ids.

GPUs that can write into each other's memory process all levels by themselves (bfs_team.cu). A push of one that is alone
claims vertices, which then find their parents in their own rows.

A search stops at a level if that is the depth limit, or if it reached the last of the targets (`_targets`). What the
level reached on other ranks is then taken in, and nothing more is scanned.

Sources: Pan et al., Multi-GPU Graph Analytics, Sections IV and VI-A; Beamer, Asanovic, Patterson, Direction-optimizing
breadth-first search (2012).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms._bfs_state import (
    BfsState,
    TeamSearch,
    amid_search,
    before_search,
    search_memory,
    team_search_memory,
)
from graphdask.algorithms._sources import given_sources, given_targets, own_places
from graphdask.algorithms._targets import target_votes
from graphdask.algorithms.summaries import TARGETS, middle, reached
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.checkpoints import Resumable, Saved, named
from graphdask.engine.direction import Direction
from graphdask.engine.level_search import NO_LIMIT, LevelSearch
from graphdask.engine.loop import HUB_THREADS, INDEX, Environment, Inbox, Messages, Received
from graphdask.engine.team import Peers
from graphdask.engine.tuning import SEARCH
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import choice, whole
from graphdask.interface.parameters import documented
from graphdask.interface.registry import Option, algorithm
from graphdask.partition.part import Part
from graphdask.results.result import Result

DIRECTIONS = ("auto", "push", "pull")
LEVEL_THREADS = 1 << 13
"""Threads of a launch that goes through many levels: few blocks, so that these soon have met at the barrier."""


class BfsResult(Result):
    """What `bfs` returns."""

    columns = ("depth", "parent")
    vertex_valued = ("parent",)

    @property
    def depth(self) -> np.ndarray:
        """Hops from the nearest source, -1 where not reached; shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("depth")

    @property
    def parent(self) -> np.ndarray:
        """The caller's id of the parent in the search tree; a source is its own, -1 or None where not reached."""
        return self._column("parent")


class BreadthFirstSearch(LevelSearch[BfsState], Resumable):
    """The primitive: from a set of sources, over out-edges or, ignoring direction, over all edges."""

    name = "BFS"
    ghosts = "all"
    columns: ClassVar[Mapping[str, Any]] = {"parent": INDEX}
    ghost_columns: ClassVar[Mapping[str, Any]] = {}
    result_type = BfsResult

    def __init__(
        self, sources: tuple[int, ...], either_way: bool = False, direction: str = "push",
        depth_limit: int | None = None, targets: tuple[int, ...] = (),
    ):  # fmt: skip
        self.sources, self.either_way, self.direction = sources, either_way, direction
        self.depth_limit, self.targets = depth_limit, targets
        self.votes = Direction.VOTES + target_votes(targets)

    @property
    def stops(self) -> bool:
        """Whether the search may stop before it has reached everything."""
        return self.depth_limit is not None or bool(self.targets)

    def memory(self, part: Part, allocation: Allocation) -> int:
        return search_memory(part, allocation, self.can_pull(part))

    def memory_together(self, part: Part, env: Environment) -> int | None:
        peers = self.peers(part, env)
        if peers is None:
            return None
        return team_search_memory(part, self.can_pull(part)) + TeamSearch.nbytes(peers, part, env)

    def own_sources(self, part: Part, env: Environment) -> Array:
        """Return the distinct slots of the sources that this rank owns; they are on the host if they are few."""
        return own_places(part, self.sources)

    def init(self, part: Part, env: Environment) -> tuple[BfsState, Messages]:
        peers, slots = self.peers(part, env), part.num_slots
        together = None if peers is None or env.size == 1 else TeamSearch.memory(peers, part, env)
        state = before_search(
            part, env, self.direction if self.can_pull(part) else "push", self.own_sources(part, env),
            slots if together is None else part.num_owned, slots, targets=self.targets,
            limit=NO_LIMIT if self.depth_limit is None else self.depth_limit, alone=peers if env.size == 1 else None,
        )  # fmt: skip
        if together is not None:
            TeamSearch(together, part, state, env).run()  # nothing is left to be sent
            return state, Messages(part.ids[:0], part.ids[:0], {}, False)
        state.settle_sources(env)
        return state, self.begin(part, state, part.out.num_edges, env)

    def facts(self) -> dict[str, Any]:
        facts = {"sources": named(self.sources), "ignoring_direction": self.either_way}
        return facts | {"depth_limit": self.depth_limit, "targets": named(self.targets)}

    def saved(self, part: Part, state: BfsState, inbox: Inbox, env: Environment) -> Saved:
        return state.taking(part, inbox, env), {"level": state.frontier.level}

    def resumed(
        self, part: Part, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[BfsState, Messages]:
        depth, parent = (columns[name].astype(part.vertex_map.dtype) for name in ("depth", "parent"))
        limit = NO_LIMIT if self.depth_limit is None else self.depth_limit
        direction = self.direction if self.can_pull(part) else "push"
        state = amid_search(part, env, direction, depth, parent, numbers["level"], self.targets, limit)
        lengths = part.out.indptr[1:] - part.out.indptr[:-1]
        left = (depth < 0) | (depth == numbers["level"])
        return state, self.begin(part, state, int(lengths[left].sum()), env)

    def ends(self, state: BfsState, votes: np.ndarray) -> bool:
        """If all targets are reached, stop at this level: the next superstep takes in what it reached."""
        level = state.frontier.level
        if state.targets is not None and state.targets.reached(votes[:, Direction.VOTES :]):
            state.limit = min(state.limit, level)
        return len(votes) == 1 and level >= state.limit

    def values(self, state: BfsState) -> dict[str, Array]:
        return {"parent": state.search.parent}

    def arrive(self, state: BfsState, message: Inbox | Received) -> None:
        parents, end = message.columns["parent"], message.universe or state.search.slots
        state.kernels.bfs_visit(len(message), message.unchecked, parents, state.frontier.level, end, state.search)

    def push(self, state: BfsState, rows: Array, turn: int, defers: bool) -> None:
        state.kernels.bfs_push(state.frontier.count, rows, turn, state.search)
        if defers:
            state.kernels.bfs_push_hubs(HUB_THREADS, turn, state.search)

    def list_unvisited(self, state: BfsState) -> None:
        state.kernels.bfs_unvisited(state.search.owned, state.search)

    def pull(self, state: BfsState, unvisited: Array) -> None:
        waiting = state.frontier.waiting
        state.kernels.bfs_pull(waiting, unvisited, state.search)
        state.kernels.bfs_pull_hubs(min(32 * waiting, HUB_THREADS), state.search)

    def settle(self, state: BfsState, count: int) -> None:
        state.kernels.bfs_settle(count, state.frontier.level, state.search)

    def small_levels(self, state: BfsState, here: Array, there: Array, levels: int, env: Environment) -> None:
        env.kernels("bfs", cooperative=True, index_t=here.dtype).bfs_levels(
            LEVEL_THREADS, here, there, state.frontier.level, levels, SEARCH.small, state.direction.edges_left,
            state.search,
        )  # fmt: skip

    def team(self, part: Part, state: BfsState, peers: Peers, env: Environment) -> TeamSearch:
        memory = TeamSearch.memory(peers, part, env)
        return TeamSearch(memory, part, state, env, state.frontier.edges, SEARCH.large_levels)

    def result(self, part: Part, state: BfsState, env: Environment) -> dict[str, Array]:
        return state.answer(part, env)


class SearchFrom(BreadthFirstSearch):
    """A search from slots of own vertices of each rank."""

    def __init__(self, roots: Array, either_way: bool = False):
        super().__init__((), either_way)
        self.roots = roots

    def own_sources(self, part: Part, env: Environment) -> Array:
        return self.roots


SUMMARY = reached("depth")


@algorithm(
    "bfs", BfsResult, "Breadth-first search: hops from a vertex, and parents.", summary=SUMMARY[0], words=SUMMARY[1],
    options={
        "depth_limit": Option("Hops after which the search stops.  [default: none]", least=0, metavar="HOPS"),
        "targets": TARGETS,
        "direction": Option(
            "Look along the edges from the frontier, or back to it; the answer is the same.", choices=DIRECTIONS,
        ),
    },
    also="breadth_first_search bfs_edges bfs_tree bfs_layers single_source_shortest_path_length",
    example=middle,
)  # fmt: skip
@documented
def bfs(
    G: Graph,
    source: Any,
    *,
    depth_limit: int | None = None,
    targets: Any = None,
    direction: str = "auto",
    exchange: str | None = None,
    allocation: str | float | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> BfsResult:
    """Breadth-first search: hops from `source` to every vertex, along the direction of the edges.

    Parameters
    ----------
    G : Graph
    source : int, str or array-like
        A vertex, by the caller's id, or several distinct ones. Depths are hops from the nearest of them.
    depth_limit : int, optional
        The level at which the search stops: deeper vertices stay unreached, and their edges are not scanned.
        Default: no limit.
    targets : int, str or array-like, optional
        A vertex or several, after which the search stops. It finishes the level of the deepest target, so every vertex
        up to that depth is reached, and no deeper one. If a target is unreachable, or beyond `depth_limit`, the search
        goes on as without targets. Default: none.
    direction : {"auto", "push", "pull"}
        "push" visits the out-edges of the frontier. "pull" searches the in-edges of the vertices that are not reached
        for the frontier. "auto", the default, chooses at each level the direction that visits fewer edges; in a
        directed graph it pulls only if an earlier call has made the in-edges. The answer is the same.

    Returns
    -------
    BfsResult
        With `depth`, int32 of shape (num_vertices,), -1 where not reached (int64 above 2**31 - 2 vertices), and
        `parent`, the smallest id among the neighbours one level nearer to a source; a source is its own parent, -1
        (None among string ids) where not reached. Both in the order of `G.vertex_ids`, identical bit for bit for every
        number of partitions and on every device. If the search stopped, depths and parents are those of a search that
        did not, up to the level at which it stopped; vertices beyond are not reached. `verify` proves that.

    Raises
    ------
    VertexNotFound
        If a source or a target is not a vertex.
    InputError
        If `G` is not a Graph, a source is given twice, `source` or `targets` is empty, or an argument has no such
        value.

    Notes
    -----
    In the statistics a superstep is a level. If the whole graph is one partition, on a GPU or after 64 levels on a CPU,
    a superstep is several levels while they are small; its frontier and edges are then their sums.

    References
    ----------
    Pan, Wang, Wu, Yang, Owens: Multi-GPU Graph Analytics, IPDPS 2017, Sections IV and VI-A. Beamer, Asanovic,
    Patterson: Direction-optimizing breadth-first search, SC 2012.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 1, 2], [1, 2, 3, 4], num_vertices=6)
    >>> gd.bfs(G, 0).depth.tolist()
    [0, 1, 2, 2, 3, -1]
    >>> gd.bfs(G, [0, 4]).depth.tolist()
    [0, 1, 2, 2, 0, -1]
    >>> gd.bfs(G, 0, targets=3).depth.tolist()
    [0, 1, 2, 2, -1, -1]
    """
    checked_graph(G)
    choice("direction", direction, DIRECTIONS)
    limit = None if depth_limit is None else whole("depth_limit", depth_limit)
    sources, aims = given_sources(G, source), given_targets(G, targets)
    return execute.run(
        G,
        BreadthFirstSearch(sources, direction=direction, depth_limit=limit, targets=aims),
        exchange=exchange,
        allocation=allocation,
        checkpoint=checkpoint,
        every=every,
        client=client,
        progress=progress,
    )
