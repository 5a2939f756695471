"""A search over rows that stay in the host's memory: the twin of layered_search.cu, level by level.

n        positions
firsts   int64 per chunk: the position of its first row; rows stand in order of positions
begins   int64 per chunk: edges of the chunks before it
bases    64 bits per chunk: the address of the ends of its edges, int32 positions by row, each row in the order of
         vertex numbers, from a multiple of 16 bytes up to one; 0 where it is not in memory
ends     uint32, n + 1: edges of all rows before this one, modulo 2^32
ids      index dtype per position: the vertex number; None (a null pointer) where positions are vertex numbers
pulls    whether rows are those of in-edges too, so that who is not reached may look for its parent
labels   int64 per position: a distance times 2^32 plus the number of the vertex before; the largest where unreached
queues   index dtype, twice `room`: positions that are at a level, by level modulo 2
hubs     index dtype, room for all rows of more than 4,096 edges
state    64-bit integers. ARRIVED, how often blocks met, is 0 at first; DEPTH, the level that is looked at next; LISTED,
         whether those at it are in their queue; LEFT, edges of those that are not at a level before it; what has been
         done: rows WORKED off, edges LOOKED at, SECTORS of 32 bytes read. By level modulo 3: how many were FOUND and
         their EDGES; HUBS, rows that are listed, and MISSING, whether a chunk was not in memory, which are 0 at first
asked    64-bit integers per chunk: whether a row of it was asked for

The launch must be cooperative. It ends when no vertex is at a level, or a chunk is missing: launched again with that
chunk, it does the level again, which changes nothing where it was done. Of a level that is pushed each label is the
lowest that is offered; of one that is pulled, the first in the row, which is that.
"""

import ctypes

import numpy as np

MACROS = [{"index_t": "int"}]
ARRIVED, DEPTH, LISTED, LEFT, WORKED, LOOKED, SECTORS, FOUND, EDGES, HUBS, MISSING = *range(8), 10, 13, 16
STATE = 19
HUB = 4096
"""Edges of a row from which on all blocks share it."""


def ends_of(row, chunks, firsts, begins, bases, ends, asked):
    """The ends of the edges of a row; None where its chunk is not in memory."""
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
