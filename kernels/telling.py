"""What a rank says to the others of contributions that changed and of vertices that it marked: twins of telling.cu.

listed         index dtype: own vertices that may have changed, each once
ids            index dtype: the id of each own vertex
x              float64 per id: contributions
told           float64 per own vertex: contributions as the other ranks know them
held           uint8, shape (size, owned): whether a rank needs to know of an own vertex; its own row does not count
counts         64-bit integers: how many contributions go to each rank, then how many changed
next           the same, where the next one goes: in `vertex` and `contribution`, and of those that changed in `last`
vertex         index dtype: ids, of the contributions that go to each rank side by side
contribution   float64, in the same places
affected       uint8 per id: whether a vertex is marked
remote         uint8 per id: whether it is another rank's
marked         index dtype: the ids of those that are both, in no order; they are not affected any more

Of what is taken in, a contribution of -1 stands for a mark.
"""

from graphdask.kernels.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def telling_count(n, listed, ids, x, told, held, owned, size, rank, counts):
    for i in range(n):
        v = listed[i]
        if x[ids[v]] != told[v]:
            counts[size] += 1
            for r in range(size):
                if r != rank and held[r, v]:
                    counts[r] += 1


@twin
def telling_fill(n, listed, ids, x, told, held, owned, size, rank, next, vertex, contribution, last):
    for i in range(n):
        v = listed[i]
        now = x[ids[v]]
        if now == told[v]:
            continue
        for r in range(size):
            if r != rank and held[r, v]:
                vertex[next[r]] = ids[v]
                contribution[next[r]] = now
                next[r] += 1
        last[next[size]] = v
        next[size] += 1
        told[v] = now


@twin
def telling_marks_count(n, affected, remote, count):
    for u in range(n):
        if affected[u] and remote[u]:
            count[0] += 1


@twin
def telling_marks(n, affected, remote, marked, next):
    for u in range(n):
        if affected[u] and remote[u]:
            affected[u] = 0
            marked[next[0]] = u
            next[0] += 1


@twin
def telling_take(n, vertex, contribution, x, affected):
    for i in range(n):
        if contribution[i] == -1.0:
            affected[vertex[i]] = 1
        else:
            x[vertex[i]] = contribution[i]
