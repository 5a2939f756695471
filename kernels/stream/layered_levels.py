"""Level-synchronous search over chunks on a CPU, along edges of length 1 that both ends store.

level    uint8 per position: the depth, or UNREACHED, or ALONE
above    int32 per position: the position of the predecessor, if the position is reached
number   int32 per position: its vertex number

The predecessor is the neighbour with the smallest number among those that are one level nearer. Targets are in the
order of their numbers, so a row that pulls takes the first one; of the rows that push to a row the smallest is kept.
"""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.stream.layered_levels_values import ALONE, UNREACHED

u64 = np.uint64


@twin
def levels_pull(n, begin, first, indptr, targets, level, above, depth):
    """Reach rows, from `begin` on, from vertices at `depth`; return how many were reached and how many edges scanned.

    Other threads may reach their own rows at the same time. Such rows get the next depth, which no thread searches for.
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
    """Reach the neighbours of rows at `depth`; return how many were reached and how many edges were scanned."""
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
    """Store depths and parents by vertex number, -1 if unreached."""
    for u in range(n):
        v = u64(number[u])
        reached = level[u] < ALONE
        depth[v] = level[u] if reached else -1
        parent[v] = number[u64(above[u])] if reached else -1
