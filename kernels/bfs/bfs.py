"""Breadth-first search, push and pull: twins of bfs.cu.

depth    index dtype per slot, -1 where not reached yet
parent   index dtype per slot, the smallest id among the vertices of the level before that reach it; -1 while there is
         none (bfs_pull: -2 - position for a ghost whose id does not follow from its position)
seen     uint32 words, a bit per slot that is settled; constant in a push and in a pull. Neighbours of a vertex that is
         not reached are not settled or of the level before, so that in a pull these bits are the frontier.
The CUDA kernels defer rows of many edges to a second launch (`*_hubs`). They have no twins.
"""

import numpy as np

from graphdask.kernels.bfs.bfs_pack import Search
from graphdask.kernels.common.bitmap import has_bit, set_bit, u64
from graphdask.kernels.common.direction import is_pull_due
from graphdask.kernels.common.levels import all_reached, id_of, list_unset, row_weight
from graphdask.kernels.common.prefetch import prefetch
from graphdask.kernels.common.twin import inlined, twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
AHEAD = 32
"""How many vertices ahead of its turn a processor is to fetch the first neighbour of one that a pull looks for, and
twice as many ahead where that stands."""

_is_pull_due = inlined(is_pull_due)


@twin
def _settle(own, found, level, a: Search):
    """Set depth and bit of own vertices; return their weight. Those of level 0 are their own parents."""
    weight = np.int64(0)
    for i in range(own):
        v = found[i]
        a.depth[v] = level
        if level == 0:
            a.parent[v] = a.ids[v]
        set_bit(a.seen, v)
        weight += row_weight(a.out_indptr, v)
    return weight


@twin
def _push(count, frontier, own_queue, a: Search):
    """Queue what the frontier reaches behind what there is."""
    own, ghost = a.next.found, a.next.ghosts
    for i in range(count):
        u = frontier[i]
        first, last, by = a.indptr[u], a.indptr[u + 1], a.ids[u]
        a.next.edges += last - first
        for e in range(first, last):
            v = a.indices[e]
            if has_bit(a.seen, v):
                continue
            before = a.parent[v]
            if u64(by) < u64(before):  # -1 is the largest number without a sign
                a.parent[v] = by
                if before == -1:
                    if v < a.owned:
                        own_queue[own] = v
                        own += 1
                    else:
                        a.ghost_queue[ghost] = v
                        ghost += 1
    a.next.found, a.next.ghosts = own, ghost


@twin
def bfs_push(n, frontier, turn, a: Search):
    """Give the smallest id of the frontier to what it reaches, and queue it; n is not below the frontier's length."""
    _push(a.here.found, frontier, a.own_queue, a)


@twin
def bfs_settle(n, level, a: Search):
    """Set depth and bit of what is queued: by a push or a pull, or the sources; sum the edges of the own vertices."""
    for i in range(a.next.ghosts):
        v = a.ghost_queue[i]
        a.depth[v] = level
        set_bit(a.seen, v)
    a.next.weight += _settle(a.next.found, a.own_queue, level, a)
    a.next.visited = a.here.found
    a.here[:] = 0


@twin
def bfs_visit(n, slots, parents, level, universe, a: Search):
    """Take in what other ranks reached in this level; own vertices that are new join the frontier."""
    own = a.next.found
    for i in range(n):
        v = slots[i]
        if v < 0 or v >= universe:
            raise ValueError("an index was out of range")
        before = a.parent[v]
        if (a.depth[v] != -1 and a.depth[v] != level) or -1 < before <= parents[i]:
            continue
        a.parent[v] = parents[i]
        if before == -1:
            a.depth[v] = level
            set_bit(a.seen, v)
            if v < a.owned:
                a.own_queue[own] = v
                own += 1
                a.next.weight += row_weight(a.out_indptr, v)
    a.next.found = own


@twin
def bfs_levels(n, frontier, own_queue, level, most, bound, unexplored, a: Search):
    """Push level after level: at least one, at most `most`.

    It ends after a level that finds nothing, or more vertices or weight than `bound`, or before one that is to be
    pulled, or after the last of the targets. The queues change places after each; what the last level found is in
    `own_queue` if `levels` is odd.
    """
    count = a.here.found
    while True:
        level += 1
        a.next.levels += 1
        a.next.visited += count
        a.next.found = 0
        _push(count, frontier, own_queue, a)
        count = a.next.found
        weight = _settle(count, own_queue, level, a)
        if count == 0 or a.next.levels == most or count > bound or weight > bound:
            break
        if _is_pull_due(False, count, weight, 0.0, unexplored, a.vertices):
            break
        if a.num_targets and all_reached(a):
            break
        unexplored -= weight
        frontier, own_queue = own_queue, frontier
    a.next.weight = weight
    a.here[:] = 0


@twin
def bfs_unvisited(n, a: Search):
    """List the vertices 0 .. n-1 that have edges and are not reached."""
    a.next.left = list_unset(n, a.indptr, a.seen, a.left, a.next.left)


@twin
def bfs_pull(n, unvisited, a: Search):
    """Queue the unvisited vertices that have an in-neighbour in `seen`, their parent; list the others in `left`.

    Rows are in ascending order of vertex id, so the first such neighbour has the smallest id. `n` is not below the
    number of the unvisited.
    """
    own, remaining, edges, length = u64(a.next.found), u64(a.next.left), u64(0), u64(a.here.left)
    for i in range(length):
        if i + u64(2 * AHEAD) < length:
            prefetch(a.indptr, unvisited[i + u64(2 * AHEAD)])
        if i + u64(AHEAD) < length:
            prefetch(a.indices, a.indptr[u64(unvisited[i + u64(AHEAD)])])
        v = u64(unvisited[i])
        first, last = u64(a.indptr[v]), u64(a.indptr[v + u64(1)])
        e = first
        while e < last and not has_bit(a.seen, a.indices[e]):
            e += u64(1)
        edges += e - first
        if e < last:
            edges += u64(1)
            a.parent[v] = id_of(a.indices[e], a)
            a.own_queue[own] = v
            own += u64(1)
        else:
            a.left[remaining] = v
            remaining += u64(1)
    a.next.found, a.next.left = own, remaining
    a.next.edges += np.int64(edges)
