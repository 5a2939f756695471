"""Shortest paths through a device if labels cannot hold parents: distances first, then parents from them.

As on a CPU (graphdask.stream.paths), every vertex at a finite distance is offered as the parent of the vertices that
its tight edges lead to. If edges add nothing to a distance, parents at equal distances are found hop by hop.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from graphdask.algorithms._shortest_tree import unreached
from graphdask.algorithms.sssp import NO_VERTEX, ShortestPaths
from graphdask.device.backend import Array
from graphdask.kernels.stream import layered_paths
from graphdask.stream.device import DeviceWindow
from graphdask.stream.on_device import THREADS, Flags, Run, fallen, lengths, padded
from graphdask.stream.sweeps import LOOKED

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


class Tight:
    """The own chunks, scanned by kernels that search for tight edges."""

    def __init__(self, run: Run, window: DeviceWindow, distance: Array, weighted: bool):
        self._run, self._window, self._weighted, self.distance = run, window, weighted, distance
        weight, self._one, self._each = lengths(run, weighted, distance.dtype)
        self._kernels = run.backend.kernels("layered_paths", index_t=np.int32, weight_t=weight, dist_t=distance.dtype)
        section = run.store.sections["out"]
        self._marks, self._flags = padded(run), Flags(run, section, layered_paths.COUNTERS, layered_paths.CLEARED, 2)
        self._looked = 0

    def elsewhere(self, marks: Array) -> np.ndarray:
        """The chunks of others with marks, bool."""
        self._flagged(marks)
        return self._flags.elsewhere

    def _flagged(self, marks: Array) -> np.ndarray:
        self._flags.clear()
        self._flags.mark(marks)
        return self._flags.now()

    def over(self, chosen: Array, kernel: str, *arguments: Any) -> int:
        """Run a kernel over the chunks with chosen positions; return the number of these chunks."""
        window, flags = self._window, self._flags
        self._marks[: len(chosen)] = chosen
        numbers = deque(np.flatnonzero(self._flagged(self._marks)).tolist())
        count = len(numbers)
        while numbers:
            chunk = window.load(numbers.popleft(), list(numbers)[:8])
            flags.clear()
            weights = chunk.weights if self._weighted else self._one
            given = (chunk.first, chunk.indptr, chunk.ids, chunk.targets, weights, self._each, self.distance)
            getattr(self._kernels, kernel)(chunk.rows, *given, *arguments, window.hubs, flags.counters)
            getattr(self._kernels, kernel + "_hubs")(THREADS, *given, *arguments, window.hubs, flags.counters)
            self._run.log.check()
        window.traffic.skipped += len(self._run.own.chunks["out"]) - count
        return count

    def looked(self) -> int:
        """Return the number of edges that were scanned since the last call."""
        self._flags.now()
        before, self._looked = self._looked, int(self._flags.totals[LOOKED])
        return self._looked - before


def _parents(
    run: Run, primitive: ShortestPaths, distance: Array, parent: Array, reached: Array, place: int, weighted: bool
) -> Array:  # fmt: skip
    """Fill `parent`; who has one and is too far away for a distance."""
    xp, n = run.xp, run.store.num_vertices
    flat = xp.zeros(n, np.uint8)
    with run.window("out", STATE, "SSSP") as window:
        tight = Tight(run, window, distance, weighted)
        tight.over(reached, "layered_offer", parent, flat)
        parent[place] = primitive.source
        rooted = parent != NOBODY
        run.log.sweep(int(reached.sum()), tight.looked())
        beyond = rooted & ~reached
        if not bool((rooted | ~reached).all()):
            hops = xp.where(rooted, 0, -1).astype(np.int32)
            active, hop = flat.astype(bool) & rooted & reached, 0
            while True:
                after = xp.zeros(n, np.uint8)
                if not tight.over(active, "layered_further", hops, hop, parent, after):
                    break
                run.log.sweep(int(active.sum()), tight.looked())
                active, hop = after.astype(bool), hop + 1
    return beyond
