"""CPU kernels over the rows of chunks for the proof of core numbers, strong components and triangles.

Equal neighbours are adjacent in a row.
"""

from graphdask.kernels.common.twin import twin
from graphdask.kernels.stream.active_rows import begin_row, wake
from graphdask.kernels.stream.chunk_pack import ChunkRows
from graphdask.kernels.stream.layered_rows_pack import WaitingRows, WholeRows


@twin
def rows_at_least(n, core, left, a: ChunkRows):
    """Count the neighbours of each row that have at least its core number, in `left`, int32 per position."""
    for row in range(n):
        u = a.first + row
        for e in range(a.indptr[row], a.indptr[row + 1]):
            v = a.targets[e]
            if v != u and (e == a.indptr[row] or a.targets[e - 1] != v) and core[v] >= core[u]:
                left[u] += 1


@twin
def rows_peel(n, core, left, a: WaitingRows):
    """Remove active rows.

    Each of their neighbours with the same core number has one less in `left`. It is removed too when `left` is its core
    number.
    """
    waiting = True
    while waiting:
        waiting = False
        for row in range(n):
            if not a.active[a.first + row]:
                continue
            u = begin_row(row, a)
            for e in range(a.indptr[row], a.indptr[row + 1]):
                v = a.targets[e]
                again = v == u or (e > a.indptr[row] and a.targets[e - 1] == v)
                if not again and core[v] == core[u] and left[v] > core[v]:
                    left[v] -= 1
                    if left[v] == core[v]:
                        a.counters.found += 1
                        waiting = wake(n, v, a) or waiting


@twin
def rows_between(n, label, arriving, a: ChunkRows):
    """Count the edges that arrive at each label from other labels, in `arriving`, int64 by label."""
    for row in range(n):
        u = a.first + row
        for e in range(a.indptr[row], a.indptr[row + 1]):
            v = a.targets[e]
            if label[u] != label[v]:
                arriving[label[v]] += 1


@twin
def rows_leave(n, label, arriving, gone, a: WaitingRows):
    """Remove active rows and their edges; no edge arrives at the labels of these rows any more.

    If the last edge that arrived at a label is removed, the row that it led to becomes active.
    """
    waiting = True
    while waiting:
        waiting = False
        for row in range(n):
            if not a.active[a.first + row]:
                continue
            u = begin_row(row, a)
            gone[u] = 1
            for e in range(a.indptr[row], a.indptr[row + 1]):
                v = a.targets[e]
                if label[u] != label[v]:
                    arriving[label[v]] -= 1
                    if arriving[label[v]] == 0:
                        a.counters.found += 1
                        waiting = wake(n, v, a) or waiting


@twin
def rows_distinct(n, mark, degree, a: WholeRows):
    """Count the distinct neighbours of rows, ignoring direction; `mark`, uint8 per position, is and stays 0."""
    for row in range(n):
        u = a.first + row
        for way in range(2 if a.both else 1):
            heads, tails = (a.back_indptr, a.back_targets) if way else (a.indptr, a.targets)
            for e in range(heads[row], heads[row + 1]):
                if tails[e] != u and not mark[tails[e]]:
                    mark[tails[e]] = 1
                    degree[u] += 1
        for way in range(2 if a.both else 1):
            heads, tails = (a.back_indptr, a.back_targets) if way else (a.indptr, a.targets)
            for e in range(heads[row], heads[row + 1]):
                mark[tails[e]] = 0


@twin
def rows_among(n, near, found, a: ChunkRows):
    """Count the distinct edges between neighbours of each of up to 32 vertices.

    Bit k of `near`, uint32 per position, says whether a position is a neighbour of the k-th vertex. `found`, int64, has
    a count for each vertex.
    """
    for row in range(n):
        u = a.first + row
        if near[u] == 0:
            continue
        for e in range(a.indptr[row], a.indptr[row + 1]):
            v = a.targets[e]
            both = near[u] & near[v]
            if both == 0 or v == u or (e > a.indptr[row] and a.targets[e - 1] == v):
                continue
            for k in range(len(found)):
                found[k] += (both >> k) & 1
