"""Betweenness from up to 64 sources at once: twins of betweenness.cu.

A source is a lane: bit b of a mask, column b of a table but `value`. Tables are float64, row-major, `lanes` columns.
Masks are uint8 or uint64.

seen    mask per slot: lanes that have reached the vertex; of a ghost, those that its owner has sent so far
bits    uint32 words, a bit per slot: whether the vertex is in the frontier, in any lane
frontier  mask per slot: lanes in which the vertex is in the frontier, so 0 if its bit is not set. The CUDA kernels read
        the bitmap first, because their caches hold it; for the twins that makes no difference
shown   mask of the lanes that `value` has a column for: those with vertices in the frontier, and maybe more
value   table over slots, its columns those of `shown` in order: what a vertex of the frontier gives its neighbours; 0
        in the lanes that are not in its mask
sigma   table over own vertices: numbers of shortest paths
delta   table over own vertices: dependencies

edges   float64 per out-edge: the paths that lead over it. `bc_gather` adds to it where the field is not None; on GPUs
        `bc_edges` does. Products of a row and a column go into four sums, columns c, c + 4, c + 8, ... into one, and
        these are added in a fixed order, so that both kinds of kernels give the same bits for the same values

Rows are in order of ids, so the sums are too; of parallel edges, which stand side by side, one counts.
The CUDA kernels defer rows of more than `hub` edges to other launches (`*_hubs`): they list them in `hubs`, or in
chunks. Of each chunk, `chunks` has its row's place in the list and its number within the row, and `partial` its sums.
On a CPU there is nothing to balance: they have no twins, and those of `bc_sum_hubs` and `bc_edges` do nothing.
"""

import numpy as np

from graphdask.kernels.betweenness.betweenness_pack import Lanes
from graphdask.kernels.common.bitmap import set_bit
from graphdask.kernels.common.twin import twin, within

MACROS = [{"index_t": i, "mask_t": m} for i in ("int", "long long") for m in ("unsigned char", "unsigned long long")]

_0, _1 = np.uint64(0), np.uint64(1)


@twin
def _columns(shown):
    """How many lanes are shown, and which these are, in order."""
    lane_of, count = np.empty(64, np.int64), 0
    for b in range(64):
        if shown >> np.uint64(b) & _1:
            lane_of[count] = b
            count += 1
    return count, lane_of


@twin
def bc_reach(n, rows, masks, a: Lanes):
    """Find the lanes that reach each row through a neighbour in the frontier; list those and the unfinished rows.

    `alive` is the mask of the lanes that have vertices in the frontier, on any rank.
    """
    reached, remaining, edges, out_edges, lanes_reached = a.counters.found, a.counters.left, 0, 0, _0
    for i in range(n):
        v = rows[i]
        want = a.alive & ~np.uint64(a.seen[v])
        got = _0
        first, last = a.indptr[v], a.indptr[v + 1]
        e = first
        while e < last and got != want:
            got |= np.uint64(a.frontier[a.indices[e]]) & want
            e += 1
        edges += e - first
        if got != _0:
            a.seen[v] |= got
            a.queue[reached] = v
            masks[reached] = got
            reached += 1
            lanes_reached |= got
            edges += last - first
            out_edges += a.out_indptr[v + 1] - a.out_indptr[v]
        if got != want:
            a.left[remaining] = v
            remaining += 1
    a.counters.found, a.counters.left = reached, remaining
    a.counters.edges += edges
    a.counters.out_edges += out_edges
    a.counters.lanes |= np.int64(lanes_reached)


@within
def _product(one, other, count):
    """The sum of the products of two rows, in the order that is said above."""
    first = second = third = fourth = 0.0
    whole = count & -4
    for c in range(0, whole, 4):
        first += one[c] * other[c]
        second += one[c + 1] * other[c + 1]
        third += one[c + 2] * other[c + 2]
        fourth += one[c + 3] * other[c + 3]
    if whole < count:
        first += one[whole] * other[whole]
    if whole + 1 < count:
        second += one[whole + 1] * other[whole + 1]
    if whole + 2 < count:
        third += one[whole + 2] * other[whole + 2]
    return (first + second) + (third + fourth)


@twin
def bc_gather(n, rows, masks, a: Lanes):
    """Sum the values of the neighbours in the frontier into the rows of `out`, in the lanes of the row's mask."""
    count, lane_of = _columns(a.shown)
    column_of, sums = np.full(64, count, np.int64), np.zeros(count + 1)  # behind the columns: nothing
    paths = np.zeros(count)
    for c in range(count):
        column_of[lane_of[c]] = c
    for i in range(n):
        v, mask = rows[i], np.uint64(masks[i])
        first, last = a.indptr[v], a.indptr[v + 1]
        sums[:] = 0.0
        if a.edges is not None:
            for c in range(count):
                paths[c] = a.sigma[v, lane_of[c]] if mask >> np.uint64(lane_of[c]) & _1 else 0.0
        for e in range(first, last):
            u = a.indices[e]
            common = np.uint64(a.frontier[u]) & mask
            if common == _0 or (e > first and a.indices[e - 1] == u):
                continue
            if common & (common - _1) == _0:  # one lane
                b = 0
                while common != _1:
                    common >>= _1
                    b += 1
                c = column_of[b]
                sums[c] += a.value[u, c]
                if a.edges is not None:
                    a.edges[e] += paths[c] * a.value[u, c]
            else:  # adding the zeros of the other lanes is faster than looking for the ones that are not
                row = a.value[u]
                for c in range(count):
                    sums[c] += row[c]
                if a.edges is not None:
                    a.edges[e] += _product(paths, row, count)
        for b in range(a.lanes):
            if mask >> np.uint64(b) & _1:
                a.out[v, b] = sums[column_of[b]]


@twin
def bc_sum_hubs(n, rows, masks, a: Lanes):
    pass


@twin
def bc_edges(n, rows, a: Lanes):
    pass


@twin
def bc_show_paths(n, rows, masks, sigma, lanes, shown, bits, frontier, value):
    """Put the rows into the frontier with their numbers of paths."""
    count, lane_of = _columns(shown)
    for i in range(n):
        v, mask = rows[i], np.uint64(masks[i])
        set_bit(bits, v)
        frontier[v] = mask
        for c in range(count):
            b = lane_of[c]
            value[v, c] = sigma[v, b] if mask >> np.uint64(b) & _1 else 0.0


@twin
def bc_show_dependencies(n, rows, masks, sigma, delta, lanes, shown, last, score, bits, frontier, value):
    """Finish the dependencies of a level, add them to the score, and put the rows into the frontier with their values.

    `delta` holds the sums over successors; of the last level (last != 0) there are none.
    """
    count, lane_of = _columns(shown)
    for i in range(n):
        v, mask = rows[i], np.uint64(masks[i])
        set_bit(bits, v)
        frontier[v] = mask
        total = 0.0
        for c in range(count):
            b = lane_of[c]
            if mask >> np.uint64(b) & _1:
                dependency = 0.0 if last else sigma[v, b] * delta[v, b]
                total += dependency
                value[v, c] = (1.0 + dependency) / sigma[v, b]
            else:
                value[v, c] = 0.0
        score[v] += total


@twin
def bc_arrive(n, slots, masks, values, count, bits, frontier, value, seen):
    """Put the slots into the frontier with the masks and values that their owners sent; `values` is None if these sent
    none, and `masks` if there is one lane."""
    for i in range(n):
        slot, mask = slots[i], frontier.dtype.type(1)
        if masks is not None:
            mask = masks[i]
        set_bit(bits, slot)
        frontier[slot] = mask
        seen[slot] |= mask
        if values is not None:
            for c in range(count):
                value[slot, c] = values[i, c]
