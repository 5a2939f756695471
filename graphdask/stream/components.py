"""Connected components of a store in one pass: a forest over all vertices is in memory, and every edge joins two trees.

Trees are joined under the root that stands first. In an undirected graph every edge stands at both ends, so a row in
the largest tree may be passed over: an edge that leaves the tree is met again at its other end; a chunk of only such
rows is not read (Afforest). What has been met once is joined for good, so one pass is exact.

Source: Sutton, Ben-Nun, Barak, Optimizing parallel graph connectivity computation via subgraph sampling (2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.stream.store import Store
from graphdask.stream.sweeps import FOUND, LOOKED, WORKED, Log, cpu, window_of

BYTES = 16
"""Per vertex: the forest, the smallest number of each tree, labels, and numbers for a moment."""
SAMPLES = 1024
"""Vertices that are asked for their tree to find the largest."""


def join(store: Store, memory: int, log: Log | None = None, ahead: int | None = None) -> tuple[np.ndarray, Log]:
    """The first position of the component of every position, int32."""
    log = Log() if log is None else log
    n, section, kernels = store.num_vertices, store.sections["out"], cpu().kernels("layered")
    tree, counters, giant = np.arange(n, dtype=np.int32), np.zeros(3, np.int64), -1
    samples = np.unique(np.linspace(0, max(n - 1, 0), min(n, SAMPLES)).astype(np.int64))
    first, rows = section.table["first"], section.table["rows"]

    def needed(number: int) -> bool:
        if giant < 0:
            return True
        kernels.layered_outside(int(rows[number]), int(first[number]), tree, giant, counters)
        return bool(counters[FOUND])

    with window_of(store, "out", memory - 4 * n, "components", log, ahead) as window:
        for number in range(len(section)):
            if not needed(number):
                window.traffic.skipped += 1
                continue
            likely = (later for later in range(number + 1, len(section)) if needed(later))
            chunk = window.load(number, likely)
            kernels.layered_hook(
                len(chunk.degrees), chunk.first, window.indptr(chunk), chunk.targets, tree, giant, counters
            )
            log.check()
            if not store.header["directed"]:
                giant = _largest(tree, samples)
    kernels.layered_flatten(n, tree)
    log.sweep(int(counters[WORKED]), int(counters[LOOKED]))
    return tree, log


def _largest(tree: np.ndarray, samples: np.ndarray) -> int:
    """The root of the tree that most of some positions are in."""
    roots = samples
    while ((above := tree[roots]) != roots).any():
        roots = above
    values, counts = np.unique(roots, return_counts=True)
    return int(values[counts.argmax()])


def components(store: Store, memory: int, log: Log, ahead: int | None = None) -> dict[str, Any]:
    """The smallest vertex number of every vertex's component, int32 by vertex number."""
    n = store.num_vertices
    tree, _ = join(store, memory - (BYTES - 4) * n, log, ahead)
    if store.by_number:
        return {"label": tree}
    kernels = cpu().kernels("layered")
    least = np.full(n, np.iinfo(np.int32).max, np.int32)
    for first, ids in store.order():
        kernels.layered_least(len(ids), first, ids, tree, least)
    label = np.empty(n, np.int32)
    for first, ids in store.order():
        label[ids] = least[tree[first : first + len(ids)]]
    return {"label": label}
