"""Shortest paths over a store if labels cannot hold parents: distances first, then parents from them.

Distances fall as labels do (`graphdask.stream.paths`). Then every vertex at a finite distance is offered as the parent
of the vertices that its tight edges lead to. If edges add nothing to a distance, parents at equal distances are found
hop by hop. The smallest parent wins, so the order of chunks, and which rank has them, does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms.shortest_tree import unreached
from graphdask.algorithms.sssp import NO_VERTEX, ShortestPaths
from graphdask.engine.loop import Environment, Inbox, Messages
from graphdask.errors import Unsupported
from graphdask.kernels.stream.chunk_pack import COUNTS
from graphdask.kernels.stream.layered_paths_pack import TightEdges
from graphdask.stream.forms import STREAMED, Streamed, Supersteps
from graphdask.stream.paths import UNIT, Falling, Search, SearchState
from graphdask.stream.shared_store import (
    EXCHANGE,
    BySlot,
    StreamedPart,
    Streaming,
    any_marked,
    marked,
    most_reported,
    numbers_of,
    places,
)
from graphdask.stream.stopping import Unsent
from graphdask.stream.store import Store
from graphdask.stream.sweeps import cpu
from graphdask.stream.window import Window

WIDE = 37
"""Bytes per vertex, with the answers."""
NONE = np.iinfo(np.int32).max


def paths_of(part: StreamedPart, primitive: ShortestPaths, stack: ExitStack) -> Falling:
    """What runs SSSP on a rank."""
    if primitive.parents_in_any_order:
        weighted = part.store.weights is not None
        search = Search(part, primitive.name, primitive.sources, "distance", weighted, True, stack)
        search.stops(part, primitive, True, np.int64)
        return search
    return Distances(part, primitive, stack)


def refuse(store: Store, primitive: ShortestPaths) -> None:
    """Raise Unsupported for buckets of distances."""
    if primitive.delta is not None:
        raise Unsupported("a streamed sssp goes by chunks, not by buckets of distances; leave delta= out")


class Distances(Falling):
    """Distances that take the whole label; parents are found afterwards."""

    def __init__(self, part: StreamedPart, primitive: ShortestPaths, stack: ExitStack):
        weighted = part.store.weights is not None
        super().__init__(part, primitive.name, np.array(primitive.sources), weighted, stack)
        self.per_vertex = WIDE if part.size == 1 else WIDE + 20 + EXCHANGE
        self.integer = primitive.distance.kind != "f"
        self.dtype = np.dtype(np.int64) if self.integer else primitive.distance
        self.stops(part, primitive, False, self.dtype)

    def first(self, part: StreamedPart) -> np.ndarray:
        return np.full(part.num_vertices, unreached(self.dtype), self.dtype)

    def start(self, own: np.ndarray) -> Any:
        return 0

    def result(self, part: StreamedPart, state: SearchState, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        own, none = part.own, unreached(self.dtype)
        if part.size > 1:
            (by_slot,) = env.fetch_ghosts(part, [state.pack.labels[own.begin : own.end]])
            state.pack.labels = np.roll(by_slot, own.begin)
            del by_slot
        distance = state.pack.labels
        pack = TightEdges(
            weights=UNIT, each=-1 if self.weighted else 0, distance=distance, flat=np.zeros(len(distance), bool),
            counters=np.zeros(len(COUNTS), np.int64),
        )  # fmt: skip
        parent = env.run(part, Offers(self, pack, state.window)).columns["parent"]
        rooted = parent != NONE
        here = distance[own.begin : own.end]
        reached = here != none
        beyond = np.flatnonzero(rooted & ~reached if self.stop is None else [])
        too_far = env.least(int(numbers_of(part, beyond).min()) if len(beyond) else NO_VERTEX)
        if not env.least(int((rooted | ~reached).all())):
            parent = env.run(part, Flat(self, pack, state.window, parent)).columns["parent"]
        found, before = np.empty(own.count, self.dtype), np.empty(own.count, np.int32)
        for first, where in places(part):
            some = slice(first - own.begin, first - own.begin + len(where))
            found[where] = np.where(reached[some], here[some], -1 if self.integer else none)
            before[where] = np.where(reached[some], parent[some], -1)
        if self.stop is not None:
            self.stop.take_back(part, found, before, env)
        return {"distance": found, "parent": before, "too_far": too_far}


@dataclass
class Tree:
    """By position: the smallest parent that was seen, and whether it is still to be sent to its owner."""

    parent: np.ndarray
    active: np.ndarray
    edges: int = 0
    frontier: int = 0
    unsent: bool = False
    hops: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    hop: int = 0


class Offers(Unsent, Streaming):
    """Each own row is offered as the parent of what its tight edges lead to."""

    columns: ClassVar[Mapping[str, Any]] = {"parent": np.int32}

    def __init__(self, of: Distances, pack: TightEdges, window: Window):
        super().__init__(of.name, of.stack)
        self.of, self.pack, self.window_of, self.log = of, pack, window, of.log

    def over(self, part: StreamedPart, chosen: np.ndarray, kernel: Callable[..., Any]) -> int:
        """Run a kernel over the own chunks with chosen rows; return how many edges it scanned."""
        chunks, table = part.own.chunks["out"], part.store.sections["out"].table
        first, rows = table["first"], table["rows"]
        needed = [k for k in chunks if chosen[first[k] : first[k] + rows[k]].any()]
        for at, number in enumerate(needed):
            chunk = self.window_of.load(number, needed[at + 1 : at + 3])
            self.pack.hold(chunk, self.window_of.indptr(chunk))
            kernel(len(chunk.degrees), self.pack)
            self.log.check()
        self.window_of.traffic.skipped += len(chunks) - len(needed)
        looked: int = self.pack.read_counters(cpu()).looked
        self.pack.counters[:] = 0
        return looked

    def init(self, part: StreamedPart, env: Environment) -> tuple[Tree, Messages]:  # type: ignore[override]
        n, own, distance = part.num_vertices, part.own, self.pack.distance
        state = Tree(np.full(n, NONE, np.int32), distance != unreached(self.of.dtype))
        place = part.store.positions(self.of.sources)
        mine = (place >= own.begin) & (place < own.end)
        state.parent[place[mine]] = self.of.sources[mine]
        self.pack.parent = state.parent
        state.frontier = int(state.active[own.begin : own.end].sum())
        state.edges = self.over(part, state.active, cpu().kernels("layered_paths").layered_offer)
        np.not_equal(state.parent, NONE, out=state.active)
        return state, self.outgoing(part, state)

    def outgoing(self, part: StreamedPart, state: Tree) -> Messages:
        """Return messages with the parents of vertices that other ranks own."""
        slots = marked(part, state.active, most_reported(part))
        unsent = any_marked(part, state.active)
        edges, state.edges = state.edges, 0
        return Messages(
            slots[:0], slots, {"parent": BySlot(state.parent, part.own.begin)}, unsent, state.frontier, edges,  # type: ignore[dict-item]
            votes=(float(unsent),),
        )  # fmt: skip

    def superstep(self, part: StreamedPart, state: Tree, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        for message in inbox.received:
            places = message.slots + message.slots.dtype.type(part.own.begin)
            state.parent[places] = np.minimum(state.parent[places], message.columns["parent"])
        state.frontier = 0
        return self.outgoing(part, state)

    def result(self, part: StreamedPart, state: Tree, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        return {"parent": state.parent[part.own.begin : part.own.end].copy()}


class Flat(Offers):
    """From vertices with a parent, walk along tight edges that add nothing, hop by hop."""

    def __init__(self, of: Distances, pack: TightEdges, window: Window, parent: np.ndarray):
        super().__init__(of, pack, window)
        self.parent = parent

    def init(self, part: StreamedPart, env: Environment) -> tuple[Tree, Messages]:  # type: ignore[override]
        n, own = part.num_vertices, part.own
        state = Tree(np.full(n, NONE, np.int32), np.zeros(n, bool), hops=np.full(n, -1, np.int32))
        state.parent[own.begin : own.end] = self.parent
        here = state.hops[own.begin : own.end]
        here[self.parent != NONE] = 0
        state.active[own.begin : own.end] = (here == 0) & self.pack.flat[own.begin : own.end]
        self.pack.hops, self.pack.parent = state.hops, state.parent
        slots = np.zeros(0, part.vertex_map.dtype)
        return state, Messages(slots, slots, {"parent": BySlot(state.parent, 0)}, bool(state.active.any()))  # type: ignore[dict-item]

    def superstep(self, part: StreamedPart, state: Tree, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        own = part.own
        for message in inbox.received:
            places, parents = message.slots + message.slots.dtype.type(own.begin), message.columns["parent"]
            hops = state.hops[places]
            fit = (hops < 0) | (hops == state.hop)
            places, parents = places[fit], parents[fit]
            state.active[places[hops[fit] < 0]] = True
            state.hops[places] = state.hop
            state.parent[places] = np.minimum(state.parent[places], parents)
        state.frontier = 0
        if not state.unsent:
            self._hop(part, state)
        messages = self.outgoing(part, state)
        messages.active = messages.active or bool(state.active[own.begin : own.end].any())
        return messages

    def _hop(self, part: StreamedPart, state: Tree) -> None:
        own, after = part.own, np.zeros(part.num_vertices, bool)
        state.frontier = int(state.active[own.begin : own.end].sum())
        before = state.parent[: own.begin].copy(), state.parent[own.end :].copy()
        self.pack.hop, self.pack.active = state.hop, after
        state.edges = self.over(part, state.active, cpu().kernels("layered_paths").layered_further)
        state.active, state.hop = after, state.hop + 1
        after[: own.begin] |= state.parent[: own.begin] < before[0]
        after[own.end :] |= state.parent[own.end :] < before[1]


STREAMED[ShortestPaths] = Streamed(Supersteps(paths_of), refuse, lambda primitive: primitive.sources, by_weight=True)
