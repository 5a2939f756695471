"""Frontiers of searches by levels: the queues that a level reads and fills, and its counters.

A level is a step (graphdask.engine.queues). If memory is allocated just-enough or in part, its queues grow to what it
may find at most: no more vertices than the frontier has edges, and none that is reached already. The frontier includes
the vertices that arrived from other ranks, which are counted for this.

The host reads one row of counters in a superstep, at its end. Kernels read on the device what they need from earlier
kernels. There are three rows: a level reads that of the level before and fills its own, and its last kernel clears the
former.

What a search does with an edge is not decided here. Its pack is a `LevelSearch` (kernels/common/levels_pack.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation, Buffer, reachable
from graphdask.engine.direction import Direction
from graphdask.engine.loop import Environment
from graphdask.engine.messages import Inbox, Received
from graphdask.engine.queues import Queues
from graphdask.engine.targets import Targets
from graphdask.engine.team import Peers
from graphdask.kernels.common.levels_pack import COUNTS, LevelSearch
from graphdask.kernels.common.tuning import HUB, LONG_ROW_MARK, PULL_FEW
from graphdask.partition.part import Csr, Part
from graphdask.partition.vertex_map import VertexMap

AT = COUNTS.place
NO_LIMIT = 1 << 62
"""The level at which a search stops that has no limit."""


@dataclass
class Frontier(Queues):
    """The own vertices that a rank follows next, and the queues of what it finds; `Frontier.of` makes it."""

    search: LevelSearch
    """What the kernels work on, with the queues and rows of the next launch."""
    counters: Array
    """int64: the counters of three levels, in turn, and rows that the caller wanted behind them."""
    rows: tuple[Array, ...]
    """Its rows."""
    count: int
    """Length of the frontier, or more if vertices have arrived."""
    weight: int = 0
    """Its out-edges, and LONG_ROW_MARK for each row of very many, or if vertices have arrived."""
    level: int = 0
    turn: int = 0
    """The counters of the frontier are in row turn % 3."""
    left: tuple[Buffer, Buffer] | None = None
    """Pull: own vertices that are not reached and have in-edges, of this level and the next, in turn."""
    waiting: int = 0
    """Their number, or more."""
    pulled: bool = False
    """Whether any level has been pulled."""

    @classmethod
    def of(
        cls, part: Part, env: Environment, name: str, search: LevelSearch, sources: Array,
        counters: np.ndarray | None = None,
    ) -> Frontier:  # fmt: skip
        """Return a frontier of sources, which are not settled yet, and give the pack of the search what it needs.

        Parameters
        ----------
        sources : array
            Distinct slots of own vertices; on the host if they are few.
        counters : array, optional
            int64, three rows of counters, and more that the caller wants behind them. Default: three rows of zeros.
        """
        xp, backend, owned, slots = env.xp, env.backend, part.num_owned, part.num_slots
        counters = np.zeros((3, len(COUNTS)), np.int64) if counters is None else counters
        (first, *_) = counters
        first[AT.found], first[AT.edges] = len(sources), part.out.num_edges
        words = backend.from_host(np.append(counters, 0))  # the last is of a barrier
        counters, few = words[:-1].reshape(counters.shape), part.ghosts is not None
        queues = Queues.allocated(part, env, name)
        search.assign(
            indptr=part.out.indptr, indices=part.out.indices, out_indptr=part.out.indptr, ids=part.ids,
            seen=xp.zeros((slots + 31) // 32, np.uint32), owned=owned, slots=slots, few=int(few),
            ghosts=part.ghosts if few else part.ids[:0], first=part.first_position, vertices=part.num_vertices,
            plain=int(type(part.vertex_map) is VertexMap), ghost_queue=queues.ghosts.array, arrived=words[-1:],
        )  # fmt: skip
        frontier = cls(**vars(queues), search=search, counters=counters, rows=tuple(counters), count=len(sources))
        frontier.turn_rows(0)
        search.own_queue = queues.queues[0].fit(len(sources))
        search.own_queue[: len(sources)] = backend.from_host(sources)
        return frontier

    @staticmethod
    def entries(part: Part, allocation: Allocation, pulls: bool) -> int:
        """Return the entries of the queues, and of what a selective exchange of one column allocates, at most.

        They are those of the largest level that there can be or, if memory is allocated in part, of as many vertices
        as queues hold at first.
        """
        owned, ghosts, queues = part.num_owned, part.num_slots - part.num_owned, Queues.length(part, allocation)
        if not allocation.partial:
            return queues + max(7 * ghosts // 2, 2 * owned + 2 * ghosts if pulls else 0)
        most = queues + max(7 * allocation.first(ghosts) // 2, 0 if part.size == 1 else 2 * owned)
        if pulls:
            assert part.inward is not None
            left = allocation.first(owned, reachable(part))
            most += 2 * left + min(left, part.inward.num_edges // PULL_FEW)
            most += owned if part.size > 1 and type(part.vertex_map) is not VertexMap else 0
        return most

    @property
    def queue_buffer(self) -> Buffer:
        return self.queues[self.level % 2]

    @property
    def queue(self) -> Array:
        """The own vertices of the frontier, and behind them any."""
        return self.queue_buffer.array

    @property
    def edges(self) -> int:
        """The out-edges of the frontier, unless vertices have arrived."""
        return self.weight % LONG_ROW_MARK

    def turn_rows(self, levels: int = 1) -> None:
        """Go on to the next row of counters."""
        self.turn += levels
        self.search.assign(here=self.rows[(self.turn - 1) % 3], next=self.rows[self.turn % 3])

    @property
    def row(self) -> Array:
        """The counters of the frontier on the device, by `COUNTS.place`."""
        return self.rows[self.turn % 3]

    def read(self, env: Environment) -> list[int]:
        """Return them on the host."""
        found: list[int] = env.backend.to_host(self.row).tolist()
        return found

    def join(self, inbox: Inbox, visit: Callable[[Inbox | Received], None], env: Environment) -> None:
        """Let vertices that arrived join the frontier: `visit` launches what queues those of a message that are new."""
        before, most = self.count, self.count + self.unreached
        for message in inbox.messages:
            needed = min(self.count + len(message), most)
            self.search.own_queue = self.queue_buffer.fit(needed, keep=self.count)
            visit(message)
            self.count, self.weight = min(needed, self.search.owned), LONG_ROW_MARK
        if env.allocation.partial:
            found = self.read(env)
            self.count, self.weight = found[AT.found], found[AT.weight]
            self.unreached -= self.count - before

    def next_level(self, own: int, ghosts: int = 0) -> Array:
        """Begin a level that reaches so many own vertices and ghosts at most; return the queue of the frontier."""
        here = self.queue
        self.level += 1
        self.search.assign(own_queue=self.queue_buffer.fit(own), ghost_queue=self.ghosts.fit(ghosts))
        self.turn_rows()
        return here

    def scan(self, csr: Csr, rows: int, few: int = HUB) -> None:
        """Give the kernels the rows of a Csr, of which so many are scanned, and the list of those that they defer."""
        hubs = self.hubs.fit(min(rows, csr.num_edges // few))
        self.search.assign(indptr=csr.indptr, indices=csr.indices, hubs=hubs)

    def found(self, counts: list[int]) -> None:
        """Make what a level has found the frontier, by its counters."""
        self.count, self.weight = counts[AT.found], counts[AT.weight]
        self.unreached -= self.count

    def buffers_to_pull(self, part: Part, env: Environment) -> tuple[Buffer, Buffer]:
        """Return lists of the vertices that are not reached."""
        of_list = f"what is left for {self.name} to pull", part.num_owned, part.vertex_map.dtype, self.unreached
        return env.buffer(*of_list), env.buffer(*of_list)

    def forget_left(self, owned: int) -> None:
        """Forget which vertices are not reached, after a push; the next pull lists them again, `owned` at most."""
        self.search.release("left")
        self.left, self.waiting = None, owned


@dataclass
class LevelState:
    """What a search by levels keeps between its supersteps; a subclass adds what it needs."""

    frontier: Frontier
    direction: Direction
    limit: int
    """The level at which the search stops; the same on all ranks."""
    targets: Targets | None
    """Vertices after which it stops."""
    alone: Peers | None
    """Where one GPU, which has all, pushes large levels as a team of one."""

    @classmethod
    def before(
        cls, part: Part, env: Environment, name: str, search: LevelSearch, sources: Array, direction: str,
        limit: int | None = None, targets: Sequence[int] = (), alone: Peers | None = None,
        counters: np.ndarray | None = None,
    ) -> LevelState:  # fmt: skip
        """Return the state of a search whose frontier are the sources; nothing is settled yet.

        Parameters
        ----------
        search : LevelSearch
            With `depth`.
        sources, counters
            See `Frontier.of`.
        direction : str
            `push`, `pull` or `auto`.
        limit, targets, alone
            See the fields; targets are vertex numbers.
        """
        aims = Targets.of(part, env, targets)
        own = part.ids[:0] if aims is None else aims.own
        search.assign(targets=own, num_targets=len(own))
        frontier = Frontier.of(part, env, name, search, sources, counters)
        limit = NO_LIMIT if limit is None else limit
        return LevelState(frontier, Direction(direction, part.num_vertices), limit, aims, alone)

    def votes(self, found: int, edges: int, env: Environment, arcs: int = 0) -> tuple[float, ...]:
        """Return the vote of this rank: on the direction (`Direction.votes`), then on the targets, if there are any."""
        aims = () if self.targets is None else self.targets.votes(self.frontier.search.seen, env)
        return *self.direction.votes(found, edges, arcs), *aims
