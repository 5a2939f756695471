"""Searches and shortest paths over a store: labels fall until no edge can lower one.

A label is a distance times 2^32 plus the number of the parent. If distances leave no bits for the parent, or an edge
may add nothing to a distance, labels are distances, and parents are found from them afterwards. Labels only fall, and
at the end no edge can relax. So distances are those of `sssp` in memory (its Notes), whatever the order of chunks. A
vertex whose distance falls relaxes all its edges again, so that its final distance is offered over each of them; hence
the parents are the same too (`graphdask.algorithms.sssp`, `_shortest_tree`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms._shortest_tree import unreached
from graphdask.algorithms.sssp import NO_VERTEX, ShortestPaths
from graphdask.stream.levels import by_levels
from graphdask.stream.store import Store
from graphdask.stream.sweeps import FOUND, LOOKED, WORKED, Log, Sweeps, cpu, window_of

UNIT = np.ones(1, np.int32)
"""The length of every edge where edges have none."""
NEAR = 255
"""From here on distances do not stand in the small tables of kernels."""
SEARCH = 18
"""Bytes per vertex of a search with parents: labels, marks, and the two answers of int32."""
PATHS, WIDE = 22, 37
"""Of shortest paths with parents in labels, whose distances are int64 in the end, and without."""


def search(
    store: Store,
    sources: np.ndarray,
    memory: int,
    label: np.ndarray | None = None,
    depth: int = 0,
    *,
    log: Log | None = None,
    weighted: bool = False,
    ahead: int | None = None,
    once: bool = False,
) -> np.ndarray:
    """Labels by position, int64, from sources given by their numbers; with `label`, those of an earlier search go on.

    If edges have the length 1 and are stored at both ends, it takes 4 bytes per vertex that are not counted in
    `memory`. They are free at that time, because the answers have not been made of the labels yet.

    Parameters
    ----------
    depth : int
        Of the sources.
    weighted : bool
        Whether edges have their own lengths, whole numbers above 0, or all the length 1.
    once : bool
        End after one sweep, as rows stand in the order of their depths.
    """
    log = Log() if log is None else log
    n, section = store.num_vertices, store.sections["out"]
    back = label is None and not weighted and not store.header["directed"]
    number = store.numbers() if back else np.zeros(0, np.int32)
    place = np.flatnonzero(np.isin(number, sources)) if len(number) else store.positions(sources)
    active, counters = np.zeros(n, bool), np.zeros(3, np.int64)
    label = np.full(n, unreached(np.dtype(np.int64)), np.int64) if label is None else label
    label[place] = np.int64(depth) << 32 | (number[place] if len(number) else sources)
    active[place] = True
    near, highest = np.full(n, NEAR, np.uint8), np.full(NEAR, -1, np.int64)  # which say nothing
    relax, reach = cpu().kernels("layered").layered_relax, cpu().kernels("layered_reach").layered_reach
    with window_of(store, "out", memory - 10 * n, "a search", log, ahead) as window:
        sweeps = Sweeps(window, section, active, counters, log)
        for chunk in sweeps.once() if once else sweeps:
            rows, indptr = len(chunk.degrees), window.indptr(chunk)
            if back:
                reach(
                    rows, chunk.first, indptr, number, chunk.targets, active, near, label, window.queue, counters
                )  # fmt: skip
            else:
                relax(
                    rows, chunk.first, 0, n, indptr, chunk.ids, chunk.targets, chunk.weights if weighted else UNIT,
                    -1 if weighted else 0, active, near, label, highest, window.queue, counters,
                )  # fmt: skip
    if once:
        log.sweep(int(counters[WORKED]), int(counters[LOOKED]))
    return label


def bfs(
    store: Store, source: int, memory: int, log: Log, ahead: int | None = None, once: bool = False, pulls: bool = True
) -> dict[str, Any]:
    """Depths and parents, int32 by vertex number; rows may find their parents where it `pulls`."""
    n = store.num_vertices
    found = by_layers(store, source, memory - 8 * n, log, ahead) if pulls else None
    if found is None and pulls and not once:
        found = by_levels(store, source, memory - 8 * n, log, ahead)
    if found is None:
        label = search(store, np.array([source]), memory - 8 * n, log=log, ahead=ahead, once=once)
        found = _unpacked(store, label, np.int32)
    return {"depth": found[0], "parent": found[1]}


def by_layers(
    store: Store, source: int, memory: int, log: Log, ahead: int | None = None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return depths and parents of a search from the root of the layers, int32 by vertex number, in one pass.

    Every row finds its own parent, its first neighbour in the previous layer, and most of its edges are not scanned.
    Return None for another source, if edges are not stored at both ends, or if most rows are not in the component of
    the source. In the last case a search that skips chunks reads less.
    """
    if store.header["directed"] or store.by_number or source != store.header["root"]:
        return None
    n, section, kernels = store.num_vertices, store.sections["out"], cpu().kernels("layered")
    first, layers = section.table["first"], section.table["layer"]
    chunks = [k for k in range(len(section)) if layers[k : k + 2].any() or k + 1 == len(section)]
    with window_of(store, "out", memory - 10 * n, "a search", log, ahead, once=True) as window:
        window.ask(chunks)
        number, depth, parent = (np.full(n, -1, np.int32) for _ in range(3))
        (place,) = store.positions([source], range(int(np.count_nonzero(layers == 0))))
        number[place], depth[source], parent[source] = source, 0, source
        layer, counters, reached = np.array([0, 0, 0, place], np.int64), np.zeros(3, np.int64), 1
        window.traffic.skipped = len(section) - len(chunks)
        for at, k in enumerate(chunks):
            chunk = window.load(k, (chunks[later] for later in range(at + 1, len(chunks))))
            kernels.layered_pull(
                len(chunk.degrees), int(first[k]), window.indptr(chunk), chunk.ids, chunk.targets, number, depth,
                parent, layer, counters,
            )  # fmt: skip
            log.check()
            reached += int(counters[FOUND])
            if counters[WORKED] > 2 * reached:
                return None
            if layer[0] > layer[3]:  # nothing was reached in the layer before
                window.traffic.skipped += len(chunks) - at - 1
                break
    log.sweep(reached, int(counters[LOOKED]))
    return depth, parent


def _unpacked(store: Store, label: np.ndarray, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Distances and parents by vertex number."""
    n, kernels = store.num_vertices, cpu().kernels("layered")
    distance, parent = np.empty(n, dtype), np.empty(n, np.int32)
    for first, ids in store.order():
        kernels.layered_unpack(len(ids), first, ids, label, distance, parent)
    return distance, parent


def sssp(
    store: Store, primitive: ShortestPaths, memory: int, log: Log, ahead: int | None = None, once: bool = False
) -> dict[str, Any]:
    """Distances (int64 or float64) and parents (int32) by vertex number."""
    if not primitive.parents_in_any_order:
        return _sssp_wide(store, primitive, memory, log, ahead)
    n, weighted = store.num_vertices, store.weights is not None
    if not weighted:
        found = by_layers(store, primitive.source, memory - 12 * n, log, ahead)
        if found is None and not once:
            found = by_levels(store, primitive.source, memory - 12 * n, log, ahead)
        if found is not None:
            return {"distance": found[0].astype(np.int64), "parent": found[1], "too_far": NO_VERTEX}
    here = np.array([primitive.source])
    label = search(store, here, memory - 12 * n, log=log, weighted=weighted, ahead=ahead, once=once)
    distance, parent = _unpacked(store, label, np.int64)
    return {"distance": distance, "parent": parent, "too_far": NO_VERTEX}


def _sssp_wide(store: Store, primitive: ShortestPaths, memory: int, log: Log, ahead: int | None) -> dict[str, Any]:
    n, section, kernels = store.num_vertices, store.sections["out"], cpu().kernels("layered")
    weighted, integer = store.weights is not None, primitive.distance.kind != "f"
    dtype = np.dtype(np.int64) if integer else primitive.distance
    none, each = unreached(dtype), -1 if weighted else 0
    place = store.positions([primitive.source])
    distance, active, counters = np.full(n, none, dtype), np.zeros(n, bool), np.zeros(3, np.int64)
    distance[place], active[place] = 0, True
    parent = np.full(n, np.iinfo(np.int32).max, np.int32)
    hops = np.full(n, -1, np.int32)
    memory -= WIDE * n
    with window_of(store, "out", memory, "SSSP", log, ahead) as window:
        for chunk in Sweeps(window, section, active, counters, log):
            kernels.layered_relax_wide(
                len(chunk.degrees), chunk.first, window.indptr(chunk), chunk.targets,
                chunk.weights if weighted else UNIT, each, active, distance, window.queue, counters,
            )  # fmt: skip
        parent[place] = primitive.source
        flat = np.zeros(n, bool)
        reached = distance != none
        for number, first in enumerate(section.table["first"]):
            if not reached[first : first + section.table[number]["rows"]].any():
                continue
            chunk = window.load(number, range(number + 1, min(number + 3, len(section))))
            kernels.layered_parents(
                len(chunk.degrees), chunk.first, window.indptr(chunk), chunk.ids, chunk.targets,
                chunk.weights if weighted else UNIT, each, distance, parent, flat, counters,
            )  # fmt: skip
        rooted = parent != np.iinfo(np.int32).max
        log.sweep(int(reached.sum()), int(counters[1]))
        beyond = rooted & ~reached
        hops[rooted] = 0
        if not (rooted | ~reached).all():
            active, counters, hop = flat & rooted & reached, np.zeros(3, np.int64), 0
            while active.any():
                after = np.zeros(n, bool)
                for number, first in enumerate(section.table["first"]):
                    if not active[first : first + section.table[number]["rows"]].any():
                        window.traffic.skipped += 1
                        continue
                    chunk = window.load(number)
                    kernels.layered_flat(
                        len(chunk.degrees), chunk.first, window.indptr(chunk), chunk.ids, chunk.targets,
                        chunk.weights if weighted else UNIT, each, distance, hops, hop, parent, after, counters,
                    )  # fmt: skip
                    log.check()
                log.sweep(int(active.sum()), int(counters[1]))
                active, hop = after, hop + 1
                counters[:] = 0
    found, before, too_far = np.empty(n, dtype), np.empty(n, np.int32), NO_VERTEX
    for first, ids in store.order():
        here = slice(first, first + len(ids))
        found[ids] = np.where(reached[here], distance[here], -1 if integer else none)
        before[ids] = np.where(reached[here], parent[here], -1)
        if beyond[here].any():
            too_far = min(too_far, int(ids[beyond[here]].min()))
    return {"distance": found, "parent": before, "too_far": too_far}
