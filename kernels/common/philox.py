"""Twin of philox.cuh: Philox4x32-10, the same bits as on a GPU."""

import numpy as np

from graphdask.kernels.common.hash import inlined
from graphdask.kernels.common.twin import within

DRAW_WALK = np.uint64(256)
DRAW_NEIGHBOR = np.uint64(257)
DRAW_FRONTIER = np.uint64(258)
DRAW_ONE_PASS = np.uint64(259)
DRAW_END = np.uint64(260)
DRAW_POOL = np.uint64(264)
DRAW_EDGE = np.uint64(265)
DRAW_TRIAL = np.uint64(266)
DRAW_SIZE = np.uint64(267)
DRAW_UPDATE = np.uint64(268)
DRAW_KEY = np.uint64(269)

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW, _32 = np.uint64(0xFFFFFFFF), np.uint64(32)


@inlined
def philox(key, instance, step, draw):
    """The 128 bits of a counter (instance, step, draw), as two 64-bit numbers; all arguments are uint64."""
    k0, k1 = key & _LOW, key >> _32
    x0, x1, x2, x3 = instance & _LOW, instance >> _32, step & _LOW, draw & _LOW
    for _ in range(10):
        product_0, product_1 = _M0 * x0, _M1 * x2
        x0 = (product_1 >> _32) ^ x1 ^ k0
        x1 = product_1 & _LOW
        x2 = (product_0 >> _32) ^ x3 ^ k1
        x3 = product_0 & _LOW
        k0 = (k0 + _W0) & _LOW
        k1 = (k1 + _W1) & _LOW
    return (x1 << _32) | x0, (x3 << _32) | x2


@within
def fill(key, instance, step, first, count, numbers):
    """Numbers `first`, which is even, to first + count - 1 of a counter's 64-bit numbers, and one more where count is
    odd: a processor makes several blocks at once."""
    for pair in range((count + 1) >> 1):
        numbers[2 * pair], numbers[2 * pair + 1] = philox(key, instance, step, np.uint64((first >> 1) + pair))
