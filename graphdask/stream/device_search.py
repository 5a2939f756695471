"""Searches over a store whose chunks are all in the host's memory: a device reads the rows that it needs over the bus.

The host is asked for nothing but chunks that are not in its memory yet. In an undirected graph a level of many edges is
pulled: who is not reached looks for its first neighbour at that level, which is the one of the smallest number, and
most often in the first bytes of its row. So a fraction of the edges moves.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from graphdask.device.backend import Array
from graphdask.kernels.common.tuning import HUB
from graphdask.kernels.stream.layered_search_pack import COUNTS, SearchThere
from graphdask.stream.device_runs import Run
from graphdask.stream.in_place import RowsInPlace, possible

QUEUES = 4
"""The largest frontier that is listed has so many edges for each 32 vertices: lists take a byte per vertex."""


def _hubs(run: Run) -> int:
    """Rows of many edges, at most."""
    return run.store.sections["out"].num_edges // HUB + 1


def in_place(run: Run) -> bool:
    """Whether a search can be made so."""
    return possible(run, 17, 4 * _hubs(run))


def labels_in_place(run: Run, source: int, pulls: bool) -> tuple[Array, Array | None]:
    """Labels by position, as `graphdask.stream.paths` describes them, and vertex numbers by position.

    Parameters
    ----------
    pulls : bool
        Whether levels may be pulled, where rows are those of in-edges too.
    """
    n, xp, capacity, many = run.store.num_vertices, run.xp, run.store.num_vertices * QUEUES // 32 + 1, _hubs(run)
    rows, ids, pulls = RowsInPlace(run, 4 * many), run.ids(), pulls and not run.store.header["directed"]
    place = source if ids is None else int((ids == source).argmax())
    labels = xp.full(n, np.iinfo(np.int64).max, np.int64)
    labels[place] = source
    queues, hubs = xp.empty(2 * capacity, np.int32), xp.empty(many, np.int32)
    queues[0] = place
    at, words = COUNTS.place, np.zeros(len(COUNTS), np.int64)
    words[at.listed] = words[at.found.start] = 1
    words[at.left], words[at.edges.start] = rows.num_edges, rows.degrees[place]
    kernels = run.backend.kernels("layered_search", cooperative=True, index_t=np.int32)
    search = partial(kernels.layered_search, per_item=max(1, rows.num_edges // (4 * n)))
    pack = SearchThere(
        ids=ids, pulls=int(pulls), labels=labels, queues=queues, capacity=capacity, hubs=hubs, counters=run.sent(words),
        **rows.fields,
    )  # fmt: skip
    done = rows.until_there(search, n, pack, [at.arrived, at.hubs, at.missing])
    rows.settle(done.sectors)
    run.log.sweep(done.worked, done.looked)
    return labels, ids
