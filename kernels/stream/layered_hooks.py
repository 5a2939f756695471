"""Trees over rows that stay in the host's memory: twins of layered_hooks.cu.

n is the number of positions; in `layered_hook_rest` 32 per position. If a kernel is launched again with a chunk that
was missing, it repeats all rows; what was done before does not change.

`layered_hook_first` joins trees over the edges in the first sector of 32 bytes of each row, as it is in memory;
`layered_hook_rest` joins trees over the other edges.
"""

import numpy as np

from graphdask.kernels.common.twin import by_python
from graphdask.kernels.stream.layered_hooks_pack import TreesThere
from graphdask.kernels.stream.layered_search import ends_of

MACROS = [{"index_t": "int"}]


def _root(link, v):
    while link[v] != v:
        v = link[v]
    return v


@by_python
def _join(rows, a: TreesThere):
    for row in rows:
        to = ends_of(row, a)
        if to is None:
            a.counters.missing = 1
            continue
        a.counters.worked += 1
        a.counters.looked += len(to)
        for v in to:
            u, v = sorted((_root(a.link, row), _root(a.link, v)))
            a.link[v] = u


@by_python
def layered_hook_first(n, a: TreesThere):
    _join(np.flatnonzero(a.ends[1 : n + 1] != a.ends[:n]), a)


@by_python
def layered_hook_rest(n, a: TreesThere):
    largest = -1 if a.giant < 0 else _root(a.link, a.giant)
    _join([row for row in np.flatnonzero(a.ends[1:] - a.ends[:-1] > 1) if _root(a.link, row) != largest], a)
