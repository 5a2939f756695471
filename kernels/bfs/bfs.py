"""Breadth-first search, push and pull: twins of bfs.cu.

depth    index dtype per slot, -1 where not reached yet
parent   index dtype per slot, the smallest id among the vertices of the level before that reach it; the largest
         integer while there is none
         (bfs_pull writes -2 - slot instead of an id)
seen     uint32 words, a bit per slot that is settled; constant in a push and in a pull. Neighbours of a vertex that is
         not reached are not settled or of the level before, so that in a pull these bits are the frontier.
counters int64, those of a superstep (`after` are those of the next one, which the last kernel of each makes ready):
         HERE       length of the frontier
         NEXT       length of the queue of the next level's own vertices
         GHOSTS     length of the queue of ghosts
         UNVISITED  vertices that a pull has to look for
         LEFT       those that it did not find
         HUBS       deferred rows, of each direction (2)
         EDGES      edges scanned; bfs_levels: except those of its first level
         WEIGHT     out-edges of the next level's own vertices, and LONG for each that has more than MANY
         LEVELS     levels that bfs_levels has gone through
         VISITED    vertices of all of them
         LISTED     entries listed by bfs_result
         CYCLE      bfs_levels: length and weight of what three levels find (6)
The CUDA kernels defer rows of many edges to a second launch (`*_hubs`). They have no twins.
"""

import numpy as np

from graphdask.kernels.bfs.bfs_pack import Search
from graphdask.kernels.common.bitmap import has_bit, set_bit, u64
from graphdask.kernels.common.prefetch import prefetch
from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
HERE, NEXT, GHOSTS, UNVISITED, LEFT, HUBS = 0, 1, 2, 3, 4, 5
EDGES, WEIGHT, LEVELS, VISITED, LISTED, CYCLE = 7, 8, 9, 10, 11, 12
COUNTERS = 18
AHEAD = 32
"""How many vertices ahead of its turn a processor is to fetch the first neighbour of one that a pull looks for, and
twice as many ahead where that stands."""
FEW = 256
"""Vertices that are listed at a time."""
MANY = 1024
LONG = 1 << 40


@twin
def _weight(indptr, v):
    v = u64(v)
    edges = indptr[v + u64(1)] - indptr[v]
    return edges + LONG if edges > MANY else edges


@twin
def _turn(after, here, left):
    after[:] = 0
    after[HERE], after[UNVISITED] = here, left


@twin
def bfs_init(n, depths, depth, parent, seen):
    """Nothing is reached; n is the number of slots, the first `depths` of which have a depth."""
    depth[:depths] = -1
    parent[:n] = np.iinfo(parent.dtype).max
    seen[: (n + 31) // 32] = 0


@twin
def bfs_start(n, sources, indptr, ids, depth, parent, seen, own_queue, counters, after):
    """Reach the sources, distinct slots of own vertices, and make them the frontier."""
    for i in range(n):
        v = sources[i]
        depth[v] = 0
        parent[v] = ids[v]
        set_bit(seen, v)
        own_queue[i] = v
        counters[WEIGHT] += _weight(indptr, v)
    _turn(after, n, np.int64(0))


@twin
def bfs_push(n, frontier, turn, a: Search):
    """Give the smallest id of the frontier to what it reaches, and queue it; n is not below the frontier's length."""
    own, ghost, none = a.counters[NEXT], a.counters[GHOSTS], np.iinfo(a.parent.dtype).max
    edges = 0
    for i in range(a.counters[HERE]):
        u = frontier[i]
        first, last, by = a.indptr[u], a.indptr[u + 1], a.ids[u]
        edges += last - first
        for e in range(first, last):
            v = a.indices[e]
            if has_bit(a.seen, v):
                continue
            before = a.parent[v]
            if by < before:
                a.parent[v] = by
                if before == none:
                    if v < a.owned:
                        a.own_queue[own] = v
                        own += 1
                    else:
                        a.ghost_queue[ghost] = v
                        ghost += 1
    a.counters[NEXT], a.counters[GHOSTS] = own, ghost
    a.counters[EDGES] += edges


@twin
def bfs_settle(n, own_queue, ghost_queue, indptr, depth, seen, level, counters, after):
    """Set depth and bit of what a push has queued, and sum the edges of the own vertices."""
    own = counters[NEXT]
    for i in range(own):
        v = own_queue[i]
        depth[v] = level
        set_bit(seen, v)
        counters[WEIGHT] += _weight(indptr, v)
    for i in range(counters[GHOSTS]):
        v = ghost_queue[i]
        depth[v] = level
        set_bit(seen, v)
    _turn(after, own, np.int64(0))


@twin
def _reach(v, by, depth, parent, seen, level):
    if (depth[v] != -1 and depth[v] != level) or by >= parent[v]:
        return False
    before = parent[v]
    parent[v] = by
    if before != np.iinfo(parent.dtype).max:
        return False
    depth[v] = level
    set_bit(seen, v)
    return True


@twin
def bfs_visit(n, slots, parents, depth, parent, seen, level, owned, own_queue, counters):
    """Take in what other ranks reached in this level; own vertices that are new join the frontier."""
    own = counters[HERE]
    for i in range(n):
        v = slots[i]
        if _reach(v, parents[i], depth, parent, seen, level) and v < owned:
            own_queue[own] = v
            own += 1
    counters[HERE] = own


@twin
def bfs_levels(n, frontier, own_queue, level, most, bound, alpha, floor, unexplored, a: Search):
    """Push level after level: at least one, at most `most`.

    It ends after a level that finds nothing, or more vertices or weight than `bound`, or more than `floor` and 1/alpha
    of the edges that are left. The queues change places after each; what the last level found is in `own_queue` if
    LEVELS is odd.
    """
    done, edges, visited, count = 0, 0, 0, a.counters[HERE]
    while True:
        found, weight = 0, 0
        level += 1
        for i in range(count):
            u = frontier[i]
            for e in range(a.indptr[u], a.indptr[u + 1]):
                v = a.indices[e]
                if _reach(v, a.ids[u], a.depth, a.parent, a.seen, level):
                    weight += _weight(a.indptr, v)
                    own_queue[found] = v
                    found += 1
        visited += count
        done += 1
        count = found
        if count == 0 or done == most or count > bound or weight > bound:
            break
        if weight > floor and weight * alpha > unexplored:
            break
        edges += weight
        unexplored -= weight
        frontier, own_queue = own_queue, frontier
    a.counters[NEXT], a.counters[EDGES], a.counters[WEIGHT] = count, edges, weight
    a.counters[LEVELS], a.counters[VISITED] = done, visited
    _turn(a.after, count, np.int64(0))


@twin
def bfs_unvisited(n, seen, indptr, left, counters):
    """List the vertices 0 .. n-1 that have edges and are not reached."""
    count, begin = u64(counters[UNVISITED]), indptr[0]
    some = np.empty(FEW, left.dtype)
    for first in range(u64(0), u64(n), u64(FEW)):
        found = u64(0)
        for v in range(first, min(first + u64(FEW), u64(n))):  # half of them: a branch would be guessed wrong often
            some[found] = v
            end = indptr[v + u64(1)]
            found += u64((end > begin) & (not has_bit(seen, v)))
            begin = end
        for i in range(found):
            left[count + i] = some[i]
        count += found
    counters[UNVISITED] = count


@twin
def bfs_pull(n, unvisited, level, left, a: Search):
    """Reach the unvisited vertices that have an in-neighbour in `seen`; list the others in `left`.

    Rows are in ascending order of vertex id, so the first such neighbour has the smallest id. `n` is not below the
    number of the unvisited.
    """
    own, remaining, edges, length = u64(a.counters[NEXT]), u64(a.counters[LEFT]), u64(0), u64(a.counters[UNVISITED])
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
            a.parent[v] = -2 - a.indices[e]
            weight += _weight(a.out_indptr, v)
            a.own_queue[own] = v
            own += u64(1)
        else:
            left[remaining] = v
            remaining += u64(1)
    a.counters[NEXT], a.counters[LEFT] = own, remaining
    a.counters[EDGES] += np.int64(edges)
    a.counters[WEIGHT] += weight


@twin
def bfs_mark(n, own_queue, seen, counters, after):
    """Set the bits of what a pull has found."""
    for i in range(counters[NEXT]):
        set_bit(seen, own_queue[i])
    _turn(after, counters[NEXT], counters[LEFT])


@twin
def bfs_result(n, depth, parent, ids, ghosts, few, owned, first, vertices, plain, listed, counters):
    """Make ids of the parents that a pull found, and -1 of those that there are not.

    Positions are ids if `plain`; else those of ghosts stay, as -2 - position, and their places are listed. With `few`,
    `ghosts` has the cyclic positions of the ghosts; else they are their slots.
    """
    count = counters[LISTED]
    for v in range(n):
        if depth[v] < 0:
            parent[v] = -1
        elif parent[v] < -1:
            slot = -2 - parent[v]
            position = first + (ghosts[slot - owned] if few and slot >= owned else slot)
            if position >= vertices:
                position -= vertices
            if plain:
                parent[v] = position
            elif slot < owned:
                parent[v] = ids[slot]
            else:
                parent[v] = -2 - position
                listed[count] = v
                count += 1
    counters[LISTED] = count
