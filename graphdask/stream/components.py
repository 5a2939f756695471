"""Connected components of a store: each rank has a forest over all vertices, and every edge joins two trees.

Trees are joined under the root that stands first. In an undirected graph every edge stands at both ends, so a row in
a large tree may be passed over: an edge that leaves the tree is met again at its other end; a chunk of only such rows
is not read (Afforest). It is one tree from then on, as it grows: of two, each could leave an edge between them to the
other. What has been met once is joined for good, so one pass is exact.

Each rank joins trees over its own edges. Then the forests are joined: in round k each rank receives the forest of the
rank 2^k before it. After ceil(log2 ranks) rounds, every forest is that of all edges. If several ranks share an
undirected graph, this is done twice: after a part of the edges, all ranks know the same largest tree. From then on rows
in it may be skipped, also if the other end of an edge belongs to another rank. One rank chooses the first tree that is
large, and has no rounds.

Sources: Sutton, Ben-Nun, Barak, Optimizing parallel graph connectivity computation via subgraph sampling (2018);
Hensgen, Finkel, Manber, Two algorithms for barrier synchronization (1988), the dissemination of what each rank knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms.components import ConnectedComponents
from graphdask.device.backend import Array
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages
from graphdask.kernels.stream.chunk_pack import COUNTS, ChunkRows
from graphdask.stream.forms import STREAMED, Streamed, Supersteps
from graphdask.stream.shared_store import StreamedPart, Streaming
from graphdask.stream.store import Store
from graphdask.stream.sweeps import Log, cpu, window_of
from graphdask.stream.trees import largest
from graphdask.stream.tuning import STREAM
from graphdask.stream.window import Window

BYTES, SHARED = 16, 28
"""Per vertex: the forest, vertex numbers, the smallest number of each tree, and labels; of several ranks also what they
send."""
FIRST = 8
"""Several ranks each join one in so many chunks before they agree on the largest tree."""
PIECE = 1 << 16
"""Labels that are stored at a time."""
PIECES = 8
"""The number of pieces in which a forest is sent."""


@dataclass
class ComponentsState:
    turns: list[range]
    """Chunks that are still to be joined, before the rounds of each turn."""
    tree: Array = field(default_factory=lambda: np.zeros(0, np.int32))
    reported: Array = field(default_factory=lambda: np.zeros(0, np.int32))
    """The forest as it was when a round began."""
    window: Any = None
    number: Array | None = None
    """Of rows that were read, the vertex number, else -1; None if positions are vertex numbers."""
    anchor: int = -1
    """A vertex whose tree may be skipped."""
    round: int = 0
    piece: int = 0
    counters: np.ndarray = field(default_factory=lambda: np.zeros(len(COUNTS), np.int64))
    """Of processed rows and scanned edges."""

    def count(self, worked: int, looked: int) -> None:
        """Say how many these are."""
        self.counters[COUNTS.place.worked], self.counters[COUNTS.place.looked] = worked, looked


class Components(Streaming):
    """The primitive, on a CPU; `graphdask.stream.device_components` has what is different on a device."""

    columns: ClassVar[Mapping[str, Any]] = {}
    record_columns: ClassVar[Mapping[str, Any]] = {"vertex": INDEX, "root": INDEX}
    notifies_ghosts = False

    def __init__(self, part: StreamedPart, primitive: ConnectedComponents, stack: ExitStack):
        super().__init__(primitive.name, stack)
        self.per_vertex = BYTES if part.size == 1 else SHARED
        self.kernels: Any = None

    def init(self, part: StreamedPart, env: Environment) -> tuple[ComponentsState, Messages]:  # type: ignore[override]
        chunks, whole = part.own.chunks["out"], part.size == 1 or part.store.header["directed"]
        middle = chunks.stop if whole else chunks.start + -(-len(chunks) // FIRST)
        turns = [range(chunks.start, middle), range(middle, chunks.stop)][: 1 if whole else 2]
        state = ComponentsState(turns)
        self.kernels = env.kernels("components", index_t=part.vertex_map.dtype)
        self.begin(part, state, env)
        state.tree = env.xp.arange(part.num_vertices, dtype=part.vertex_map.dtype)
        return state, self._turn(part, state, env)

    def begin(self, part: StreamedPart, state: ComponentsState, env: Environment) -> None:
        """Open a window on the own chunks."""
        state.window = self.window(part, "out", env, once=True)
        state.window.ask(state.turns[0])
        if not part.store.by_number:
            state.number = np.full(part.num_vertices, -1, np.int32)

    def join(self, part: StreamedPart, state: ComponentsState, chunks: range) -> None:
        """Join trees over the edges of some chunks."""
        choose = part.size == 1 and not part.store.header["directed"]
        join_chunks(
            part.store, state.window, chunks, state.tree, state.anchor, state.counters, self.log, choose, state.number
        )

    def labels(self, part: StreamedPart, state: ComponentsState) -> Array:
        """The smallest vertex number of each own row's tree, of a flat forest, in the order of results."""
        tree, number, own = state.tree, state.number, part.own
        if number is None:
            return tree[own.begin : own.end]
        first = part.store.sections["out"].table["first"]
        for begin, ids in part.store.order(np.flatnonzero(number[first] < 0).tolist()):
            number[begin : begin + len(ids)] = ids
        least, label = np.full(len(tree), np.iinfo(np.int32).max, np.int32), np.empty(own.count, np.int32)
        self.kernels.components_label(len(tree), number, tree, least)
        if part.size > 1:
            return np.take(least, tree[own.begin : own.end], out=label)
        for some in (slice(begin, begin + PIECE) for begin in range(0, len(tree), PIECE)):
            label[number[some]] = least[tree[some]]
        return label

    def _turn(self, part: StreamedPart, state: ComponentsState, env: Environment) -> Messages:
        """Join trees over the edges of the next chunks, and begin to send the forest."""
        before = COUNTS.of(state.counters)
        self.join(part, state, state.turns.pop(0))
        state.round = state.piece = 0
        messages = self._nothing(part, state) if part.size == 1 else self._piece(part, state, env)
        done = COUNTS.of(state.counters)
        messages.frontier, messages.edges = done.worked - before.worked, done.looked - before.looked
        return messages

    def _nothing(self, part: StreamedPart, state: ComponentsState) -> Messages:
        none = state.tree[:0]
        return Messages.of_records({"vertex": none, "root": none}, np.zeros(part.size + 1, np.int64), active=False)

    def _piece(self, part: StreamedPart, state: ComponentsState, env: Environment) -> Messages:
        """Send the next piece of the forest to the rank of this round."""
        n, xp = part.num_vertices, env.xp
        if state.piece == 0:
            self.kernels.components_compress(n, state.tree)
            state.reported = state.tree.copy()
        pieces = PIECES if n > STREAM.reported else 1
        begin, end = n * state.piece // pieces, n * (state.piece + 1) // pieces
        dtype = state.reported.dtype
        some = (xp.flatnonzero(state.reported[begin:end] != xp.arange(begin, end, dtype=dtype)) + begin).astype(dtype)
        peer = (part.rank + (1 << state.round)) % part.size
        bounds = np.zeros(part.size + 1, np.int64)
        bounds[peer + 1 :] = len(some)
        records = {"vertex": some, "root": state.reported[some]}
        state.piece += 1
        if state.piece == pieces:
            state.piece, state.round = 0, state.round + 1
            if 1 << state.round >= part.size:
                state.reported = state.reported[:0]  # a copy is no longer needed
        return Messages.of_records(records, bounds, active=True)

    def superstep(self, part: StreamedPart, state: ComponentsState, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        vertices, roots = inbox.records["vertex"], inbox.records["root"]
        self.kernels.components_pairs(len(vertices), vertices, roots, state.tree)
        if 1 << state.round >= part.size:  # all ranks have the same forest now
            if not state.turns:
                return self._nothing(part, state)
            state.anchor = largest(env.backend, state.tree)
            return self._turn(part, state, env)
        return self._piece(part, state, env)

    def result(self, part: StreamedPart, state: ComponentsState, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        self.kernels.components_compress(len(state.tree), state.tree)
        return {"label": self.labels(part, state)}


def join_chunks(
    store: Store,
    window: Window,
    chunks: range,
    tree: np.ndarray,
    anchor: int,
    counters: np.ndarray,
    log: Log,
    choose: bool,
    number: np.ndarray | None = None,
) -> None:
    """Join trees over the edges of some chunks; rows in the tree of the position `anchor`, if it is one, are left out.

    Where `choose`, it is the first tree that is large. In `number` go the vertex numbers of the rows of chunks that
    were read.
    """
    section, kernels = store.sections["out"], cpu().kernels("layered_trees")
    first, rows = (section.table[name].astype(np.int64) for name in ("first", "rows"))
    pack, outside = ChunkRows(counters=counters), np.zeros(1, np.uint64)

    def needed(k: int) -> bool:
        outside[0] = anchor < 0
        if anchor >= 0:
            kernels.layered_outside_of(int(rows[k]), int(first[k]), tree, anchor, first[k : k + 1], 1, outside)
        return bool(outside[0])

    for k in chunks:
        if not needed(k):
            window.traffic.skipped += 1
            continue
        chunk = window.load(k, (later for later in range(k + 1, chunks.stop) if needed(later)))
        if number is not None:
            number[chunk.first : chunk.first + len(chunk.ids)] = chunk.ids
        pack.hold(chunk, window.indptr(chunk))
        kernels.layered_join(len(chunk.degrees), tree, anchor, None, pack)
        log.check()
        if choose and anchor < 0:
            anchor = largest(cpu(), tree)


def forest(store: Store, memory: int, log: Log) -> np.ndarray:
    """The first position of the component of every position, int32, by one rank."""
    n, chunks, directed = store.num_vertices, range(len(store.sections["out"])), store.header["directed"]
    with window_of(store, "out", memory - 4 * n, log.what, log, once=True) as window:
        window.ask(chunks)
        tree = np.arange(n, dtype=np.int32)
        join_chunks(store, window, chunks, tree, -1, np.zeros(len(COUNTS), np.int64), log, not directed)
    cpu().kernels("components").components_compress(n, tree)
    return tree


STREAMED[ConnectedComponents] = Streamed(Supersteps(Components), lambda *_: None)
