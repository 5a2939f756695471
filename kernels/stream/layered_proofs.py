"""What a CPU looks for in the rows of chunks to prove core numbers, strong components and triangles.

Rows are given as in layered_rows.py; neighbours that are the same stand beside each other.
"""

from graphdask.kernels.common.twin import twin
from graphdask.kernels.stream.layered_counters import FOUND, LOOKED, WORKED


@twin
def rows_at_least(n, first, indptr, targets, core, left):
    """How many neighbours of the same core number or more a row has: `left`, int32 per position."""
    for row in range(n):
        u = first + row
        for e in range(indptr[row], indptr[row + 1]):
            v = targets[e]
            if v != u and (e == indptr[row] or targets[e - 1] != v) and core[v] >= core[u]:
                left[u] += 1


@twin
def rows_peel(n, first, low, high, indptr, targets, active, core, left, counters):
    """Remove active rows: neighbours of the same core number have one less left, and go once that is the number."""
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
    """How many edges from other labels arrive at each: `arriving`, int64 by label."""
    for row in range(n):
        u = first + row
        for e in range(indptr[row], indptr[row + 1]):
            v = targets[e]
            if label[u] != label[v]:
                arriving[label[v]] += 1


@twin
def rows_leave(n, first, low, high, indptr, targets, active, label, arriving, gone, counters):
    """Take out active rows, whose labels no edge arrives at any more, with their edges; of labels at which the last one
    arrived, the row that it led to becomes active."""
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
    """How many distinct neighbours rows have, in either direction; `mark`, uint8 per position, is and stays 0."""
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
    """Count the distinct edges between neighbours of up to 32 vertices: bit k of `near`, uint32 per position, says who
    is a neighbour of the k-th, and `found`, int64, has a number for each."""
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
