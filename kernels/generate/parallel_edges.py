"""Twin of parallel_edges.cu: parallel edges of the copy model by hashing, found and drawn again.
 Edges of different vertices are never parallel: a vertex u is a target of later vertices only, and the edge
between u and v > u is one of v's. So they are found within the targets of one vertex.
 Draw number i of vertex v is the target of an edge of v like any other, but for its first step, which reads
hashes of (seed, v, i); the walk goes on over the edges as they were before anything was drawn again. Draws
that are among the vertex's targets are passed over, the others take the places of its repeated edges in their
order. After 32 * (degree // 4 + 1) draws, which only vertices near the clique or p near 0 need, the smallest
vertices that are no targets yet take the rest.
"""

import numpy as np

from graphdask.kernels.common.hash import DRAW_REDRAW, GOLDEN, hashed, inlined, key, multiply_high
from graphdask.kernels.common.twin import twin
from graphdask.kernels.generate.pa_walk import follow, model

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]

_FEW = 16
_1, _32 = np.uint64(1), np.uint64(32)


@inlined
def _insert(table, owner, row, target):
    """Put a target into the set of `row`, one of many in the same table; return whether it was not there."""
    last = len(table) - 1
    at = np.int64((np.uint64(target) * GOLDEN) >> _32) & last
    while owner[at] == row:
        if table[at] == target:
            return False
        at = (at + 1) & last
    owner[at] = row
    table[at] = target
    return True


@inlined
def _empty_table(degree):
    buckets = 64
    while buckets < 2 * degree:
        buckets *= 2
    return np.empty(buckets, np.int64), np.full(buckets, -1, np.int64)


@twin
def pa_repeats(n, degree, out):
    """Make -1 of every target that an earlier edge of its vertex has.

    `out` is int32 or int64, shape (n * degree,): the targets of n vertices.
    """
    if degree <= _FEW:
        for begin in range(0, n * degree, degree):
            for j in range(begin + 1, begin + degree):
                for i in range(begin, j):
                    if out[i] == out[j]:
                        out[j] = -1
        return
    table, owner = _empty_table(degree)
    for row in range(n):
        for j in range(row * degree, (row + 1) * degree):
            if not _insert(table, owner, row, out[j]):
                out[j] = -1


@twin
def pa_redraw(n, first, degree, threshold, seed, out):
    """Draw others for the targets that are -1, of vertices first .. first + n - 1.

    `threshold` is uint64, p * 2^63; `seed` is uint64; `out` as `pa_repeats` leaves it.
    """
    law = model(np.uint64(degree), threshold, seed)
    stop = law[2]
    key_0, key_1 = key(seed, DRAW_REDRAW, 0), key(seed, DRAW_REDRAW, 1)
    bound = 32 * (degree // 4 + 1)
    table, owner = _empty_table(degree)
    for row in range(n):
        begin = row * degree
        missing = 0
        for j in range(begin, begin + degree):
            missing += int(out[j] < 0)
        if missing == 0:
            continue
        for j in range(begin, begin + degree):
            if out[j] >= 0:
                _insert(table, owner, row, out[j])
        v = np.uint64(first + row)
        number = 0
        for j in range(begin, begin + degree):
            while out[j] < 0:
                target = np.uint64(number - bound)
                if number < bound:
                    shift = np.uint64(number) * GOLDEN
                    target = multiply_high(hashed(key_0 + shift, key_1, v), v)
                    fraction = hashed(key_1 + shift, key_0, v)
                    if target >= stop and (fraction * law[0]) >> _1 >= threshold:
                        target = follow(law, target, multiply_high(fraction, law[0]))
                number += 1
                if _insert(table, owner, row, np.int64(target)):
                    out[j] = target
