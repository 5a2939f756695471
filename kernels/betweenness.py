"""Betweenness from up to 64 sources at once: twins of betweenness.cu.

A source is a lane: bit b of a mask, column b of a table. Tables are float64, row-major, `lanes` columns. Masks are
uint8 or uint64.

seen    mask per own vertex: lanes that have reached it
bits    uint32 words, a bit per slot: whether the vertex is of the level that is being looked at, in any lane
front   mask per slot: in which lanes it is, so 0 where the bit is not set. The CUDA kernels ask the bitmap first, which
        their caches hold; to the twins that makes no difference
value   table over slots: what a vertex of the front gives its neighbours; 0 in the lanes that are not in its mask
sigma   table over own vertices: numbers of shortest paths
delta   table over own vertices: dependencies
counters int64: vertices reached, rows left, rows of more than `hub` edges, edges (of rows looked at, and all of rows
        reached), edges out of the vertices reached, chunks of hub / 2 edges

Rows are in order of ids, so the sums are too; of parallel edges, which stand side by side, one counts.
The CUDA kernels put rows of more than `hub` edges aside for other launches (`*_hubs`): in `hubs`, or in chunks. Of each
chunk, `chunks` has its row's place in the list and its number within the row, and `partial` its sums. On a CPU there is
nothing to balance, so those twins do nothing.
"""

import numpy as np

from graphdask.kernels.twin import twin

MACROS = [{"index_t": i, "mask_t": m} for i in ("int", "long long") for m in ("unsigned char", "unsigned long long")]

_0, _1 = np.uint64(0), np.uint64(1)


@twin
def _mark(bits, slot):
    bits[slot >> 5] |= np.uint32(1) << np.uint32(slot & 31)


@twin
def bc_reach(
    n, rows, indptr, indices, out_indptr, bits, front, lanes, full, seen, queue, masks, left, hub, hubs, counters
):
    """Find the lanes that reach each row through a neighbour in the front; list those and the unfinished rows."""
    reached, remaining, edges, out_edges = counters[0], counters[1], 0, 0
    for i in range(n):
        v = rows[i]
        want = full & ~np.uint64(seen[v])
        got = _0
        first, last = indptr[v], indptr[v + 1]
        e = first
        while e < last and got != want:
            got |= np.uint64(front[indices[e]]) & want
            e += 1
        edges += e - first
        if got != _0:
            seen[v] |= got
            queue[reached] = v
            masks[reached] = got
            reached += 1
            edges += last - first
            out_edges += out_indptr[v + 1] - out_indptr[v]
        if got != want:
            left[remaining] = v
            remaining += 1
    counters[0], counters[1] = reached, remaining
    counters[3] += edges
    counters[4] += out_edges


@twin
def bc_reach_hubs(
    n, rows, indptr, indices, out_indptr, bits, front, lanes, full, seen, queue, masks, left, hub, hubs, counters
):
    pass


@twin
def bc_gather(n, rows, masks, indptr, indices, bits, front, value, lanes, out, hub, chunks, partial, counters):
    """Sum the values of the neighbours in the front into the rows of `out`, in the lanes of the row's mask."""
    sums = np.zeros(lanes)
    for i in range(n):
        v, mask = rows[i], np.uint64(masks[i])
        first, last = indptr[v], indptr[v + 1]
        sums[:] = 0.0
        for e in range(first, last):
            u = indices[e]
            common = np.uint64(front[u]) & mask
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


@twin
def bc_gather_hubs(n, rows, masks, indptr, indices, bits, front, value, lanes, out, hub, chunks, partial, counters):
    pass


@twin
def bc_sum_hubs(n, rows, masks, indptr, indices, bits, front, value, lanes, out, hub, chunks, partial, counters):
    pass


@twin
def bc_show_paths(n, rows, masks, sigma, lanes, bits, front, value):
    """Put the rows into the front with their numbers of paths."""
    for i in range(n):
        v, mask = rows[i], np.uint64(masks[i])
        _mark(bits, v)
        front[v] = mask
        for b in range(lanes):
            value[v, b] = sigma[v, b] if mask >> np.uint64(b) & _1 else 0.0


@twin
def bc_show_dependencies(n, rows, masks, sigma, delta, lanes, last, score, bits, front, value):
    """Finish the dependencies of a level, add them to the score, and put the rows into the front with what they give.

    `delta` holds the sums over successors; of the last level (last != 0) there are none.
    """
    for i in range(n):
        v, mask = rows[i], np.uint64(masks[i])
        _mark(bits, v)
        front[v] = mask
        total = 0.0
        for b in range(lanes):
            if mask >> np.uint64(b) & _1:
                dependency = 0.0 if last else sigma[v, b] * delta[v, b]
                total += dependency
                value[v, b] = (1.0 + dependency) / sigma[v, b]
            else:
                value[v, b] = 0.0
        score[v] += total


@twin
def bc_arrive(n, slots, masks, values, lanes, bits, front, value):
    """Put the slots into the front with what their owners say."""
    for i in range(n):
        slot = slots[i]
        _mark(bits, slot)
        front[slot] = masks[i]
        for b in range(lanes):
            value[slot, b] = values[i, b]


@twin
def bc_lanes(n, masks, counters):
    """Add the number of lanes in the masks to counters[0]."""
    total = 0
    for i in range(n):
        mask = np.uint64(masks[i])
        while mask != _0:
            mask &= mask - _1
            total += 1
    counters[0] += total
