"""Twin of preferential_attachment.cu: targets of the copy model by hashing (cuPPA-Hash), as pa_walk.py defines."""

import numpy as np

from graphdask.kernels.common.hash import inlined
from graphdask.kernels.common.twin import twin
from graphdask.kernels.generate.pa_walk import FAR, model, plain_steps, steps

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]

_1 = np.uint64(1)
_WAVE = 1024


@twin
def pa_targets(n, first, degree, threshold, seed, out):
    """Write the targets of slots first .. first + n - 1 into `out`; all of vertices >= degree.

    `threshold` is uint64, p * 2^63; `seed` is uint64; `out` is int32 or int64, shape (n,).

    A wave of walks is advanced one step at a time, in a loop of its own for the compiler to make vectors of, and
    those that ended are squeezed out without a branch, so that the processor never mispredicts where one ends.
    """
    degree = np.uint64(degree)
    law = model(degree, threshold, seed)
    careful = law[4]
    vertex = np.empty(_WAVE, np.uint64)
    edge = np.empty(_WAVE, np.uint64)
    walking = np.empty(_WAVE, np.uint8)
    place = np.empty(_WAVE, np.int32)
    v = np.uint64(first) // degree
    k = np.uint64(first) - v * degree
    for start in range(0, n, _WAVE):
        left = min(_WAVE, n - start)
        for i in range(left):
            vertex[i] = v
            edge[i] = k
            place[i] = i
            k += _1
            if k == degree:
                k = np.uint64(0)
                v += _1
        plain = not careful and v < FAR
        ends = out[start : start + left]
        while left > 0:
            if plain:
                plain_steps(left, law, vertex, edge, walking)
            else:
                steps(left, law, vertex, edge, walking)
            left = _squeeze(left, vertex, edge, walking, place, ends)


@inlined
def _squeeze(n, vertex, edge, walking, place, ends):
    """Write where each walk is, move those that go on to the beginning, and return their number."""
    left = 0
    for i in range(n):
        at, u = place[i], vertex[i]
        ends[at] = u
        vertex[left] = u
        edge[left] = edge[i]
        place[left] = at
        left += walking[i]
    return left
