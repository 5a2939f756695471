"""PageRank over a store that several ranks share: each sums its own rows, and sends all its contributions.

Rows and sums are those of `graphdask.stream.pagerank`, and sums over ranks are in fixed point. So the PageRank of every
vertex is the same, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.algorithms.pagerank import PageRank
from graphdask.engine.loop import ALL, Environment, Inbox, Messages
from graphdask.stream.cores import Cores
from graphdask.stream.pagerank import HANDS, Ranks, copied_weights, gathered, state_bytes
from graphdask.stream.shared import StreamedPart, Streaming


@dataclass
class State:
    ranks: Any
    """`Ranks`, or what is like it."""
    iterate: Callable[[], int]
    """Sum all rows and update their ranks; return the number of scanned edges."""


class SharedPageRank(Streaming):
    """The primitive."""

    votes = PageRank.votes

    def __init__(self, primitive: PageRank, stack: ExitStack):
        super().__init__(primitive.name, stack)
        self.primitive = primitive
        self.per_vertex = state_bytes(primitive) + 3 * np.dtype(primitive.real).itemsize + 4

    @property
    def columns(self) -> Mapping[str, Any]:  # type: ignore[override]
        return {"contribution": self.primitive.real}

    def init(self, part: StreamedPart, env: Environment) -> tuple[State, Messages]:  # type: ignore[override]
        state = self.begin(part, env)
        return state, self._said(part, state, 0)

    def begin(self, part: StreamedPart, env: Environment) -> State:
        """The state before the first iteration."""
        self.beside = copied_weights(part.store, self.primitive)
        room = part.memory - self.per_vertex * part.num_vertices - self.beside
        self.log.context = env
        ranks = Ranks(part.store, self.primitive, room, self.log, part.read_ahead, part.own)
        window = self.window(part, gathered(part.store), env, hands=HANDS)
        cores = self.stack.enter_context(Cores())
        return State(ranks, lambda: ranks.iterate(window, cores))

    def _said(self, part: StreamedPart, state: State, edges: int) -> Messages:
        ranks, nothing = state.ranks, np.zeros(0, part.vertex_map.dtype)
        told = {"contribution": ranks.x[part.own.begin : part.own.end]}
        return Messages(ALL, nothing, told, True, part.own.count, edges, to="ghosts", votes=ranks.votes)

    def ends(self, state: State, votes: np.ndarray) -> bool:
        return self.primitive.ends(state.ranks.progress, votes)  # type: ignore[arg-type]

    def superstep(self, part: StreamedPart, state: State, inbox: Inbox, env: Environment) -> Messages:  # type: ignore[override]
        n = part.num_vertices
        for message in inbox.received:
            assert message.run is not None  # all of a rank's
            first = (message.run.start + part.own.begin) % n
            state.ranks.x[first : first + message.count] = message.columns["contribution"]
        return self._said(part, state, state.iterate())

    def result(self, part: StreamedPart, state: State, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        return {"rank": state.ranks.rank} | state.ranks.progress.found(self.primitive.tol)
