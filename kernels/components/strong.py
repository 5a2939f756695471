"""Strongly connected components: trimming, colours that spread, searches back to their roots. Twins of strong.cu.

count    index dtype per slot: own vertices, edges from vertices that are not done; ghosts, minus the edges to be
         taken off by their owners
queue    own vertices, appended to; where `rows` are its tail, a twin goes on with what it appends, and a CUDA kernel
         leaves that to the next launch

The CUDA kernels defer rows of many edges to a second launch (`*_hubs`), which has no twin.
"""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.components.strong_pack import Colours

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def strong_count(n, rows, a: Colours):
    """Add to the count of each row its edges to vertices that are not done, self-loops left out."""
    edges = 0
    for i in range(n):
        u = rows[i]
        found = 0
        for e in range(a.indptr[u], a.indptr[u + 1]):
            v = a.indices[e]
            if v != u and a.colour[v] >= 0:
                found += 1
        a.count[u] += found
        edges += a.indptr[u + 1] - a.indptr[u]
    a.counters.edges += edges


@twin
def strong_bare(n, rows, a: Colours):
    """Take out the rows whose count is 0: each is a component."""
    own = a.counters.queue
    for i in range(n):
        u = rows[i]
        if a.count[u] == 0:
            a.colour[u] = -1
            a.label[u] = a.ids[u]
            a.queue[own] = u
            own += 1
    a.counters.queue = own


@twin
def strong_trim(n, rows, a: Colours):
    """Take the edges of the rows off the counts of their neighbours, and those out that have none left."""
    own, ghosts, edges, i = a.counters.queue, a.counters.ghosts, 0, 0
    while i < n:
        u = rows[i]
        i += 1
        edges += a.indptr[u + 1] - a.indptr[u]
        for e in range(a.indptr[u], a.indptr[u + 1]):
            v = a.indices[e]
            before = a.count[v]
            a.count[v] = before - 1
            if v >= a.owned:
                if before == 0:
                    a.ghost_queue[ghosts] = v
                    ghosts += 1
            elif before == 1:
                a.colour[v] = -1
                a.label[v] = a.ids[v]
                a.queue[own] = v
                own += 1
                n += 1
    a.counters.queue, a.counters.ghosts = own, ghosts
    a.counters.followed += n
    a.counters.edges += edges


@twin
def strong_take(n, slots, values, a: Colours):
    """Add the (negative) values of other ranks to the counts of own vertices; take out those that have none left."""
    own = a.counters.queue
    for i in range(n):
        v = slots[i]
        if v >= a.owned:
            continue
        before = a.count[v]
        a.count[v] = before + values[i]
        if before > 0 and a.count[v] == 0:
            a.colour[v] = -1
            a.label[v] = a.ids[v]
            a.queue[own] = v
            own += 1
    a.counters.queue = own


@twin
def strong_lower(n, slots, values, a: Colours):
    """Take in the colours of other ranks; list the own vertices that have a smaller one now."""
    own = a.counters.queue
    for i in range(n):
        v = slots[i]
        if v < a.owned and values[i] < a.colour[v]:
            a.colour[v] = values[i]
            if a.stamp[v] != a.level:
                a.stamp[v] = a.level
                a.queue[own] = v
                own += 1
    a.counters.queue = own


@twin
def strong_spread(n, rows, a: Colours):
    """Lower the colours of neighbours to those of the rows; list ghosts once since level `base`.

    The rows are in the order of their colours, so the twin changes no vertex twice: it follows each colour to its end
    (`queue` is its stack) and leaves nothing for the next level. A CUDA kernel lists the vertices changed in `queue`.
    """
    ghosts, edges = a.counters.ghosts, 0
    for i in range(n):
        if a.stamp[rows[i]] == a.level:
            continue  # a smaller colour has been here
        a.queue[0] = rows[i]
        depth = 1
        a.stamp[rows[i]] = a.level
        c = a.colour[rows[i]]
        while depth:
            depth -= 1
            u = a.queue[depth]
            edges += a.indptr[u + 1] - a.indptr[u]
            for e in range(a.indptr[u], a.indptr[u + 1]):
                v = a.indices[e]
                if c < a.colour[v]:
                    a.colour[v] = c
                    if v < a.owned:
                        a.queue[depth] = v
                        depth += 1
                    elif a.stamp[v] < a.base:
                        a.ghost_queue[ghosts] = v
                        ghosts += 1
                    a.stamp[v] = a.level
    a.counters.queue, a.counters.ghosts = 0, ghosts
    a.counters.edges += edges


@twin
def strong_arrive(n, slots, a: Colours):
    """Own vertices that other ranks found to reach their root."""
    own = a.counters.queue
    for i in range(n):
        v = slots[i]
        if v < a.owned and a.colour[v] >= 0:
            a.label[v] = a.colour[v]
            a.colour[v] = -1
            a.queue[own] = v
            own += 1
    a.counters.queue = own


@twin
def strong_collect(n, rows, a: Colours):
    """Give the label of the rows to their neighbours of that colour."""
    own, ghosts, edges, i = a.counters.queue, a.counters.ghosts, 0, 0
    while i < n:
        u = rows[i]
        i += 1
        c = a.label[u]
        edges += a.indptr[u + 1] - a.indptr[u]
        for e in range(a.indptr[u], a.indptr[u + 1]):
            v = a.indices[e]
            if a.colour[v] != c:
                continue
            a.colour[v] = -1
            if v < a.owned:
                a.label[v] = c
                a.queue[own] = v
                own += 1
                n += 1
            else:
                a.ghost_queue[ghosts] = v
                ghosts += 1
    a.counters.queue, a.counters.ghosts = own, ghosts
    a.counters.followed += n
    a.counters.edges += edges


@twin
def strong_heads(n, rows, begins, indptr, indices, ids, heads):
    """Write the ids of the neighbours of rows[i] from heads[begins[i]] on."""
    for i in range(n):
        u = rows[i]
        for e in range(indptr[u], indptr[u + 1]):
            heads[begins[i] + e - indptr[u]] = ids[indices[e]]


@twin
def strong_components(n, indptr, indices, names, label):
    """Label the components of a whole graph with their smallest names; a negative index is no edge. On a CPU only.

    Tarjan, Depth-first search and linear graph algorithms (1972), without recursion.
    """
    number = np.zeros(n, np.int32)  # of the visit, from 1 on; 0: not visited
    low = np.zeros(n, np.int32)
    path = np.zeros(n, np.int32)  # vertices whose edges are being looked at
    at = np.zeros(n, np.int64)  # the next edge of each of them
    held = np.zeros(n, np.int32)  # visited vertices without a label
    visits, num_held = 0, 0
    for i in range(n):
        label[i] = -1
    for start in range(n):
        if number[start]:
            continue
        depth = 0
        entered = start
        while True:
            if entered >= 0:
                visits += 1
                number[entered] = low[entered] = visits
                path[depth] = held[num_held] = entered
                at[depth] = indptr[entered]
                depth += 1
                num_held += 1
                entered = -1
            u = path[depth - 1]
            e = at[depth - 1]
            if e < indptr[u + 1]:
                at[depth - 1] += 1
                v = indices[e]
                if v < 0:
                    continue
                if number[v] == 0:
                    entered = v
                elif label[v] < 0:
                    low[u] = min(low[u], number[v])
                continue
            depth -= 1
            if low[u] == number[u]:
                first = num_held - 1
                smallest = names[held[first]]
                while held[first] != u:
                    first -= 1
                    smallest = min(smallest, names[held[first]])
                for k in range(first, num_held):
                    label[held[k]] = smallest
                num_held = first
            if depth == 0:
                break
            low[path[depth - 1]] = min(low[path[depth - 1]], low[u])
