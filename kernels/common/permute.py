"""A keyed permutation of [0, size) and its inverse: a balanced Feistel network with cycle walking.

Four rounds over 2*half bits, 4**half >= size; a value that lands outside [0, size) is walked on until it is inside,
fewer than four steps on average. (J. Black and P. Rogaway, Ciphers with arbitrary finite domains, CT-RSA 2002.)

And numbers dealt to `ranks`: of as many in a row, each rank gets one, the first of them a rank at random, the next one
the next rank, and so on around; of the last ones, fewer than ranks, the first goes to rank 0. Those of a rank follow
each other, in their order.
"""

import numpy as np

from graphdask.kernels.common.twin import twin

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


@twin
def _turn(block, ranks, size, seed):
    """The rank that the first number of a block is dealt to."""
    if (block + 1) * ranks > size:
        return 0
    return np.int64(_round_value(np.uint64(block), seed, 0) % np.uint64(ranks))


@twin
def permute_deal(n, ids, out, size, ranks, seed):
    each, more = size // ranks, size % ranks
    for i in range(n):
        block = np.int64(ids[i]) // ranks
        rank = (np.int64(ids[i]) - block * ranks + _turn(block, ranks, size, seed)) % ranks
        out[i] = rank * each + min(rank, more) + block


@twin
def permute_collect(n, positions, out, size, ranks, seed):
    each, more = size // ranks, size % ranks
    for i in range(n):
        rest = np.int64(positions[i]) - more * (each + 1)
        if rest < 0:
            rank, block = np.int64(positions[i]) // (each + 1), np.int64(positions[i]) % (each + 1)
        else:
            rank, block = more + rest // each, rest % each
        out[i] = block * ranks + (rank + ranks - _turn(block, ranks, size, seed)) % ranks
