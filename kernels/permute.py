"""A keyed permutation of [0, size) and its inverse: a balanced Feistel network with cycle walking.

Four rounds over 2*half bits, 4**half >= size; a value that lands outside [0, size) is walked on until it is inside,
fewer than four steps on average. (J. Black and P. Rogaway, Ciphers with arbitrary finite domains, CT-RSA 2002.)
"""

import numpy as np

from graphdask.kernels.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def _round_value(value, seed, number):
    x = value ^ (seed + np.uint64(number) * np.uint64(0x9E3779B97F4A7C15))
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@twin
def permute_forward(n, ids, out, size, half, seed):
    mask = (np.uint64(1) << np.uint64(half)) - np.uint64(1)
    for i in range(n):
        x = np.uint64(ids[i])
        while True:
            left, right = x >> np.uint64(half), x & mask
            for number in range(4):
                left, right = right, left ^ (_round_value(right, seed, number) & mask)
            x = (left << np.uint64(half)) | right
            if x < np.uint64(size):
                break
        out[i] = x


@twin
def permute_backward(n, ids, out, size, half, seed):
    mask = (np.uint64(1) << np.uint64(half)) - np.uint64(1)
    for i in range(n):
        x = np.uint64(ids[i])
        while True:
            left, right = x >> np.uint64(half), x & mask
            for number in range(3, -1, -1):
                left, right = right ^ (_round_value(left, seed, number) & mask), left
            x = (left << np.uint64(half)) | right
            if x < np.uint64(size):
                break
        out[i] = x
