"""PageRank over a store: ranks and contributions are in memory, and every iteration streams all in-edges.

Rows are whole, shared among the cores, and in the order of vertex numbers; sums are made by the kernels of
`graphdask.algorithms.pagerank`, and rank without out-edges and the change are summed in fixed point: so ranks are those
in memory, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.algorithms.distribution import Distribution
from graphdask.algorithms.pagerank import DANGLING_SCALE, NOISE, PageRank, scale_of
from graphdask.errors import InputError, Unsupported
from graphdask.stream.cores import Cores
from graphdask.stream.format import Chunk
from graphdask.stream.store import Store
from graphdask.stream.sweeps import Log, cpu, every_chunk, window_of
from graphdask.stream.window import Window

NONE = np.zeros(0, np.int32)


@dataclass
class Progress:
    """What `PageRank.ends` reads and writes of a state."""

    num_vertices: int
    noise: float
    iterations: int = 0
    dangling: float = 0.0
    change: float = 2.0
    residual: float = float("inf")

    @property
    def change_scale(self) -> float:
        return scale_of(self.change, self.noise)


@dataclass
class _Ids:
    """What `Distribution.of` reads of a partition."""

    ids: np.ndarray


@dataclass
class _Cpu:
    """What it reads of an environment."""

    backend: Any
    xp: Any = np


def state_bytes(primitive: PageRank) -> int:
    """Per vertex: ranks, contributions, sums, inverses, positions, what is optional, and the answer."""
    real = np.dtype(primitive.real).itemsize
    optional = (8 if primitive.personalization else 0) + (1 if primitive.self_loops else 0)
    return 3 * real + 8 + 8 + 4 + optional + 8


def refuse(store: Store, primitive: PageRank) -> None:
    """Raise where the store has not what the primitive needs, before anything is read."""
    if store.header["directed"] and "inward" not in store.sections:
        raise Unsupported(
            f"pagerank pulls over in-edges, and {store.path} was built without them; build it with inward=True"
        )
    facts = store.facts
    if primitive.weighted and facts is not None and facts.unfit is not None:
        u, _, weight = facts.unfit
        raise InputError(
            f"an edge out of vertex number {u} (of vertex_ids) has the weight {weight:g}; pagerank takes weights of 0 "
            "or more that are finite; weighted=False leaves them aside"
        )


def pagerank(store: Store, primitive: PageRank, memory: int, log: Log, ahead: int | None = None) -> dict[str, Any]:
    """Ranks by vertex number, and how the iterations ended."""
    n, real = store.num_vertices, np.dtype(primitive.real)
    memory -= state_bytes(primitive) * n
    out_weight, extra = _out_weights(store, primitive, memory, log, ahead)
    primitive.refuse_extremes(out_weight, np)
    with np.errstate(divide="ignore"):
        inverse = np.where(out_weight > 0, 1.0 / out_weight, 0.0)
    del out_weight
    rank = np.full(n, 1.0 / max(n, 1), real) if primitive.start is None else _shares(store, primitive.start, real)
    x = (rank * inverse).astype(real)
    teleport = np.zeros(0) if primitive.personalization is None else _shares(store, primitive.personalization)
    sums, identity = np.empty(n), np.arange(n, dtype=np.int32)
    counters = np.zeros((2, 3), np.uint64)
    without = rank[inverse == 0].astype(np.float64)
    counters[1, 0] = np.rint(without * DANGLING_SCALE).astype(np.uint64).sum(dtype=np.uint64)
    del without
    state = Progress(n, NOISE[real.name])
    name = "inward" if store.header["directed"] else "out"
    section = store.sections[name]
    kernels = cpu().kernels("pagerank")
    with window_of(store, name, memory, "pagerank", log, ahead) as window, Cores() as cores:
        while not primitive.ends(state, np.array([primitive.votes_of(counters[(state.iterations + 1) % 2])])):  # type: ignore[arg-type]
            for _, chunk in every_chunk(window, section, log):
                _sum(window, chunk, primitive, x, sums, cores)
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
            log.sweep(n, section.num_edges)
    del x, sums, inverse, identity
    answer = np.empty(n, real)
    for first, ids in store.order():
        answer[ids] = rank[first : first + len(ids)]
    return {
        "rank": answer, "iterations": state.iterations, "residual": state.residual, "change": state.change,
        "converged": state.residual <= primitive.tol,
    }  # fmt: skip


def _weights(chunk: Chunk, primitive: PageRank) -> np.ndarray:
    """As the kernels take them; in float32 where ranks are, as in memory."""
    if not primitive.weighted:
        return np.zeros(0, np.float32)
    if np.dtype(primitive.real) == np.float32:
        with np.errstate(over="ignore", under="ignore"):
            return chunk.weights.astype(np.float32, copy=False)
    return chunk.weights.astype(np.float64, copy=False)


def _sum(window: Window, chunk: Chunk, primitive: PageRank, x: np.ndarray, sums: np.ndarray, cores: Cores) -> None:
    """Sum what the rows of a chunk gather from x into their places."""
    weights, indptr, kernels = _weights(chunk, primitive), window.indptr(chunk), cpu().kernels("pagerank")

    def rows(first: int, last: int) -> None:
        kernels.pagerank_sum(
            last - first, indptr[first : last + 1], chunk.targets, weights, int(len(weights) > 0), x, NONE, 0,
            sums[chunk.first + first : chunk.first + last],
        )  # fmt: skip

    cores.each(indptr, rows)


def _out_weights(
    store: Store, primitive: PageRank, memory: int, log: Log, ahead: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Per position the weight of all out-edges, and whether it is given a self-loop (empty where none is)."""
    n, section = store.num_vertices, store.sections["out"]
    out_weight = np.zeros(n)
    if not primitive.weighted:
        for first, degrees, _ in store.rows(section):
            out_weight[first : first + len(degrees)] = degrees
    if not primitive.weighted and not primitive.self_loops:
        return out_weight, np.zeros(0, np.uint8)
    loop, ones = np.zeros(n, np.uint8), np.ones(n if primitive.weighted else 0, primitive.real)
    with window_of(store, "out", memory, "pagerank", log, ahead) as window, Cores() as cores:
        for _, chunk in every_chunk(window, section, log):
            if primitive.weighted:
                _sum(window, chunk, primitive, ones, out_weight, cores)
            if primitive.self_loops:
                cpu().kernels("layered").layered_loops(
                    len(chunk.degrees), chunk.first, window.indptr(chunk), chunk.targets, loop
                )
    if not primitive.self_loops:
        return out_weight, np.zeros(0, np.uint8)
    extra = (1 - loop).astype(np.uint8)
    out_weight += extra
    return out_weight, extra


def _shares(store: Store, given: Distribution, dtype: Any = np.float64) -> np.ndarray:
    """By position."""
    found = np.empty(store.num_vertices, dtype)
    for first, ids in store.order():
        found[first : first + len(ids)] = given.of(_Ids(ids), _Cpu(cpu()))  # type: ignore[arg-type]
    return found
