"""Shortest paths through a device if labels cannot hold parents: distances first, then parents from them.

As on a CPU (`graphdask.stream.distances`), every vertex at a finite distance is offered as the parent of the vertices
that its tight edges lead to. If edges add nothing to a distance, parents at equal distances are found hop by hop.
"""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphdask.algorithms.shortest_tree import unreached
from graphdask.algorithms.sssp import NO_VERTEX, ShortestPaths
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment, Inbox, Messages
from graphdask.kernels.stream.layered_paths_pack import TightEdges
from graphdask.stream.device_paths import DeviceFalling, DeviceSearch, DeviceSearchState
from graphdask.stream.device_runs import THREADS, Flags, Run, lengths, padded
from graphdask.stream.device_shared import OnDevice
from graphdask.stream.device_window import DeviceWindow
from graphdask.stream.shared_store import EXCHANGE, StreamedPart, numbers_of
from graphdask.stream.stopping import Unsent

WIDE, SHARED = 40, 24 + EXCHANGE
"""Bytes of the device per vertex, by one rank and by several, with what the answer takes."""
STATE = 31
"""The same by one rank, while there is a window."""
NOBODY = np.iinfo(np.int32).max


def paths_of(run: Run, part: StreamedPart, primitive: ShortestPaths, stack: ExitStack) -> DeviceFalling:
    """What runs SSSP on a rank."""
    if primitive.parents_in_any_order:
        weighted = part.store.weights is not None
        return DeviceSearch(run, part, primitive, "distance", weighted, True, stack)
    return DeviceDistances(run, part, primitive, stack)


class DeviceDistances(DeviceFalling):
    """Distances that take the whole label; parents are found afterwards."""

    packed = False

    def __init__(self, run: Run, part: StreamedPart, primitive: ShortestPaths, stack: ExitStack):
        super().__init__(run, primitive.name, primitive.sources, part.store.weights is not None, stack)
        self.per_vertex, self.beside_window = (WIDE, STATE) if part.size == 1 else (SHARED, SHARED)
        self.integer = primitive.distance.kind != "f"
        self.value = np.dtype(np.int64) if self.integer else primitive.distance
        self.stops(part, primitive)
        run.require(self.per_vertex, self.name)

    def result(self, part: StreamedPart, state: DeviceSearchState, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        xp, own, none, window = env.xp, part.own, unreached(np.dtype(self.value)), state.window
        assert window is not None
        distance = state.label if part.size == 1 else env.gather(state.label[own.begin : own.end])
        state.fall, state.window, state.label = None, None, distance
        parent = self._parents(part, env, Tight(self.run, window, distance, self.weighted))
        del window
        self.windows.close()
        rooted, here = parent != NOBODY, distance[own.begin : own.end]
        reached = here != none
        beyond = env.backend.to_host(xp.flatnonzero(rooted & ~reached))
        too_far = env.least(int(numbers_of(part, beyond).min()) if len(beyond) and self.stop is None else NO_VERTEX)
        found = xp.where(reached, here, -1 if self.integer else none).astype(self.value, copy=False)
        parent = xp.where(reached, parent, -1).astype(np.int32, copy=False)
        if part.size == 1:
            ids = self.run.ids()
            found, parent = self.run.by_number(found, ids), self.run.by_number(parent, ids)
        if self.stop is not None:
            self.stop.take_back(part, found, parent, env)
        return {"distance": found, "parent": parent, "too_far": too_far}

    def _parents(self, part: StreamedPart, env: Environment, tight: Tight) -> Array:
        """The parents of own rows, NOBODY where there is none."""
        own, none = part.own, unreached(np.dtype(self.value))
        parent = env.run(part, DeviceOffers(self, tight)).columns["parent"]
        if env.least(int(((parent != NOBODY) | (tight.pack.distance[own.begin : own.end] == none)).all())):
            return parent
        return env.run(part, DeviceFlat(self, tight, parent)).columns["parent"]


class Tight:
    """The own chunks, scanned by kernels that search for tight edges."""

    def __init__(self, run: Run, window: DeviceWindow, distance: Array, weighted: bool):
        self._run, self._window = run, window
        weight, one, each = lengths(run, weighted, distance.dtype)
        self._kernels = run.backend.kernels("layered_paths", index_t=np.int32, weight_t=weight, dist_t=distance.dtype)
        self._marks, self._flags, self._looked = padded(run), Flags(run, run.store.sections["out"], 2), 0
        self.pack = TightEdges(
            weights=one, each=each, distance=distance, flat=run.xp.zeros(run.store.num_vertices, np.uint8),
            hubs=window.hubs, counters=self._flags.counters,
        )  # fmt: skip

    def elsewhere(self, marks: Array) -> np.ndarray:
        """The chunks of others with marks, bool."""
        self._flagged(marks)
        return self._flags.elsewhere

    def _flagged(self, marks: Array) -> np.ndarray:
        self._flags.clear()
        self._flags.mark(marks)
        return self._flags.now()

    def over(self, chosen: Array, kernel: str) -> int:
        """Run a kernel over the chunks with chosen positions; return the number of these chunks."""
        window, flags = self._window, self._flags
        self._marks[: len(chosen)] = chosen
        numbers = deque(np.flatnonzero(self._flagged(self._marks)).tolist())
        count = len(numbers)
        while numbers:
            chunk = window.load(numbers.popleft(), list(numbers)[:8])
            flags.clear()
            self.pack.hold(chunk, chunk.indptr)
            getattr(self._kernels, kernel)(chunk.rows, self.pack)
            getattr(self._kernels, kernel + "_hubs")(THREADS, self.pack)
            self._run.log.check()
        window.traffic.skipped += len(self._run.own.chunks["out"]) - count
        return count

    def looked(self) -> int:
        """Return the number of edges that were scanned since the last call."""
        self._flags.now()
        before, (_, self._looked) = self._looked, self._flags.done
        return self._looked - before


@dataclass
class Tree:
    """By position: the smallest parent that was seen, and a mark if it is still to be sent to its owner or followed."""

    parent: Array
    marks: Array
    hops: Array = field(default_factory=lambda: np.zeros(0, np.int32))
    hop: int = 0
    unsent: bool = False


class DeviceOffers(Unsent, OnDevice):
    """Each own row is offered as the parent of what its tight edges lead to."""

    value = np.int32

    def __init__(self, of: DeviceDistances, tight: Tight):
        super().__init__(of.run, of.name, of.stack)
        self.of, self.tight = of, tight

    def init(self, part: StreamedPart, env: Environment) -> tuple[Tree, Messages]:  # type: ignore[override]
        own, n = part.own, part.num_vertices
        state = Tree(env.xp.full(n, NOBODY, np.int32), padded(self.run))
        reached = self.tight.pack.distance != unreached(np.dtype(self.of.value))
        self.tight.pack.parent = state.parent
        self.tight.over(reached, "layered_offer")
        place, number = self.of.start(part, env)
        state.parent[place] = number
        state.marks[:n] = state.parent != NOBODY
        return state, self.messages(part, state, False, int(reached[own.begin : own.end].sum()))

    def messages(self, part: StreamedPart, state: Tree, active: bool, frontier: int) -> Messages:
        """Return messages with the parents of vertices that other ranks own."""
        elsewhere, looked = self.tight.elsewhere(state.marks), self.tight.looked()
        return self.outgoing(part, state.marks, elsewhere, state.parent, active, frontier, looked)

    def take(self, state: Tree, positions: Array, parents: Array) -> None:
        """The smaller parents of those that stand there and those that others have seen."""
        kernels = self.run.backend.kernels("components", index_t=np.int32)
        kernels.components_label(len(positions), parents, positions, state.parent)

    def superstep(self, part: StreamedPart, state: Tree, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        self.take(state, inbox.records["position"], inbox.records["value"])
        return self.messages(part, state, False, 0)

    def result(self, part: StreamedPart, state: Tree, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        return {"parent": state.parent[part.own.begin : part.own.end].copy()}


class DeviceFlat(DeviceOffers):
    """From vertices with a parent, walk along tight edges that add nothing, hop by hop."""

    def __init__(self, of: DeviceDistances, tight: Tight, parent: Array):
        super().__init__(of, tight)
        self.parent = parent

    def init(self, part: StreamedPart, env: Environment) -> tuple[Tree, Messages]:  # type: ignore[override]
        n, own = part.num_vertices, slice(part.own.begin, part.own.end)
        state = Tree(env.xp.full(n, NOBODY, np.int32), padded(self.run), env.xp.full(n, -1, np.int32))
        self.tight.pack.parent, self.tight.pack.hops = state.parent, state.hops
        state.parent[own] = self.parent
        state.hops[own] = env.xp.where(self.parent != NOBODY, 0, -1).astype(np.int32)
        state.marks[own] = (self.parent != NOBODY) & (self.tight.pack.flat[own] != 0)
        return state, self.messages(part, state, bool(state.marks[own].any()), 0)

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
            self.tight.pack.hop, self.tight.pack.active = state.hop, state.marks
            self.tight.over(chosen, "layered_further")
            state.hop += 1
        return self.messages(part, state, bool(state.marks[own].any()), frontier)
