"""The CUDA kernel, the Numba twin and the definition in plain integers give the same targets."""

import ctypes
import shutil
import subprocess
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from graphdask.backend import get_backend
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
]
WIDE = [
    (1, 0.5, 11, FAR - 500, 1000),
    (4, 0.5, 12, 1 << 33, 1000),
    (3, 0.1, 13, (1 << 40) + 7, 700),
    (128, 0.5, 14, 1 << 55, 9),
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


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def backend(request):
    return get_backend(request.param)


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


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    """The CUDA kernel compiled for the CPU, its warps in lockstep; one library per index type."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++ to compile the CUDA kernel for the CPU")
    folder = tmp_path_factory.mktemp("emulated")
    kernels = files("graphdask.kernels")
    for name in ("preferential_attachment.cu", "pa_walk.cuh", "hash.cuh"):
        (folder / name).write_text(kernels.joinpath(name).read_text())
    (folder / "common.cuh").write_text("// The kernel takes nothing from it.\n")
    source = folder / "kernel.cpp"
    source.write_text(
        '#include "warp_emulator.h"\n'
        '#include "preferential_attachment.cu"\n'
        'extern "C" void launch(unsigned blocks, long long n, long long first, long long degree, gd_u64 threshold,\n'
        "                       gd_u64 seed, index_t *out) {\n"
        "    emulate(blocks, PA_THREADS, [=] { pa_targets(n, first, degree, threshold, seed, out); });\n"
        "}\n"
    )
    libraries = {}
    for dtype, c_type in ((np.int32, "int"), (np.int64, "long long")):
        library = folder / f"{np.dtype(dtype).name}.so"
        options = ["-std=c++17", "-O1", "-shared", "-fPIC", f"-Dindex_t={c_type}", f"-I{Path(__file__).parent}"]
        subprocess.run([compiler, *options, "-o", library, source], check=True)
        libraries[dtype] = ctypes.CDLL(str(library))
    return libraries


def run_emulated(libraries, dtype, case, blocks):
    n, first, degree, threshold, seed = arguments(*case)
    out = np.full(n + 2, POISON, dtype)
    integer, natural = ctypes.c_longlong, ctypes.c_ulonglong
    libraries[dtype].launch(
        ctypes.c_uint(blocks),
        integer(n),
        integer(first),
        integer(degree),
        natural(int(threshold)),
        natural(int(seed)),
        ctypes.c_void_p(out[1:].ctypes.data),
    )
    assert out[0] == out[-1] == POISON
    return out[1:-1]


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_warp_refill_fills_every_slot_once(emulated, case, blocks):
    np.testing.assert_array_equal(run_emulated(emulated, np.int32, case, blocks), from_definition(*case))


@pytest.mark.parametrize("case", WIDE, ids=str)
def test_the_warp_refill_holds_for_64_bit_ids(emulated, case):
    np.testing.assert_array_equal(run_emulated(emulated, np.int64, case, 2), from_definition(*case))
