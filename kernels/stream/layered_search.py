"""A search over rows that stay in the host's memory: the twin of layered_search.cu, level by level.

n is the number of positions. The launch must be cooperative. It ends when no vertex is at a level, or when a chunk is
missing. If it is launched again with that chunk, it repeats the level; what was done before does not change. If a level
is pushed, each label is the lowest one that is offered. If it is pulled, each label comes from the first neighbour in
the row and is the same.
"""

import ctypes

import numpy as np

from graphdask.kernels.common.twin import by_python
from graphdask.kernels.stream.in_place_pack import RowsThere
from graphdask.kernels.stream.layered_search_pack import SearchThere

MACROS = [{"index_t": "int"}]


@by_python
def ends_of(row, a: RowsThere):
    """Return the targets of the edges of a row, or None if its chunk is not in memory."""
    chunk = np.searchsorted(a.firsts[: a.chunks], row, side="right") - 1
    a.asked[chunk] = 1
    if not a.bases[chunk]:
        return None
    begin = (int(a.ends[row]) - int(a.begins[chunk])) % 2**32
    count = (int(a.ends[row + 1]) - int(a.ends[row])) % 2**32
    return np.frombuffer((ctypes.c_int32 * count).from_address(int(a.bases[chunk]) + 4 * begin), np.int32)


@by_python
def layered_search(n, a: SearchThere):
    degrees = (a.ends[1:] - a.ends[:-1]).astype(np.int64)
    while True:
        depth = int(a.counters.depth)
        frontier = np.flatnonzero(a.labels >> 32 == depth)
        if not len(frontier):
            return
        a.counters.found[depth % 3], a.counters.edges[depth % 3] = len(frontier), degrees[frontier].sum()
        missing = False
        for row in frontier[degrees[frontier] > 0]:
            to = ends_of(row, a)
            if to is None:
                missing = True
                continue
            offered = np.int64(depth + 1) << 32 | np.int64(row if a.ids is None else a.ids[row])
            a.labels[to] = np.minimum(a.labels[to], offered)
            a.counters.worked += 1
            a.counters.looked += degrees[row]
        a.counters.missing[depth % 3] = missing
        if missing:
            return
        a.counters.depth += 1
