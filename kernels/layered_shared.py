"""A layered edge list that several ranks share, each of which has the rows from `begin` to `end`: CPU only.

Arguments are those of layered.py. What falls beyond the own rows is marked, so that its owner is told; a label there is
the lowest that this rank has offered.
"""

import numpy as np

from graphdask.kernels.layered import LOOKED, NEAR, WORKED, _root, u64
from graphdask.kernels.twin import twin


@twin
def shared_relax(
    n, first, begin, end, indptr, ids, targets, weights, each, active, near, label, queue, counters
):  # fmt: skip
    """Let labels fall along the edges of active rows, until no row of the chunk is active; others are marked too where
    only the vertex before is another one."""
    size, head, waiting, mask = n, 0, 0, u64(each)
    for row in range(n):
        if active[first + row]:
            queue[waiting] = row
            waiting += 1
    while waiting:
        row = np.int64(queue[head])
        head = head + 1 if head + 1 < size else 0
        waiting -= 1
        u = first + row
        active[u] = False
        counters[WORKED] += 1
        d = label[u] >> 32
        id = np.int64(ids[row]) if len(ids) else u
        counters[LOOKED] += indptr[row + 1] - indptr[row]
        for e in range(u64(indptr[row]), u64(indptr[row + 1])):
            v, far = u64(targets[e]), d + np.int64(weights[e & mask])
            if near[v] < min(far, NEAR):
                continue
            new, old = far << 32 | id, label[v]
            if new < old:
                label[v] = new
                near[v] = far if far < NEAR else 255
                place = np.int64(v)
                if not active[v] and ((new >> 32) < (old >> 32) or place < begin or place >= end):
                    active[v] = True
                    place -= first
                    if 0 <= place < n:
                        tail = head + waiting
                        queue[tail if tail < size else tail - size] = place
                        waiting += 1


@twin
def shared_join(n, vertices, roots, tree):
    """Join the trees of pairs of positions."""
    for k in range(n):
        u, v = _root(tree, tree[u64(vertices[k])]), _root(tree, tree[u64(roots[k])])
        if u < v:
            tree[u64(v)] = u
        elif v < u:
            tree[u64(u)] = v
