"""Betweenness by weight over a store: searches, counts and sums go through the chunks that hold rows of a level.

Levels and sums are those of `graphdask.algorithms.weighted_betweenness`; distances from all sources of a batch fall
together (`graphdask.stream.lane_distances`). On the way forward every own vertex that is not counted in all lanes
searches its in-edges for those that were counted last, while their chunk is there; one all of whose predecessors are
counted sums over the same row. The way back goes through the rows of out-edges of each level. A row is whole, without
self-loops and of parallel edges with the lightest, so that the answer is that in memory, bit for bit, with any number
of lanes, by one rank or by several, on a CPU or through a device (`graphdask.stream.device_weighted_betweenness`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from graphdask.algorithms.shortest_tree import unreached
from graphdask.algorithms.sssp import NO_VERTEX
from graphdask.algorithms.tuning import BETWEENNESS
from graphdask.algorithms.undefined_paths import lies_beyond, waits_in_vain
from graphdask.algorithms.weighted_betweenness import WeightedBetweenness
from graphdask.algorithms.weighted_paths import PathCounts, WeightedPathsState
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.lane_search import Level
from graphdask.engine.loop import HUB_THREADS, Environment, Messages
from graphdask.kernels.betweenness.weighted_paths_pack import COUNTS, Paths
from graphdask.partition.build import row_of_each
from graphdask.partition.part import Csr
from graphdask.stream.chunked_rows import ChunkedRows, chunks_bytes, fitting
from graphdask.stream.forms import STREAMED, Streamed, Supersteps
from graphdask.stream.lane_distances import LaneDistances
from graphdask.stream.pagerank import gathered
from graphdask.stream.shared_store import StreamedPart
from graphdask.stream.sweeps import cpu
from graphdask.verify.weighted_betweenness import CountInner, InnerVertices, search_of

FIXED = 120
"""Bytes per vertex besides the tables: masks, lists of rows, scores, positions and numbers."""


def state_bytes(lanes: int, several: bool) -> int:
    """Return the bytes of the state per vertex with so many lanes.

    They are for four tables, and for levels if each lane reaches the vertex in a different one. Several ranks need
    more, to exchange tables.
    """
    return FIXED + lanes * (28 + 12 + (16 if several else 0))


def needed(part: StreamedPart, lanes: int) -> tuple[int, int]:
    """Bytes of the tables, and of chunks at least."""
    return state_bytes(lanes, part.size > 1) * part.num_vertices, chunks_bytes(part) + 8 * hubs_of(part)


def hubs_of(part: StreamedPart) -> int:
    """Return the number of high-degree rows of a chunk, at most, that kernels defer."""
    sections = part.store.sections.values()
    return max(int(section.table["edges"].max(initial=0)) for section in sections) // BETWEENNESS.chunk + 1


class StreamedPathCounts(PathCounts):
    """The primitive of a batch; `rows` are the chunks."""

    rows: StreamedWeightedBetweenness

    def memory(self, part: StreamedPart, allocation: Allocation) -> int:  # type: ignore[override]
        return self.lanes * (8 * part.num_slots + 12 * part.num_owned)

    def init(self, part: StreamedPart, env: Environment) -> tuple[WeightedPathsState, Messages]:  # type: ignore[override]
        xp, owned = env.xp, part.num_owned
        self.waiting = xp.zeros(owned, np.uint64)
        """Lanes in which an own vertex is reached and not counted."""
        for lane in range(self.lanes):
            reached = self.distance[:owned, lane] != unreached(self.distance.dtype)
            self.waiting |= reached.astype(np.uint64) << np.uint64(lane)
        state, messages = super().init(part, env)
        self._take_out(part, state.levels[0], env)
        return state, messages

    def _hubs(self, part: StreamedPart) -> int:  # type: ignore[override]
        return hubs_of(part)

    def _take_out(self, part: StreamedPart, level: Level, env: Environment) -> None:
        """A level is counted."""
        self.waiting[level.rows] &= ~level.masks
        self.left = env.xp.flatnonzero(self.waiting).astype(part.vertex_map.dtype)

    def _count_tight(self, part: StreamedPart, state: WeightedPathsState, env: Environment) -> int:  # type: ignore[override]
        for first, csr in self.rows.every_piece(part, gathered(part.store)):
            state.counters[COUNTS.place.hubs] = 0
            self._count_tight_in(state, first, csr, env)
        return self._counted_tight(state, env)

    def _forward(self, part: StreamedPart, state: WeightedPathsState, slots: Array, env: Environment) -> Messages:  # type: ignore[override]
        """Count the vertices that were waiting only for those in the frontier."""
        kernels, queue, counters = self._kernels(env), state.queue.array, env.xp.zeros(len(COUNTS), np.int64)
        before, edges = 0, 0
        for some, first, csr in self.rows.pieces(part, gathered(part.store), self.left, env):
            rows = self.left[some]
            shared = Paths(
                first=first, indptr=csr.indptr, indices=csr.indices, weights=csr.weights, distance=self.distance,
                lanes=self.lanes, pending=state.pending, ready=state.ready, hubs=state.hubs, counters=counters,
            )  # fmt: skip
            shared.set_counters(hubs=0)
            kernels.paths_release(len(rows), rows, state.frontier, 1, queue, shared)
            kernels.paths_release_hubs(HUB_THREADS, rows, state.frontier, 1, queue, shared)
            found = shared.read_counters(env.backend).ready
            rows = queue[before:found]
            if found > before:
                edges += self._gather(state, Level(rows, state.ready[rows]), csr, state.paths, 0, env, first)
            before = found
        counts = COUNTS.of(env.backend.to_host(counters))
        rows = self.rows.in_order(queue[: counts.ready], env)
        level = Level(rows, state.ready[rows])
        state.ready[rows] = 0
        state.frontier.fill(0)
        state.left -= counts.lanes
        self._take_out(part, level, env)
        return self._counted(part, state, level, env, edges + counts.edges)

    def _sum_successors(self, part: StreamedPart, state: WeightedPathsState, level: Level, env: Environment) -> int:  # type: ignore[override]
        edges = 0
        for some, first, csr in self.rows.pieces(part, "out", level.rows, env):
            piece = Level(level.rows[some], level.masks[some])
            edges += self._gather(state, piece, csr, state.dependency, 1, env, first)
        return edges


class StreamedWeightedBetweenness(ChunkedRows, WeightedBetweenness):
    """The primitive over a share of a store; one object for each run."""

    def __init__(self, primitive: WeightedBetweenness, lanes: int, stack: ExitStack):
        super().__init__(primitive.sources, lanes, primitive.scale, primitive.of_sources, primitive.lengths)
        self.begin(stack)

    def memory(self, part: StreamedPart, allocation: Allocation) -> int:  # type: ignore[override]
        return self.per_vertex(part) * part.num_vertices

    def per_vertex(self, part: StreamedPart) -> int:
        """Bytes of the state."""
        return state_bytes(self.lanes * self.copies, part.size > 1)

    def init(self, part: StreamedPart, env: Environment) -> tuple[None, Messages]:  # type: ignore[override]
        self.types: dict[str, Any] = {"index_t": part.vertex_map.dtype, "weight_t": part.store.weights}
        self.open_windows(part, env, self.memory(part, env.allocation) + self._beside(part))
        return None, Messages.none(part.size)

    def _beside(self, part: StreamedPart) -> int:
        """Bytes besides the tables and the chunks."""
        return 8 * hubs_of(part)

    def _simplify(self, part: StreamedPart, chunk: Any) -> None:
        """Take out self-loops, and of parallel edges all but the lightest."""
        cpu().kernels("layered_simple").layered_simple(
            len(chunk.degrees), chunk.first, chunk.degrees, chunk.targets, chunk.weights
        )

    def in_order(self, rows: Array, env: Environment) -> Array:
        """Rows that were found in one section, as they stand in the other."""
        return rows.copy()

    def rows(self, part: StreamedPart, env: Environment) -> StreamedWeightedBetweenness:  # type: ignore[override]
        return self

    def flat_both_ways(self, part: StreamedPart) -> bool:  # type: ignore[override]
        return self.lengths.flat and not part.store.header["directed"]

    def distances(self, part: StreamedPart, rows: Any, begin: int, env: Environment) -> Array:  # type: ignore[override]
        xp, owned, copies = env.xp, part.num_owned, self.copies
        sources, distance = self.sources[begin : begin + self.lanes], self.fallen(part, begin, env)
        if part.size > 1:
            for lane in range(len(sources)):
                (distance[:, lane],) = env.fetch_ghosts(part, [xp.ascontiguousarray(distance[:owned, lane])])
        env.advance(begin + len(sources) / 2)
        return distance if copies == 1 else xp.repeat(distance, copies, axis=1)

    def fallen(self, part: StreamedPart, begin: int, env: Environment) -> Array:
        """The table over slots of the batch of the source at `begin`, of which the rows of own vertices are right."""
        sources, types = self.sources[begin : begin + self.lanes], self.types | {"dist_t": self.table}
        search = LaneDistances(sources, self.lanes, self, types, hubs_of(part))
        distance: Array = env.run(part, search).columns["distance"]
        return distance

    def counts(self, sources: Sequence[int], lanes: int, rows: Any, distance: Array) -> PathCounts:
        return StreamedPathCounts(sources, lanes, self, distance)

    def first_flat(self, part: StreamedPart, env: Environment) -> tuple[int, int] | None:
        """The first edge of weight 0."""
        return self._first_edge(part, env, lambda csr, ends: csr.weights == 0)

    def flat_edge(
        self, part: StreamedPart, env: Environment, distance: Array, waiting: Array
    ) -> tuple[int, int] | None:
        """An edge between equal distances, at the end of which a vertex waits in vain."""
        return self._first_edge(part, env, lambda csr, ends: waits_in_vain(env, csr, ends, distance, waiting))

    def too_far(self, part: StreamedPart, env: Environment, distance: Array) -> int:
        """The smallest vertex that was not reached, though an edge leads to it from one that was."""
        ids, least = self._numbers(part, env), NO_VERTEX
        for ends, csr in self._edges(part, env):
            beyond = ids[lies_beyond(csr, ends, distance)]
            least = min(least, int(beyond.min()) if len(beyond) else NO_VERTEX)
        return env.least(least)

    def _edges(self, part: StreamedPart, env: Environment) -> Iterator[tuple[Array, Csr]]:
        """The edges into own vertices, chunk by chunk, and at which of these they end."""
        for first, csr in self.every_piece(part, gathered(part.store)):
            begin, end = (int(csr.indptr[k]) for k in (0, -1))
            assert csr.weights is not None
            some = Csr(csr.indptr - begin, csr.indices[begin:end], csr.weights[begin:end])
            yield row_of_each(env.backend, some, first), some

    def _numbers(self, part: StreamedPart, env: Environment) -> Array:
        """Vertex numbers by slot."""
        store = part.store
        numbers = np.arange(part.num_vertices) if store.by_number else store.numbers()
        return env.backend.from_host(np.roll(numbers, -part.own.begin).astype(np.int64))

    def _first_edge(self, part: StreamedPart, env: Environment, wanted: Any) -> tuple[int, int] | None:
        """Of the edges that are `wanted`, a function of edges and their ends, the first by the numbers of its ends."""
        ids, first = self._numbers(part, env), (NO_VERTEX, NO_VERTEX)
        for ends, csr in self._edges(part, env):
            chosen = wanted(csr, ends)
            src, dst = ids[csr.indices[chosen]], ids[ends[chosen]]
            if len(src):
                least = src.min()
                first = min(first, (int(least), int(dst[src == least].min())))
        u = env.least(first[0])
        v = env.least(first[1] if first[0] == u else NO_VERTEX)
        return None if u == NO_VERTEX else (u, v)


class StreamedCountInner(CountInner, StreamedPathCounts):
    """The forward counts alone, as `CountInner` describes."""


class StreamedInnerVertices(InnerVertices, StreamedWeightedBetweenness):
    """The forward searches alone, as `InnerVertices` describes."""

    def counts(self, sources: Sequence[int], lanes: int, rows: Any, distance: Array) -> CountInner:
        self.counted = StreamedCountInner(sources, lanes, self, distance)
        return self.counted


def scores_of(part: StreamedPart, primitive: WeightedBetweenness, stack: ExitStack) -> StreamedWeightedBetweenness:
    """What runs betweenness by weight on a rank."""
    return _fitted(StreamedWeightedBetweenness, part, primitive, stack)


def inner_of(part: StreamedPart, primitive: WeightedBetweenness, stack: ExitStack) -> StreamedWeightedBetweenness:
    """What searches alone."""
    return _fitted(StreamedInnerVertices, part, search_of(primitive), stack)


def _fitted(
    kind: type[StreamedWeightedBetweenness], part: StreamedPart, primitive: WeightedBetweenness, stack: ExitStack
) -> StreamedWeightedBetweenness:
    """One of a kind, with as many lanes as fit."""
    lanes = fitting(part, primitive.lanes, lambda part, lanes: needed(part, lanes * kind.copies))
    return kind(primitive, lanes, stack)


STREAMED[WeightedBetweenness] = Streamed(Supersteps(scores_of), resumes=True)
INNER = Supersteps(inner_of)
"""The searches alone, where ranks send each other what they find."""
