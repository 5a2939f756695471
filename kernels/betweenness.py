"""Betweenness from up to 64 sources at once: twins of betweenness.cu.

A source is a lane: bit b of a mask, column b of a table. Tables are float64, row-major, `lanes` columns.

seen    uint64 per own vertex: lanes that have reached it
front   uint64 per slot: lanes in which the vertex is of the level that is being looked at
fresh   uint64 per own vertex: lanes that reach it now
value   table over slots: what a vertex of the front gives its neighbours; 0 in the lanes that are not in its mask
sigma   table over own vertices: numbers of shortest paths
delta   table over own vertices: dependencies
counters int64: vertices reached, rows left, rows of many edges, edges looked at

Rows are in order of ids, so the sums are too; of parallel edges, which stand side by side, one counts.
"""

import numpy as np

from graphdask.kernels.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]

_0, _1 = np.uint64(0), np.uint64(1)


@twin
def bc_reach(n, rows, indptr, indices, front, full, seen, fresh, queue, left, counters):
    """Find the lanes that reach each row through a neighbour in the front; list those and the unfinished rows."""
    reached, remaining, edges = counters[0], counters[1], 0
    for i in range(n):
        v = rows[i]
        want = full & ~seen[v]
        got = _0
        e, last = indptr[v], indptr[v + 1]
        edges -= e
        while e < last and got != want:
            got |= front[indices[e]] & want
            e += 1
        edges += e
        if got != _0:
            fresh[v] = got
            seen[v] |= got
            queue[reached] = v
            reached += 1
        if got != want:
            left[remaining] = v
            remaining += 1
    counters[0], counters[1] = reached, remaining
    counters[3] += edges


@twin
def bc_gather(n, rows, masks, indptr, indices, front, value, lanes, out, hubs, counters):
    """Sum the values of the neighbours in the front into the rows of `out`, in the lanes of the row's mask."""
    edges = 0
    sums = np.zeros(lanes)
    for i in range(n):
        v, mask = rows[i], masks[i]
        first, last = indptr[v], indptr[v + 1]
        edges += last - first
        sums[:] = 0.0
        for e in range(first, last):
            u = indices[e]
            common = front[u] & mask
            if common == _0 or (e > first and indices[e - 1] == u):
                continue
            if common & (common - _1) == _0:  # one lane
                b = 0
                while common != _1:
                    common >>= _1
                    b += 1
                sums[b] += value[u, b]
            else:  # adding the zeros of the other lanes is faster than looking for the ones that are not
                row = value[u]
                for b in range(lanes):
                    sums[b] += row[b]
        for b in range(lanes):
            if mask >> np.uint64(b) & _1:
                out[v, b] = sums[b]
    counters[3] += edges


@twin
def bc_gather_hubs(n, rows, masks, indptr, indices, front, value, lanes, out, hubs, counters):
    pass


@twin
def bc_show_paths(n, rows, masks, sigma, lanes, front, value):
    """Put the rows into the front with their numbers of paths."""
    for i in range(n):
        v, mask = rows[i], masks[i]
        front[v] = mask
        for b in range(lanes):
            value[v, b] = sigma[v, b] if mask >> np.uint64(b) & _1 else 0.0


@twin
def bc_show_dependencies(n, rows, masks, sigma, delta, lanes, last, first, score, front, value):
    """Finish the dependencies of a level, add them to the score, and put the rows into the front with what they give.

    `delta` holds the sums over successors; of the last level (last != 0) there are none. The sources (first != 0) do
    not score.
    """
    for i in range(n):
        v, mask = rows[i], masks[i]
        front[v] = mask
        total = 0.0
        for b in range(lanes):
            if mask >> np.uint64(b) & _1:
                dependency = 0.0 if last else sigma[v, b] * delta[v, b]
                total += dependency
                value[v, b] = (1.0 + dependency) / sigma[v, b]
            else:
                value[v, b] = 0.0
        if not first:
            score[v] += total


@twin
def bc_clear(n, slots, front):
    """Take the slots out of the front."""
    for i in range(n):
        front[slots[i]] = _0


@twin
def bc_count(n, masks, counters):
    """Add the number of lanes in the masks to counters[0]."""
    total = 0
    for i in range(n):
        mask = masks[i]
        while mask != _0:
            mask &= mask - _1
            total += 1
    counters[0] += total
