"""Messages of a rank to the others about changed contributions and marked vertices: twins of dynamic_messages.cu.

count          64-bit integer: how many are listed, as in dynamic.py
bounds         int64, shape (size + 1,): slots from bounds[k] to bounds[k + 1] - 1 are of rank (rank + k) % size
counts         64-bit integers: how many contributions go to each rank, then how many changed; or words of marks
next           the same, where the next one goes: in `vertex` and `contribution`, and of those that changed in `last`
vertex         index dtype: slots of the receiving rank, the entries for each rank side by side; of marks -1 - w if they
               are those of the slots 64 * w + 0 to 63
contribution   float64, in the same places; of marks the bits of a 64-bit word, the lowest of the first slot
affected       uint8 per slot: whether a vertex is marked; cleared once its owner is notified
slots          index dtype: those of the contributions that are sent in an order that both sides know
"""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.dynamic.dynamic_messages_pack import ChangedContributions

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def dynamic_messages_count(n, count, listed, x, reported, held, owned, size, rank, counts):
    for i in range(min(n, np.int64(count[0]))):
        v = listed[i]
        if x[v] != reported[v]:
            counts[size] += 1
            for r in range(size):
                if r != rank and held[r, v]:
                    counts[r] += 1


@twin
def dynamic_messages_fill(n, a: ChangedContributions):
    for i in range(n):
        v = a.listed[i]
        now = a.x[v]
        if now == a.reported[v]:
            continue
        for r in range(a.size):
            if r != a.rank and a.held[r, v]:
                a.vertex[a.next[r]] = a.shifts[r] + v
                a.contribution[a.next[r]] = now
                a.next[r] += 1
        a.last[a.next[a.size]] = v
        a.next[a.size] += 1
        a.reported[v] = now


@twin
def dynamic_messages_marks_count(n, affected, bounds, size, rank, counts):
    """Here n is the number of slots."""
    for k in range(1, size):
        found = 0
        for first in range(bounds[k], bounds[k + 1], 64):
            some = 0
            for u in range(first, min(first + 64, bounds[k + 1])):
                some |= affected[u]
            found += some
        counts[(rank + k) % size] += np.uint64(found)


@twin
def dynamic_messages_marks(n, affected, bounds, size, rank, next, vertex, contribution):
    """Here n is the number of slots."""
    words = contribution.view(np.uint64)
    for k in range(1, size):
        at = np.int64(next[(rank + k) % size])
        for first in range(bounds[k], bounds[k + 1], 64):
            word = np.uint64(0)
            for u in range(first, min(first + 64, bounds[k + 1])):
                word |= np.uint64(affected[u]) << np.uint64(u - first)
                affected[u] = 0
            if word:
                vertex[at], words[at] = -1 - (first - bounds[k]) // 64, word
                at += 1
        next[(rank + k) % size] = at


@twin
def dynamic_messages_take(n, vertex, contribution, x, affected):
    words = contribution.view(np.uint64)
    for i in range(n):
        if vertex[i] >= 0:
            x[vertex[i]] = contribution[i]
            continue
        first, word = 64 * (-1 - np.int64(vertex[i])), words[i]
        while word:
            if word & np.uint64(1):
                affected[first] = 1
            first += 1
            word >>= np.uint64(1)


@twin
def dynamic_messages_gather(n, slots, x, contribution):
    for i in range(n):
        contribution[i] = x[slots[i]]


@twin
def dynamic_messages_put(n, slots, contribution, x):
    for i in range(n):
        x[slots[i]] = contribution[i]
