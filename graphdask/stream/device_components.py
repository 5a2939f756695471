"""Components of a store through a device: over rows where the host has them, or over chunks that stream.

In place most rows of an undirected graph are read no further than the first 32 bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.kernels.stream import layered_hooks as at
from graphdask.stream.in_place import RowsInPlace, possible
from graphdask.stream.on_device import COMPONENTS, Run, join, labelled, largest


def components(run: Run) -> dict[str, Any]:
    """The smallest vertex number of every vertex's component, int32 by vertex number, on the device."""
    run.require(COMPONENTS, "components")
    n = run.store.num_vertices
    link = run.xp.arange(n, dtype=np.int32)
    if n and not run.store.header["directed"] and possible(run, 12):
        _join_in_place(run, link)
    else:
        join(run, link)
    run.backend.kernels("components", index_t=np.int32).components_compress(n, link)
    ids = run.ids()
    return {"label": run.by_number(labelled(run, link, ids), ids)}


def _join_in_place(run: Run, link: Array) -> None:
    """Join the trees at both ends of every edge."""
    n, rows, words = len(link), RowsInPlace(run), np.zeros(at.STATE, np.uint64)
    kernels = run.backend.kernels("layered_hooks", index_t=np.int32)

    def first(state: Array, asked: Array) -> None:
        kernels.layered_hook_first(n, *rows.chunks, link, state, asked)

    def rest(state: Array, asked: Array) -> None:
        kernels.layered_hook_rest(32 * n, *rows.chunks, link, giant, state, asked)

    missing = slice(at.MISSING, at.STATE)
    words = rows.until_there(first, words, missing, [at.MISSING])
    giant = largest(run, link)
    words = rows.until_there(rest, words, missing, [at.MISSING])
    rows.settle(int(words[at.SECTORS]))
    run.log.sweep(int(words[at.WORKED]), int(words[at.LOOKED]))
