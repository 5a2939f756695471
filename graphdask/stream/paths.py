"""Searches and shortest paths over a store: labels fall until no edge can lower one.

A label is a distance times 2^32 plus the number of the parent. If distances leave no bits for the parent, or an edge
may add nothing to a distance, labels are distances, and parents are found from them afterwards
(`graphdask.stream.distances`). Labels only fall, and at the end no edge can relax. So distances are those of `sssp` in
memory (its Notes), whatever the order of chunks. A vertex whose distance falls relaxes all its edges again, so that its
final distance is offered over each of them; hence the parents are the same too (`graphdask.algorithms.sssp`,
`shortest_tree`).

A superstep is a sweep over the own chunks with active rows. Labels that fell at vertices of other ranks are sent to
their owners, which keep the lower label. Sweeps go on when all labels have been sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.algorithms.shortest_tree import unreached
from graphdask.algorithms.sssp import NO_VERTEX, ShortestPaths
from graphdask.comm.single import SingleCommunicator
from graphdask.engine.loop import Environment, Inbox, Messages, RankContext, run_primitive
from graphdask.engine.watchdog import Watchdog
from graphdask.errors import Unsupported
from graphdask.kernels.stream.chunk_pack import COUNTS
from graphdask.kernels.stream.layered_paths_pack import NEAR, ChunkLabels
from graphdask.stream.forms import STREAMED, Streamed, Supersteps
from graphdask.stream.levels import by_layers, by_levels
from graphdask.stream.shared_store import (
    EXCHANGE,
    BySlot,
    StreamedPart,
    Streaming,
    any_marked,
    marked,
    most_reported,
    part_of,
    places,
)
from graphdask.stream.stopping import Stop, Unsent
from graphdask.stream.store import Store
from graphdask.stream.sweeps import Sweeps, cpu
from graphdask.stream.window import Window

UNIT = np.ones(1, np.int32)
"""The length of every edge where edges have none."""
LABELS = 10
"""Bytes per vertex of labels and marks."""
SEARCH, PATHS = LABELS + 8, LABELS + 12
"""The same with the answers of a search, two of int32, and of shortest paths, whose distances are int64 in the end."""
SHARED = SEARCH + 4 + EXCHANGE
"""Bytes per vertex of both if several ranks share the store."""


@dataclass
class SearchState:
    """State by position; for vertices of other ranks, the lowest label that was seen on this rank."""

    window: Window
    sweeps: Sweeps
    pack: ChunkLabels
    number: np.ndarray | None = None
    """The vertex numbers, or none where they are positions, of a search in which rows find their parents; else None."""
    unsent: bool = False
    """Whether a rank still has values to send."""


@dataclass
class Found:
    """The answers of a search in which no labels fell, by vertex number."""

    distance: np.ndarray
    parent: np.ndarray


class Falling(Unsent, Streaming):
    """Labels that fall until no edge can lower one."""

    def __init__(self, part: StreamedPart, name: str, sources: np.ndarray, weighted: bool, stack: ExitStack):
        super().__init__(name, stack)
        self.sources, self.weighted, self.once = sources, weighted, part.once

    def stops(
        self, part: StreamedPart, primitive: BreadthFirstSearch | ShortestPaths, packed: bool, dtype: Any
    ) -> None:
        """Stop where a primitive says, if it does."""
        if primitive.stops:
            self.stop = Stop(part, primitive, dtype, packed, self.weighted)
            self.votes = 1 + self.stop.votes

    def first(self, part: StreamedPart) -> np.ndarray:
        """Labels before anything falls."""
        return np.full(part.num_vertices, unreached(np.dtype(np.int64)), np.int64)

    def start(self, own: np.ndarray) -> Any:
        """The labels of some sources."""
        return own

    def numbers(self, part: StreamedPart) -> np.ndarray | None:
        """`State.number`."""
        return None

    def tables(self, part: StreamedPart) -> dict[str, Any]:
        """The fields of packed labels."""
        return {}

    def relax(self, state: SearchState, rows: int) -> None:
        """Let labels fall in a chunk."""
        cpu().kernels("layered_paths").layered_relax_chunk(rows, state.pack)

    def init(self, part: StreamedPart, env: Environment) -> tuple[Any, Messages]:  # type: ignore[override]
        n, section, own, number = part.num_vertices, part.store.sections["out"], part.own, self.numbers(part)
        window = self.window(part, "out", env)
        if number is not None and len(number):
            place = np.flatnonzero(np.isin(number, self.sources))
            sources = number[place]
        else:
            place, sources = part.store.positions(self.sources), self.sources
        mine = (place >= own.begin) & (place < own.end)
        active, label, counters = np.zeros(n, bool), self.first(part), np.zeros(len(COUNTS), np.int64)
        label[place[mine]], active[place[mine]] = self.start(sources[mine]), True
        sweeps = Sweeps(window, section, active, counters, self.log, own.chunks["out"])
        pack = ChunkLabels(
            weights=UNIT, each=-1 if self.weighted else 0, begin=own.begin, end=own.end, active=active, labels=label,
            queue=window.queue, counters=counters, **self.tables(part),
        )  # fmt: skip
        if pack.near is not None:  # which a search from several sources has to know of each of them
            pack.near[place[mine][label[place[mine]] >> 32 == 0]] = 0
        state = SearchState(window, sweeps, pack, number)
        return state, self._swept(part, state, env)

    def _swept(self, part: StreamedPart, state: SearchState, env: Environment) -> Messages:
        """Sweep, and return messages with labels that fell at vertices of other ranks."""
        pack, stop = state.pack, self.stop
        if stop is not None:
            stop.clear(part, pack.labels, pack.active, env)
        if not state.unsent:
            for chunk in state.sweeps.once():
                pack.hold(chunk, state.window.indptr(chunk))
                self.relax(state, len(chunk.degrees))
                if stop is not None:
                    stop.clear(part, pack.labels, pack.active, env)
        slots = marked(part, pack.active, most_reported(part))
        unsent = any_marked(part, pack.active)
        worked, looked, *_ = pack.read_counters(cpu())
        pack.counters[:] = 0
        return Messages(
            slots[:0], slots, {"value": BySlot(pack.labels.view(np.int64), part.own.begin)},  # type: ignore[dict-item]
            unsent or (state.sweeps.waiting and not self.once), worked, looked,
            votes=(float(unsent), *(() if stop is None else stop.vote(pack.labels, env))),
        )  # fmt: skip

    def superstep(self, part: StreamedPart, state: Any, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        kernels, labels = cpu().kernels("layered_paths"), state.pack.labels
        for message in inbox.received:
            where = message.slots + message.slots.dtype.type(part.own.begin)
            kernels.layered_take(len(where), where, message.columns["value"].view(labels.dtype), state.pack)
        return self._swept(part, state, env)


class Search(Falling):
    """Labels of a distance times 2^32 plus the number of the parent; `column` is the name of the distances.

    If one rank searches, from one source and to the end, all edges have the length 1 and are stored at both ends, and
    it `pulls`, rows find their parents in one pass or level by level, where that is faster (`graphdask.stream.levels`).
    If labels fall, each row that is processed finds its parent, which takes 4 bytes per vertex that are not counted.
    They are free at that time, because the answers have not been made of the labels yet.
    """

    def __init__(
        self, part: StreamedPart, name: str, sources: Sequence[int], column: str, weighted: bool, pulls: bool,
        stack: ExitStack,
    ):  # fmt: skip
        super().__init__(part, name, np.array(sources), weighted, stack)
        self.column, self.pulls = column, pulls and len(sources) == 1
        self.per_vertex = SHARED if part.size > 1 else SEARCH if column == "depth" else PATHS

    def numbers(self, part: StreamedPart) -> np.ndarray | None:
        reaches = part.size == 1 and not self.weighted and not part.store.header["directed"] and self.stop is None
        return part.store.numbers() if reaches else None

    def init(self, part: StreamedPart, env: Environment) -> tuple[Any, Messages]:  # type: ignore[override]
        self.log.context = env
        if part.size == 1 and self.pulls and not self.weighted and self.stop is None:
            memory = part.memory - (self.per_vertex - LABELS) * part.num_vertices
            given = part.store, int(self.sources[0]), memory, self.log, part.read_ahead
            found = by_layers(*given)
            if found is None and not self.once:
                found = by_levels(*given)
            if found is not None:
                none = np.zeros(0, np.int32)
                return Found(*found), Messages(none, none, {"value": none}, False)
        return super().init(part, env)

    def ends(self, state: Any, votes: np.ndarray) -> bool:
        return not isinstance(state, Found) and super().ends(state, votes)

    def tables(self, part: StreamedPart) -> dict[str, Any]:
        near, highest = np.full(part.num_vertices, NEAR, np.uint8), np.full(NEAR, -1, np.int64)
        return {"packed": 1, "near": near, "highest": highest}

    def relax(self, state: SearchState, rows: int) -> None:
        if state.number is not None:
            cpu().kernels("layered_reach").layered_reach(rows, state.number, state.pack)
        elif self.weighted:
            super().relax(state, rows)
        else:
            cpu().kernels("layered").layered_relax(rows, state.pack)

    def result(self, part: StreamedPart, state: Any, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        dtype, kernels = np.int64 if self.column == "distance" else np.int32, cpu().kernels("layered_paths")
        if isinstance(state, Found):
            distance, parent = state.distance.astype(dtype, copy=False), state.parent
        else:
            state.number = None
            distance, parent = np.empty(part.own.count, dtype), np.empty(part.own.count, np.int32)
            out = (None, distance) if dtype is np.int64 else (distance, None)
            for first, where in places(part):
                kernels.layered_unpack(len(where), state.pack.labels[first:], where, *out, parent)
            if self.stop is not None:
                self.stop.take_back(part, distance, parent, env)
        return {self.column: distance, "parent": parent} | ({"too_far": NO_VERTEX} if dtype is np.int64 else {})


class Labels(Search):
    """The labels themselves, by position, from sources at a depth; with `label`, those of an earlier search go on."""

    def __init__(
        self, part: StreamedPart, sources: np.ndarray, label: np.ndarray | None, depth: int, stack: ExitStack
    ):  # fmt: skip
        super().__init__(part, "a search", (0,), "depth", False, False, stack)
        self.sources, self.label, self.depth, self.per_vertex = sources, label, depth, LABELS

    def numbers(self, part: StreamedPart) -> np.ndarray | None:
        return super().numbers(part) if self.label is None else None

    def first(self, part: StreamedPart) -> np.ndarray:
        return super().first(part) if self.label is None else self.label

    def start(self, own: np.ndarray) -> Any:
        return np.int64(self.depth) << 32 | own

    def result(self, part: StreamedPart, state: SearchState, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        return {"label": state.pack.labels}


def search(
    store: Store, sources: np.ndarray, memory: int, label: np.ndarray | None = None, depth: int = 0
) -> np.ndarray:
    """Labels by position, int64, from sources at a depth, which are given by their numbers, by one rank.

    With `label`, those of an earlier search go on.
    """
    part = part_of(store, 0, 1, memory, None)
    env = RankContext(SingleCommunicator(), cpu(), Watchdog()).environment("selective")
    with ExitStack() as stack:
        labels = Labels(part, sources, label, depth, stack)
        found: np.ndarray = run_primitive(SingleCommunicator(), part, labels, env).columns["label"]
    return found


def search_of(part: StreamedPart, primitive: BreadthFirstSearch, stack: ExitStack) -> Search:
    """What runs BFS on a rank."""
    pulls = primitive.direction != "push"
    search = Search(part, primitive.name, primitive.sources, "depth", False, pulls, stack)
    search.stops(part, primitive, True, np.int64)
    return search


def refuse(store: Store, primitive: BreadthFirstSearch) -> None:
    """Raise Unsupported for a search that pulls alone."""
    if primitive.direction == "pull":
        raise Unsupported(
            "a streamed search pushes, or lets rows find their parents where that reads less; leave direction= out, or "
            'say direction="push"'
        )


STREAMED[BreadthFirstSearch] = Streamed(Supersteps(search_of), refuse, lambda primitive: primitive.sources)
