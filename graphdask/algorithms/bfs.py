"""Breadth-first search by levels: push, pull, or the direction that visits fewer edges (direction-optimising).

State: `depth` and `parent` for every slot of the partition, and a bit for each slot that is settled. For a ghost that
its owner settles, the bit is all. A push superstep first takes in the vertices that other ranks reached for this one,
then pushes the frontier over its out-edges. A rank reaches a ghost at most once, and only then sends a message to its
owner. A pull superstep searches, for each own vertex that is not reached, for the first in-neighbour in the frontier.
Owners then send their new vertices to the ghosts. A push therefore becomes a pull through a superstep that only sends
the frontier to the ghosts; a pull becomes a push without one.

Every rank is at the same level, so depths are exact. The parent is the smallest id among all candidates of one level,
so it depends on neither the partitioning nor the order of events. A pull finds it first, because rows are in order of
ids.

On a rank that holds the whole graph, a superstep covers many levels while these are small; on a CPU, only after
LEVELS_APART levels. One launch processes them without the engine, until the frontier is larger, or empty, or so large
that a pull may be due. The vertices and edges of such a superstep are sums over its levels. GPUs that can write into
each other's memory process all levels by themselves (bfs_team.cu). A single GPU that only pushes processes levels that
are not small in the same way: its pushes claim vertices.

Queues, their growth and their counters: `graphdask.engine.frontier`.

A search stops at a level if that is the depth limit, or if it reached the last of the targets (`_targets`). What the
level reached on other ranks is then taken in, and nothing more is scanned.

Sources: Pan et al., Multi-GPU Graph Analytics, Sections IV and VI-A; Beamer, Asanovic, Patterson, Direction-optimizing
breadth-first search (2012), whose rule decides, from the edges of the frontier, which every rank votes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms._bfs_state import (
    NO_LIMIT,
    BfsState,
    amid_search,
    before_search,
    search_memory,
    team_search_memory,
)
from graphdask.algorithms._bfs_team import TeamSearch
from graphdask.algorithms._sources import given_sources, given_targets, own_places
from graphdask.algorithms._targets import target_votes
from graphdask.algorithms.summaries import TARGETS, middle, reached
from graphdask.algorithms.tuning import SEARCH
from graphdask.device.backend import Array
from graphdask.engine.bitmap import set_bits
from graphdask.engine.buffers import Allocation
from graphdask.engine.checkpoints import Resumable, Saved, named
from graphdask.engine.direction import Direction
from graphdask.engine.loop import HUB_THREADS, INDEX, Counted, Environment, Inbox, Messages, Primitive
from graphdask.engine.team import Peers
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import choice, whole
from graphdask.interface.parameters import documented
from graphdask.interface.registry import Option, algorithm
from graphdask.kernels.common.levels_pack import COUNTS
from graphdask.kernels.common.team import END_DONE
from graphdask.kernels.common.tuning import HUB, PULL_FEW
from graphdask.partition.part import Csr, Part
from graphdask.results.result import Result

AT = COUNTS.place
DIRECTIONS = ("auto", "push", "pull")
LEVEL_THREADS = 1 << 13
"""Threads of a launch that goes through many levels: few blocks, so that these soon have met at the barrier."""
LEVELS_APART = 64
"""Levels that a CPU processes one by one first: the statistics of a search of few levels show each of them."""


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


class BreadthFirstSearch(Primitive[BfsState], Resumable):
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

    @property
    def inward(self) -> bool:
        return self.either_way or self.direction == "pull"

    @property
    def tells_ghosts(self) -> bool:  # type: ignore[override]
        return self.direction != "push"

    def memory(self, part: Part, allocation: Allocation) -> int:
        return search_memory(part, allocation, self._can_pull(part))

    def memory_together(self, part: Part, env: Environment) -> int | None:
        peers = self._peers(part, env)
        if peers is None:
            return None
        return team_search_memory(part, self._can_pull(part)) + TeamSearch.nbytes(peers, part, env)

    def _peers(self, part: Part, env: Environment) -> Peers | None:
        alone = self.direction == "push" and part.inward is not None
        return None if len(self.scanned(part)) > 1 else env.peers(alone)

    def scanned(self, part: Part) -> list[Csr]:
        """Return the rows that a push scans."""
        return part.directions if self.either_way else [part.out]

    def _can_pull(self, part: Part) -> bool:
        """In-edges that an earlier call has made are used, but none are made for "auto"."""
        return self.direction == "pull" or (self.direction == "auto" and part.inward is not None)

    def own_sources(self, part: Part, env: Environment) -> Array:
        """Return the distinct slots of the sources that this rank owns; they are on the host if they are few."""
        return own_places(part, self.sources)

    def init(self, part: Part, env: Environment) -> tuple[BfsState, Messages]:
        peers, slots = self._peers(part, env), part.num_slots
        together = None if peers is None or env.size == 1 else TeamSearch.memory(peers, part, env)
        state = before_search(
            part, env, self.direction if self._can_pull(part) else "push", self.own_sources(part, env),
            slots if together is None else part.num_owned, slots, targets=self.targets,
            limit=NO_LIMIT if self.depth_limit is None else self.depth_limit, alone=peers if env.size == 1 else None,
        )  # fmt: skip
        if together is not None:
            TeamSearch(together, part, state, env).run()  # nothing is left to be sent
            return state, Messages(part.ids[:0], part.ids[:0], {}, False)
        if state.frontier.count:
            state.kernels.bfs_settle(state.frontier.count, 0, state.search)
            state.frontier.weight = state.frontier.read(env)[AT.weight]
        return state, self._begun(part, state, part.out.num_edges, env)

    def _begun(self, part: Part, state: BfsState, unexplored: int, env: Environment) -> Messages:
        """What is sent before the first superstep; so many edges of this rank have yet to be visited."""
        frontier = state.frontier
        votes = state.votes(frontier.count, frontier.edges, env, unexplored)
        sources, values = frontier.queue[: frontier.count], {"parent": state.search.parent}
        return Messages(sources, part.ids[:0], values, state.goes_on, votes=votes)

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
        direction = self.direction if self._can_pull(part) else "push"
        state = amid_search(part, env, direction, depth, parent, numbers["level"], self.targets, limit)
        lengths = part.out.indptr[1:] - part.out.indptr[:-1]
        left = (depth < 0) | (depth == numbers["level"])
        return state, self._begun(part, state, int(lengths[left].sum()), env)

    def ends(self, state: BfsState, votes: np.ndarray) -> bool:
        """If all targets are reached, stop at this level: the next superstep takes in what it reached."""
        level = state.frontier.level
        if state.targets is not None and state.targets.reached(votes[:, Direction.VOTES :]):
            state.limit = min(state.limit, level)
        return len(votes) == 1 and level >= state.limit

    def superstep(self, part: Part, state: BfsState, inbox: Inbox, env: Environment) -> Messages | Counted:
        frontier, pulled = state.frontier, state.direction.pulls
        if len(inbox):
            self._take_in(part, state, inbox, pulled, env)
        if frontier.level >= state.limit:
            return Messages(part.ids[:0], part.ids[:0], {}, False)
        pulls = state.direction.choose(inbox.votes[:, : Direction.VOTES])
        if not pulls and self._is_small(part, state, env):
            return self._small_levels(part, state, env)
        if state.alone is not None:
            return self._large_levels(part, state, state.alone, env)
        if not pulls:
            return self._push(part, state, env)
        if not pulled:
            frontier.forget_left(frontier.unreached if env.allocation.partial else part.num_owned)
            if env.size > 1:
                if len(inbox):
                    frontier.count = frontier.read(env)[AT.found]
                state.direction.pause()
                own = frontier.queue[: frontier.count]
                return Messages(own, part.ids[:0], {}, len(own) > 0, to="ghosts")
        return self._pull(part, state, env)

    def _take_in(self, part: Part, state: BfsState, inbox: Inbox, pulled: bool, env: Environment) -> None:
        """Take in what owners settled, for a pull, or own vertices that other ranks reached."""
        if pulled:
            for message in inbox.messages:
                set_bits(message, state.search.seen, part, env)
            return
        visit, level = state.kernels.bfs_visit, state.frontier.level
        state.frontier.join(
            inbox, lambda found: visit(len(found), found.slots, found.columns["parent"], level, state.search), env
        )

    def _is_small(self, part: Part, state: BfsState, env: Environment) -> bool:
        """Whether one launch may go through this level and more, none of them of more than `SEARCH.small` vertices."""
        frontier, allocation = state.frontier, env.allocation
        if env.size > 1 or len(self.scanned(part)) > 1 or not frontier.count:
            return False
        if allocation.scheme == "fixed" and len(frontier.queues[0]) < min(SEARCH.small, part.num_owned):
            return False
        # on a CPU queues that are allocated in part are to be no longer than a level
        several = env.backend.name == "cuda" or (frontier.level >= LEVELS_APART and not allocation.partial)
        return several and 0 <= frontier.weight <= SEARCH.small

    def _small_levels(self, part: Part, state: BfsState, env: Environment) -> Messages:
        """Process many levels in one launch."""
        frontier, kernels = state.frontier, env.kernels("bfs", cooperative=True, index_t=part.vertex_map.dtype)
        count, most = frontier.count, min(SEARCH.small, frontier.unreached)
        here, there = frontier.queue_buffer.fit(most, keep=count), frontier.queues[1 - frontier.level % 2].fit(most)
        frontier.scan(part.out, 0)
        frontier.turn_rows()
        kernels.bfs_levels(
            LEVEL_THREADS, here, there, frontier.level, min(SEARCH.launch_levels, state.limit - frontier.level),
            SEARCH.small, state.direction.edges_left, state.search,
        )  # fmt: skip
        found = frontier.read(env)
        frontier.level += found[AT.levels]
        state.direction.skip(found[AT.edges] - frontier.weight)
        frontier.unreached -= found[AT.visited] - count
        return self._messages(state, found, env)

    def _large_levels(self, part: Part, state: BfsState, peers: Peers, env: Environment) -> Messages:
        """Process some levels in one launch, as a team of one, if vertices find their parents in their own rows."""
        frontier, memory = state.frontier, TeamSearch.memory(peers, part, env)
        team = TeamSearch(memory, part, state, env, frontier.edges, SEARCH.large_levels)
        team.run()
        frontier.turn_rows(0)
        found = frontier.read(env)
        frontier.count, frontier.weight = 0 if team.ends[END_DONE] else found[AT.found], found[AT.weight]
        values = {"parent": state.search.parent}
        return Messages(frontier.queue[: frontier.count], part.ids[:0], values, frontier.count > 0)

    def _push(self, part: Part, state: BfsState, env: Environment) -> Messages | Counted:
        """Visit the out-edges of the frontier."""
        frontier, search, scanned = state.frontier, state.search, self.scanned(part)
        count, weight = frontier.count, frontier.weight
        if count == 0 and not frontier.pulled:  # a pull leaves a number in the counters
            frontier.level += 1
            return self._messages(state, [0] * len(COUNTS), env)
        edges = part.num_slots if len(scanned) > 1 else frontier.edges  # they lead to so many at most
        here = frontier.next_level(min(edges, frontier.unreached), edges)
        for turn, csr in enumerate(scanned):
            frontier.scan(csr, count)
            state.kernels.bfs_push(count, here, turn, search)
            if self.either_way or not 0 <= weight <= HUB:  # the frontier may have rows that are deferred
                state.kernels.bfs_push_hubs(HUB_THREADS, turn, search)
        state.kernels.bfs_settle(min(part.num_slots, HUB_THREADS), frontier.level, search)
        if env.allocation.partial:
            return self._messages(state, frontier.read(env), env)
        return Counted(
            frontier.ghosts.array, frontier.row, AT.ghosts, {"parent": search.parent},
            lambda found: self._messages(state, found.tolist(), env),
        )  # fmt: skip

    def _pull(self, part: Part, state: BfsState, env: Environment) -> Messages | Counted:
        """Search the in-edges of the vertices that are not reached for the frontier."""
        frontier, search, kernels, csr = state.frontier, state.search, state.kernels, part.inward
        assert csr is not None
        waiting, frontier.pulled = frontier.waiting, True
        frontier.scan(csr, waiting, PULL_FEW)
        if frontier.left is None:
            frontier.left = frontier.buffers_to_pull(part, env)
            search.left = frontier.left[0].array
            kernels.bfs_unvisited(part.num_owned, search)
        frontier.next_level(waiting)
        unvisited, left = frontier.left
        search.left = left.array
        kernels.bfs_pull(waiting, unvisited.array, search)
        kernels.bfs_pull_hubs(min(32 * waiting, HUB_THREADS), search)
        kernels.bfs_settle(max(1, min(waiting, HUB_THREADS)), frontier.level, search)
        frontier.left = left, unvisited

        def complete(found: np.ndarray) -> Messages:
            frontier.waiting = int(found[AT.left])
            return self._messages(state, found.tolist(), env, "ghosts")

        if env.allocation.partial:
            return complete(env.backend.to_host(frontier.row))
        return Counted(frontier.queue, frontier.row, AT.found, {}, complete, "ghosts")

    def _messages(self, state: BfsState, found: list[int], env: Environment, to: Any = "owners") -> Messages:
        """Make the vertices found the frontier, and send them."""
        frontier, ghosts = state.frontier, found[AT.ghosts]
        frontier.found(found)
        own, values = frontier.count, {} if to == "ghosts" else {"parent": state.search.parent}
        votes = state.votes(own + ghosts, frontier.edges * (own + ghosts) // max(own, 1), env)
        return Messages(
            frontier.queue[:own], frontier.ghosts.array[:ghosts], values, state.goes_on, found[AT.visited],
            found[AT.edges], to=to, votes=votes,
        )  # fmt: skip

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
