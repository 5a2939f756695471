"""The CUDA kernel, the Numba twin and the definition in plain integers give the same targets."""

from functools import cache

import numpy as np
import pytest

from graphdask.device.backend import get_backend
from graphdask.generate.preferential_attachment import PreferentialAttachment, coin_threshold, targets
from graphdask.verify.preferential_attachment import recompute

POISON = -7
FAR = 1 << 31

# degree, p, seed, first vertex (at least degree), number of vertices
CASES = [
    (1, 0.5, 0, 1, 3000),
    (2, 0.5, 1, 2, 1500),
    (3, 0.5, 2**63, 3, 1000),
    (4, 0.5, 2**64 - 1, 4, 5000),
    (4, 0.0, 3, 100_000, 300),
    (4, 1.0, 4, 4, 800),
    (5, 0.01, 5, 1_000_003, 700),
    (7, 0.3, 6, 12_345, 1),
    (128, 0.5, 7, 128, 40),
    (1000, 0.9, 8, 1000, 9),
    (20_000, 0.5, 9, 20_000, 1),
    (1 << 17, 0.9, 10, 1 << 17, 1),
    (7, 0.5, 15, 50_000, 8000),
    (32, 0.5, 16, 700_000, 200),
    (64, 0.2, 17, 5_000, 40),
    (96, 0.5, 18, 700_000, 20),
    (256, 0.5, 19, 9_000, 5),
    (257, 0.5, 20, 9_000, 5),
    (4, 5e-5, 21, 9_000, 500),
    (4, 7e-5, 22, 9_000, 500),
    (3, 1 - 1e-6, 23, 9_000, 500),
    (128, 0.001, 24, 9_000, 10),
    (2, 0.999, 25, FAR - 1000, 600),
    (4, 0.0, 26, 4, 31),
    (1, 0.3, 27, 1, 32),
    (8, 0.01, 28, 1_000_000, 3),
]
WIDE = [
    (1, 0.5, 11, FAR - 500, 1000),
    (4, 0.5, 12, 1 << 33, 1000),
    (3, 0.1, 13, (1 << 40) + 7, 700),
    (128, 0.5, 14, 1 << 55, 9),
    (4, 0.0, 29, (1 << 40) - 100, 100),
    (4, 0.01, 30, FAR - 50, 100),
    (300, 0.5, 31, FAR - 3, 6),
    (8, 1e-6, 32, FAR - 30, 60),
    (4, 1.0, 33, FAR - 50, 100),
    (1, 0.5, 34, (1 << 63) - 300, 299),
    (3, 0.2, 35, ((1 << 63) - 1) // 3 - 60, 60),
]


@cache
def from_definition(degree, p, seed, start, count):
    graph = PreferentialAttachment(start + count, degree, p, seed)
    return np.array(recompute(graph, range(start, start + count)), np.int64).ravel()


def arguments(degree, p, seed, start, count):
    return count * degree, start * degree, degree, np.uint64(coin_threshold(p)), np.uint64(seed)


def run_kernel(backend, dtype, case):
    out = backend.xp.full(case[4] * case[0] + 2, POISON, dtype)
    kernels = backend.kernels("preferential_attachment", index_t=np.dtype(dtype))
    kernels.pa_targets(*arguments(*case), out[1:-1])
    backend.synchronize()
    out = backend.to_host(out)
    assert out[0] == out[-1] == POISON
    return out[1:-1]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_targets_follow_the_definition(backend, dtype, case):
    np.testing.assert_array_equal(run_kernel(backend, dtype, case), from_definition(*case))


@pytest.mark.parametrize("case", WIDE, ids=str)
def test_targets_of_64_bit_ids_follow_the_definition(backend, case):
    np.testing.assert_array_equal(run_kernel(backend, np.int64, case), from_definition(*case))


@pytest.mark.gpu
@pytest.mark.parametrize(("n", "degree", "p"), [(3_000_000, 4, 0.5), (1_000_000, 3, 0.0), (200_001, 17, 0.01)])
def test_a_large_graph_is_the_same_on_both_devices(n, degree, p):
    cuda, cpu = get_backend("cuda"), get_backend("cpu")
    for dtype in (np.int32, np.int64):
        on_gpu = targets(cuda, n, degree, p, 1, 0, n, dtype)
        np.testing.assert_array_equal(cuda.to_host(on_gpu), targets(cpu, n, degree, p, 1, 0, n, dtype))
