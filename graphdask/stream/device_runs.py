"""What runs a primitive over a store through a device, and what does its work on a rank of several."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.algorithms.components import ConnectedComponents
from graphdask.algorithms.sssp import ShortestPaths
from graphdask.device.backend import Backend
from graphdask.engine.loop import RankContext
from graphdask.stream import device_paths, device_sssp
from graphdask.stream.device_components import DeviceComponents
from graphdask.stream.device_pagerank import DevicePageRank
from graphdask.stream.device_shared_paths import DeviceDistances, DeviceSearch
from graphdask.stream.on_device import Run
from graphdask.stream.shared import StreamedPart, Streaming
from graphdask.stream.sweeps import Log


def prepared(part: StreamedPart, backend: Backend, log: Log) -> Run:
    """What a run over a whole store needs."""
    assert part.chunks is not None
    chunks = part.chunks(backend)
    return Run(part.store, chunks, backend, part.memory, log, part.own, ahead=part.read_ahead, once=part.once)


def shared(
    context: RankContext, part: StreamedPart, primitive: Any, backend: Backend, stack: ExitStack
) -> tuple[Streaming, Run]:
    """What does a primitive's work on a rank of several, and what it runs with; both until `stack` is closed."""
    run = prepared(part, backend, Log(what=primitive.name))
    run.share, run.once = context.memory_share, part.size > 1 or part.once
    stack.enter_context(run.host.reading())
    weighted = part.store.weights is not None
    if isinstance(primitive, BreadthFirstSearch):
        return DeviceSearch(run, primitive.sources[0], False, "depth", stack), run
    if isinstance(primitive, ShortestPaths):
        if primitive.parents_in_any_order:
            return DeviceSearch(run, primitive.source, weighted, "distance", stack), run
        return DeviceDistances(run, primitive, weighted, stack), run
    if isinstance(primitive, ConnectedComponents):
        return DeviceComponents(run, part, primitive, stack), run
    return DevicePageRank(run, part, primitive, stack), run


def run(work: Run, primitive: Any) -> tuple[dict[str, Any], int, dict[str, Any]]:
    """Columns, which are on the device, and values; bytes of the state of all vertices; and what statistics add."""
    host, backend = work.host, work.backend
    with backend.activate(), host.reading():
        before = host.nbytes
        if isinstance(primitive, BreadthFirstSearch):
            found, state = device_paths.bfs(work, primitive), device_paths.SEARCH
        elif isinstance(primitive, ShortestPaths) and primitive.parents_in_any_order:
            found, state = device_paths.sssp(work, primitive), device_paths.PATHS
        else:
            found, state = device_sssp.sssp_wide(work, primitive), device_sssp.WIDE
        backend.synchronize()
    return found, state * work.store.num_vertices, {"device": "cuda", "from_disk": host.nbytes - before}
