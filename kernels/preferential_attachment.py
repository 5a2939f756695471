"""Twin of preferential_attachment.cu: targets of the copy model by hashing (cuPPA-Hash).
 Slot e = v*degree + l is the l-th edge of vertex v. One step from a slot reads hash(seed, e) as a fraction
and takes from it three digits: u uniform in [0, v), k uniform in [0, degree), and the coin. The walk ends at
u if u is an initial vertex (u < degree) or the coin says "direct"; otherwise it goes on at slot u*degree + k.
Since u < v it ends, after O(log n) expected steps even for p = 0, and since nothing but (seed, e) is read, a
slot has the same target wherever it is computed.
 From vertex FAR on, u leaves too few bits for the others, so k and the coin come from a second hash of the
slot.
 Source: M. Alam, K. Perumalla, P. Sanders, "Novel parallel algorithms for fast multi-GPU-based generation of
massive scale-free networks", Data Science and Engineering 4 (2019), Section 4, Algorithm 2.
"""

import numpy as np

from graphdask.kernels.hash import DRAW_FRACTION, DRAW_TARGET, hashed, key, multiply_high
from graphdask.kernels.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]

FAR = np.uint64(1 << 31)
_1 = np.uint64(1)
_WAVE = 1024


@twin
def pa_targets(n, first, degree, threshold, seed, out):
    """Write the targets of slots first .. first + n - 1 into `out`; all of vertices >= degree.

    `threshold` is uint64, p * 2^63; `seed` is uint64; `out` is int32 or int64, shape (n,).

    A wave of walks is advanced one step at a time and those that ended are squeezed out without a branch, so
    the processor overlaps the steps of different walks and never mispredicts where one ends.
    """
    degree = np.uint64(degree)
    key_0, key_1 = key(seed, DRAW_TARGET, 0), key(seed, DRAW_TARGET, 1)
    far_0, far_1 = key(seed, DRAW_FRACTION, 0), key(seed, DRAW_FRACTION, 1)
    slot = np.empty(_WAVE, np.uint64)
    vertex = np.empty(_WAVE, np.uint64)
    place = np.empty(_WAVE, np.int32)
    v = np.uint64(first) // degree
    edge = np.uint64(first) - v * degree
    for start in range(0, n, _WAVE):
        walking = min(_WAVE, n - start)
        for i in range(walking):
            slot[i] = np.uint64(first + start + i)
            vertex[i] = v
            place[i] = i
            edge += _1
            if edge == degree:
                edge = np.uint64(0)
                v += _1
        while walking > 0:
            left = 0
            for i in range(walking):
                fraction = hashed(key_0, key_1, slot[i])
                u = multiply_high(fraction, vertex[i])
                if vertex[i] < FAR:
                    fraction *= vertex[i]
                else:
                    fraction = hashed(far_0, far_1, slot[i])
                k = multiply_high(fraction, degree)
                fraction *= degree
                at = place[i]
                out[start + at] = u
                slot[left] = u * degree + k
                vertex[left] = u
                place[left] = at
                left += int((u >= degree) & ((fraction >> _1) >= threshold))
            walking = left
