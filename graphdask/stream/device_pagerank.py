"""PageRank through a device: ranks, contributions and sums are there, the in-edges stream past them.

The sums of rows and the updates have the order of additions that they have in memory, and the same fixed point, so that
ranks have the same bits. The host hears two numbers an iteration; the first chunks of the next are copied meanwhile.
It goes the other way, and so begins with those that are still there.
"""

from __future__ import annotations

from contextlib import ExitStack
from itertools import chain
from typing import Any

import numpy as np

from graphdask.algorithms.pagerank import DANGLING_SCALE, NOISE, PageRank
from graphdask.algorithms.rank_layout import refuse_extremes
from graphdask.backend import Array
from graphdask.kernels import layered_sums, layered_trees
from graphdask.stream.device import DeviceChunk, DeviceWindow
from graphdask.stream.on_device import THREADS, Run
from graphdask.stream.pagerank import Progress, gathered, state_bytes
from graphdask.stream.pagerank import shares as of_host

PER_EDGE = 8 / 256
"""Bytes of partial sums."""


class Sums:
    """Sums of x over the own rows of chunks, for one window, into the places of the rows in `sums`."""

    def __init__(self, run: Run, primitive: PageRank, window: DeviceWindow, x: Array, sums: Array):
        xp, weights = run.xp, run.store.weights
        self._weighted = primitive.weighted and weights is not None
        self._kernels = run.backend.kernels(
            "layered_sums", index_t=np.int32, real_t=np.dtype(primitive.real),
            weight_t=weights if self._weighted else np.dtype(np.float32),
        )  # fmt: skip
        self._x, self._sums = x, sums
        self._given: dict[DeviceChunk, tuple[int, tuple[Any, ...], Array]] = {}
        """Of each chunk, and place of it: rows, edges and sums."""
        self._window, self._own, self._counters = window, run.own, xp.zeros(layered_sums.COUNTERS, np.uint64)
        most = max(window.most_edges, 1)
        self._places = xp.empty(most // 2048 + 1, np.int64)
        self._partial = xp.empty(most // 256 + most // 2048 + 2, np.float64)

    def __call__(self, chunk: DeviceChunk) -> None:
        if chunk not in self._given:
            self._given[chunk] = self._rows(chunk)
        rows, edges, out = self._given[chunk]
        kernels, many, counters = self._kernels, self._window.hubs, self._counters
        kernels.layered_sum(-(-rows // 4) * 32, rows, *edges, out, counters)
        kernels.layered_sum_few(rows, *edges, out, many, self._places, counters)
        kernels.layered_sum_many(THREADS, *edges, many, self._places, self._partial, counters)
        kernels.layered_sum_ends(THREADS, edges[0], many, self._places, self._partial, out, counters)

    def _rows(self, chunk: DeviceChunk) -> tuple[int, tuple[Any, ...], Array]:
        own = self._own
        low, high = max(own.begin - chunk.first, 0), min(own.end - chunk.first, chunk.rows)
        rows, indptr, to = high - low, chunk.indptr[low : high + 1], chunk.first + low - own.begin
        edges = (indptr, chunk.targets, chunk.weights if self._weighted else None, int(self._weighted), self._x)
        return rows, edges, self._sums[to : to + rows]


class DeviceRanks:
    """The ranks of the own rows, and the contributions of all vertices that rows are summed from.

    Parameters
    ----------
    per_vertex : int
        Bytes of the device that are not for chunks.
    """

    def __init__(self, run: Run, primitive: PageRank, per_vertex: int, stack: ExitStack):
        xp, store, own, real = run.xp, run.store, run.own, np.dtype(primitive.real)
        n, count = store.num_vertices, own.count
        self._run, self._primitive = run, primitive
        out_weight, self._extra = _out_weights(run, primitive, per_vertex)
        refuse_extremes(out_weight, primitive.real, xp)
        with np.errstate(divide="ignore"):
            self._inverse = xp.where(out_weight > 0, 1.0 / out_weight, 0.0)
        del out_weight
        self.rank = xp.full(count, 1.0 / max(n, 1), real)
        if primitive.start is not None:
            self.rank = run.backend.from_host(of_host(store, primitive.start, own, real))
        self.x = xp.zeros(n, real)
        """Contributions, by position."""
        self.x[own.begin : own.end] = (self.rank * self._inverse).astype(real)
        self._teleport = xp.zeros(0, np.float64)
        if primitive.personalization is not None:
            self._teleport = run.backend.from_host(of_host(store, primitive.personalization, own))
        self._sums, self._place = xp.empty(count, np.float64), xp.arange(own.begin, own.end, dtype=np.int32)
        self._counters = xp.zeros((2, 3), np.uint64)
        without = self.rank[self._inverse == 0].astype(np.float64)
        self._counters[1, 0] = xp.rint(without * DANGLING_SCALE).astype(np.uint64).sum(dtype=np.uint64)
        self.progress = Progress(n, NOISE[real.name])
        self._kernels = run.backend.kernels("pagerank", index_t=np.int32, real_t=real, weight_t=np.dtype(np.float32))
        name = gathered(store)
        self._window = stack.enter_context(run.window(name, per_vertex, "pagerank", PER_EDGE))
        self._add = Sums(run, primitive, self._window, self.x, self._sums)
        self._every = list(own.chunks[name])
        table = store.sections[name].table["edges"]
        self._edges = int(table[own.chunks[name].start : own.chunks[name].stop].sum())

    @property
    def votes(self) -> tuple[float, ...]:
        """What is to be known of all rows."""
        counters = self._counters[(self.progress.iterations + 1) % 2]
        return self._primitive.votes_of(self._run.backend.to_host(counters))

    def iterate(self) -> int:
        """Sum all rows, and change their ranks; edges looked at."""
        state, primitive, every = self.progress, self._primitive, self._every
        back = every[::-1]
        for at, number in enumerate(every):
            self._add(self._window.load(number, chain(every[at + 1 :], back)))
            self._run.log.check()
        turn = state.iterations % 2
        self._every = self._window.mixed()[:: 1 if turn else -1]
        self._kernels.pagerank_update(
            self._run.own.count, self._sums, self._inverse, self._teleport, int(primitive.personalization is not None),
            self._extra, int(primitive.self_loops), self._place, self._place, primitive.damping, state.base(primitive),
            DANGLING_SCALE, state.change_scale, 0, self.rank, self.x, self.x[:0], self._counters[turn],
            self._counters[1 - turn],
        )  # fmt: skip
        state.iterations += 1
        self._window.settle()
        return self._edges


def pagerank(run: Run, primitive: PageRank) -> dict[str, Any]:
    """Ranks by vertex number, on the device, and how the iterations ended."""
    taken = state_bytes(primitive)
    run.require(taken + 16, "pagerank")
    with ExitStack() as stack:
        ranks = DeviceRanks(run, primitive, taken, stack)
        while not primitive.ends(ranks.progress, np.array([ranks.votes])):  # type: ignore[arg-type]
            run.log.sweep(run.own.count, ranks.iterate())
    rank, found = ranks.rank, ranks.progress.found(primitive.tol)
    del ranks
    return {"rank": run.by_number(rank, run.ids())} | found


def _out_weights(run: Run, primitive: PageRank, taken: int) -> tuple[Array, Array]:
    """Per own row the weight of all out-edges, and whether it is given a self-loop (empty where none is)."""
    xp, own, n = run.xp, run.own, run.store.num_vertices
    weighted = primitive.weighted and run.store.weights is not None
    chunks = own.chunks["out"]
    if weighted:
        out_weight = xp.zeros(own.count, np.float64)
    else:
        out_weight = run.sent(run.host.column("degrees")).astype(np.float64)
    if not weighted and not primitive.self_loops:
        return out_weight, xp.zeros(0, np.uint8)
    loop, ones = xp.zeros(n, np.uint8), xp.ones(n if weighted else 0, primitive.real)
    counters = xp.zeros(layered_trees.COUNTERS, np.uint64)
    with run.window("out", taken, "pagerank", PER_EDGE) as window:
        add = Sums(run, primitive, window, ones, out_weight)
        for number in chunks:
            chunk = window.load(number, range(number + 1, chunks.stop))
            if weighted:
                add(chunk)
            if primitive.self_loops:
                counters.fill(0)
                given = (chunk.first, chunk.indptr, chunk.targets, loop, window.hubs, counters)
                run.trees.layered_own(chunk.rows, *given)
                run.trees.layered_own_hubs(THREADS, *given)
            run.log.check()
    if not primitive.self_loops:
        return out_weight, xp.zeros(0, np.uint8)
    extra = (1 - loop[own.begin : own.end]).astype(np.uint8)
    return out_weight + extra, extra
