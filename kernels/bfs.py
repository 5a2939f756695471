"""Breadth-first search, push: twins of bfs.cu.

depth    index dtype per slot, -1 where not reached yet
parent   index dtype per slot, the smallest id among the vertices of the level before that reach it; the largest
         integer while there is none
counters int64: own queue length, ghost queue length, hubs, edges looked at
The CUDA kernels put rows of many edges aside for a second launch (`*_hubs`); on a CPU there is nothing to balance, so
those twins do nothing.
"""

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
