"""Betweenness over a store: forward and backward sweeps over the chunks that hold vertices of a level.

Searches, levels and sums are those of `graphdask.algorithms.betweenness`; here rows are found in chunks, those of
in-edges while the search goes forward, those of out-edges on the way back, by one rank or by several, or through a
device (`device_betweenness`). While a chunk is there its rows are reached, and those that are add up their numbers of
paths. A row is whole, so that its sum has one order, and with as many lanes the answer is that in memory on the same
device, bit for bit.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from graphdask.algorithms.betweenness import Betweenness
from graphdask.algorithms.betweenness_state import BetweennessState
from graphdask.algorithms.tuning import BETWEENNESS
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.checkpoints import Saved
from graphdask.engine.lane_search import Level
from graphdask.engine.loop import HUB_THREADS, Environment, Inbox, Messages
from graphdask.errors import InputError
from graphdask.kernels.betweenness.betweenness_pack import COUNTS, Lanes
from graphdask.partition.part import Csr, Part
from graphdask.stream.chunked_rows import ChunkedRows, chunks_bytes, fitting
from graphdask.stream.forms import STREAMED, Streamed, Supersteps
from graphdask.stream.pagerank import gathered
from graphdask.stream.shared_store import StreamedPart
from graphdask.verify.betweenness import InnerVertices, paired

FIXED = 96
"""Bytes per vertex besides the tables: masks, lists of rows, levels, positions."""


def state_bytes(lanes: int, several: bool) -> int:
    """Return the bytes of the state per vertex with so many lanes; several ranks need more, to exchange tables."""
    return FIXED + 2 * lanes + lanes * (40 if several else 24)


def needed(part: StreamedPart, lanes: int) -> tuple[int, int]:
    """Bytes of the tables, and of chunks at least."""
    return state_bytes(lanes, part.size > 1) * part.num_vertices, chunks_bytes(part)


class StreamedBetweenness(ChunkedRows, Betweenness):
    """The primitive over a share of a store; one object for each run."""

    by_teams = False

    def __init__(self, primitive: Betweenness, lanes: int, stack: ExitStack):
        super().__init__(primitive.sources, lanes, primitive.scale, primitive.of_sources)
        self.begin(stack)

    def memory(self, part: Part, allocation: Allocation) -> int:
        return self.per_vertex(part) * part.num_vertices

    def per_vertex(self, part: Part) -> int:
        """Bytes of the state."""
        return state_bytes(self.lanes, part.size > 1)

    def init(self, part: StreamedPart, env: Environment) -> tuple[BetweennessState, Messages]:  # type: ignore[override]
        xp, owned, width, n, index = env.xp, part.num_owned, self.width, part.num_vertices, part.vertex_map.dtype
        store = part.store
        most_deferred = self._most_deferred(part)
        self.open_windows(
            part, env, self.memory(part, env.allocation) + most_deferred * (3 * index.itemsize + 8 * width)
        )
        with_edges = env.backend.from_host(np.flatnonzero(degrees_of(part, gathered(store))).astype(index))
        state = BetweennessState(
            seen=xp.empty(n, self.mask), bits=xp.empty((n + 31) // 32, np.uint32), frontier=xp.empty(n, self.mask),
            values=xp.empty(n * width), sigma=xp.empty((owned, width)), delta=xp.empty((owned, width)),
            score=xp.zeros(owned), queue=env.buffer("a level of betweenness", owned, index),
            masks=env.buffer("a level of betweenness", owned, self.mask), with_edges=with_edges, left=with_edges,
            spare=(xp.empty_like(with_edges), xp.empty_like(with_edges)), hubs=xp.empty(most_deferred, index),
            chunks=xp.empty((most_deferred, 2), index), partial=xp.empty((most_deferred, width)),
            counters=xp.zeros(len(COUNTS), np.int64),
        )  # fmt: skip
        return state, self.begin_batch(part, state, env, 0)

    def saved(self, part: Part, state: BetweennessState, inbox: Inbox, env: Environment) -> Saved | None:
        found = super().saved(part, state, inbox, env)
        return None if found is None else (found[0], {**found[1], "lanes": self.lanes})

    def resumed(  # type: ignore[override]
        self, part: StreamedPart, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[BetweennessState, Messages]:
        if numbers["lanes"] != self.lanes:
            raise InputError(
                f"the checkpoint is of a run that went through {numbers['lanes']} sources at a time, and here memory= "
                f"is for {self.lanes}; open the file with the memory that it had then, or name another folder"
            )
        return super().resumed(part, columns, numbers, env)

    def push(self, part: StreamedPart, state: BetweennessState, env: Environment) -> Messages:  # type: ignore[override]
        """Every level is pulled: rows of out-edges would be read from the store for it."""
        return self.pull(part, state, env)

    def pull(  # type: ignore[override]
        self,
        part: StreamedPart,
        state: BetweennessState,
        env: Environment,
        candidates: None = None,
        edges_before: int = 0,
    ) -> Messages:
        kernels, name, to_index = self._kernels(part, env), gathered(part.store), part.vertex_map.dtype.type
        queue, masks, (left, spare) = state.queue.array, state.masks.array, state.spare
        alive, counts = state.levels[-1].lanes, COUNTS.of([0] * len(COUNTS))
        state.counters.fill(0)
        for some, base, csr in self.pieces(part, name, state.left, env):
            indptr = csr.indptr
            rows = state.left[some] - to_index(base)
            shared = Lanes(
                indptr=indptr, indices=csr.indices, out_indptr=indptr, bits=state.bits, frontier=state.frontier,
                alive=np.uint64(alive), seen=state.seen[base:], queue=queue, left=left, hub=BETWEENNESS.hub,
                hubs=state.hubs, counters=state.counters,
            )  # fmt: skip
            shared.set_counters(hubs=0)
            kernels.bc_reach(len(rows), rows, masks, shared, per_item=32)
            if len(state.hubs):
                kernels.bc_reach_hubs(HUB_THREADS, rows, masks, shared)
            before, counts = counts, shared.read_counters(env.backend)
            new, kept = slice(before.found, counts.found), slice(before.left, counts.left)
            self._sum(part, state, queue[new], masks[new], csr, state.sigma[base:], env)
            queue[new] += to_index(base)
            left[kept] += to_index(base)
        state.left, state.spare = left[: counts.left], (spare, left)
        level = self._level(queue[: counts.found], masks[: counts.found], env)
        level.lanes = counts.lanes % 2**64
        return self.show_level(part, state, level, alive, env, counts.edges)

    def _most_deferred(self, part: StreamedPart) -> int:
        """The most pieces of high-degree rows that kernels defer in a chunk; on a CPU none."""
        return 0

    def _level(self, rows: Array, masks: Array, env: Environment) -> Level:
        """A level that is found, in the order of positions."""
        return Level(rows.copy(), masks.copy())

    def _sum_neighbours(
        self, part: Part, state: BetweennessState, level: Level, csr: Csr, out: Array, env: Environment
    ) -> None:
        """What the way back asks for."""
        assert isinstance(part, StreamedPart)
        to_index = part.vertex_map.dtype.type
        for some, base, csr in self.pieces(part, "out", level.rows, env):
            rows = level.rows[some] - to_index(base)
            self._sum(part, state, rows, level.masks[some], csr, out[base:], env)

    def _sum(
        self, part: Part, state: BetweennessState, rows: Array, masks: Array, csr: Csr, out: Array, env: Environment
    ) -> None:
        """Sum the contributions of the neighbours in the frontier to some rows of a chunk."""
        kernels = self._kernels(part, env)
        shared = Lanes(
            indptr=csr.indptr, indices=csr.indices, bits=state.bits, frontier=state.frontier, value=state.value,
            shown=np.uint64(state.lanes), lanes=self.lanes, out=out, hub=BETWEENNESS.hub, chunks=state.chunks,
            partial=state.partial, counters=state.counters,
        )  # fmt: skip
        shared.set_counters(chunks=0)
        kernels.bc_gather(len(rows), rows, masks, shared, per_item=32)
        if len(rows) and len(state.chunks):
            kernels.bc_gather_hubs(HUB_THREADS, rows, masks, shared)
            kernels.bc_sum_hubs(HUB_THREADS, rows, masks, shared)


class StreamedInnerVertices(InnerVertices, StreamedBetweenness):
    """The forward searches alone, as `InnerVertices` describes."""


def degrees_of(part: StreamedPart, name: str) -> np.ndarray:
    """uint32 per own row: its edges in a section."""
    own, found = part.own, np.zeros(part.own.count, np.uint32)
    for first, degrees, _ in part.store.rows(part.store.sections[name], own.chunks[name]):
        low, high = max(own.begin, first), min(own.end, first + len(degrees))
        found[low - own.begin : high - own.begin] = degrees[low - first : high - first]
    return found


def scores_of(part: StreamedPart, primitive: Betweenness, stack: ExitStack) -> StreamedBetweenness:
    """What runs betweenness on a rank."""
    return StreamedBetweenness(primitive, fitting(part, primitive.lanes, needed), stack)


def inner_of(part: StreamedPart, primitive: Betweenness, stack: ExitStack) -> StreamedInnerVertices:
    """What searches alone, in pairs where there is memory for two lanes."""
    given: Any = paired(primitive) if fitting(part, 2, needed) == 2 else primitive
    return StreamedInnerVertices(given, fitting(part, given.lanes, needed), stack)


STREAMED[Betweenness] = Streamed(Supersteps(scores_of), resumes=True)
INNER = Supersteps(inner_of)
"""The searches alone, where ranks send each other what they find."""
