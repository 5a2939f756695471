"""PageRank through a device: ranks, contributions and sums are there, the in-edges stream past them.

The sums of rows and the updates have the order of additions that they have in memory, and the same fixed point, so that
ranks have the same bits. The host hears two numbers an iteration; the first chunks of the next are copied meanwhile.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from graphdask.algorithms.pagerank import DANGLING_SCALE, NOISE, PageRank
from graphdask.backend import Array
from graphdask.kernels import layered_sums, layered_trees
from graphdask.stream.device import DeviceChunk, DeviceWindow
from graphdask.stream.on_device import THREADS, Run
from graphdask.stream.own import Own
from graphdask.stream.pagerank import Progress, gathered, state_bytes
from graphdask.stream.pagerank import shares as of_host

PER_EDGE = 8 / 256
"""Bytes of partial sums."""


class Sums:
    """Sums of x over the rows of chunks, for one window."""

    def __init__(self, run: Run, primitive: PageRank, window: DeviceWindow):
        xp, weights = run.xp, run.store.weights
        self._weighted = primitive.weighted and weights is not None
        self._kernels = run.backend.kernels(
            "layered_sums", index_t=np.int32, real_t=np.dtype(primitive.real),
            weight_t=weights if self._weighted else np.dtype(np.float32),
        )  # fmt: skip
        self._window, self._counters = window, xp.zeros(layered_sums.COUNTERS, np.uint64)
        most = max(window.most_edges, 1)
        self._places = xp.empty(most // 2048 + 1, np.int64)
        self._partial = xp.empty(most // 256 + most // 2048 + 2, np.float64)

    def __call__(self, chunk: DeviceChunk, x: Array, sums: Array) -> None:
        """Into the places of the rows."""
        kernels, many, counters = self._kernels, self._window.hubs, self._counters
        edges = (chunk.indptr, chunk.targets, chunk.weights if self._weighted else None, int(self._weighted), x)
        out = sums[chunk.first : chunk.first + chunk.rows]
        threads = -(-chunk.rows // 4) * 32
        kernels.layered_sum(threads, chunk.rows, *edges, out, counters)
        kernels.layered_sum_few(chunk.rows, *edges, out, many, self._places, counters)
        kernels.layered_sum_many(THREADS, *edges, many, self._places, self._partial, counters)
        kernels.layered_sum_ends(THREADS, chunk.indptr, many, self._places, self._partial, out, counters)


def pagerank(run: Run, primitive: PageRank) -> dict[str, Any]:
    """Ranks by vertex number, on the device, and how the iterations ended."""
    xp, n, real, store = run.xp, run.store.num_vertices, np.dtype(primitive.real), run.store
    taken = state_bytes(primitive)
    run.require(taken + 16, "pagerank")
    out_weight, extra = _out_weights(run, primitive, taken)
    primitive.refuse_extremes(out_weight, xp)
    with np.errstate(divide="ignore"):
        inverse = xp.where(out_weight > 0, 1.0 / out_weight, 0.0)
    del out_weight
    rank = xp.full(n, 1.0 / max(n, 1), real)
    if primitive.start is not None:
        rank = run.backend.from_host(of_host(store, primitive.start, Own.whole(store), real))
    x = (rank * inverse).astype(real)
    teleport = xp.zeros(0, np.float64)
    if primitive.personalization is not None:
        teleport = run.backend.from_host(of_host(store, primitive.personalization, Own.whole(store)))
    sums, identity = xp.empty(n, np.float64), xp.arange(n, dtype=np.int32)
    counters = xp.zeros((2, 3), np.uint64)
    without = rank[inverse == 0].astype(np.float64)
    counters[1, 0] = xp.rint(without * DANGLING_SCALE).astype(np.uint64).sum(dtype=np.uint64)
    del without
    state = Progress(n, NOISE[real.name])
    name = gathered(store)
    section = store.sections[name]
    kernels = run.backend.kernels("pagerank", index_t=np.int32, real_t=real, weight_t=np.dtype(np.float32))
    with run.window(name, taken, "pagerank", PER_EDGE) as window:
        add, every = Sums(run, primitive, window), list(range(len(section)))
        while not primitive.ends(state, _votes(run, primitive, counters[(state.iterations + 1) % 2])):  # type: ignore[arg-type]
            for at, number in enumerate(every):
                add(window.load(number, chain(every[at + 1 :], every[:at])), x, sums)
                run.log.check()
            every = window.mixed()
            base = primitive.damping * state.dangling + (1.0 - primitive.damping)
            if primitive.personalization is None:
                base /= n
            turn = state.iterations % 2
            kernels.pagerank_update(
                n, sums, inverse, teleport, int(primitive.personalization is not None), extra,
                int(primitive.self_loops), identity, identity, primitive.damping, base, DANGLING_SCALE,
                state.change_scale, 0, rank, x, x[:0], counters[turn], counters[1 - turn],
            )  # fmt: skip
            state.iterations += 1
            window.settle()
            run.log.sweep(n, section.num_edges)
    del x, sums, inverse, identity
    return {
        "rank": run.by_number(rank, run.ids()), "iterations": state.iterations, "residual": state.residual,
        "change": state.change, "converged": state.residual <= primitive.tol,
    }  # fmt: skip


def _votes(run: Run, primitive: PageRank, counters: Array) -> np.ndarray:
    return np.array([primitive.votes_of(run.backend.to_host(counters))])


def _out_weights(run: Run, primitive: PageRank, taken: int) -> tuple[Array, Array]:
    """Per position the weight of all out-edges, and whether it is given a self-loop (empty where none is)."""
    xp, n, section = run.xp, run.store.num_vertices, run.store.sections["out"]
    weighted = primitive.weighted and run.store.weights is not None
    out_weight = xp.zeros(n, np.float64) if weighted else run.sent(run.host.column("degrees")).astype(np.float64)
    if not weighted and not primitive.self_loops:
        return out_weight, xp.zeros(0, np.uint8)
    loop, ones = xp.zeros(n, np.uint8), xp.ones(n if weighted else 0, primitive.real)
    counters = xp.zeros(layered_trees.COUNTERS, np.uint64)
    with run.window("out", taken, "pagerank", PER_EDGE) as window:
        add = Sums(run, primitive, window)
        for number in range(len(section)):
            chunk = window.load(number, range(number + 1, len(section)))
            if weighted:
                add(chunk, ones, out_weight)
            if primitive.self_loops:
                counters.fill(0)
                given = (chunk.first, chunk.indptr, chunk.targets, loop, window.hubs, counters)
                run.trees.layered_own(chunk.rows, *given)
                run.trees.layered_own_hubs(THREADS, *given)
            run.log.check()
    if not primitive.self_loops:
        return out_weight, xp.zeros(0, np.uint8)
    extra = (1 - loop).astype(np.uint8)
    return out_weight + extra, extra
