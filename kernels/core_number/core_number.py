"""Peeling a graph level by level: twins of core_number.cu.

degree   index dtype per own vertex: neighbours left, each once and without the vertex itself; of a vertex that is
         queued it is at most the level and counts no further
queue    own vertices in the order in which they are removed
lost     index dtype per slot: neighbours that a ghost has lost since its owner was last notified
counters int64: queue length, ghosts that lost neighbours, hubs, edges scanned, how much of the queue is done

Equal neighbours stand together in a row, so a parallel edge is one whose neighbour is that of the edge before it.
"""

from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def core_degrees(n, indptr, indices, degree, hubs, counters):
    """Take self-loops and repeated neighbours off the lengths of the rows, which `degree` holds."""
    for u in range(n):
        first, last = indptr[u], indptr[u + 1]
        fewer = 0
        for e in range(first, last):
            if indices[e] == u or (e > first and indices[e - 1] == indices[e]):
                fewer += 1
        degree[u] -= fewer


@twin
def core_degrees_hubs(n, indptr, indices, degree, hubs, counters):
    pass


@twin
def core_peel(n, head, queue, indptr, indices, level, degree, owned, lost, ghost_queue, hubs, counters):
    """Remove queue[head : head + n], and, on a CPU, what is queued by that."""
    tail, ghosts, edges = counters[0], counters[1], 0
    place = head
    while place < tail:
        u = queue[place]
        place += 1
        first, last = indptr[u], indptr[u + 1]
        edges += last - first
        for e in range(first, last):
            v = indices[e]
            if v == u or (e > first and indices[e - 1] == v):
                continue
            if v >= owned:
                if lost[v] == 0:
                    ghost_queue[ghosts] = v
                    ghosts += 1
                lost[v] += 1
            elif degree[v] > level:
                degree[v] -= 1
                if degree[v] == level:
                    queue[tail] = v
                    tail += 1
    counters[0], counters[1], counters[4] = tail, ghosts, place
    counters[3] += edges


@twin
def core_peel_hubs(n, head, queue, indptr, indices, level, degree, owned, lost, ghost_queue, hubs, counters):
    pass


@twin
def core_lose(n, slots, lost, level, degree, owned, queue, counters):
    tail = counters[0]
    for i in range(n):
        v = slots[i]
        if v < owned and degree[v] > level:
            degree[v] -= lost[i]
            if degree[v] <= level:
                queue[tail] = v
                tail += 1
    counters[0] = tail
