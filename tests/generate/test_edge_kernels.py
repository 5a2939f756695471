"""The kernels of R-MAT and of uniform random graphs, and their twins, give the edges of the definition.

The references take the constants of the hashes (SplitMix64's finalizer, rrmxmx) and the description in the twins'
headers, and are plain integer arithmetic that shares no code with them.
"""

import numpy as np
import pytest

from graphdask.device.backend import get_backend
from graphdask.generate.erdos_renyi import ErdosRenyi
from graphdask.generate.rmat import RMat

POISON = -7
MASK = 2**64 - 1


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def key(seed, what, part):
    return mix(mix(seed + 0x9E3779B97F4A7C15 & MASK) + (2 * what + part) * 0x9E3779B97F4A7C15 & MASK)


def draw(seed, what, number):
    bits = f"{number ^ key(seed, what, 0):064b}"
    x = int(bits, 2) ^ int(bits[-49:] + bits[:-49], 2) ^ int(bits[-24:] + bits[:-24], 2)
    x = x * 0x9FB21C651E98DF25 & MASK
    x = (x ^ x >> 28 ^ key(seed, what, 1)) * 0x9FB21C651E98DF25 & MASK
    return x ^ x >> 28


def rmat_edge(number, scale, levels, hashes, rounds, seed, table):
    rows = columns = ""
    for h in range(hashes):
        for word in divmod(draw(seed, 64 + h, number), 2**32):
            coin, cell = divmod(word, 4**levels)
            threshold, alias = divmod(int(table[cell]), 4**levels)
            path = f"{cell if coin < threshold else alias:0{2 * levels}b}"
            rows, columns = rows + path[:levels], columns + path[levels:]
    return tuple(shuffled(int(bits[-scale:], 2), scale, rounds, seed) for bits in (rows, columns))


def shuffled(x, scale, rounds, seed):
    for number in range(rounds):
        x = (x * (key(seed, 72 + number, 0) | 1) + key(seed, 72 + number, 1)) % 2**scale
        x ^= x >> -(-scale // 2)
    return x


def random_edge(number, width, height, star, rounds, seed):
    y, x = divmod(number, width)
    for number in range(0, rounds, 2):
        y = (y + (draw(seed, 128 + number, x) * height >> 64)) % height
        x = (x + (draw(seed, 129 + number, y) * width >> 64)) % width
    return x, width if y == star else (x + 1 + y) % width


def launch(backend, family, dtype, count, *arguments, **types):
    """Run the family's kernel on poisoned outputs with a margin, and return what it wrote as pairs."""
    outputs = [backend.xp.full(count + 2, POISON, dtype) for _ in range(2)]
    kernel = getattr(backend.kernels(family, index_t=np.dtype(dtype), **types), f"{family}_edges")
    sent = (backend.from_host(a) if isinstance(a, np.ndarray) else a for a in arguments)
    kernel(count, *sent, *(out[1:-1] for out in outputs))
    backend.synchronize()
    written = [backend.to_host(out) for out in outputs]
    assert all(out[0] == out[-1] == POISON for out in written)
    return list(zip(*(out[1:-1].tolist() for out in written), strict=True))


# scale, levels, hashes, rounds, seed, first, count
RMAT_CASES = [
    (1, 1, 1, 8, 0, 0, 40),
    (2, 1, 1, 0, 1, 5, 40),
    (9, 5, 1, 8, 2, 1000, 300),
    (12, 6, 1, 4, 2**63, 0, 2100),
    (20, 5, 2, 4, 2**64 - 1, 2**33 + 1, 1500),
    (24, 6, 2, 0, 3, 2**28 - 5, 300),
    (30, 5, 3, 4, 4, 10**9, 300),
]
WIDE_RMAT_CASES = [
    (31, 6, 3, 4, 5, 0, 300),
    (36, 6, 3, 0, 6, 2**40, 300),
    (48, 6, 4, 4, 7, 2**52 - 9, 300),
    (60, 6, 5, 4, 8, 2**62, 300),
    (62, 6, 6, 4, 9, 2**63 - 1000, 300),
]


RMAT_RUNS = [(c, np.int32) for c in RMAT_CASES] + [(c, np.int64) for c in RMAT_CASES[3:6] + WIDE_RMAT_CASES]


@pytest.mark.parametrize(("case", "dtype"), RMAT_RUNS, ids=str)
def test_rmat_edges_follow_the_definition(backend, rng, case, dtype):
    scale, levels, hashes, rounds, seed, first, count = case
    table = rng.integers(0, 2**32, 4**levels, dtype=np.uint32)
    given, most = (first, scale, levels, hashes, rounds, np.uint64(seed), table), 2 if hashes <= 2 else 6
    got = launch(backend, "rmat", dtype, count, *given, rmat_most=most)
    assert got == [rmat_edge(first + i, scale, levels, hashes, rounds, seed, table) for i in range(count)]


# width, height, star, rounds, seed, first, count
NARROW = [
    (1, 1, 0, 6, 0, 0, 1),
    (2, 1, -1, 6, 1, 0, 2),
    (3, 2, 1, 80, 2, 0, 6),
    (5, 2, -1, 80, 3, 2, 8),
    (1001, 500, -1, 10, 4, 12_345, 3000),
    (999, 500, 499, 10, 2**64 - 1, 499_000, 500),
    (2**31 - 2, 2**31 - 3, -1, 6, 5, 2**61, 500),
    (2**31 - 3, 2**30 - 1, 2**30 - 2, 6, 6, 2**40 - 100, 500),
]
WIDE = [
    (2**32 - 1, 2**32 - 2, -1, 6, 7, 2**32 - 300, 500),
    (2**32, 2**31, 2**31 - 1, 6, 8, 2**62, 500),
    (2**32 + 1, 2**32, -1, 8, 9, 2**63 - 1000, 500),
    (2**40 - 1, 2**39, 2**39 - 1, 6, 10, 2**41, 500),
    (2**62, 2**62 - 1, -1, 6, 11, 2**62 - 250, 500),
]


RANDOM_RUNS = [(c, np.int32) for c in NARROW] + [(c, np.int64) for c in NARROW[2:6] + WIDE]


@pytest.mark.parametrize(("case", "dtype"), RANDOM_RUNS, ids=str)
def test_random_edges_follow_the_definition(backend, case, dtype):
    width, height, star, rounds, seed, first, count = case
    got = launch(backend, "erdos_renyi", dtype, count, first, width, height, star, rounds, np.uint64(seed))
    assert got == [random_edge(first + i, width, height, star, rounds, seed) for i in range(count)]


@pytest.mark.gpu
@pytest.mark.parametrize(
    "graph",
    [
        RMat(17, 16, 1),
        RMat(18, 7, 2, drops_self_loops=True),
        RMat(31, 1, 3, permute=False),
        ErdosRenyi(100_000, 3_000_001, 4),
        ErdosRenyi(99_999, 2_000_000, 5, directed=True),
        ErdosRenyi(2**33, 1_500_000, 6),
    ],
    ids=str,
)
def test_a_large_block_is_the_same_on_both_devices(graph):
    cuda, cpu = get_backend("cuda"), get_backend("cpu")
    size = max(1, graph.num_edges // 2_000_000)
    for on_gpu, on_cpu in zip(graph.block(cuda, size - 1, size), graph.block(cpu, size - 1, size), strict=True):
        np.testing.assert_array_equal(cuda.to_host(on_gpu), on_cpu)
