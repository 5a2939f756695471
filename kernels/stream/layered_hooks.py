"""Trees over rows that stay in the host's memory: twins of layered_hooks.cu.

n        number of positions; in `layered_hook_rest` 32 per position
link     index dtype per position: an earlier position of its tree, or itself
giant    a position: rows in its tree are skipped; -1: no rows are skipped
state    64-bit integers. WORKED, LOOKED, SECTORS: rows processed, edges scanned, sectors of 32 bytes read. MISSING:
         whether a chunk was missing. If a kernel is launched again with that chunk, it repeats all rows; what was done
         before does not change
chunks, firsts, begins, bases, ends, asked: as in layered_search.py

`layered_hook_first` joins trees over the edges in the first sector of 32 bytes of each row, as it is in memory;
`layered_hook_rest` joins trees over the other edges.
"""

import numpy as np

from graphdask.kernels.stream.layered_search import ends_of

MACROS = [{"index_t": "int"}]
WORKED, LOOKED, SECTORS, MISSING, STATE = range(5)
SECTOR = 8


def _root(link, v):
    while link[v] != v:
        v = link[v]
    return v


def _join(chunks, firsts, begins, bases, ends, link, state, asked, rows):
    for row in rows:
        to = ends_of(row, chunks, firsts, begins, bases, ends, asked)
        if to is None:
            state[MISSING] = 1
            continue
        state[WORKED] += np.uint64(1)
        state[LOOKED] += np.uint64(len(to))
        for v in to:
            a, b = sorted((_root(link, row), _root(link, v)))
            link[b] = a


def layered_hook_first(n, chunks, firsts, begins, bases, ends, link, state, asked):
    _join(chunks, firsts, begins, bases, ends, link, state, asked, np.flatnonzero(ends[1 : n + 1] != ends[:n]))


def layered_hook_rest(n, chunks, firsts, begins, bases, ends, link, giant, state, asked):
    largest = -1 if giant < 0 else _root(link, giant)
    rows = [row for row in np.flatnonzero(ends[1:] - ends[:-1] > 1) if _root(link, row) != largest]
    _join(chunks, firsts, begins, bases, ends, link, state, asked, rows)
