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
from graphdask.kernels.common.prefetch import prefetch
from graphdask.kernels.common.tuning import LONG_ROW, LONG_ROW_MARK
from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
AHEAD = 32
"""How many vertices ahead of its turn a processor is to fetch the first neighbour of one that a pull looks for, and
twice as many ahead where that stands."""
FEW = 256
"""Vertices that are listed at a time."""


@twin
def _weight(indptr, v):
    v = u64(v)
    edges = indptr[v + u64(1)] - indptr[v]
    return edges + LONG_ROW_MARK if edges > LONG_ROW else edges


@twin
def _turn(here, unvisited, a: Search):
    a.after[:] = 0
    a.after.here, a.after.unvisited = here, unvisited


@twin
def _settle(own, found, level, a: Search):
    """Set depth and bit of own vertices; return their weight."""
    weight = np.int64(0)
    for i in range(own):
        v = found[i]
        a.depth[v] = level
        set_bit(a.seen, v)
        weight += _weight(a.out_indptr, v)
    return weight


@twin
def bfs_start(n, sources, a: Search):
    """Reach the sources, distinct slots of own vertices, and make them the frontier."""
    for i in range(n):
        a.parent[sources[i]] = a.ids[sources[i]]
        a.own_queue[i] = sources[i]
    a.counters.weight += _settle(n, sources, np.int64(0), a)
    _turn(n, np.int64(0), a)


@twin
def _push(count, frontier, own_queue, own, ghost, a: Search):
    """Queue what the frontier reaches behind what there is; return the lengths of the queues and the scanned edges."""
    edges = 0
    for i in range(count):
        u = frontier[i]
        first, last, by = a.indptr[u], a.indptr[u + 1], a.ids[u]
        edges += last - first
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
    return own, ghost, edges


@twin
def bfs_push(n, frontier, turn, a: Search):
    """Give the smallest id of the frontier to what it reaches, and queue it; n is not below the frontier's length."""
    own, ghost, edges = _push(a.counters.here, frontier, a.own_queue, a.counters.next, a.counters.ghosts, a)
    a.counters.next, a.counters.ghosts = own, ghost
    a.counters.edges += edges


@twin
def bfs_settle(n, level, a: Search):
    """Set depth and bit of what a push has queued, and sum the edges of the own vertices."""
    for i in range(a.counters.ghosts):
        v = a.ghost_queue[i]
        a.depth[v] = level
        set_bit(a.seen, v)
    a.counters.weight += _settle(a.counters.next, a.own_queue, level, a)
    _turn(a.counters.next, np.int64(0), a)


@twin
def bfs_visit(n, slots, parents, level, a: Search):
    """Take in what other ranks reached in this level; own vertices that are new join the frontier."""
    own = a.counters.here
    for i in range(n):
        v, before = slots[i], a.parent[slots[i]]
        if (a.depth[v] != -1 and a.depth[v] != level) or -1 < before <= parents[i]:
            continue
        a.parent[v] = parents[i]
        if before == -1:
            a.depth[v] = level
            set_bit(a.seen, v)
            if v < a.owned:
                a.own_queue[own] = v
                own += 1
    a.counters.here = own


@twin
def _all_reached(a: Search):
    left = 0
    for i in range(a.num_targets):
        left += a.depth[a.targets[i]] < 0
    return left == 0


@twin
def bfs_levels(n, frontier, own_queue, level, most, bound, alpha, floor, unexplored, a: Search):
    """Push level after level: at least one, at most `most`.

    It ends after a level that finds nothing, or more vertices or weight than `bound`, or more than `floor` and 1/alpha
    of the edges that are left, or the last of the targets. The queues change places after each; what the last level
    found is in `own_queue` if `levels` is odd.
    """
    done, edges, visited, count = 0, 0, 0, a.counters.here
    while True:
        level += 1
        visited += count
        done += 1
        count, _, _ = _push(count, frontier, own_queue, np.int64(0), np.int64(0), a)
        weight = _settle(count, own_queue, level, a)
        if count == 0 or done == most or count > bound or weight > bound:
            break
        if weight > floor and weight * alpha > unexplored:
            break
        if a.num_targets and _all_reached(a):
            break
        edges += weight
        unexplored -= weight
        frontier, own_queue = own_queue, frontier
    a.counters.next, a.counters.edges, a.counters.weight = count, edges, weight
    a.counters.levels, a.counters.visited = done, visited
    _turn(count, np.int64(0), a)


@twin
def bfs_unvisited(n, a: Search):
    """List the vertices 0 .. n-1 that have edges and are not reached."""
    count, begin = u64(a.counters.unvisited), a.indptr[0]
    some = np.empty(FEW, a.left.dtype)
    for first in range(u64(0), u64(n), u64(FEW)):
        found = u64(0)
        for v in range(first, min(first + u64(FEW), u64(n))):  # half of them: a branch would be guessed wrong often
            some[found] = v
            end = a.indptr[v + u64(1)]
            found += u64((end > begin) & (not has_bit(a.seen, v)))
            begin = end
        for i in range(found):
            a.left[count + i] = some[i]
        count += found
    a.counters.unvisited = count


@twin
def _id(slot, a: Search):
    """Return the id of the vertex that a slot is of; -2 - position if that of a ghost does not follow from it."""
    mine = slot < a.owned
    if mine and not a.plain:
        return a.ids[slot]
    position = a.first + (a.ghosts[slot - a.owned] if a.few and not mine else slot)
    if position >= a.vertices:
        position -= a.vertices
    return position if a.plain else -2 - position


@twin
def bfs_pull(n, unvisited, level, a: Search):
    """Reach the unvisited vertices that have an in-neighbour in `seen`; list the others in `left`.

    Rows are in ascending order of vertex id, so the first such neighbour has the smallest id. `n` is not below the
    number of the unvisited.
    """
    own, remaining, edges, length = u64(a.counters.next), u64(a.counters.left), u64(0), u64(a.counters.unvisited)
    weight = np.int64(0)
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
            a.depth[v] = level
            a.parent[v] = _id(a.indices[e], a)
            weight += _weight(a.out_indptr, v)
            a.own_queue[own] = v
            own += u64(1)
        else:
            a.left[remaining] = v
            remaining += u64(1)
    a.counters.next, a.counters.left = own, remaining
    a.counters.edges += np.int64(edges)
    a.counters.weight += weight


@twin
def bfs_mark(n, a: Search):
    """Set the bits of what a pull has found."""
    for i in range(a.counters.next):
        set_bit(a.seen, a.own_queue[i])
    _turn(a.counters.next, a.counters.left, a)
