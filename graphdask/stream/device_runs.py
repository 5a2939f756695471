"""What runs a primitive over a store through a device."""

from __future__ import annotations

from typing import Any

from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.algorithms.components import ConnectedComponents
from graphdask.algorithms.sssp import ShortestPaths
from graphdask.backend import Backend
from graphdask.stream import device_pagerank, device_sssp, on_device
from graphdask.stream.on_device import Run
from graphdask.stream.pagerank import state_bytes
from graphdask.stream.shared import StreamedPart
from graphdask.stream.sweeps import Log


def prepared(part: StreamedPart, backend: Backend, log: Log) -> Run:
    """What a run over a whole store needs."""
    assert part.chunks is not None
    chunks = part.chunks(backend)
    return Run(part.store, chunks, backend, part.memory, log, part.own, ahead=part.read_ahead, once=part.once)


def run(work: Run, primitive: Any) -> tuple[dict[str, Any], int, dict[str, Any]]:
    """Columns, which are on the device, and values; bytes of the state of all vertices; and what statistics add."""
    host, backend = work.host, work.backend
    with backend.activate(), host.reading():
        before = host.nbytes
        if isinstance(primitive, BreadthFirstSearch):
            found, state = on_device.bfs(work, primitive.sources[0]), on_device.SEARCH
        elif isinstance(primitive, ShortestPaths) and primitive.with_parents:
            found, state = on_device.sssp(work, primitive), on_device.PATHS
        elif isinstance(primitive, ShortestPaths):
            found, state = device_sssp.sssp_wide(work, primitive), device_sssp.WIDE
        elif isinstance(primitive, ConnectedComponents):
            found, state = on_device.components(work), on_device.COMPONENTS
        else:
            found, state = device_pagerank.pagerank(work, primitive), state_bytes(primitive)
        backend.synchronize()
    return found, state * work.store.num_vertices, {"device": "cuda", "from_disk": host.nbytes - before}
