"""CPU kernels over the rows of chunks for the proof of core numbers, strong components and triangles.

Rows are given as in layered_rows.py; equal neighbours are adjacent.
"""

from graphdask.kernels.common.twin import twin
from graphdask.kernels.stream.layered_counters import FOUND, LOOKED, WORKED


@twin
def rows_at_least(n, first, indptr, targets, core, left):
    """Count the neighbours of each row that have at least its core number, in `left`, int32 per position."""
    for row in range(n):
        u = first + row
        for e in range(indptr[row], indptr[row + 1]):
            v = targets[e]
            if v != u and (e == indptr[row] or targets[e - 1] != v) and core[v] >= core[u]:
                left[u] += 1


@twin
def rows_peel(n, first, low, high, indptr, targets, active, core, left, counters):
    """Remove active rows.

    Each of their neighbours with the same core number has one less in `left`. It is removed too when `left` is its core
    number.
    """
    waiting = True
    while waiting:
        waiting = False
        for row in range(n):
            u = first + row
            if not active[u]:
                continue
            active[u] = 0
            counters[WORKED] += 1
            counters[LOOKED] += indptr[row + 1] - indptr[row]
            for e in range(indptr[row], indptr[row + 1]):
                v = targets[e]
                again = v == u or (e > indptr[row] and targets[e - 1] == v)
                if not again and core[v] == core[u] and left[v] > core[v]:
                    left[v] -= 1
                    if left[v] == core[v]:
                        active[v] = 1
                        counters[FOUND] += 1
                        waiting = waiting or first <= v < first + n


@twin
def rows_between(n, first, indptr, targets, label, arriving):
    """Count the edges that arrive at each label from other labels, in `arriving`, int64 by label."""
    for row in range(n):
        u = first + row
        for e in range(indptr[row], indptr[row + 1]):
            v = targets[e]
            if label[u] != label[v]:
                arriving[label[v]] += 1


@twin
def rows_leave(n, first, low, high, indptr, targets, active, label, arriving, gone, counters):
    """Remove active rows and their edges; no edge arrives at the labels of these rows any more.

    If the last edge that arrived at a label is removed, the row that it led to becomes active.
    """
    waiting = True
    while waiting:
        waiting = False
        for row in range(n):
            u = first + row
            if not active[u]:
                continue
            active[u], gone[u] = 0, 1
            counters[WORKED] += 1
            counters[LOOKED] += indptr[row + 1] - indptr[row]
            for e in range(indptr[row], indptr[row + 1]):
                v = targets[e]
                if label[u] != label[v]:
                    arriving[label[v]] -= 1
                    if arriving[label[v]] == 0:
                        active[v] = 1
                        counters[FOUND] += 1
                        waiting = waiting or first <= v < first + n


@twin
def rows_distinct(n, first, indptr, targets, back_indptr, back_targets, both, mark, degree):
    """Count the distinct neighbours of rows, ignoring direction; `mark`, uint8 per position, is and stays 0."""
    for row in range(n):
        u = first + row
        for way in range(2 if both else 1):
            heads, tails = (back_indptr, back_targets) if way else (indptr, targets)
            for e in range(heads[row], heads[row + 1]):
                if tails[e] != u and not mark[tails[e]]:
                    mark[tails[e]] = 1
                    degree[u] += 1
        for way in range(2 if both else 1):
            heads, tails = (back_indptr, back_targets) if way else (indptr, targets)
            for e in range(heads[row], heads[row + 1]):
                mark[tails[e]] = 0


@twin
def rows_among(n, first, indptr, targets, near, found):
    """Count the distinct edges between neighbours of each of up to 32 vertices.

    Bit k of `near`, uint32 per position, says whether a position is a neighbour of the k-th vertex. `found`, int64, has
    a count for each vertex.
    """
    for row in range(n):
        u = first + row
        if near[u] == 0:
            continue
        for e in range(indptr[row], indptr[row + 1]):
            v = targets[e]
            both = near[u] & near[v]
            if both == 0 or v == u or (e > indptr[row] and targets[e - 1] == v):
                continue
            for k in range(len(found)):
                found[k] += (both >> k) & 1
