"""Betweenness over a store: forward and backward sweeps over the chunks that hold vertices of a level.

Searches, levels and sums are those of `graphdask.algorithms.betweenness`; here rows are found in chunks, those of
in-edges while the search goes forward, those of out-edges on the way back, by one rank or by several. A row is whole,
so that its sum has one order, and with as many lanes the answer is that in memory, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from graphdask.algorithms.betweenness import HUB, Betweenness, Level, State
from graphdask.backend import Array
from graphdask.buffers import Allocation
from graphdask.engine import Environment, Messages, RankContext, RankResult, run_primitive
from graphdask.part import Csr, Part
from graphdask.partition import TableMap
from graphdask.stream.pagerank import gathered
from graphdask.stream.shared import Quiet, StreamedPart
from graphdask.stream.store import Store
from graphdask.stream.window import Window

FIXED = 96
"""Bytes per vertex besides the tables: masks, lists of rows, levels, positions."""


def state_bytes(lanes: int, several: bool) -> int:
    """Per vertex, with so many lanes; several ranks tell each other tables besides."""
    return FIXED + 2 * lanes + lanes * (40 if several else 24)


def fitting(part: StreamedPart, lanes: int) -> int:
    """As many lanes, or half, a quarter, ..., until tables take no more than half of the memory."""
    while lanes > 1 and 2 * state_bytes(lanes, part.size > 1) * part.num_vertices > part.memory:
        lanes //= 2
    return lanes


class StreamedBetweenness(Betweenness):
    """The primitive over a share of a store; one object for each run."""

    def __init__(self, primitive: Betweenness, lanes: int, stack: ExitStack):
        super().__init__(primitive.sources, lanes, primitive.scale)
        self.stack, self.log = stack, Quiet(what=self.name)

    def memory(self, part: Part, allocation: Allocation) -> int:
        return self.per_vertex(part) * part.num_vertices

    def per_vertex(self, part: Part) -> int:
        """Bytes of the state."""
        return state_bytes(self.lanes, part.size > 1)

    def init(self, part: StreamedPart, env: Environment) -> tuple[State, Messages]:  # type: ignore[override]
        owned, lanes, n, index = part.num_owned, self.lanes, part.num_vertices, part.vertex_map.dtype
        store, self.log.context = part.store, env
        names = sorted({"out", gathered(store)})
        room = (part.memory - self.memory(part, env.allocation)) // len(names)
        self.windows: dict[str, Window] = {}
        for name in names:
            section, chunks = store.sections[name], part.own.chunks[name]
            # slots of a chunk's neighbours are made beside it
            other = 4 * int(section.table["edges"].max(initial=0)) if part.size > 1 else 0
            window = Window(store, section, room - other, self.name, part.read_ahead, chunks)
            self.log.traffic.append(window.traffic)
            self.windows[name] = self.stack.enter_context(window)
        with_edges = np.flatnonzero(degrees_of(part, gathered(store))).astype(index)
        nothing = np.empty(0, index)
        state = State(
            seen=np.empty(owned, self.mask), bits=np.empty((n + 31) // 32, np.uint32), front=np.empty(n, self.mask),
            value=np.empty((n, lanes)), sigma=np.empty((owned, lanes)), delta=np.empty((owned, lanes)),
            score=np.zeros(owned), queue=env.room("a level of betweenness", owned, index),
            masks=env.room("a level of betweenness", owned, self.mask), with_edges=with_edges, left=with_edges,
            spare=(np.empty_like(with_edges), np.empty_like(with_edges)), hubs=nothing, chunks=nothing.reshape(0, 2),
            partial=np.empty((0, lanes)), counters=np.zeros(6, np.int64),
        )  # fmt: skip
        return state, self._begin(part, state, env, 0)

    def _pieces(
        self, part: StreamedPart, name: str, rows: np.ndarray
    ) -> Iterator[tuple[slice, int, np.ndarray, np.ndarray]]:
        """The chunks that hold some own rows, ascending: which of these, the first row of the chunk, where the edges of
        each begin, and the slots at their ends."""
        window, section, own = self.windows[name], part.store.sections[name], part.own
        chunks = own.chunks[name]
        first = section.table["first"][chunks.start : chunks.stop] - own.begin
        cuts = np.append(np.searchsorted(rows, first), len(rows))
        needed = np.flatnonzero(np.diff(cuts))
        window.traffic.skipped += len(chunks) - len(needed)
        for at, place in enumerate(needed.tolist()):
            chunk = window.load(
                chunks.start + place, (chunks.start + later for later in needed[at + 1 : at + 3].tolist())
            )
            before = max(own.begin - chunk.first, 0)
            indptr, slots = window.indptr(chunk)[before:], chunk.targets
            if own.begin:
                slots = slots - np.int32(own.begin)
                slots[slots < 0] += np.int32(part.num_vertices)
            yield slice(int(cuts[place]), int(cuts[place + 1])), chunk.first + before - own.begin, indptr, slots
            self.log.check()

    def _forward(self, part: StreamedPart, state: State, edges_in: int, env: Environment) -> Messages:  # type: ignore[override]
        kernels, name = self._kernels(part, env), gathered(part.store)
        full = np.uint64((1 << min(self.lanes, len(self.sources) - state.batch * self.lanes)) - 1)
        queue, masks, (left, spare) = state.queue.array, state.masks.array, state.spare
        counters = state.counters
        counters.fill(0)
        for some, base, indptr, slots in self._pieces(part, name, state.left):
            found, remaining = counters[:2].tolist()
            rows = state.left[some] - state.left.dtype.type(base)
            kernels.bc_reach(
                len(rows), rows, indptr, slots, indptr, state.bits, state.front, self.lanes, full, state.seen[base:],
                queue, masks, left, HUB, state.hubs, counters, per_item=32,
            )  # fmt: skip
            queue[found : int(counters[0])] += base
            left[remaining : int(counters[1])] += base
        found, remaining, _, edges, _, _ = counters.tolist()
        state.left, state.spare = left[:remaining], (spare, left)
        level = Level(queue[:found].copy(), masks[:found].copy())
        self._sum(part, state, level, name, state.sigma, env)
        return self._show_paths(part, state, level, env, edges)

    def _gather(self, part: Part, state: State, level: Level, csr: Csr, out: Array, env: Environment) -> None:
        """What the way back asks for."""
        assert isinstance(part, StreamedPart)
        self._sum(part, state, level, "out", out, env)

    def _sum(
        self, part: StreamedPart, state: State, level: Level, name: str, out: np.ndarray, env: Environment
    ) -> None:
        """Sum what the neighbours in the front give to the vertices of a level."""
        kernels = self._kernels(part, env)
        for some, base, indptr, slots in self._pieces(part, name, level.rows):
            rows = level.rows[some] - level.rows.dtype.type(base)
            kernels.bc_gather(
                len(rows), rows, level.masks[some], indptr, slots, state.bits, state.front, state.value, self.lanes,
                out[base:], HUB, state.chunks, state.partial, state.counters, per_item=32,
            )  # fmt: skip


class InnerVertices(StreamedBetweenness):
    """The searches alone; adds up how many vertices are inside the paths that are found."""

    def init(self, part: StreamedPart, env: Environment) -> tuple[State, Messages]:  # type: ignore[override]
        self.inner = 0
        return super().init(part, env)

    def _sum(
        self, part: StreamedPart, state: State, level: Level, name: str, out: np.ndarray, env: Environment
    ) -> None:
        counted = np.zeros(1, np.int64)
        self._kernels(part, env).bc_lanes(len(level.masks), level.masks, counted)
        self.inner += int(counted[0]) * (len(state.levels) - 1)

    def _turn(self, part: Part, state: State, env: Environment) -> Messages:
        return self._next_batch(part, state, env, 0)


def degrees_of(part: StreamedPart, name: str) -> np.ndarray:
    """uint32 per own row: its edges in a section."""
    own, found = part.own, np.zeros(part.own.count, np.uint32)
    for first, degrees, _ in part.store.rows(part.store.sections[name], own.chunks[name]):
        low, high = max(own.begin, first), min(own.end, first + len(degrees))
        found[low - own.begin : high - own.begin] = degrees[low - first : high - first]
    return found


def run(
    context: RankContext, part: StreamedPart, primitive: Betweenness, kind: type[StreamedBetweenness]
) -> tuple[RankResult, StreamedBetweenness]:
    """The scores of own rows in the order of their positions, and what has found them."""
    n = part.num_vertices
    located = replace(
        part, vertex_map=TableMap(n, part.vertex_map.offsets, position_of=_positions(part.store)),
        out=Csr(np.broadcast_to(np.int64(0), n + 1), part.out.indices),
    )  # fmt: skip
    with ExitStack() as stack:
        search = kind(primitive, fitting(part, primitive.lanes), stack)
        return run_primitive(context.comm, located, search, context.environment("selective")), search


def _positions(store: Store) -> np.ndarray:
    """int32 by vertex number."""
    found = np.empty(store.num_vertices, np.int32)
    for first, ids in store.order():
        found[ids] = np.arange(first, first + len(ids), dtype=np.int32)
    return found
