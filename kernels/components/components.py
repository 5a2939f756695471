"""Connected components of one partition by hooking trees of slots: twins of components.cu.

link     index dtype per slot: a tree of slots, each pointing to a smaller one, roots to themselves; after
         components_compress straight to the root
label    index dtype per root slot: the smallest id of the tree's own vertices
"""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.components.components_pack import Meetings, Outside, Trees

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def _hook(link, a, b):
    """Join the trees of a and b; return the root of a."""
    while link[a] != a:
        link[a] = link[link[a]]
        a = link[a]
    while link[b] != b:
        link[b] = link[link[b]]
        b = link[b]
    if a < b:
        link[b] = a
        return a
    link[a] = b
    return b


@twin
def components_sample(n, indptr, indices, link, few):
    """Hook each of the rows 0 .. n-1 to its first `few` neighbours."""
    for u in range(n):
        a = np.int64(u)
        for e in range(indptr[u], min(indptr[u] + few, indptr[u + 1])):
            a = np.int64(_hook(link, a, np.int64(indices[e])))


@twin
def components_hook(n, rows, a: Trees):
    """Hook each of the rows to all of its neighbours."""
    for i in range(n):
        u = rows[i]
        root = np.int64(u)
        for e in range(a.indptr[u], a.indptr[u + 1]):
            if a.link[root] != a.link[a.indices[e]]:
                root = np.int64(_hook(a.link, root, np.int64(a.indices[e])))
        a.counters.edges += a.indptr[u + 1] - a.indptr[u]


@twin
def components_outside(n, a: Outside):
    """Queue the rows that are in another tree than `root` and have edges, in either direction."""
    for v in range(n):
        if a.link[v] != a.root and (a.indptr[v + 1] > a.indptr[v] or a.other_indptr[v + 1] > a.other_indptr[v]):
            a.rows[a.counters.rows] = v
            a.counters.rows += 1


@twin
def components_meet(n, a: Meetings):
    """List pairs of labels that ghosts show to be one component: this rank's label and the one that the owner sent.

    The labels of two giants make no pair, but set found[step] to 1.
    """
    for i in range(n):
        ghost = a.owned + i
        root = a.link[ghost]
        if root == ghost:  # no edge to it was scanned
            continue
        if a.label[root] == a.reported[i]:
            continue
        step = 1
        while ghost >= a.bounds[step + 1]:
            step += 1
        if a.label[root] == a.giants[0] and a.reported[i] == a.giants[step]:
            a.found[step] = 1
        else:
            a.here[a.counters.pairs] = a.label[root]
            a.there[a.counters.pairs] = a.reported[i]
            a.counters.pairs += 1


@twin
def components_rename(n, link, label, names, place, count):
    """Where a root's label is names[k], make it names[place[k]]; names ascend."""
    for v in range(n):
        if link[v] == v:
            k = np.searchsorted(names[:count], label[v])
            if k < count and names[k] == label[v]:
                label[v] = names[place[k]]


@twin
def components_pairs(n, a, b, link):
    """Hook a[i] to b[i]."""
    for i in range(n):
        _hook(link, np.int64(a[i]), np.int64(b[i]))


@twin
def components_compress(n, link):
    for v in range(n):
        at = link[v]
        while at != link[at]:
            at = link[at]
        link[v] = at


@twin
def components_label(n, ids, link, label):
    for v in range(n):
        if ids[v] < label[link[v]]:
            label[link[v]] = ids[v]


@twin
def components_witness(n, rows, indptr, indices, link, root, owned, reported, bounds, wanted, found):
    """Find edges from the tree `root` to ghosts whose label, as their owner sent it, is the one wanted for its step.

    Ghosts of the owner `step` ranks on stand from slot bounds[step] on; `reported` has the labels from slot `owned` on.
    found[step] becomes 1.
    """
    steps, missing = len(wanted), 0
    for step in range(1, steps):
        missing += int(wanted[step] >= 0 and found[step] == 0)
    for i in range(n):
        if missing == 0:
            return
        v = rows[i]
        if link[v] != root:
            continue
        for e in range(indptr[v], indptr[v + 1]):
            ghost = indices[e]
            if ghost < owned:
                continue
            step = 1
            while ghost >= bounds[step + 1]:
                step += 1
            if found[step] == 0 and reported[ghost - owned] == wanted[step]:
                found[step] = 1
                missing -= 1


@twin
def components_check(n, label, first_bad, a: Trees):
    for u in range(n):
        for e in range(a.indptr[u], a.indptr[u + 1]):
            if label[u] != label[a.indices[e]] and e < first_bad[0]:
                first_bad[0] = e
