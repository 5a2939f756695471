"""Searches from many sources at once, each in a lane: bit b of a mask, column b of a table.

A batch of sources, one for each lane, goes forward level by level. Every own vertex that some lane has not reached
searches its in-edges for neighbours in the frontier, and owners send the frontier with its values to their ghosts. A
vertex only reads its neighbours, so there are no atomics. On a GPU a bitmap marks the vertices of the frontier. Most
edges lead elsewhere, and cost only a read from the cache that holds the bitmap.

A lane ends when its frontier is empty on all ranks: no vertex searches for it any more, and messages have no column for
it. Many sources drawn from an R-MAT graph have no edges at all.

If few edges lead out of the frontier, only the ends of these edges search for it (graphdask.engine.candidates). On a
road network the frontier has a few hundred vertices in each of about a thousand levels. With several ranks, a superstep
that notifies the owners of these ends comes first. It pays only if many vertices would search otherwise.

What the vertices of a level take from the frontier, and whether a batch goes back over its levels, is not decided here.

Source: Then et al., The more the merrier: efficient multi-source graph traversal (2014).
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar, TypeVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.bitmap import clear_bits
from graphdask.engine.buffers import Buffer
from graphdask.engine.candidates import Candidates, pushes
from graphdask.engine.checkpoints import named
from graphdask.engine.loop import Environment, Inbox, Messages, Primitive, Received
from graphdask.engine.tuning import SEARCH
from graphdask.engine.votes import Votes
from graphdask.partition.part import Part

LOW = (1 << 32) - 1
"""The lower half of a mask: a vote is a float64, which cannot hold all of it."""


def _union(masks: Iterable[float]) -> int:
    """The lanes of all ranks."""
    return reduce(operator.or_, map(int, masks))


VOTES = Votes("LaneVotes", found=sum, edges=sum, low=_union, high=_union, left=sum, many=sum)
"""Size and out-edges of the level that is sent, and the lower and upper half of its lanes; how many vertices are left
to search for it, and on how many ranks these are many."""


@dataclass
class Level:
    """One level of a batch on this rank."""

    rows: Array
    """Own vertices of the level in any lane."""
    masks: Array
    """Their lanes."""
    edges: int = 0
    """Edges out of them."""
    lanes: int = 0
    """Mask of all their lanes; of all ranks, once these have voted."""


@dataclass(kw_only=True)
class LaneState:
    """What a search in lanes keeps between its supersteps; a subclass adds what it needs."""

    seen: Array
    """Mask per slot: lanes that have reached it, of ghosts as far as their owners have sent it. Masks are uint8, of
    more than 8 lanes uint64. GPUs that go together have those of own vertices only."""
    bits: Array
    """uint32 words, a bit per slot: whether the vertex is in the frontier, in any lane. GPUs that go
    together have two such bitmaps."""
    frontier: Array
    """Mask per slot: in which lanes, 0 where the bit is not set. GPUs that go together have this and `values` where
    others write."""
    values: Array
    """float64, the buffer of `value`."""
    queue: Buffer
    """Own vertices that are reached now; where GPUs go together, those of all levels."""
    masks: Buffer
    """Their lanes."""
    with_edges: Array
    """Own vertices that have edges in."""
    left: Array
    """Own vertices that some lane may still reach."""
    spare: tuple[Array, Array]
    """Where `left` is written next, and after that."""
    shown: Array | None = None
    """The vertices in `frontier`, if it is known that they are own vertices only."""
    candidates: Candidates | None = None
    """Made for the first push."""
    reported: bool = False
    """Whether the last superstep sent candidates to their owners."""
    edges_in: int = 0
    """Edges out of the frontier of all ranks."""
    levels: list[Any] = field(default_factory=list)
    """Of the batch: each a `Level`, or what the algorithm keeps in place of some."""
    batch: int = 0
    lanes: int = 1
    """Mask of the lanes that `value` has columns for."""
    back: int = -1
    """Level that comes next on the way back; negative while the search goes forward."""

    @property
    def columns(self) -> int:
        """The number of lanes that `value` has columns for."""
        return self.lanes.bit_count()

    @property
    def value(self) -> Array:
        """float64 (slots, columns): the value that a vertex of the frontier gives its neighbours."""
        return self.values[: len(self.frontier) * self.columns].reshape(len(self.frontier), self.columns)


@dataclass(frozen=True)
class Sources:
    """The sources of a batch."""

    count: int
    """How many there are on all ranks."""
    lanes: Mapping[int, int]
    """The mask of each that this rank owns."""


S = TypeVar("S", bound=LaneState)


class LaneSearch(Primitive[S]):
    """A primitive that searches in lanes, a batch of sources after the other. A subclass says, by its kernels, what a
    level takes from the frontier."""

    votes = len(VOTES)
    notifies_ghosts = True
    columns: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, sources: Sequence[int], lanes: int):
        self.sources, self.lanes = tuple(sources), lanes

    @property
    def inward(self) -> bool:
        return True

    @property
    def goal(self) -> tuple[int, str]:
        return len(self.sources), "sources"

    @property
    def mask(self) -> Any:
        """The dtype of masks."""
        return np.uint8 if self.lanes <= 8 else np.uint64

    @property
    def width(self) -> int:
        """The columns of the tables, one for each lane; a search without values has one that nothing reads."""
        return self.lanes

    @property
    def ghost_columns(self) -> Mapping[str, Any]:  # type: ignore[override]
        value = {"value": (np.float64, (self.width,))}
        return value if self.lanes == 1 else {"mask": self.mask, **value}

    def facts(self) -> dict[str, Any]:
        return {"sources": named(self.sources), "lanes": self.lanes}

    def own_sources(self, part: Part, batch: int) -> Sources:
        """Return the sources of a batch."""
        sources = self.sources[batch * self.lanes : (batch + 1) * self.lanes]
        lanes: dict[int, int] = {}
        for lane, source in enumerate(sources):
            rank, local = part.vertex_map.locate(source)
            if rank == part.rank:
                lanes[local] = lanes.get(local, 0) | 1 << lane
        return Sources(len(sources), lanes)

    @abstractmethod
    def settle(self, part: Part, state: S, sources: Sources, env: Environment) -> None:
        """Set the values of the sources of a batch that this rank owns."""

    @abstractmethod
    def arrive(self, part: Part, state: S, message: Received, env: Environment) -> None:
        """Take the vertices of a message into the frontier, with their values, and note that they are reached."""

    @abstractmethod
    def reach(self, part: Part, state: S, rows: Array, left: Array, alive: int, env: Environment) -> Any:
        """Search the in-edges of some rows for the frontier; queue those that it reaches, list those that some lane of
        `alive` may still reach in `left`, and return counts: `found`, `left`, `lanes`, `edges` and `out_edges`."""

    @abstractmethod
    def gather(self, part: Part, state: S, level: Level, env: Environment) -> None:
        """Gather from the frontier what the vertices of a new level need, before they become the frontier."""

    @abstractmethod
    def show(self, part: Part, state: S, level: Level, env: Environment) -> None:
        """Let a level be the frontier, with the values of the lanes of the state."""

    @abstractmethod
    def turn(self, part: Part, state: S, env: Environment) -> Messages:
        """Go back from the last level, or on to the next batch."""

    def step_back(self, part: Part, state: S, env: Environment) -> Messages:
        """Go on on the way back; a subclass whose batches have one defines it."""
        raise NotImplementedError

    def go_deep(self, part: Part, state: S, env: Environment) -> Messages | None:
        """Find many small levels in one launch, where that can be."""
        return None

    def begin_batch(self, part: Part, state: S, env: Environment, edges: int) -> Messages:
        """Start the next batch, or end; so many edges were scanned just before."""
        sources = self.own_sources(part, state.batch)
        state.back, state.levels = -1, []
        if not sources.count:
            return self.send(state, env, Level(state.queue.array[:0], state.masks.array[:0]), False, edges)
        rows = env.backend.from_host(np.array(list(sources.lanes), part.vertex_map.dtype))
        masks = env.backend.from_host(np.array(list(sources.lanes.values()), self.mask))
        state.seen.fill(0)
        state.seen[rows] = masks
        self.settle(part, state, sources, env)
        state.left = state.with_edges
        degrees = part.out.indptr[rows + 1] - part.out.indptr[rows]
        level = Level(rows, masks, int(degrees.sum()), reduce(operator.or_, sources.lanes.values(), 0))
        return self.show_level(part, state, level, (1 << sources.count) - 1, env, edges)

    def next_batch(self, part: Part, state: S, env: Environment, edges: int) -> Messages:
        """Go on to the next batch."""
        state.batch += 1
        self.advance_to(state.batch, env)
        return self.begin_batch(part, state, env, edges)

    def advance_to(self, batches: int, env: Environment) -> None:
        """Report how many sources are done."""
        env.advance(min(batches * self.lanes, len(self.sources)))

    def show_level(self, part: Part, state: S, level: Level, lanes: int, env: Environment, edges: int) -> Messages:
        """Make a level the frontier, with values of so many lanes, and send it."""
        self.clear(part, state, level, env)
        state.lanes = lanes
        self.show(part, state, level, env)
        state.levels.append(level)
        return self.send(state, env, level, True, edges)

    def clear(self, part: Part, state: S, level: Level, env: Environment) -> None:
        """Remove all vertices from the frontier; `level` comes into it.

        Kernels of a GPU read `frontier` only where a bit is set.
        """
        shown, state.shown = state.shown, level.rows if part.size == 1 else None
        listed = clear_bits(state.bits, shown)
        if env.backend.name == "cpu":
            state.frontier[shown if listed else slice(None)] = 0

    def send(self, state: S, env: Environment, level: Level, active: bool, edges: int) -> Messages:
        """Send a level to the ghosts of its vertices, and vote."""
        rows, left = level.rows, len(state.left)
        values = {name: {"mask": state.frontier, "value": state.value}[name] for name in self.ghost_columns}
        votes = (
            len(rows), level.edges, level.lanes & LOW, level.lanes >> 32, left, left >= SEARCH.many[env.backend.name],
        )  # fmt: skip
        widths = {"value": state.columns} if "value" in values else {}
        return Messages(rows, rows[:0], values, active, len(rows), edges, to="ghosts", votes=votes, widths=widths)

    def superstep(self, part: Part, state: S, inbox: Inbox, env: Environment) -> Messages:
        if state.reported:
            state.reported = False
            assert state.candidates is not None
            for message in inbox.received:
                state.candidates.take(message)
            return self.pull(part, state, env, state.candidates.take_out())
        for message in inbox.received:
            self.arrive(part, state, message, env)
        if state.back >= 0:
            return self.step_back(part, state, env)
        voted = VOTES.of(inbox.votes)
        if not voted.found:
            state.levels.pop()  # the last level of all ranks is empty
            return self.turn(part, state, env)
        state.levels[-1].lanes, state.edges_in = voted.low | voted.high << 32, int(voted.edges)
        if pushes(voted.edges, voted.left, voted.many, env.size):
            return self.push(part, state, env)
        return self.pull(part, state, env)

    def push(self, part: Part, state: S, env: Environment) -> Messages:
        """Find the candidates; if some may be vertices of other ranks, the superstep ends with sending these."""
        if state.candidates is None:
            state.candidates = Candidates.of(part, self.mask, env)
        deep = self.go_deep(part, state, env)
        if deep is not None:
            return deep
        rows = state.levels[-1].rows
        ghosts, edges = state.candidates.find(rows, state.frontier, state.seen)
        if env.size == 1:
            return self.pull(part, state, env, state.candidates.take_out(), edges)
        state.reported = True
        return Messages(rows[:0], ghosts, {}, True, edges=edges)

    def pull(
        self, part: Part, state: S, env: Environment, candidates: Array | None = None, edges_before: int = 0
    ) -> Messages:
        """Find the next level, among the candidates if it was pushed."""
        left, spare, alive = *state.spare, state.levels[-1].lanes
        rows = state.left if candidates is None else candidates
        if env.allocation.partial:  # no more vertices are found than edges lead to them
            most = min(state.edges_in, len(rows))
            state.queue.fit(most), state.masks.fit(most)
        counts = self.reach(part, state, rows, left, alive, env)
        if candidates is None:
            state.left, state.spare = left[: counts.left], (spare, left)
        found, lanes = counts.found, counts.lanes % 2**64
        level = Level(state.queue.array[:found].copy(), state.masks.array[:found].copy(), counts.out_edges, lanes)
        self.gather(part, state, level, env)
        return self.show_level(part, state, level, alive, env, edges_before + counts.edges)
