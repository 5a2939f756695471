"""Breadth-first search by levels: push, pull, or the direction that visits fewer edges (direction-optimising).

State: `depth` and `parent` for every slot of the partition, and a bit for each slot that is settled. For a ghost that
its owner settles, the bit is all. Every rank is at the same level (graphdask.engine.level_search), so depths are exact.
The parent is the smallest id among all candidates of one level, so it depends on neither the partitioning nor the order
of events. A pull finds it first, because rows are in order of ids.

GPUs that can write into each other's memory process all levels by themselves (bfs_team.cu). A push of one that is alone
claims vertices, which then find their parents in their own rows.

A search stops at a level if that is the depth limit, or if it reached the last of the targets
(graphdask.engine.targets). What the level reached on other ranks is then taken in, and nothing more is scanned.

Sources: Pan et al., Multi-GPU Graph Analytics, Sections IV and VI-A; Beamer, Asanovic, Patterson, Direction-optimizing
breadth-first search (2012).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms._bfs_state import BfsState
from graphdask.algorithms._sources import given_sources, given_targets
from graphdask.algorithms.summaries import TARGETS, middle, reached
from graphdask.device.ahead import Family, family
from graphdask.device.arrays import minus_ones
from graphdask.device.backend import Array
from graphdask.engine.checkpoints import Resumable, Saved, named
from graphdask.engine.level_search import LevelSearch
from graphdask.engine.loop import HUB_THREADS, INDEX, Environment, Inbox, Messages, Received
from graphdask.engine.team import Peers, TeamMemory
from graphdask.engine.team_levels import TeamLevels
from graphdask.engine.tuning import SEARCH
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import choice, whole
from graphdask.interface.parameters import documented
from graphdask.interface.registry import Option, algorithm
from graphdask.kernels.bfs.bfs_pack import RankSearch, Search
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
        super().__init__(sources, direction, either_way, depth_limit, targets)

    def families(self, index: np.dtype, weight: np.dtype | None, size: int) -> tuple[Family, ...]:
        return (
            family("bfs", index_t=index),
            *(family("bfs_team", cooperative=True, index_t=index, team_alone=0) for _ in range(size > 1)),
        )

    def before(self, part: Part, env: Environment, sources: Array, peers: Peers | None, together: bool) -> BfsState:
        dtype, kept = part.vertex_map.dtype, part.num_owned if together else part.num_slots
        search = Search(depth=minus_ones(env.xp, kept, dtype), parent=minus_ones(env.xp, part.num_slots, dtype))
        levels = self.levels(part, env, search, sources, peers)
        return BfsState(**levels, search=search, kernels=env.kernels("bfs", index_t=dtype))

    def facts(self) -> dict[str, Any]:
        facts = {"sources": named(self.sources), "ignoring_direction": self.either_way}
        return facts | {"depth_limit": self.depth_limit, "targets": named(self.targets)}

    def saved(self, part: Part, state: BfsState, inbox: Inbox, env: Environment) -> Saved:
        return state.taking(part, inbox, env), {"level": state.frontier.level}

    def resumed(
        self, part: Part, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[BfsState, Messages]:
        depth, parent = (columns[name].astype(part.vertex_map.dtype) for name in ("depth", "parent"))
        state, messages = self.resume(part, numbers["level"], depth, env)
        state.search.parent[: part.num_owned] = parent
        return state, messages

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

    def team(
        self, part: Part, state: BfsState, memory: TeamMemory, env: Environment, weight: int | None = None,
        levels: int | None = None,
    ) -> TeamLevels:  # fmt: skip
        rank = RankSearch(**state.search.as_dict())
        return TeamLevels(memory, part, env, team_kernel(part, env), rank, state, weight, levels)

    def result(self, part: Part, state: BfsState, env: Environment) -> dict[str, Array]:
        return state.answer(part, env)


def team_kernel(part: Part, env: Environment) -> Any:
    """Return the kernel by which the GPUs of a host search together."""
    alone = int(part.size == 1)
    return env.kernels("bfs_team", cooperative=True, index_t=part.vertex_map.dtype, team_alone=alone).bfs_team


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
