"""Connected components of a store that several ranks share: each has a forest over all vertices.

Each rank joins trees over its own edges. Then the forests are joined: in round k each rank receives the forest of the
rank 2^k before it. After ceil(log2 ranks) rounds, every forest is that of all edges. In an undirected graph this is
done twice. After a part of the edges, all ranks know the same largest tree. From then on rows in it may be skipped, as
`graphdask.stream.components` describes, also if the other end of an edge belongs to another rank.

Sources: Sutton, Ben-Nun, Barak, Optimizing parallel graph connectivity computation via subgraph sampling (2018);
Hensgen, Finkel, Manber, Two algorithms for barrier synchronization (1988), the dissemination of what each rank knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages
from graphdask.stream.components import FIRST, join_chunks, labels_of, largest
from graphdask.stream.shared import LEAST, StreamedPart, Streaming
from graphdask.stream.sweeps import LOOKED, WORKED, cpu

PIECES = 8
"""The number of pieces in which a forest is sent."""


@dataclass
class State:
    window: Any
    tree: Array
    told: Array
    """The forest as it was when a round began."""
    counters: np.ndarray
    """Of processed rows and scanned edges."""
    chunks: list[range]
    """Still to be joined: those of each turn."""
    anchor: int = -1
    """A vertex whose tree may be skipped."""
    joined: bool = False
    """Whether a turn is over."""
    round: int = 0
    piece: int = 0


class SharedComponents(Streaming):
    """The primitive."""

    columns: ClassVar[Mapping[str, Any]] = {}
    record_columns: ClassVar[Mapping[str, Any]] = {"vertex": INDEX, "root": INDEX}
    tells_ghosts = False
    per_vertex = 24

    def __init__(self, stack: ExitStack):
        super().__init__("connected components", stack)

    def init(self, part: StreamedPart, env: Environment) -> tuple[State, Messages]:  # type: ignore[override]
        chunks = part.own.chunks["out"]
        middle = chunks.start + -(-len(chunks) // FIRST)
        turns = [chunks] if part.store.header["directed"] else [range(chunks.start, middle), range(middle, chunks.stop)]
        tree = env.xp.arange(part.num_vertices, dtype=part.vertex_map.dtype)
        state = State(self.opened(part, env), tree, tree[:0], np.zeros(3, np.int64), turns)
        return state, self._nothing(part, state, True)

    def opened(self, part: StreamedPart, env: Environment) -> Any:
        """A window on the own chunks."""
        return self.window(part, "out", env, once=True)

    def join(self, part: StreamedPart, state: State, chunks: range) -> None:
        """Join trees over the edges of some chunks."""
        join_chunks(part.store, state.window, chunks, state.tree, state.anchor, state.counters, self.log, False)

    def join_pairs(self, tree: Array, vertices: Array, roots: Array) -> None:
        """Join the trees of vertices with those of their roots elsewhere."""
        cpu().kernels("layered").layered_join(len(vertices), vertices, roots, tree)

    def largest(self, tree: Array) -> int:
        """The root of the largest tree, -1 where none is large."""
        return largest(tree)

    def flatten(self, tree: Array) -> None:
        """Let every vertex point to its root."""
        cpu().kernels("layered").layered_flatten(len(tree), tree)

    def labels(self, part: StreamedPart, tree: Array) -> Array:
        """Of own rows, of a flat forest."""
        return labels_of(part.store, tree, part.own)

    def _nothing(self, part: StreamedPart, state: State, active: bool) -> Messages:
        none = state.tree[:0]
        return Messages.of_records({"vertex": none, "root": none}, np.zeros(part.size + 1, np.int64), active=active)

    def superstep(self, part: StreamedPart, state: State, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        n, xp = part.num_vertices, env.xp
        self.join_pairs(state.tree, inbox.records["vertex"], inbox.records["root"])
        worked, looked = state.counters[:2].tolist()
        if not len(state.told):
            if not state.chunks:
                return self._nothing(part, state, False)
            if state.joined:  # all ranks have the same forest now
                state.anchor = self.largest(state.tree)
            state.joined = True
            self.join(part, state, state.chunks.pop(0))
            state.round = state.piece = 0
        if state.piece == 0:
            self.flatten(state.tree)
            state.told = state.tree.copy()
        pieces = PIECES if n > LEAST else 1
        begin, end = n * state.piece // pieces, n * (state.piece + 1) // pieces
        dtype = state.told.dtype
        some = (xp.flatnonzero(state.told[begin:end] != xp.arange(begin, end, dtype=dtype)) + begin).astype(dtype)
        peer = (part.rank + (1 << state.round)) % part.size
        bounds = np.zeros(part.size + 1, np.int64)
        bounds[peer + 1 :] = len(some)
        records = {"vertex": some, "root": state.told[some]}
        state.piece += 1
        if state.piece == pieces:
            state.piece, state.round = 0, state.round + 1
            if 1 << state.round >= part.size:
                state.told = state.told[:0]
        frontier, edges = int(state.counters[WORKED]) - worked, int(state.counters[LOOKED]) - looked
        return Messages.of_records(records, bounds, active=True, frontier=frontier, edges=edges)

    def result(self, part: StreamedPart, state: State, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        self.flatten(state.tree)
        return {"label": self.labels(part, state.tree)}
