"""Searches and shortest paths over a store through a device, with labels that hold a distance and a parent.

If all edges have the same length and the host holds all chunks, the device reads rows in place in host memory.
Otherwise chunks stream through the device, and labels fall until no edge can lower one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms._shortest_tree import unreached
from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.algorithms.sssp import NO_VERTEX, ShortestPaths
from graphdask.device.backend import Array
from graphdask.stream.device_search import in_place, labels_in_place
from graphdask.stream.on_device import Run, fallen

SEARCH, PATHS = 20, 24
"""Bytes of the device per vertex of a search and of shortest paths, with what their answers take."""


def search(
    run: Run, source: int, weighted: bool, per_vertex: int, what: str, pulls: bool = True
) -> tuple[Array, Array | None]:
    """Return labels and vertex numbers by position; None for the vertex numbers if they equal the positions.

    A label is a distance times 2^32 plus the number of the parent.
    """
    run.require(per_vertex, what)
    if not weighted and in_place(run):
        return labels_in_place(run, source, pulls)
    place = run.position(source)
    labels = run.xp.full(run.store.num_vertices, unreached(np.dtype(np.int64)), np.int64)
    labels[place] = source
    fallen(run, labels, place, True, weighted, 8, what)
    return labels, run.ids()


def bfs(run: Run, primitive: BreadthFirstSearch) -> dict[str, Any]:
    """Depths and parents, int32 by vertex number, on the device."""
    source, pulls = primitive.sources[0], primitive.direction != "push"
    depth, parent = unpacked(run, *search(run, source, False, SEARCH, "a search", pulls), np.int32)
    return {"depth": depth, "parent": parent}


def sssp(run: Run, primitive: ShortestPaths) -> dict[str, Any]:
    """Distances and parents by vertex number, on the device."""
    found = search(run, primitive.source, run.store.weights is not None, PATHS, "SSSP")
    distance, parent = unpacked(run, *found, np.int64)
    return {"distance": distance, "parent": parent, "too_far": NO_VERTEX}


def unpacked(run: Run, labels: Array, ids: Array | None, dtype: Any) -> tuple[Array, Array]:
    """Distances and parents, by number where `ids` are given."""
    n, xp = len(labels), run.xp
    kernels = run.backend.kernels("layered_paths", index_t=np.int32, weight_t=np.int32, dist_t=np.int64)
    distance, parent = xp.empty(n, dtype), xp.empty(n, np.int32)
    wide = distance if distance.dtype == np.int64 else None
    kernels.layered_unpack(n, labels, ids, None if wide is not None else distance, wide, parent)
    return distance, parent
