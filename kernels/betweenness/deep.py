"""Betweenness of deep graphs by one rank of a CPU: many levels, each of few vertices, in one call.

Sums, lanes and tables are those of betweenness.py, with the same bits. A level is found by its predecessors' edges, and
its vertices then sum the paths of their neighbours in the frontier. Levels stand one after the other in a queue, which
the way back reads from its end. There is no CUDA kernel of it: GPUs go through levels together (betweenness_team.cu).
"""

import numpy as np

from graphdask.kernels.betweenness.deep_pack import Deep
from graphdask.kernels.common.bitmap import set_bit, u64
from graphdask.kernels.common.lowest_bit import lowest_bit
from graphdask.kernels.common.twin import inlined, twin

_0, _1 = np.uint64(0), np.uint64(1)


@inlined
def _of_neighbours(v, lane, indptr, indices, frontier, table):
    """Sum the table's values in a lane of the neighbours in the frontier; parallel edges count once."""
    total, before, mine = 0.0, np.int64(-1), _1 << lane
    for e in range(u64(indptr[v]), u64(indptr[v + u64(1)])):
        u = u64(indices[e])
        value = table[u, lane]
        total += value if (np.uint64(frontier[u]) & mine != _0) & (np.int64(u) != before) else 0.0
        before = np.int64(u)
    return total


@twin
def deep_forward(n, most, bound, a: Deep):
    """Search on from the n vertices that stand in the queue, through at most `most` levels.

    It ends behind a level with more than `bound` edges out of it, or with more than the queue has places for, and where
    no vertex is found. `bounds[k]` is where level k begins; level 0 is that of the given vertices. Their edges fit into
    the queue.
    """
    begin, end, levels, edges = u64(0), u64(n), 0, np.int64(0)
    out_edges, lanes = np.int64(0), _0
    a.bounds[0], a.bounds[1] = 0, n
    while levels < most and out_edges <= bound and np.int64(end) + out_edges <= a.queue.size:
        count = end
        for i in range(begin, end):
            u, mask = u64(a.queue[i]), np.uint64(a.masks[i])
            first, behind = u64(a.indptr[u]), u64(a.indptr[u + u64(1)])
            edges += np.int64(behind - first)
            for e in range(first, behind):
                w = u64(a.indices[e])
                new = mask & ~np.uint64(a.seen[w])
                if new != _0:
                    a.seen[w] |= new
                    if a.found[w] == 0:
                        a.queue[count] = w
                        count += u64(1)
                    a.found[w] |= new
        if count == end:
            break
        out_edges, lanes = np.int64(0), _0
        for i in range(end, count):
            w = u64(a.queue[i])
            out_edges += a.indptr[w + u64(1)] - a.indptr[w]
            left = a.masks[i] = np.uint64(a.found[w])
            a.found[w] = 0
            lanes |= left
            while left != _0:
                lane = lowest_bit(left)
                left &= left - _1
                a.sigma[w, lane] = _of_neighbours(w, lane, a.in_indptr, a.in_indices, a.frontier, a.sigma)
        for i in range(begin, end):
            a.frontier[u64(a.queue[i])] = 0
        for i in range(end, count):
            a.frontier[u64(a.queue[i])] = a.masks[i]
        begin, end = end, count
        levels += 1
        a.bounds[levels + 1] = end
    a.counters.levels, a.counters.listed, a.counters.edges = levels, end, edges
    a.counters.out_edges, a.counters.lanes = out_edges, np.int64(lanes)


@twin
def deep_backward(n, rows, masks, lanes, levels, lowest, a: Deep):
    """Go back over `levels` levels of the queue, from the n rows of the level above, which is shown in `lanes`.

    Add dependencies to the score, and show what the lowest level gives in its lanes, `lowest`.
    """
    for i in range(n):
        v, mask = u64(rows[i]), np.uint64(masks[i])
        a.bits[v >> u64(5)] = 0
        column, left = 0, np.uint64(lanes)
        while left != _0:
            lane = lowest_bit(left)
            left &= left - _1
            if mask >> lane & _1:
                a.given[v, lane] = a.above[v, column]
            column += 1
    edges = np.int64(0)
    for level in range(levels - 1, -1, -1):
        begin, end = u64(a.bounds[level]), u64(a.bounds[level + 1])
        for i in range(begin, end):
            v, mask, total = u64(a.queue[i]), np.uint64(a.masks[i]), 0.0
            edges += a.indptr[v + u64(1)] - a.indptr[v]
            while mask != _0:
                lane = lowest_bit(mask)
                mask &= mask - _1
                dependency = a.sigma[v, lane] * _of_neighbours(v, lane, a.indptr, a.indices, a.frontier, a.given)
                total += dependency
                a.given[v, lane] = (1.0 + dependency) / a.sigma[v, lane]
            a.score[v] += total
        if level == levels - 1:
            for i in range(n):
                a.frontier[u64(rows[i])] = 0
        else:
            for i in range(end, u64(a.bounds[level + 2])):
                a.frontier[u64(a.queue[i])] = 0
        for i in range(begin, end):
            a.frontier[u64(a.queue[i])] = a.masks[i]
    for i in range(u64(a.bounds[0]), u64(a.bounds[1])):
        v, mask = u64(a.queue[i]), np.uint64(a.masks[i])
        set_bit(a.bits, v)
        column, left = 0, np.uint64(lowest)
        while left != _0:
            lane = lowest_bit(left)
            left &= left - _1
            a.value[v, column] = a.given[v, lane] if mask >> lane & _1 else 0.0
            column += 1
    a.counters.edges = edges
