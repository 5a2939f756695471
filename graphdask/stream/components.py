"""Connected components of a store in one pass: a forest over all vertices is in memory, and every edge joins two trees.

Trees are joined under the root that stands first. In an undirected graph every edge stands at both ends, so a row in
a large tree may be passed over: an edge that leaves the tree is met again at its other end; a chunk of only such rows
is not read (Afforest). It is one tree from then on, as it grows: of two, each could leave an edge between them to the
other. What has been met once is joined for good, so one pass is exact.

Source: Sutton, Ben-Nun, Barak, Optimizing parallel graph connectivity computation via subgraph sampling (2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.stream.own import Own
from graphdask.stream.store import Store
from graphdask.stream.sweeps import FOUND, LOOKED, WORKED, Log, cpu, window_of
from graphdask.stream.window import Window

BYTES = 16
"""Per vertex: the forest, the smallest number of each tree, labels, and numbers for a moment."""
SAMPLES = 1024
"""Vertices that are asked for their tree to find the largest."""
SHARE = 32
"""Part of the vertices that a tree must have before its rows are passed over: isolated ones often stand first."""
FIRST = 8
"""Where ranks share a store, each joins one in so many chunks before they agree on the largest tree."""


def join(
    store: Store, memory: int, log: Log | None = None, ahead: int | None = None, number: np.ndarray | None = None
) -> tuple[np.ndarray, Log]:
    """The first position of the component of every position, int32.

    In `number`, int32 by position, go the vertex numbers of the rows of chunks that were read.
    """
    log = Log() if log is None else log
    n, counters, chunks = store.num_vertices, np.zeros(3, np.int64), range(len(store.sections["out"]))
    with window_of(store, "out", memory - 4 * n, "components", log, ahead, once=True) as window:
        window.ask(chunks)
        tree = np.arange(n, dtype=np.int32)
        join_chunks(store, window, chunks, tree, -1, counters, log, number=number)
    cpu().kernels("layered").layered_flatten(n, tree)
    log.sweep(int(counters[WORKED]), int(counters[LOOKED]))
    return tree, log


def join_chunks(
    store: Store,
    window: Window,
    chunks: range,
    tree: np.ndarray,
    anchor: int,
    counters: np.ndarray,
    log: Log,
    choose: bool = True,
    number: np.ndarray | None = None,
) -> None:
    """Join trees over the edges of some chunks; rows in the tree of the position `anchor`, if it is one, are left out.

    Where `choose`, it is in an undirected graph the first tree that is large.
    """
    section, kernels = store.sections["out"], cpu().kernels("layered")
    first, rows = section.table["first"], section.table["rows"]

    def needed(k: int) -> bool:
        if anchor < 0:
            return True
        kernels.layered_outside(int(rows[k]), int(first[k]), tree, anchor, counters)
        return bool(counters[FOUND])

    for k in chunks:
        if not needed(k):
            window.traffic.skipped += 1
            continue
        chunk = window.load(k, (later for later in range(k + 1, chunks.stop) if needed(later)))
        if number is not None:
            number[chunk.first : chunk.first + len(chunk.ids)] = chunk.ids
        kernels.layered_hook(
            len(chunk.degrees), chunk.first, window.indptr(chunk), chunk.targets, tree, anchor, counters
        )
        log.check()
        if choose and anchor < 0 and not store.header["directed"]:
            anchor = largest(tree)
        while anchor >= 0 and tree[anchor] != anchor:
            anchor = int(tree[anchor])


def largest(tree: np.ndarray) -> int:
    """The root of the tree that most of some positions are in; -1 where it holds fewer than one in SHARE of them."""
    roots = np.unique(np.linspace(0, max(len(tree) - 1, 0), min(len(tree), SAMPLES)).astype(np.int64))
    while ((above := tree[roots]) != roots).any():
        roots = above
    values, counts = np.unique(roots, return_counts=True)
    return int(values[counts.argmax()]) if len(values) and counts.max() * SHARE >= len(roots) else -1


def components(store: Store, memory: int, log: Log, ahead: int | None = None) -> dict[str, Any]:
    """The smallest vertex number of every vertex's component, int32 by vertex number."""
    n = store.num_vertices
    number = None if store.by_number else np.full(n, -1, np.int32)
    tree, _ = join(store, memory - (BYTES - 4) * n, log, ahead, number)
    if number is None:
        return {"label": tree}
    for first, ids in store.order(np.flatnonzero(number[store.sections["out"].table["first"]] < 0).tolist()):
        number[first : first + len(ids)] = ids
    label = np.empty(n, np.int32)
    least, kernels = np.full(n, np.iinfo(np.int32).max, np.int32), cpu().kernels("layered")
    kernels.layered_least(n, 0, number, tree, least)
    kernels.layered_named(n, 0, number, tree, least, label)
    return {"label": label}


def labels_of(store: Store, tree: np.ndarray, own: Own) -> np.ndarray:
    """Of own rows, in the order of their positions, from the first position of each component."""
    here = tree[own.begin : own.end]
    if store.by_number:
        return here
    least, kernels = np.full(len(tree), np.iinfo(np.int32).max, np.int32), cpu().kernels("layered")
    for first, ids in store.order():
        kernels.layered_least(len(ids), first, ids, tree, least)
    return least[here]
