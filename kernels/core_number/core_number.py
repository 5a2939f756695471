"""Peeling a graph level by level, and the correction of bounds: twins of core_number.cu.

Equal neighbours stand together in a row, so a parallel edge is one whose neighbour is that of the edge before it.

When the bound of a vertex falls, an own neighbour that is left has a neighbour less, and is to be checked if it then
has no more than the level. A neighbour that is removed is to be checked if the vertex counted for its bound and no
longer does.
"""

import numpy as np

from graphdask.kernels.common.twin import inlined, twin
from graphdask.kernels.core_number.core_number_pack import Peeling

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def core_degrees(n, a: Peeling):
    """Take self-loops and repeated neighbours off the lengths of the rows, which `degree` holds."""
    for u in range(n):
        first, last = a.indptr[u], a.indptr[u + 1]
        fewer = 0
        for e in range(first, last):
            if a.indices[e] == u or (e > first and a.indices[e - 1] == a.indices[e]):
                fewer += 1
        a.degree[u] -= fewer


@twin
def core_arrive(n, slots, bounds, a: Peeling):
    """Take in the bounds of ghosts that fell."""
    for i in range(n):
        a.before[slots[i]] = a.bound[slots[i]]
        a.bound[slots[i]] = bounds[i]


@inlined
def _check(v, old, new, again, a: Peeling):
    """Note that the bound of a neighbour of v fell from `old` to `new`; return how many vertices are to be checked."""
    if a.bound[v] == a.none:
        if old != a.none:
            return again
        a.degree[v] -= 1
        if a.degree[v] != a.level:
            return again
    elif a.marked[v] or a.bound[v] <= new or a.bound[v] > old:
        return again
    elif a.support[v] > a.bound[v]:
        a.support[v] -= 1
        return again
    a.marked[v] = 1
    a.again[again] = v
    return again + 1


@twin
def core_arrive_rows(n, slots, a: Peeling):
    """Find what must be checked because the bounds of ghosts fell."""
    again, edges = a.counters.again, 0
    for i in range(n):
        ghost = slots[i] - a.owned
        old, new = a.before[slots[i]], a.bound[slots[i]]
        first, last = a.ghost_ptr[ghost], a.ghost_ptr[ghost + 1]
        edges += last - first
        for e in range(first, last):
            again = _check(a.ghost_rows[e], old, new, again, a)
    a.counters.again = again
    a.counters.edges += edges


@twin
def core_settle(n, a: Peeling):
    """Check again[:n]: a bound becomes the largest k up to it and to the level for which k neighbours have bounds of k
    or more."""
    tail, fell, clock, edges = a.counters.queue, a.counters.fell, a.counters.clock, 0
    counts = np.zeros(64, np.int64)
    for i in range(n):
        u = a.again[i]
        a.marked[u] = 0
        old = a.bound[u]
        most = min(old, a.level)
        first, last = a.indptr[u], a.indptr[u + 1]
        enough, new = 0, most
        if old != a.none or a.degree[u] < most:  # else those that are left suffice, and who else counts is not known
            if most > len(counts):
                counts = np.zeros(2 * most, np.int64)
            edges += last - first
            for e in range(first, last):
                v = a.indices[e]
                if v != u and (e == first or a.indices[e - 1] != v):
                    if a.bound[v] >= most:
                        enough += 1
                    else:
                        counts[a.bound[v]] += 1
            while enough < new:
                new -= 1
                enough += counts[new]
            counts[:most] = 0
        a.support[u] = enough
        if new == old:
            continue
        if a.order[u] < a.now:
            a.queue[tail] = u
            tail += 1
        a.order[u] = a.now + clock
        clock += 1
        a.before[u], a.bound[u] = old, new
        a.fell[fell] = u
        fell += 1
    a.counters.queue, a.counters.fell, a.counters.clock = tail, fell, clock
    a.counters.edges += edges


@twin
def core_fall(n, a: Peeling):
    """Find what must be checked because the bounds of fell[:n] fell."""
    again, edges = a.counters.again, 0
    for i in range(n):
        u = a.fell[i]
        old, new = a.before[u], a.bound[u]
        first, last = a.indptr[u], a.indptr[u + 1]
        edges += last - first
        for e in range(first, last):
            v = a.indices[e]
            if v == u or v >= a.owned or (e > first and a.indices[e - 1] == v):
                continue
            again = _check(v, old, new, again, a)
    a.counters.again = again
    a.counters.edges += edges


@twin
def core_find(n, alive, a: Peeling):
    """Queue what of `alive` is left and has no more neighbours than the level; count the others."""
    tail, left, least, degrees = a.counters.queue, 0, a.counters.least, 0
    for i in range(n):
        v = alive[i]
        if a.bound[v] == a.none:
            if a.degree[v] <= a.level:
                a.queue[tail] = v
                tail += 1
            else:
                left += 1
                degrees += a.degree[v]
                least = min(least, a.degree[v])
    a.counters.queue, a.counters.least = tail, least
    a.counters.left += left
    a.counters.degrees += degrees


@inlined
def _peel(u, level, tail, a: Peeling):
    """Remove u; queue the neighbours that go by that, and return the length of the queue."""
    support = 0
    for e in range(a.indptr[u], a.indptr[u + 1]):
        v = a.indices[e]
        if v == u or a.bound[v] < level or (e > a.indptr[u] and a.indices[e - 1] == v):
            continue
        support += 1
        if v < a.owned and a.degree[v] > level:
            a.degree[v] -= 1
            if a.degree[v] == level:
                a.queue[tail] = v
                tail += 1
    a.support[u] = support
    return tail


@twin
def core_levels(n, last, a: Peeling):
    """Remove the vertices of the levels after `level` up to `last`, and count those that are left."""
    head = tail = a.counters.queue
    first_order = a.now + a.counters.clock - tail
    level, length, edges = a.level + 1, a.kept.length, 0
    while True:
        left, degrees, least = 0, 0, a.none
        for i in range(length):
            v = a.alive[i]
            if a.bound[v] != a.none:
                continue
            if a.degree[v] <= level:
                a.queue[tail] = v
                tail += 1
            else:
                a.alive[left] = v
                left += 1
                degrees += a.degree[v]
                least = min(least, a.degree[v])
        length = left
        if head == tail:
            if least > last:
                break
            level = least
            continue
        while head < tail:
            u = a.queue[head]
            a.bound[u], a.order[u] = level, first_order + head
            head += 1
            edges += a.indptr[u + 1] - a.indptr[u]
            tail = _peel(u, level, tail, a)
        level = min(level + 1, last)
    a.counters.queue, a.counters.left, a.counters.least, a.counters.degrees = tail, left, least, degrees
    a.counters.edges += edges
    a.kept.length = length
