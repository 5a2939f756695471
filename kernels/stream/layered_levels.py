"""Level-synchronous search over chunks, along edges of the length 1 that stand at both ends, as a CPU does it.

level    uint8 per position: the depth, or UNREACHED, or ALONE
above    int32 per position: the position of the vertex before, of those that are reached
number   int32 per position: its vertex number

The vertex before is the neighbour of the smallest number that is one nearer. Ends stand in the order of their numbers,
so a row that pulls takes the first; of those that push to a row the smallest stays.
"""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.stream.layered_counters import ALONE, UNREACHED

u64 = np.uint64


@twin
def levels_pull(n, begin, first, indptr, targets, level, above, depth):
    """Reach rows, from `begin` on, from who is at a depth; how many, and the edges looked at.

    Others may reach rows of theirs meanwhile: these become of the next depth, which nobody looks for.
    """
    found, looked, wanted = 0, 0, np.uint8(depth)
    for row in range(begin, begin + n):
        u = u64(first + row)
        if level[u] != UNREACHED:
            continue
        start, last = u64(indptr[row]), u64(indptr[row + 1])
        if start == last:
            level[u] = ALONE
            continue
        e = start
        while e < last and level[u64(targets[e])] != wanted:
            e += u64(1)
        looked += np.int64(e - start)
        if e < last:
            level[u], above[u] = depth + 1, targets[e]
            found, looked = found + 1, looked + 1
    return found, looked


@twin
def levels_push(n, first, indptr, targets, number, level, above, depth):
    """Reach whoever has an edge to a row at a depth; how many, and the edges looked at."""
    found, looked = 0, 0
    for row in range(n):
        u = u64(first + row)
        if level[u] != depth:
            continue
        start, last = u64(indptr[row]), u64(indptr[row + 1])
        looked += np.int64(last - start)
        for e in range(start, last):
            v = u64(targets[e])
            if level[v] == UNREACHED:
                level[v], above[v] = depth + 1, np.int32(u)
                found += 1
            elif level[v] == depth + 1 and number[u] < number[u64(above[v])]:
                above[v] = np.int32(u)
    return found, looked


@twin
def levels_unpack(n, number, level, above, depth, parent):
    """Depths and parents by vertex number, -1 where unreached."""
    for u in range(n):
        v = u64(number[u])
        reached = level[u] < ALONE
        depth[v] = level[u] if reached else -1
        parent[v] = number[u64(above[u])] if reached else -1
