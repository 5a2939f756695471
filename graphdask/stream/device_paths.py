"""Searches and shortest paths over a store through a device; supersteps are those of `graphdask.stream.paths`.

One rank sweeps over its chunks in one superstep until no row is active, so that the device never waits for the host.
If all edges have the same length and the host holds all chunks, it reads rows in place in host memory
(`graphdask.stream.device_search`). Several ranks sweep once in a superstep, and send labels that fell at vertices of
other ranks to their owners.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.algorithms.shortest_tree import unreached
from graphdask.algorithms.sssp import NO_VERTEX, ShortestPaths
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment, Inbox, Messages
from graphdask.stream.device_runs import Fall, Run
from graphdask.stream.device_search import in_place, labels_in_place
from graphdask.stream.device_shared import OnDevice
from graphdask.stream.device_window import DeviceWindow
from graphdask.stream.shared_store import EXCHANGE, StreamedPart
from graphdask.stream.stopping import Stop, Unsent

SEARCH, PATHS, SHARED = 20, 24, 12 + EXCHANGE
"""Bytes of the device per vertex of a search and of shortest paths by one rank, with what their answers take, which a
window has until then; and of both by several ranks."""

MARKING = 2
"""Bytes per vertex besides, of a search that stops: which rows are not beyond where it does."""


@dataclass
class DeviceSearchState:
    """State by position; for vertices of other ranks, the lowest label that was seen on this rank."""

    label: Array
    fall: Fall | None = None
    window: DeviceWindow | None = None
    ids: Array | None = None
    """Vertex numbers, where they are on the device already."""
    counted: tuple[int, int] = 0, 0
    """Rows processed and edges scanned in the previous supersteps."""
    forward: bool = True
    unsent: bool = False
    """Whether a rank still has values to send."""


class DeviceFalling(Unsent, OnDevice):
    """Labels that fall until no edge can lower one."""

    packed: bool
    beside_window: int
    """Bytes per vertex while there is a window."""

    def __init__(self, run: Run, name: str, sources: Sequence[int], weighted: bool, stack: ExitStack):
        super().__init__(run, name, stack)
        self.sources, self.weighted = sources, weighted
        self.windows = stack.enter_context(ExitStack())

    def stops(self, part: StreamedPart, primitive: BreadthFirstSearch | ShortestPaths) -> None:
        """Stop where a primitive says, if it does."""
        if primitive.stops:
            self.stop = Stop(part, primitive, self.value, self.packed, self.weighted)
            self.votes = 1 + self.stop.votes
            self.per_vertex, self.beside_window = self.per_vertex + MARKING, self.beside_window + MARKING

    def start(self, part: StreamedPart, env: Environment) -> tuple[Array, Array]:
        """Return the positions of the own sources, and their numbers."""
        places, numbers = self.run.positions(self.sources)
        mine = (places >= part.own.begin) & (places < part.own.end)
        return env.backend.from_host(places[mine]), env.backend.from_host(numbers[mine])

    def init(self, part: StreamedPart, env: Environment) -> tuple[DeviceSearchState, Messages]:  # type: ignore[override]
        self.log.context = env
        label = env.xp.full(part.num_vertices, unreached(np.dtype(self.value)), self.value)
        window = self.windows.enter_context(self.run.window("out", self.beside_window, self.name))
        fall = Fall(self.run, window, label, self.packed, self.weighted)
        if self.stop is not None:
            fall.clear = partial(self.stop.clear, part, label, fall.marks, env)
        place, number = self.start(part, env)
        label[place], fall.marks[place] = number if self.packed else 0, 1
        state = DeviceSearchState(label, fall, window)
        return state, self._swept(part, state, env)

    def superstep(self, part: StreamedPart, state: DeviceSearchState, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        assert state.fall is not None
        state.fall.take(inbox.records["position"], inbox.records["value"])
        return self._swept(part, state, env)

    def _swept(self, part: StreamedPart, state: DeviceSearchState, env: Environment) -> Messages:
        """Sweep, and return messages with labels that fell at vertices of other ranks."""
        fall = state.fall
        assert fall is not None
        active = fall.active()
        if not state.unsent and active.any():
            active = fall.sweep(active, state.forward)
            state.forward = not state.forward
        (worked, looked), (worked_before, looked_before) = fall.flags.done, state.counted
        state.counted = worked, looked
        if not self.run.once:
            worked_before, looked_before = worked, looked
        worked, looked = worked - worked_before, looked - looked_before
        goes_on = bool(active.any()) and part.size > 1
        votes = () if self.stop is None else self.stop.vote(state.label, env)
        return self.outgoing(part, fall.marks, fall.flags.elsewhere, state.label, goes_on, worked, looked, votes)


class DeviceSearch(DeviceFalling):
    """Labels of a distance times 2^32 plus the number of the parent; `column` is the name of the distances."""

    packed = True

    def __init__(
        self, run: Run, part: StreamedPart, primitive: BreadthFirstSearch | ShortestPaths, column: str, weighted: bool,
        pulls: bool, stack: ExitStack,
    ):  # fmt: skip
        super().__init__(run, primitive.name, primitive.sources, weighted, stack)
        self.column, self.pulls = column, pulls
        self.per_vertex = SHARED if part.size > 1 else SEARCH if column == "depth" else PATHS
        self.beside_window = SHARED if part.size > 1 else 9
        self.stops(part, primitive)
        run.require(self.per_vertex, self.name)

    def init(self, part: StreamedPart, env: Environment) -> tuple[DeviceSearchState, Messages]:  # type: ignore[override]
        to_the_end = self.stop is None and len(self.sources) == 1
        if part.size > 1 or self.weighted or not to_the_end or not in_place(self.run):
            return super().init(part, env)
        self.log.context = env
        label, ids = labels_in_place(self.run, self.sources[0], self.pulls)
        state = DeviceSearchState(label, ids=ids)
        nothing = env.xp.zeros(0, np.uint8)
        return state, self.outgoing(part, nothing, np.zeros(0, bool), state.label, False, 0, 0)

    def result(self, part: StreamedPart, state: DeviceSearchState, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        far, own, ids, label = self.column == "distance", part.own, state.ids, state.label
        state.fall = state.window = None  # answers take the memory of the window
        self.windows.close()
        if part.size == 1 and ids is None:
            ids = self.run.ids()
        label = label[own.begin : own.end]
        distance, parent = unpacked(self.run, label, ids, np.int64 if far else np.int32)
        if self.stop is not None:
            self.stop.take_back(part, distance, parent, env)
        return {self.column: distance, "parent": parent} | ({"too_far": NO_VERTEX} if far else {})


def search_of(run: Run, part: StreamedPart, primitive: BreadthFirstSearch, stack: ExitStack) -> DeviceSearch:
    """What runs BFS on a rank."""
    pulls = primitive.direction != "push"
    return DeviceSearch(run, part, primitive, "depth", False, pulls, stack)


def unpacked(run: Run, labels: Array, ids: Array | None, dtype: Any) -> tuple[Array, Array]:
    """Distances and parents, by number where `ids` are given."""
    n, xp = len(labels), run.xp
    kernels = run.backend.kernels("layered_paths", index_t=np.int32, weight_t=np.int32, dist_t=np.int64)
    distance, parent = xp.empty(n, dtype), xp.empty(n, np.int32)
    wide = distance if distance.dtype == np.int64 else None
    kernels.layered_unpack(n, labels, ids, None if wide is not None else distance, wide, parent)
    return distance, parent
