"""Searches by levels: push, pull, or the direction that visits fewer edges, and many levels in one launch.

A push superstep first takes in the vertices that other ranks reached for this one, then pushes the frontier over its
out-edges. A rank reaches a ghost at most once, and only then sends a message to its owner. A pull superstep searches,
for each own vertex that is not reached, for the first in-neighbour in the frontier. Owners then send their new vertices
to the ghosts. A push therefore becomes a pull through a superstep that only sends the frontier to the ghosts; a pull
becomes a push without one.

On a rank that holds the whole graph, a superstep covers many levels while these are small; on a CPU, only after
LEVELS_APART levels. One launch processes them without the engine, until the frontier is larger, or empty, or so large
that a pull may be due. The vertices and edges of such a superstep are sums over its levels. A single GPU that only
pushes processes levels that are not small in the same way, as a team of one (graphdask.engine.team_levels).

Sources: Pan et al., Multi-GPU Graph Analytics, Sections IV and VI-A; Beamer, Asanovic, Patterson, Direction-optimizing
breadth-first search (2012), whose rule decides, from the edges of the frontier, which every rank votes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.device.counting import count_set
from graphdask.engine.bitmap import set_bits
from graphdask.engine.buffers import MAXIMAL, Allocation
from graphdask.engine.direction import Direction
from graphdask.engine.frontier import Frontier, LevelState
from graphdask.engine.loop import HUB_THREADS, Counted, Environment, Inbox, Messages, Received
from graphdask.engine.queues import Queues
from graphdask.engine.source_search import SourceSearch, nothing
from graphdask.engine.targets import target_votes
from graphdask.engine.team import Peers, TeamMemory
from graphdask.engine.team_levels import TeamLevels
from graphdask.engine.tuning import SEARCH
from graphdask.kernels.common import levels_pack
from graphdask.kernels.common.levels_pack import COUNTS
from graphdask.kernels.common.team import END_DONE
from graphdask.kernels.common.tuning import HUB, PULL_FEW
from graphdask.partition.neighbours import places_of
from graphdask.partition.part import Csr, Part

AT = COUNTS.place
LEVELS_APART = 64
"""Levels that a CPU processes one by one first: the statistics of a search of few levels show each of them."""


S = TypeVar("S", bound=LevelState)


class LevelSearch(SourceSearch[S]):
    """A primitive whose frontier is a level. A subclass says, by its kernels, what it does with edges and vertices."""

    def __init__(
        self, sources: Sequence[int], direction: str = "push", either_way: bool = False, depth_limit: int | None = None,
        targets: Sequence[int] = (),
    ):  # fmt: skip
        """`direction` is `push`, `pull` or `auto`; `either_way` says whether it goes along edges in both directions,
        `depth_limit` and `targets` where it stops."""
        super().__init__(sources, targets)
        self.direction, self.either_way, self.depth_limit = direction, either_way, depth_limit
        self.votes = Direction.VOTES + target_votes(targets)

    @property
    def stops(self) -> bool:
        return self.depth_limit is not None or bool(self.targets)

    @property
    def inward(self) -> bool:
        return self.either_way or self.direction == "pull"

    @property
    def notifies_ghosts(self) -> bool:  # type: ignore[override]
        return self.direction != "push"

    def scanned(self, part: Part) -> list[Csr]:
        """Return the rows that a push scans."""
        return part.directions if self.either_way else [part.out]

    def can_pull(self, part: Part) -> bool:
        """In-edges that an earlier call has made are used, but none are made for "auto"."""
        return self.direction == "pull" or (self.direction == "auto" and part.inward is not None)

    def peers(self, part: Part, env: Environment) -> Peers | None:
        alone = self.direction == "push" and part.inward is not None
        return None if len(self.scanned(part)) > 1 else env.peers(alone)

    def memory(self, part: Part, allocation: Allocation) -> int:
        """A depth, the columns and a bit per slot, queues, and what an exchange allocates."""
        entries = (1 + len(self.columns)) * part.num_slots + Frontier.entries(part, allocation, self.can_pull(part))
        return part.vertex_map.dtype.itemsize * entries + part.num_slots // 8

    def team_memory(self, peers: Peers, part: Part, env: Environment) -> TeamMemory | None:
        return None if env.size == 1 else TeamLevels.memory(peers, part, env)

    def team_bytes(self, peers: Peers, part: Part, env: Environment) -> int:
        """The same for a team, which exchanges nothing and has depths of own vertices only. At the end the columns of
        own vertices are copied, if ghosts are behind them."""
        slots, owned = part.num_slots, part.num_owned
        entries = owned + len(self.columns) * slots + Queues.length(part, MAXIMAL)
        entries += (2 if self.can_pull(part) else int(slots > owned)) * owned
        bits = (slots + 31) // 32 * 4
        return part.vertex_map.dtype.itemsize * entries + bits + TeamLevels.nbytes(peers, part, env)

    @abstractmethod
    def before(self, part: Part, env: Environment, sources: Array, peers: Peers | None, together: bool) -> S:
        """Return the state of a search whose frontier are own vertices, by `levels`; nothing is settled yet. A team
        that is `together` in one launch needs depths of own vertices only."""

    @abstractmethod
    def arrive(self, state: S, message: Inbox | Received) -> None:
        """Reach the vertices of a message, and queue own ones that are new."""

    @abstractmethod
    def push(self, state: S, rows: Array, turn: int, defers: bool) -> None:
        """Queue what the edges of a frontier lead to: `frontier.count` rows at most, whose number the device knows.

        `turn` counts the directions; `defers` says whether some rows may be so long that they are deferred.
        """

    @abstractmethod
    def list_unvisited(self, state: S) -> None:
        """List the own vertices that have in-edges and are not reached."""

    @abstractmethod
    def pull(self, state: S, unvisited: Array) -> None:
        """Queue those of a list, `frontier.waiting` at most, that have a neighbour in the frontier; list the others."""

    @abstractmethod
    def settle(self, state: S, count: int) -> None:
        """Note the level of the vertices in the queues, about so many, and add up their edges."""

    @abstractmethod
    def small_levels(self, state: S, here: Array, there: Array, levels: int, env: Environment) -> None:
        """Push so many levels at most, while they are small; `here` is the frontier, `there` the other queue."""

    @abstractmethod
    def team(
        self, part: Part, state: S, memory: TeamMemory, env: Environment, weight: int | None = None,
        levels: int | None = None,
    ) -> TeamLevels:  # fmt: skip
        """Return the share of this rank in a team; for `weight` and `levels` see TeamLevels."""

    def levels(
        self, part: Part, env: Environment, search: levels_pack.LevelSearch, sources: Array, peers: Peers | None
    ) -> dict[str, Any]:
        """Return the fields of a LevelState before the search, by name."""
        direction, alone = self.direction if self.can_pull(part) else "push", peers if env.size == 1 else None
        return vars(LevelState.before(
            part, env, self.name, search, sources, direction, self.depth_limit, self.targets, alone,
        ))  # fmt: skip

    def begin(self, part: Part, state: S, env: Environment) -> Messages:
        self._settle_sources(state, env)
        return self._send_sources(part, state, part.out.num_edges, env)

    def resume(self, part: Part, level: int, depth: Array, env: Environment) -> tuple[S, Messages]:
        """Return state and messages of a search that goes on from a level, which is the frontier. Every rank calls it.

        Parameters
        ----------
        depth : array
            Of all own vertices up to this level; -1 for others.
        """
        xp, dtype = env.xp, part.vertex_map.dtype
        state = self.before(part, env, places_of(xp, depth == level).astype(dtype), None, False)
        frontier, search = state.frontier, state.frontier.search
        if level % 2:
            frontier.queues = frontier.queues[1], frontier.queues[0]
        frontier.level = level
        self._settle_sources(state, env)
        (search.depth[:],) = env.fetch_ghosts(part, [depth])
        reached = places_of(xp, search.depth >= 0).astype(dtype)
        env.kernels("codec", index_t=dtype).codec_set_bits(len(reached), reached, search.seen, part.num_slots)
        frontier.unreached = min(frontier.unreached, count_set(depth < 0))
        lengths = part.out.indptr[1:] - part.out.indptr[:-1]
        return state, self._send_sources(part, state, int(lengths[(depth < 0) | (depth == level)].sum()), env)

    def _settle_sources(self, state: S, env: Environment) -> None:
        """Settle the first frontier, and add up its edges."""
        if state.frontier.count:
            self.settle(state, state.frontier.count)
            state.frontier.weight = state.frontier.read(env)[AT.weight]

    def ends(self, state: S, votes: np.ndarray) -> bool:
        """If all targets are reached, stop at this level: the next superstep takes in what it reached."""
        level = state.frontier.level
        if state.targets is not None and state.targets.reached(votes[:, Direction.VOTES :]):
            state.limit = min(state.limit, level)
        return len(votes) == 1 and level >= state.limit

    def _send_sources(self, part: Part, state: S, unexplored: int, env: Environment) -> Messages:
        """Send the frontier before the first superstep; so many edges of this rank have yet to be visited."""
        frontier = state.frontier
        votes = state.votes(frontier.count, frontier.edges, env, unexplored)
        sources, active = frontier.queue[: frontier.count], frontier.count > 0 and frontier.level < state.limit
        return Messages(sources, part.ids[:0], self.values(state), active, votes=votes)

    def superstep(self, part: Part, state: S, inbox: Inbox, env: Environment) -> Messages | Counted:
        frontier, pulled = state.frontier, state.direction.pulls
        if len(inbox) and not pulled:
            frontier.join(inbox, lambda message: self.arrive(state, message), env)
        elif len(inbox):
            for message in inbox.messages:
                set_bits(message, frontier.search.seen, part, env)
        if frontier.level >= state.limit:
            return nothing(part)
        pulls = state.direction.choose(inbox.votes)
        if not pulls and self._is_small(part, state, env):
            return self._go_through_small(part, state, env)
        if state.alone is not None:
            return self._go_through_large(part, state, state.alone, env)
        if not pulls:
            return self._push_level(part, state, env)
        if not pulled:
            frontier.forget_left(frontier.unreached if env.allocation.partial else part.num_owned)
            if env.size > 1:
                if len(inbox):
                    frontier.count = frontier.read(env)[AT.found]
                state.direction.pause()
                own = frontier.queue[: frontier.count]
                return Messages(own, part.ids[:0], {}, len(own) > 0, to="ghosts")
        return self._pull_level(part, state, env)

    def _is_small(self, part: Part, state: S, env: Environment) -> bool:
        """Whether one launch may go through this level and more, none of them of more than `SEARCH.small` vertices."""
        frontier, allocation = state.frontier, env.allocation
        if env.size > 1 or len(self.scanned(part)) > 1 or not frontier.count:
            return False
        if allocation.scheme == "fixed" and len(frontier.queues[0]) < min(SEARCH.small, part.num_owned):
            return False
        # on a CPU queues that are allocated in part are to be no longer than a level
        several = env.backend.name == "cuda" or (frontier.level >= LEVELS_APART and not allocation.partial)
        return several and 0 <= frontier.weight <= SEARCH.small

    def _go_through_small(self, part: Part, state: S, env: Environment) -> Messages:
        """Process many levels in one launch."""
        frontier, count = state.frontier, state.frontier.count
        most = min(SEARCH.small, frontier.unreached)
        here, there = frontier.queue_buffer.fit(most, keep=count), frontier.queues[1 - frontier.level % 2].fit(most)
        frontier.scan(part.out, 0)
        frontier.turn_rows()
        self.small_levels(state, here, there, min(SEARCH.launch_levels, state.limit - frontier.level), env)
        found = frontier.read(env)
        frontier.level += found[AT.levels]
        state.direction.skip(found[AT.edges] - frontier.weight)
        frontier.unreached -= found[AT.visited] - count
        return self._messages(state, found, env)

    def _go_through_large(self, part: Part, state: S, peers: Peers, env: Environment) -> Messages:
        """Process some levels in one launch, as a team of one."""
        frontier, memory = state.frontier, TeamLevels.memory(peers, part, env)
        team = self.team(part, state, memory, env, frontier.edges, SEARCH.large_levels)
        team.run()
        frontier.turn_rows(0)
        found = frontier.read(env)
        frontier.count, frontier.weight = 0 if team.ends[END_DONE] else found[AT.found], found[AT.weight]
        own = frontier.queue[: frontier.count]
        return Messages(own, part.ids[:0], self.values(state), len(own) > 0)

    def _push_level(self, part: Part, state: S, env: Environment) -> Messages | Counted:
        frontier, scanned = state.frontier, self.scanned(part)
        count, weight = frontier.count, frontier.weight
        if count == 0 and not frontier.pulled:  # a pull leaves a number in the counters
            frontier.level += 1
            return self._messages(state, [0] * len(COUNTS), env)
        edges = part.num_slots if len(scanned) > 1 else frontier.edges  # they lead to so many at most
        rows = frontier.next_level(min(edges, frontier.unreached), edges)
        for turn, csr in enumerate(scanned):
            frontier.scan(csr, count)
            self.push(state, rows, turn, self.either_way or not 0 <= weight <= HUB)
        self.settle(state, min(part.num_slots, HUB_THREADS))
        if env.allocation.partial:
            return self._messages(state, frontier.read(env), env)
        return Counted(
            frontier.ghosts.array, frontier.row, AT.ghosts, self.values(state),
            lambda found: self._messages(state, found.tolist(), env),
        )  # fmt: skip

    def _pull_level(self, part: Part, state: S, env: Environment) -> Messages | Counted:
        frontier, csr = state.frontier, part.inward
        assert csr is not None
        waiting, frontier.pulled = frontier.waiting, True
        frontier.scan(csr, waiting, PULL_FEW)
        if frontier.left is None:
            frontier.left = frontier.buffers_to_pull(part, env)
            frontier.search.left = frontier.left[0].array
            self.list_unvisited(state)
        frontier.next_level(waiting)
        unvisited, left = frontier.left
        frontier.search.left = left.array
        self.pull(state, unvisited.array)
        self.settle(state, max(1, min(waiting, HUB_THREADS)))
        frontier.left = left, unvisited

        def complete(found: np.ndarray) -> Messages:
            frontier.waiting = int(found[AT.left])
            return self._messages(state, found.tolist(), env, "ghosts")

        if env.allocation.partial:
            return complete(env.backend.to_host(frontier.row))
        return Counted(frontier.queue, frontier.row, AT.found, {}, complete, "ghosts")

    def _messages(self, state: S, counts: list[int], env: Environment, to: Any = "owners") -> Messages:
        """Make what a level has found the frontier, and send it."""
        frontier, ghosts = state.frontier, counts[AT.ghosts]
        frontier.found(counts)
        own, values = frontier.count, {} if to == "ghosts" else self.values(state)
        votes = state.votes(own + ghosts, frontier.edges * (own + ghosts) // max(own, 1), env)
        return Messages(
            frontier.queue[:own], frontier.ghosts.array[:ghosts], values, own > 0 and frontier.level < state.limit,
            counts[AT.visited], counts[AT.edges], to=to, votes=votes,
        )  # fmt: skip
