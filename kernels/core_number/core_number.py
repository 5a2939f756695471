"""Peeling a graph level by level: twins of core_number.cu.

Equal neighbours stand together in a row, so a parallel edge is one whose neighbour is that of the edge before it.
"""

from graphdask.kernels.common.twin import twin
from graphdask.kernels.core_number.core_number_pack import Peeling

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def core_degrees(n, a: Peeling):
    """Take self-loops and repeated neighbours off the lengths of the rows, which `degree` holds."""
    for u in range(n):
        first, last = a.indptr[u], a.indptr[u + 1]
        fewer = 0
        for e in range(first, last):
            if a.indices[e] == u or (e > first and a.indices[e - 1] == a.indices[e]):
                fewer += 1
        a.degree[u] -= fewer


@twin
def core_peel(n, head, a: Peeling):
    """Remove queue[head : head + n], and, on a CPU, what is queued by that."""
    tail, ghosts, edges = a.counters.queue, a.counters.ghosts, 0
    place = head
    while place < tail:
        u = a.queue[place]
        place += 1
        first, last = a.indptr[u], a.indptr[u + 1]
        edges += last - first
        for e in range(first, last):
            v = a.indices[e]
            if v == u or (e > first and a.indices[e - 1] == v):
                continue
            if v >= a.owned:
                if a.lost[v] == 0:
                    a.ghost_queue[ghosts] = v
                    ghosts += 1
                a.lost[v] += 1
            elif a.degree[v] > a.level:
                a.degree[v] -= 1
                if a.degree[v] == a.level:
                    a.queue[tail] = v
                    tail += 1
    a.counters.queue, a.counters.ghosts, a.counters.done = tail, ghosts, place
    a.counters.edges += edges


@twin
def core_lose(n, slots, times, a: Peeling):
    """Lower the degrees of own vertices by the number of neighbours that they lost on another rank."""
    tail = a.counters.queue
    for i in range(n):
        v = slots[i]
        if v < a.owned and a.degree[v] > a.level:
            a.degree[v] -= times[i]
            if a.degree[v] <= a.level:
                a.queue[tail] = v
                tail += 1
    a.counters.queue = tail
