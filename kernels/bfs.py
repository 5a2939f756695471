"""Breadth-first search, push and pull: twins of bfs.cu.

depth    index dtype per slot, -1 where not reached yet
parent   index dtype per slot, the smallest id among the vertices of the level before that reach it; the largest
         integer while there is none
         (bfs_pull writes -2 - slot instead of an id)
front    uint32 words, a bit per slot: the vertices of the level before
counters int64: own queue length, ghost queue length (pull: vertices left), hubs, edges looked at
The CUDA kernels put rows of many edges aside for a second launch (`*_hubs`); on a CPU there is nothing to balance, so
those twins do nothing.
"""

import numpy as np

from graphdask.kernels.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def bfs_push(n, frontier, indptr, indices, ids, depth, parent, level, owned, own_queue, ghost_queue, hubs, counters):
    own, ghost = counters[0], counters[1]
    edges = 0
    for i in range(n):
        u = frontier[i]
        first, last = indptr[u], indptr[u + 1]
        edges += last - first
        for e in range(first, last):
            v = indices[e]
            if depth[v] == -1:
                depth[v] = level
                parent[v] = ids[u]
                if v < owned:
                    own_queue[own] = v
                    own += 1
                else:
                    ghost_queue[ghost] = v
                    ghost += 1
            elif depth[v] == level and ids[u] < parent[v]:
                parent[v] = ids[u]
    counters[0], counters[1] = own, ghost
    counters[3] += edges


@twin
def bfs_push_hubs(n, indptr, indices, ids, depth, parent, level, owned, own_queue, ghost_queue, hubs, counters):
    pass


@twin
def bfs_visit(n, slots, parents, depth, parent, level, owned, own_queue, counters):
    own = counters[0]
    for i in range(n):
        v = slots[i]
        if depth[v] == -1:
            depth[v] = level
            if v < owned:
                own_queue[own] = v
                own += 1
        if depth[v] == level and parents[i] < parent[v]:
            parent[v] = parents[i]
    counters[0] = own


@twin
def bfs_weigh(n, vertices, indptr, counters):
    """Add the number of edges of the vertices to counters[0]."""
    edges = 0
    for i in range(n):
        edges += indptr[vertices[i] + 1] - indptr[vertices[i]]
    counters[0] += edges


@twin
def bfs_mark(n, slots, front):
    """Set the bits of the slots."""
    for i in range(n):
        front[slots[i] >> 5] |= np.uint32(1) << np.uint32(slots[i] & 31)


@twin
def bfs_unvisited(n, depth, indptr, left, counters):
    """List the vertices 0 .. n-1 that have edges and are not reached."""
    count = counters[1]
    for v in range(n):
        if depth[v] == -1 and indptr[v + 1] > indptr[v]:
            left[count] = v
            count += 1
    counters[1] = count


@twin
def bfs_pull(n, unvisited, indptr, indices, front, depth, parent, level, own_queue, left, hubs, counters):
    """Reach the unvisited vertices that have an in-neighbour in `front`; list the others in `left`.

    Rows are in ascending order of vertex id, so the first such neighbour has the smallest id.
    """
    own, remaining, edges = counters[0], counters[1], 0
    for i in range(n):
        v = unvisited[i]
        first, last = indptr[v], indptr[v + 1]
        e = first
        while e < last and not (front[indices[e] >> 5] >> np.uint32(indices[e] & 31)) & np.uint32(1):
            e += 1
        edges += e - first
        if e < last:
            edges += 1
            depth[v] = level
            parent[v] = -2 - indices[e]
            own_queue[own] = v
            own += 1
        else:
            left[remaining] = v
            remaining += 1
    counters[0], counters[1] = own, remaining
    counters[3] += edges


@twin
def bfs_pull_hubs(n, indptr, indices, front, depth, parent, level, own_queue, left, hubs, counters):
    pass


@twin
def bfs_check(n, indptr, indices, ids, depth, parent, witnessed, first_bad, hubs, counters):
    for u in range(n):
        if depth[u] < 0:
            continue
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if (depth[v] < 0 or depth[v] > depth[u] + 1) and e < first_bad[0]:
                first_bad[0] = e
            if depth[v] == depth[u] + 1 and parent[v] == ids[u]:
                witnessed[v] = 1


@twin
def bfs_check_hubs(n, indptr, indices, ids, depth, parent, witnessed, first_bad, hubs, counters):
    pass
