"""Moves of vertices to the neighbouring community of the largest gain: twins of communities.cu.

The gain of a community for a vertex is the weight that leads there, less share * sum of the other degrees in it, where
share is degree * scale: two roundings of float64, the same on every device. Weights are sums of integers. The own
community, and the empty one of the own number, count with a weight of 0 at least. On a CPU `total` has a place for each
community, and -1 where none was met; `keys` lists those that were met.
"""

import numpy as np

from graphdask.kernels.common.hash import GOLDEN
from graphdask.kernels.common.twin import by_python, twin
from graphdask.kernels.communities.communities_pack import Moves

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
NONE = np.iinfo(np.int64).max
_27, _30, _31, _32 = (np.uint64(bits) for bits in (27, 30, 31, 32))


@by_python
def communities_turns(n, key, rounds, active, numbers, turn, counts):
    """Find a round, 0 to `rounds` - 1 of at most 256, for each active vertex by the hash of its number with a key, and
    `rounds` for the others; add how many there are of each round to uint64 `counts`."""
    x = numbers[:n].astype(np.uint64) * GOLDEN + key
    x = (x ^ (x >> _30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> _27)) * np.uint64(0x94D049BB133111EB)
    its = (((x ^ (x >> _31)) >> _32) * np.uint64(rounds)) >> _32
    turn[:n] = np.where(active[:n], its, np.uint64(rounds))
    counts[:rounds] += np.bincount(turn[:n], minlength=rounds + 1)[:rounds].astype(np.uint64)


@twin
def communities_choose(n, scale, a: Moves):
    """Find the best community of each row; n is 32 for each."""
    for i in range(n // 32):
        u = a.rows[i]
        here, own = a.label[u], a.own[u]
        a.total[here] = 0
        a.keys[0] = here
        met = 1
        if own != here:
            a.total[own] = 0
            a.keys[1] = own
            met = 2
        for e in range(a.indptr[u], a.indptr[u + 1]):
            slot = a.indices[e]
            if slot == u or (a.refining and (a.outer[slot] != a.outer[u] or a.leaving[slot])):
                continue
            community = a.label[slot]
            if a.total[community] < 0:
                a.total[community] = 0
                a.keys[met] = community
                met += 1
            a.total[community] += a.weights[e]
        share = np.float64(a.degree[u]) * scale
        best, choice = -np.inf, NONE
        for k in range(met):
            community = a.keys[k]
            weight = np.float64(a.total[community])
            a.total[community] = -1
            if community == here:
                a.here[i] = weight - share * np.float64(a.sums[here] - a.degree[u])
                continue
            gain = weight - share * np.float64(a.sums[community])
            if gain > best or (gain == best and community < choice):
                best, choice = gain, community
        a.best[i], a.choice[i] = best, choice


@twin
def communities_move(n, least, a: Moves):
    """Let those of the n rows move that gain more than least * degree, or, when refining, lose nothing."""
    for i in range(n):
        choice = a.choice[i]
        if choice == NONE:
            continue
        u = a.rows[i]
        degree = a.degree[u]
        goes = a.best[i] >= a.here[i] if a.refining else a.best[i] > a.here[i] + np.float64(degree) * least
        if goes:
            a.change[choice] += degree
            a.change[a.label[u]] -= degree
            a.label[u] = choice
            a.changed[u] = 1
            a.counters.moved += 1


@twin
def communities_settle(n, a: Moves):
    """Sum the weights of the n edges within communities, and find the vertices with neighbours that moved."""
    inside = 0
    for e in range(n):
        row, slot = a.row_of[e], a.indices[e]
        if a.label[row] == a.label[slot]:
            inside += a.weights[e]
        if a.changed[slot]:
            a.active[row] = 1
    a.counters.inside += inside
