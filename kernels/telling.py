"""What a rank says to the others of contributions that changed and of vertices that it marked: twins of telling.cu.

listed         index dtype: own vertices that may have changed, each once
x              float64 per slot: contributions
told           float64 per own vertex: contributions as the other ranks know them
held           uint8, shape (size, owned): whether a rank needs to know of an own vertex; its own row does not count
shifts         int64 per rank: the first slot that own vertices have there
bounds         int64, shape (size + 1,): slots from bounds[k] to bounds[k + 1] - 1 are of rank (rank + k) % size
counts         64-bit integers: how many contributions go to each rank, then how many changed; or how many marks
next           the same, where the next one goes: in `vertex` and `contribution`, and of those that changed in `last`
vertex         index dtype: slots of the rank that is told, what goes to each rank side by side
contribution   float64, in the same places; of a mark -1
affected       uint8 per slot: whether a vertex is marked; no more where its owner is told
slots          index dtype: of what is told in an order that both sides know
"""

import numpy as np

from graphdask.kernels.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def telling_count(n, listed, x, told, held, owned, size, rank, counts):
    for i in range(n):
        v = listed[i]
        if x[v] != told[v]:
            counts[size] += 1
            for r in range(size):
                if r != rank and held[r, v]:
                    counts[r] += 1


@twin
def telling_fill(n, listed, x, told, held, shifts, owned, size, rank, next, vertex, contribution, last):
    for i in range(n):
        v = listed[i]
        now = x[v]
        if now == told[v]:
            continue
        for r in range(size):
            if r != rank and held[r, v]:
                vertex[next[r]] = shifts[r] + v
                contribution[next[r]] = now
                next[r] += 1
        last[next[size]] = v
        next[size] += 1
        told[v] = now


@twin
def telling_marks_count(n, affected, bounds, size, rank, counts):
    """Here n is the number of slots."""
    for k in range(1, size):
        found = 0
        for u in range(bounds[k], bounds[k + 1]):
            found += affected[u]
        counts[(rank + k) % size] += np.uint64(found)


@twin
def telling_marks(n, affected, bounds, size, rank, next, vertex, contribution):
    """Here n is the number of slots."""
    for k in range(1, size):
        at = np.int64(next[(rank + k) % size])
        for u in range(bounds[k], bounds[k + 1]):
            if affected[u]:
                affected[u] = 0
                vertex[at] = u - bounds[k]
                contribution[at] = -1.0
                at += 1
        next[(rank + k) % size] = at


@twin
def telling_take(n, vertex, contribution, x, affected):
    for i in range(n):
        if contribution[i] == -1.0:
            affected[vertex[i]] = 1
        else:
            x[vertex[i]] = contribution[i]


@twin
def telling_gather(n, slots, x, contribution):
    for i in range(n):
        contribution[i] = x[slots[i]]


@twin
def telling_put(n, slots, contribution, x):
    for i in range(n):
        x[slots[i]] = contribution[i]
