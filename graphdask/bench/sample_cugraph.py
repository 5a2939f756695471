"""The samplers of pylibcugraph on one GPU, asked for what ours are asked for.

Starts and seeds are handed over from the memory of the host, as to ours; the samples stay on the device. With every
seed an instance of its own, a vertex is expanded once in an instance, as ours does it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.bench.analysis.peers import CuGraph, Edges
from graphdask.bench.analysis.peers import pool as pool

Draw = Callable[[Any, np.ndarray, Any], Callable[[], Any]]
SEED = 0


def made(edges: Edges) -> CuGraph:
    """The graph without its weights."""
    import pylibcugraph

    return CuGraph(pylibcugraph, replace(edges, weights=None))


def by_weight(edges: Edges) -> CuGraph:
    """The graph with its weights, as float32."""
    import pylibcugraph

    return CuGraph(pylibcugraph, edges)


def walks(name: str) -> Draw:
    """Walks by the function of that name."""

    def draw(graph: CuGraph, starts: np.ndarray, length: int) -> Callable[[], Any]:
        walk = getattr(graph.plc, name)
        return lambda: _steps(walk(graph.handle, graph.by_source, _given(starts), length, SEED)[0], len(starts))

    return draw


def node2vec(p: float, q: float) -> Draw:
    """Second-order walks."""

    def draw(graph: CuGraph, starts: np.ndarray, length: int) -> Callable[[], Any]:
        walk = graph.plc.node2vec_random_walks
        return lambda: _steps(walk(graph.handle, graph.by_source, _given(starts), length, p, q, SEED)[0], len(starts))

    return draw


def samples(kind: str, replacement: bool, apart: bool) -> Draw:
    """Neighbours, `uniform` or `biased` by weight; of each seed an instance of its own, or all seeds in one."""

    def draw(graph: CuGraph, seeds: np.ndarray, sizes: Sequence[int]) -> Callable[[], Any]:
        import cupy

        sample = getattr(graph.plc, f"homogeneous_{kind}_neighbor_sample")
        once: dict[str, Any] = {"prior_sources_behavior": "exclude", "deduplicate_sources": True} if apart else {}

        def call() -> Callable[[], int]:
            bounds = cupy.arange(len(seeds) + 1, dtype=np.int64) if apart else None
            found = sample(
                graph.handle, graph.by_source, _given(seeds), bounds, np.asarray(sizes, np.int32),
                with_replacement=replacement, do_expensive_check=False, random_state=SEED, **once,
            )  # fmt: skip
            return lambda: len(found["minors"])

        return call

    return draw


def _given(vertices: np.ndarray) -> Any:
    import cupy

    return cupy.asarray(vertices.astype(np.int32))


def _steps(paths: Any, count: int) -> Callable[[], int]:
    """Walks are padded with -1."""
    return lambda: int((paths >= 0).sum()) - count
