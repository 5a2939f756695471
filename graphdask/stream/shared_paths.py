"""Searches and shortest paths over a store that several ranks share.

A superstep is a sweep over the own chunks with active rows. Labels that fell at vertices of other ranks are sent to
their owners, which keep the lower label. Sweeps go on when all labels have been sent. Labels only fall, so the answer
is that of `graphdask.stream.paths`: the order in which they fall, and on which rank, does not matter.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms._shortest_tree import unreached
from graphdask.algorithms.sssp import NO_VERTEX, ShortestPaths
from graphdask.engine.loop import Environment, Inbox, Messages
from graphdask.stream.format import Chunk
from graphdask.stream.paths import NEAR, SEARCH, UNIT, WIDE
from graphdask.stream.shared import EXCHANGE, BySlot, StreamedPart, Streaming, any_marked, marked, most_told
from graphdask.stream.sweeps import LOOKED, WORKED, Sweeps, cpu
from graphdask.stream.window import Window

NONE = np.iinfo(np.int32).max


@dataclass
class State:
    """State by position; for vertices of other ranks, the lowest label that was seen on this rank."""

    window: Window
    sweeps: Sweeps
    active: np.ndarray
    label: np.ndarray
    near: np.ndarray
    highest: np.ndarray
    """As the kernels have it, of all ranks' labels that were taken."""
    counters: np.ndarray
    unsent: bool = False
    """Whether a rank still has values to send."""


class Falling(Streaming):
    """Labels that fall until no edge can lower one."""

    votes = 1
    """Whether values are left to send."""

    def __init__(self, source: int, weighted: bool, name: str, stack: ExitStack):
        super().__init__(name, stack)
        self.source, self.weighted = source, weighted

    def first(self, part: StreamedPart) -> np.ndarray:
        """Labels before anything falls."""
        return np.full(part.num_vertices, unreached(np.dtype(np.int64)), np.int64)

    def start(self) -> int:
        """The label of the source."""
        return self.source

    @abstractmethod
    def relax(self, part: StreamedPart, state: State, chunk: Chunk) -> None:
        """Let labels fall in a chunk."""

    @abstractmethod
    def take(self, state: State, places: np.ndarray, values: np.ndarray) -> None:
        """Take the values that other ranks have sent, if they are lower."""

    def init(self, part: StreamedPart, env: Environment) -> tuple[State, Messages]:  # type: ignore[override]
        n, section = part.num_vertices, part.store.sections["out"]
        window = self.window(part, "out", env)
        active, counters = np.zeros(n, bool), np.zeros(3, np.int64)
        label, near, highest = self.first(part), np.full(n, NEAR, np.uint8), np.full(NEAR, -1, np.int64)
        (place,) = part.store.positions([self.source])
        if part.own.begin <= place < part.own.end:
            label[place], active[place] = self.start(), True
        sweeps = Sweeps(window, section, active, counters, self.log, part.own.chunks["out"])
        state = State(window, sweeps, active, label, near, highest, counters)
        return state, self._said(part, state)

    def _said(self, part: StreamedPart, state: State) -> Messages:
        """Messages with labels that fell at vertices of other ranks, up to `most_told(part)` at a time."""
        slots = marked(part, state.active, most_told(part))
        unsent = any_marked(part, state.active)
        worked, looked = int(state.counters[WORKED]), int(state.counters[LOOKED])
        state.counters[:] = 0
        return Messages(
            slots[:0], slots, {"value": BySlot(state.label.view(np.int64), part.own.begin)},  # type: ignore[dict-item]
            unsent or state.sweeps.waiting, worked, looked, votes=(float(unsent),),
        )  # fmt: skip

    def ends(self, state: State, votes: np.ndarray) -> bool:
        state.unsent = bool(votes.any())
        return False

    def superstep(self, part: StreamedPart, state: State, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        for message in inbox.received:
            self.take(state, message.slots + message.slots.dtype.type(part.own.begin), message.columns["value"])
        if not state.unsent:
            for chunk in state.sweeps.once():
                self.relax(part, state, chunk)
        return self._said(part, state)


class SharedSearch(Falling):
    """Labels of a distance times 2^32 plus the number of the parent; `column` is the name of the distances."""

    per_vertex = SEARCH + 4 + EXCHANGE

    def __init__(self, source: int, weighted: bool, column: str, name: str, stack: ExitStack):
        super().__init__(source, weighted, name, stack)
        self.column = column

    def relax(self, part: StreamedPart, state: State, chunk: Chunk) -> None:
        cpu().kernels("layered").layered_relax(
            len(chunk.degrees), chunk.first, part.own.begin, part.own.end, state.window.indptr(chunk), chunk.ids,
            chunk.targets, chunk.weights if self.weighted else UNIT, -1 if self.weighted else 0, state.active,
            state.near, state.label, state.highest, state.window.queue, state.counters,
        )  # fmt: skip

    def take(self, state: State, places: np.ndarray, values: np.ndarray) -> None:
        old = state.label[places]
        better = values < old
        places, values, old = places[better], values[better], old[better]
        state.label[places] = values
        far = values >> 32
        state.near[places] = np.minimum(far, NEAR).astype(np.uint8)
        small = far < NEAR
        np.maximum.at(state.highest, far[small], values[small] & 0xFFFFFFFF)
        state.active[places[far < old >> 32]] = True

    def result(self, part: StreamedPart, state: State, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        some = state.label[part.own.begin : part.own.end]
        dtype = np.int64 if self.column == "distance" else np.int32
        distance = np.where(some == unreached(some.dtype), -1, some >> 32).astype(dtype)
        found = {self.column: distance, "parent": (some & 0xFFFFFFFF).astype(np.uint32).view(np.int32)}
        return found | ({"too_far": NO_VERTEX} if self.column == "distance" else {})


class SharedDistances(Falling):
    """Distances that take the whole label; parents are found afterwards."""

    per_vertex = WIDE + 20 + EXCHANGE

    def __init__(self, primitive: ShortestPaths, weighted: bool, stack: ExitStack):
        super().__init__(primitive.source, weighted, primitive.name, stack)
        self.integer = primitive.distance.kind != "f"
        self.dtype = np.dtype(np.int64) if self.integer else primitive.distance

    def first(self, part: StreamedPart) -> np.ndarray:
        return np.full(part.num_vertices, unreached(self.dtype), self.dtype)

    def start(self) -> int:
        return 0

    def relax(self, part: StreamedPart, state: State, chunk: Chunk) -> None:
        cpu().kernels("layered").layered_relax_wide(
            len(chunk.degrees), chunk.first, state.window.indptr(chunk), chunk.targets,
            chunk.weights if self.weighted else UNIT, -1 if self.weighted else 0, state.active, state.label,
            state.window.queue, state.counters,
        )  # fmt: skip

    def take(self, state: State, places: np.ndarray, values: np.ndarray) -> None:
        values = values.view(self.dtype)
        better = values < state.label[places]
        places = places[better]
        state.label[places] = values[better]
        state.active[places] = True

    def result(self, part: StreamedPart, state: State, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        own, none = part.own, unreached(self.dtype)
        (by_slot,) = env.fetch_ghosts(part, [state.label[own.begin : own.end]])
        distance = state.label = np.roll(by_slot, own.begin)
        del by_slot
        offers = Offers(self, distance, state.window)
        parent = env.run(part, offers).columns["parent"]
        rooted = parent != NONE
        here = distance[own.begin : own.end]
        reached = here != none
        beyond = np.flatnonzero(rooted & ~reached)
        too_far = env.least(int(numbers_of(part, beyond).min()) if len(beyond) else NO_VERTEX)
        if not env.least(int((rooted | ~reached).all())):
            parent = env.run(part, Flat(self, distance, state.window, parent, offers.flat)).columns["parent"]
        return {
            "distance": np.where(reached, here, -1 if self.integer else none).astype(self.dtype),
            "parent": np.where(reached, parent, -1).astype(np.int32), "too_far": too_far,
        }  # fmt: skip


def numbers_of(part: StreamedPart, rows: np.ndarray) -> np.ndarray:
    """The vertex numbers of some own rows."""
    found, places = np.empty(len(rows), np.int64), rows + part.own.begin
    for first, ids in part.store.order():
        inside = (places >= first) & (places < first + len(ids))
        found[inside] = ids[places[inside] - first]
    return found


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


class Offers(Streaming):
    """Each own row is offered as the parent of what its tight edges lead to."""

    columns: ClassVar[Mapping[str, Any]] = {"parent": np.int32}
    votes = 1

    def __init__(self, of: SharedDistances, distance: np.ndarray, window: Window):
        super().__init__(of.name, of.stack)
        self.of, self.distance, self.window_of, self.log = of, distance, window, of.log
        self.flat = np.zeros(len(distance), bool)
        """Rows with a tight edge that adds nothing."""

    def tight(self, chunk: Chunk) -> tuple[Any, ...]:
        """The arguments of kernels that describe a chunk."""
        weights = chunk.weights if self.of.weighted else UNIT
        each, indptr = -1 if self.of.weighted else 0, self.window_of.indptr(chunk)
        return len(chunk.degrees), chunk.first, indptr, chunk.ids, chunk.targets, weights, each, self.distance

    def init(self, part: StreamedPart, env: Environment) -> tuple[Tree, Messages]:  # type: ignore[override]
        n, own, store = part.num_vertices, part.own, part.store
        state, counters = Tree(np.full(n, NONE, np.int32), np.zeros(n, bool)), np.zeros(3, np.int64)
        (place,) = store.positions([self.of.source])
        if own.begin <= place < own.end:
            state.parent[place] = self.of.source
        reached, none = state.active, unreached(self.of.dtype)
        np.not_equal(self.distance, none, out=reached)
        section, chunks = store.sections["out"], own.chunks["out"]
        first, rows = section.table["first"], section.table["rows"]
        needed = [k for k in chunks if reached[first[k] : first[k] + rows[k]].any()]
        for at, number in enumerate(needed):
            chunk = self.window_of.load(number, needed[at + 1 : at + 3])
            cpu().kernels("layered").layered_parents(*self.tight(chunk), state.parent, self.flat, counters)
            self.log.check()
        np.not_equal(state.parent, NONE, out=state.active)
        state.edges, state.frontier = int(counters[LOOKED]), int(reached[own.begin : own.end].sum())
        return state, self.said(part, state)

    def said(self, part: StreamedPart, state: Tree) -> Messages:
        """Return messages with the parents of vertices that other ranks own."""
        slots = marked(part, state.active, most_told(part))
        unsent = any_marked(part, state.active)
        edges, state.edges = state.edges, 0
        return Messages(
            slots[:0], slots, {"parent": BySlot(state.parent, part.own.begin)}, unsent, state.frontier, edges,  # type: ignore[dict-item]
            votes=(float(unsent),),
        )  # fmt: skip

    def ends(self, state: Tree, votes: np.ndarray) -> bool:
        state.unsent = bool(votes.any())
        return False

    def superstep(self, part: StreamedPart, state: Tree, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        for message in inbox.received:
            places = message.slots + message.slots.dtype.type(part.own.begin)
            state.parent[places] = np.minimum(state.parent[places], message.columns["parent"])
        state.frontier = 0
        return self.said(part, state)

    def result(self, part: StreamedPart, state: Tree, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        return {"parent": state.parent[part.own.begin : part.own.end].copy()}


class Flat(Offers):
    """From vertices with a parent, walk along tight edges that add nothing, hop by hop."""

    def __init__(self, of: SharedDistances, distance: np.ndarray, window: Window, parent: np.ndarray, flat: np.ndarray):
        super().__init__(of, distance, window)
        self.parent, self.flat = parent, flat

    def init(self, part: StreamedPart, env: Environment) -> tuple[Tree, Messages]:  # type: ignore[override]
        n, own = part.num_vertices, part.own
        state = Tree(np.full(n, NONE, np.int32), np.zeros(n, bool), hops=np.full(n, -1, np.int32))
        state.parent[own.begin : own.end] = self.parent
        here = state.hops[own.begin : own.end]
        here[self.parent != NONE] = 0
        state.active[own.begin : own.end] = (here == 0) & self.flat[own.begin : own.end]
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
        said = self.said(part, state)
        said.active = said.active or bool(state.active[own.begin : own.end].any())
        return said

    def _hop(self, part: StreamedPart, state: Tree) -> None:
        own, section, counters = part.own, part.store.sections["out"], np.zeros(3, np.int64)
        here, after = state.active[own.begin : own.end], np.zeros(part.num_vertices, bool)
        state.frontier = int(here.sum())
        before = state.parent[: own.begin].copy(), state.parent[own.end :].copy()
        for number in own.chunks["out"]:
            first = int(section.table["first"][number])
            if not state.active[first : first + int(section.table["rows"][number])].any():
                self.window_of.traffic.skipped += 1
                continue
            chunk = self.window_of.load(number)
            cpu().kernels("layered").layered_flat(
                *self.tight(chunk), state.hops, state.hop, state.parent, after, counters
            )  # fmt: skip
            self.log.check()
        state.active, state.hop, state.edges = after, state.hop + 1, int(counters[LOOKED])
        after[: own.begin] |= state.parent[: own.begin] < before[0]
        after[own.end :] |= state.parent[own.end :] < before[1]
