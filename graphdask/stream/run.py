"""Run a primitive over a store: by one rank, or by several that share it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.algorithms.betweenness import Betweenness
from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.algorithms.clustering import LocalClustering
from graphdask.algorithms.components import ConnectedComponents
from graphdask.algorithms.core_number import CoreNumber
from graphdask.algorithms.label_propagation import LabelPropagation
from graphdask.algorithms.sssp import ShortestPaths
from graphdask.algorithms.strong import StrongComponents
from graphdask.algorithms.triangles import Triangles
from graphdask.algorithms.weighted_betweenness import WeightedBetweenness
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.kernels.common.compiling import clock
from graphdask.stream import (
    betweenness,
    components,
    core_numbers,
    distances,
    labels,
    pagerank,
    paths,
    strong,
    triangles,
    weighted_betweenness,
)
from graphdask.stream.everywhere import Work
from graphdask.stream.shared import StreamedPart, Streaming, backend_of
from graphdask.stream.sweeps import Log

EVERYWHERE: dict[type, Any] = {
    CoreNumber: core_numbers.core_number, LabelPropagation: labels.label_propagation,
    LocalClustering: triangles.triangles, StrongComponents: strong.strong_components, Triangles: triangles.triangles,
}  # fmt: skip


def execute(context: RankContext, part: StreamedPart, primitive: Any) -> RankResult:
    """Run a primitive over a share of a store; among the values is what was read, as `streamed`."""
    if isinstance(primitive, Betweenness | WeightedBetweenness):
        return _between(context, part, primitive)
    if type(primitive) in EVERYWHERE:
        return _everywhere(context, part, primitive)
    if (
        part.size == 1
        and backend_of(context, part).name == "cuda"
        and isinstance(primitive, BreadthFirstSearch | ShortestPaths)
    ):
        return _alone(context, part, primitive)
    return _together(context, part, primitive)


def _between(context: RankContext, part: StreamedPart, primitive: Betweenness | WeightedBetweenness) -> RankResult:
    started, backend = clock(), backend_of(context, part)
    by_weight = isinstance(primitive, WeightedBetweenness)
    more: dict[str, Any] = {}
    if backend.name == "cuda":
        from graphdask.stream import device_betweenness, device_weighted_betweenness  # as in _alone

        device: Any = device_weighted_betweenness if by_weight else device_betweenness
        result, search, more = device.run(context, part, primitive, backend)
    else:
        streamed: Any = weighted_betweenness if by_weight else betweenness
        result, search = streamed.run(context, part, primitive)
        score = result.columns["score"]
        if part.size == 1:
            ordered = np.empty_like(score)
            for first, ids in part.store.order():
                ordered[ids] = score[first : first + len(ids)]
            result = replace(result, columns={"score": ordered})
    traffic = search.log.streamed(clock() - started, result.supersteps) | more
    state = search.per_vertex(part) * part.num_vertices
    return replace(
        result, values=result.values | {"streamed": traffic}, memory=state + traffic["window"], allocated_start=state,
        allocated_end=state,
    )  # fmt: skip


def _everywhere(context: RankContext, part: StreamedPart, primitive: Any) -> RankResult:
    """Through the main memory of the host, whatever streams otherwise."""
    started, log, backend = clock(), Log(context, primitive.name), backend_of(context, part)
    with ExitStack() as stack:
        work = Work(context, part, log, stack)
        found, state = EVERYWHERE[type(primitive)](work, primitive)
    with backend.activate():
        columns = {name: backend.from_host(value) for name, value in found.items() if isinstance(value, np.ndarray)}
    values = {name: value for name, value in found.items() if name not in columns}
    values["streamed"] = traffic = log.streamed(clock() - started) | {"window": work.window_bytes}
    dtypes = {name: array.dtype for name, array in columns.items()}
    return RankResult(
        columns, values, dtypes, log.history, context.comm.name, "CPU", state + traffic["window"], state, state
    )


def _alone(context: RankContext, part: StreamedPart, primitive: Any) -> RankResult:
    from graphdask.stream import device_runs  # its kernels import Numba, which takes long

    log, backend, started = Log(context, primitive.name), backend_of(context, part), clock()
    found, state, more = device_runs.run(device_runs.prepared(part, backend, log), primitive)
    traffic = log.streamed(clock() - started) | more
    columns = {name: value for name, value in found.items() if isinstance(value, backend.xp.ndarray)}
    values = {name: value for name, value in found.items() if name not in columns} | {"streamed": traffic}
    dtypes = {name: array.dtype for name, array in columns.items()}
    needed = state + traffic["window"]
    return RankResult(
        columns, values, dtypes, log.history, "single", backend.description, needed, state, state
    )  # fmt: skip


def _together(context: RankContext, part: StreamedPart, primitive: Any) -> RankResult:
    started, backend = clock(), backend_of(context, part)
    more: dict[str, Any] = {}
    with backend.activate(), ExitStack() as stack:
        if backend.name == "cuda":
            from graphdask.stream import device_runs, device_shared  # kernels import Numba, which takes long

            shared, work = device_runs.shared(context, part, primitive, backend, stack)
            before = work.host.nbytes
            if shared.tells_ghosts:
                part = device_shared.with_mirrors(part, backend)
        else:
            shared, work, before = _shared(part, primitive, stack), None, 0
        env = replace(context.environment("selective"), backend=backend)
        result = run_primitive(context.comm, part, shared, env)
        if work is not None:
            more = {"device": "cuda", "from_disk": work.host.nbytes - before}
    traffic = shared.log.streamed(clock() - started, result.supersteps) | more
    state = shared.per_vertex * part.num_vertices
    return replace(
        result, values=result.values | {"streamed": traffic}, memory=state + traffic["window"], allocated_start=state,
        allocated_end=state,
    )  # fmt: skip


def _shared(part: StreamedPart, primitive: Any, stack: ExitStack) -> Streaming:
    """What does a primitive's work on a rank of several."""
    if isinstance(primitive, BreadthFirstSearch):
        return paths.search_of(part, primitive, stack)
    if isinstance(primitive, ShortestPaths):
        return distances.paths_of(part, primitive, stack)
    if isinstance(primitive, ConnectedComponents):
        return components.Components(part, primitive, stack)
    return pagerank.StreamedPageRank(part, primitive, stack)


def joined(traffic: Sequence[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """What all ranks have read."""
    total = dict(traffic[0])
    for name in ("nbytes", "least", "distinct", "chunks_read", "chunks_resident", "chunks_skipped", "chunks_unused",
                 "reading", "waiting", "window", "in_place", "from_disk"):  # fmt: skip
        if name in total:
            total[name] = sum(one[name] for one in traffic)
    total["overlap"] = max(0.0, 1.0 - total["waiting"] / total["reading"]) if total["reading"] else 0.0
    total["bandwidth"] = total["nbytes"] / seconds if seconds else 0.0
    return total
