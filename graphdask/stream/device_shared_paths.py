"""Searches and shortest paths over a store that several ranks share, each with a device.

Supersteps are those of `graphdask.stream.shared_paths`: a sweep over the own chunks with active rows; labels that fell
at vertices of other ranks are sent to their owners. Kernels and sweeps are those of one rank.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphdask.algorithms._shortest_tree import unreached
from graphdask.algorithms.sssp import NO_VERTEX, ShortestPaths
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment, Inbox, Messages
from graphdask.stream.device import DeviceWindow
from graphdask.stream.device_paths import unpacked
from graphdask.stream.device_shared import OnDevice
from graphdask.stream.device_sssp import NOBODY, Tight
from graphdask.stream.on_device import Fall, Run, padded
from graphdask.stream.shared import EXCHANGE, StreamedPart, numbers_of

SEARCH, WIDE = 12 + EXCHANGE, 24 + EXCHANGE
"""Bytes of the device per vertex of a search, and of shortest paths if labels cannot hold parents."""


@dataclass
class State:
    """State by position; for vertices of other ranks, the lowest label that was seen on this rank."""

    label: Array
    fall: Fall
    window: DeviceWindow
    counted: np.ndarray = field(default_factory=lambda: np.zeros(2, np.int64))
    """Rows processed and edges scanned in the previous supersteps."""
    forward: bool = True
    unsent: bool = False
    """Whether a rank still has values to send."""


class DeviceFalling(OnDevice):
    """Labels that fall until no edge can lower one."""

    votes = 1
    """Whether values are left to send."""
    packed: bool
    per_vertex: int

    def __init__(self, run: Run, source: int, weighted: bool, stack: ExitStack):
        super().__init__(run, stack)
        self.source, self.weighted = source, weighted

    def init(self, part: StreamedPart, env: Environment) -> tuple[State, Messages]:  # type: ignore[override]
        label = env.xp.full(part.num_vertices, unreached(np.dtype(self.value)), self.value)
        window = self.opened(self.per_vertex)
        state = State(label, Fall(self.run, window, label, self.packed, self.weighted), window)
        place = self.run.position(self.source)
        if mine := part.own.begin <= place < part.own.end:
            label[place], state.fall.marks[place] = self.source if self.packed else 0, 1
        return state, self.said(part, state.fall.marks, np.zeros(0, bool), label, mine, 0, 0)

    def ends(self, state: State, votes: np.ndarray) -> bool:
        state.unsent = bool(votes.any())
        return False

    def superstep(self, part: StreamedPart, state: State, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        fall, positions = state.fall, inbox.records["position"]
        fall.take(positions, inbox.records["value"])
        active = fall.active()
        if not state.unsent and active.any():
            active = fall.sweep(active, state.forward)
            state.forward = not state.forward
        worked, looked = (fall.flags.totals - state.counted).tolist()
        state.counted[:] = fall.flags.totals
        return self.said(
            part, fall.marks, fall.flags.elsewhere, state.label, bool(active.any()), worked, looked
        )  # fmt: skip


class DeviceSearch(DeviceFalling):
    """Labels of a distance times 2^32 plus the number of the parent; `column` is the name of the distances."""

    packed, per_vertex = True, SEARCH

    def __init__(self, run: Run, source: int, weighted: bool, column: str, stack: ExitStack):
        super().__init__(run, source, weighted, stack)
        self.column = column

    def result(self, part: StreamedPart, state: State, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        far = self.column == "distance"
        label = state.label[part.own.begin : part.own.end]
        distance, parent = unpacked(self.run, label, None, np.int64 if far else np.int32)
        return {self.column: distance, "parent": parent} | ({"too_far": NO_VERTEX} if far else {})


class DeviceDistances(DeviceFalling):
    """Distances that take the whole label; parents are found afterwards."""

    packed, per_vertex = False, WIDE

    def __init__(self, run: Run, primitive: ShortestPaths, weighted: bool, stack: ExitStack):
        super().__init__(run, primitive.source, weighted, stack)
        self.integer = primitive.distance.kind != "f"
        self.value = np.dtype(np.int64) if self.integer else primitive.distance

    def result(self, part: StreamedPart, state: State, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        xp, own, none = env.xp, part.own, unreached(np.dtype(self.value))
        distance = env.gather(state.label[own.begin : own.end])
        tight = Tight(self.run, state.window, distance, self.weighted)
        del state.fall, state.label
        offers = DeviceOffers(self, tight)
        parent = env.run(part, offers).columns["parent"]
        rooted, here = parent != NOBODY, distance[own.begin : own.end]
        reached = here != none
        beyond = env.backend.to_host(xp.flatnonzero(rooted & ~reached))
        too_far = env.least(int(numbers_of(part, beyond).min()) if len(beyond) else NO_VERTEX)
        if not env.least(int((rooted | ~reached).all())):
            parent = env.run(part, DeviceFlat(self, tight, parent, offers.flat)).columns["parent"]
        return {
            "distance": xp.where(reached, here, -1 if self.integer else none).astype(self.value),
            "parent": xp.where(reached, parent, -1).astype(np.int32), "too_far": too_far,
        }  # fmt: skip


@dataclass
class Tree:
    """By position: the smallest parent that was seen, and a mark if it is still to be sent to its owner or followed."""

    parent: Array
    marks: Array
    hops: Array = field(default_factory=lambda: np.zeros(0, np.int32))
    hop: int = 0
    unsent: bool = False


class DeviceOffers(OnDevice):
    """Each own row is offered as the parent of what its tight edges lead to."""

    votes = 1
    value = np.int32

    def __init__(self, of: DeviceDistances, tight: Tight):
        super().__init__(of.run, of.stack)
        self.of, self.tight = of, tight
        self.flat = of.run.xp.zeros(of.run.store.num_vertices, np.uint8)
        """Rows with a tight edge that adds nothing."""

    def init(self, part: StreamedPart, env: Environment) -> tuple[Tree, Messages]:  # type: ignore[override]
        own, n = part.own, part.num_vertices
        state = Tree(env.xp.full(n, NOBODY, np.int32), padded(self.run))
        reached = self.tight.distance != unreached(np.dtype(self.of.value))
        self.tight.over(reached, "layered_offer", state.parent, self.flat)
        place = self.run.position(self.of.source)
        if own.begin <= place < own.end:
            state.parent[place] = self.of.source
        state.marks[:n] = state.parent != NOBODY
        return state, self.told(part, state, False, int(reached[own.begin : own.end].sum()))

    def told(self, part: StreamedPart, state: Tree, active: bool, frontier: int) -> Messages:
        """Return messages with the parents of vertices that other ranks own."""
        elsewhere, looked = self.tight.elsewhere(state.marks), self.tight.looked()
        return self.said(part, state.marks, elsewhere, state.parent, active, frontier, looked)

    def ends(self, state: Tree, votes: np.ndarray) -> bool:
        state.unsent = bool(votes.any())
        return False

    def take(self, state: Tree, positions: Array, parents: Array) -> None:
        """The smaller parents of those that stand there and those that others have seen."""
        kernels = self.run.backend.kernels("components", index_t=np.int32)
        kernels.components_label(len(positions), parents, positions, state.parent)

    def superstep(self, part: StreamedPart, state: Tree, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        self.take(state, inbox.records["position"], inbox.records["value"])
        return self.told(part, state, False, 0)

    def result(self, part: StreamedPart, state: Tree, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        return {"parent": state.parent[part.own.begin : part.own.end].copy()}


class DeviceFlat(DeviceOffers):
    """From vertices with a parent, walk along tight edges that add nothing, hop by hop."""

    def __init__(self, of: DeviceDistances, tight: Tight, parent: Array, flat: Array):
        super().__init__(of, tight)
        self.parent, self.flat = parent, flat

    def init(self, part: StreamedPart, env: Environment) -> tuple[Tree, Messages]:  # type: ignore[override]
        n, own = part.num_vertices, slice(part.own.begin, part.own.end)
        state = Tree(env.xp.full(n, NOBODY, np.int32), padded(self.run), env.xp.full(n, -1, np.int32))
        state.parent[own] = self.parent
        state.hops[own] = env.xp.where(self.parent != NOBODY, 0, -1).astype(np.int32)
        state.marks[own] = (self.parent != NOBODY) & (self.flat[own] != 0)
        return state, self.told(part, state, bool(state.marks[own].any()), 0)

    def superstep(self, part: StreamedPart, state: Tree, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        own, n, frontier = slice(part.own.begin, part.own.end), part.num_vertices, 0
        positions, hops = inbox.records["position"], state.hops
        before = hops[positions]
        fit = (before < 0) | (before == state.hop)
        positions, before = positions[fit], before[fit]
        state.marks[positions[before < 0]] = 1
        hops[positions] = state.hop
        self.take(state, positions, inbox.records["value"][fit])
        if not state.unsent:
            chosen, state.marks = state.marks[:n], padded(self.run)
            frontier = int((chosen != 0).sum())
            self.tight.over(chosen, "layered_further", hops, state.hop, state.parent, state.marks)
            state.hop += 1
        return self.told(part, state, bool(state.marks[own].any()), frontier)
