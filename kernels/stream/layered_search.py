"""A search over rows that stay in the host's memory: the twin of layered_search.cu, level by level.

n        number of positions
firsts   int64 per chunk: the position of its first row; rows are in the order of positions
begins   int64 per chunk: number of edges in the chunks that precede it
bases    64 bits per chunk: the address of the targets of its edges, or 0 if the chunk is not in memory. Targets are
         int32 positions by row, and each row is in the order of vertex numbers. They begin and end at multiples of 16
         bytes
ends     uint32, n + 1: number of edges of all rows that precede this one, modulo 2^32
ids      index dtype per position: the vertex number; None (a null pointer) if positions are vertex numbers
pulls    whether rows also are those of in-edges, so that an unreached vertex can search for its parent
labels   int64 per position: a distance times 2^32 plus the number of the predecessor; the largest value if unreached
queues   index dtype: two queues of the size in the next argument, for the positions of a level, by level modulo 2
hubs     index dtype, one entry per row of more than 4,096 edges
state    64-bit integers. ARRIVED: arrivals of blocks at the barrier, 0 at first. DEPTH: the next level. LISTED: whether
         the positions of that level are in their queue. LEFT: edges of the vertices that are not at an earlier level.
         WORKED, LOOKED, SECTORS: rows processed, edges scanned, sectors of 32 bytes read. By level modulo 3: FOUND and
         EDGES, the number of vertices found and of their edges; HUBS, the number of rows that are listed, and MISSING,
         whether a chunk was not in memory, both 0 at first
asked    64-bit integers per chunk: whether one of its rows was requested

The launch must be cooperative. It ends when no vertex is at a level, or when a chunk is missing. If it is launched
again with that chunk, it repeats the level; what was done before does not change. If a level is pushed, each label is
the lowest one that is offered. If it is pulled, each label comes from the first neighbour in the row and is the same.
"""

import ctypes

import numpy as np

MACROS = [{"index_t": "int"}]
ARRIVED, DEPTH, LISTED, LEFT, WORKED, LOOKED, SECTORS, FOUND, EDGES, HUBS, MISSING = *range(8), 10, 13, 16
STATE = 19


def ends_of(row, chunks, firsts, begins, bases, ends, asked):
    """Return the targets of the edges of a row, or None if its chunk is not in memory."""
    chunk = np.searchsorted(firsts[:chunks], row, side="right") - 1
    asked[chunk] = 1
    if not bases[chunk]:
        return None
    begin = (int(ends[row]) - int(begins[chunk])) % 2**32
    count = (int(ends[row + 1]) - int(ends[row])) % 2**32
    return np.frombuffer((ctypes.c_int32 * count).from_address(int(bases[chunk]) + 4 * begin), np.int32)


def layered_search(
    n, chunks, firsts, begins, bases, ends, ids, pulls, labels, queues, room, hubs, state, asked
):  # fmt: skip
    degrees = (ends[1:] - ends[:-1]).astype(np.int64)
    while True:
        depth = int(state[DEPTH])
        front = np.flatnonzero(labels >> 32 == depth)
        if not len(front):
            return
        state[FOUND + depth % 3], state[EDGES + depth % 3] = len(front), degrees[front].sum()
        missing = False
        for row in front[degrees[front] > 0]:
            to = ends_of(row, chunks, firsts, begins, bases, ends, asked)
            if to is None:
                missing = True
                continue
            offered = np.int64(depth + 1) << 32 | np.int64(row if ids is None else ids[row])
            labels[to] = np.minimum(labels[to], offered)
            state[WORKED] += np.uint64(1)
            state[LOOKED] += np.uint64(degrees[row])
        state[MISSING + depth % 3] = missing
        if missing:
            return
        state[DEPTH] += np.uint64(1)
