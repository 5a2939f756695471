"""Shortest paths through a device where labels have no room for parents: distances first, then parents from them.

As on a CPU (graphdask.stream.paths): every vertex at a finite distance is offered as the parent of what its tight edges
lead to; where edges add nothing to a distance, parents among equals are found hop by hop.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from graphdask.algorithms._shortest_tree import unreached
from graphdask.algorithms.sssp import NO_VERTEX, ShortestPaths
from graphdask.backend import Array
from graphdask.kernels import layered_paths
from graphdask.stream.on_device import THREADS, Flags, Run, fallen, lengths, padded

STATE, WIDE = 30, 40
"""Bytes of the device per vertex while edges are gone over, and with the answer."""
NOBODY = np.iinfo(np.int32).max


def sssp_wide(run: Run, primitive: ShortestPaths) -> dict[str, Any]:
    """Distances (int64 or float64) and parents (int32) by vertex number, on the device."""
    run.require(WIDE, "SSSP")
    n, xp, store = run.store.num_vertices, run.xp, run.store
    integer = primitive.distance.kind != "f"
    dtype = np.dtype(np.int64) if integer else primitive.distance
    none, weighted = unreached(dtype), store.weights is not None
    place = run.position(primitive.source)
    distance = xp.full(n, none, dtype)
    distance[place] = 0
    fallen(run, distance, place, False, weighted, STATE, "SSSP")
    parent = xp.full(n, NOBODY, np.int32)
    reached = distance != none
    beyond = _parents(run, primitive, distance, parent, reached, place, weighted)
    ids = run.ids()
    found = run.by_number(xp.where(reached, distance, -1 if integer else none), ids)
    before = run.by_number(xp.where(reached, parent, -1), ids)
    lost = run.backend.to_host(xp.flatnonzero(beyond))
    numbers = lost if ids is None else run.host.column("ids")[lost]
    return {"distance": found, "parent": before, "too_far": int(numbers.min()) if len(lost) else NO_VERTEX}


def _parents(
    run: Run, primitive: ShortestPaths, distance: Array, parent: Array, reached: Array, place: int, weighted: bool
) -> Array:  # fmt: skip
    """Fill `parent`; who has one and is too far away for a distance."""
    xp, n, section = run.xp, run.store.num_vertices, run.store.sections["out"]
    weight, one, each = lengths(run, weighted, distance.dtype)
    kernels = run.backend.kernels("layered_paths", index_t=np.int32, weight_t=weight, dist_t=distance.dtype)
    flat, marks = xp.zeros(n, np.uint8), padded(run)
    with run.window("out", STATE, "SSSP") as window:
        flags = Flags(run, section, layered_paths.COUNTERS, layered_paths.CLEARED, 2)

        def over(chosen: Array, first: tuple[Any, ...], kernel: str, last: tuple[Any, ...]) -> int:
            """Go over the chunks with chosen positions; how many there are."""
            marks[:n] = chosen
            flags.clear()
            flags.mark(marks)
            numbers = deque(np.flatnonzero(flags.now()).tolist())
            count = len(numbers)
            while numbers:
                chunk = window.load(numbers.popleft(), list(numbers)[:8])
                flags.clear()
                given = (chunk.first, chunk.indptr, chunk.ids, chunk.targets, chunk.weights if weighted else one, each)
                getattr(kernels, kernel)(chunk.rows, *given, *first, *last, window.hubs, flags.counters)
                getattr(kernels, kernel + "_hubs")(THREADS, *given, *first, *last, window.hubs, flags.counters)
                run.log.check()
            return count

        over(reached, (distance,), "layered_offer", (parent, flat))
        parent[place] = primitive.source
        rooted = parent != NOBODY
        run.log.sweep(int(reached.sum()), _looked(flags))
        beyond = rooted & ~reached
        if not bool((rooted | ~reached).all()):
            hops = xp.where(rooted, 0, -1).astype(np.int32)
            active, hop = flat.astype(bool) & rooted & reached, 0
            while True:
                after = xp.zeros(n, np.uint8)
                visited = over(active, (distance, hops, hop), "layered_further", (parent, after))
                window.traffic.skipped += len(section) - visited
                if not visited:
                    break
                run.log.sweep(int(active.sum()), _looked(flags))
                active, hop = after.astype(bool), hop + 1
    return beyond


def _looked(flags: Flags) -> int:
    """Edges that were looked at since this was asked last."""
    before = int(flags.totals[1])
    flags.now()
    return int(flags.totals[1]) - before
