"""The emulator of a GPU computes what CUDA's intrinsics do, and finds what no GPU allows."""

from __future__ import annotations

import zlib

import emulated as emulator
import numpy as np
import pytest
from emulated import EmulatedCuda, EmulationError

from graphdask.errors import KernelError

HEAD = '#include "common/common.cuh"\nextern "C" __global__ void wrong(long long n, const int *a, int *b) {\n'


@pytest.fixture
def run(monkeypatch):
    """Compile the body of a kernel, run it for n threads on a and b, and return b."""

    def launch(body, n=256, a=(1, 2, 3, 4), b=256, seed=1, blocks=3, block=None, **options):
        texts = {name: text for name, text in emulator.sources().items() if name.endswith(".cuh")}
        source = emulator.shared_in_blocks(HEAD + body + "\n}\n")
        family = f"wrong{zlib.crc32(body.encode())}"
        monkeypatch.setattr(emulator, "sources", lambda: {**texts, f"{family}.cu": source})
        backend = EmulatedCuda(seed, blocks)
        out = backend.xp.full(b, 7, np.int32)
        backend.kernels(family, **options).wrong(n, backend.xp.asarray(np.array(a, np.int32)), out, **(block or {}))
        backend.synchronize()
        return backend.to_host(out)

    return launch


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("GD_FOR(i, n) b[i] = a[i];", "reads 4 bytes outside of all arrays.*argument 1, which has 16"),
        ("if (threadIdx.x == 3) b[-1] = a[0];", "thread 3: writes 4 bytes outside of all arrays"),
        ("if (threadIdx.x == 3) atomicAdd(b + 256, 1);", "writes 4 bytes outside"),
        ("*(long long *)(b + 1) = a[0];", "8 bytes at an address that is not a multiple of it"),
        ("__shared__ int c[4]; __shared__ int d[4]; int *p = c; p[threadIdx.x] = 1; b[0] = d[0] + p[2];",
         "writes 4 bytes of shared memory outside of all arrays"),
        ("__shared__ int c[4]; c[threadIdx.x] = 1; b[0] = c[1];", "outside of its array|outside of all arrays"),
        ("extern __shared__ int c[]; b[0] = c[0];", "reads 4 bytes of shared memory outside of the 0 of the launch"),
        ("if (threadIdx.x < 100) __syncthreads();\nelse __syncwarp();", "(waits at|lane).*__sync"),
        ("if (threadIdx.x < 100) __syncthreads();\nelse\n__syncthreads();", "another __syncthreads than thread"),
        ("if (threadIdx.x & 1) b[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0); else __syncthreads();",
         "__shfl_sync with the mask ffffffff|for ever"),
        ("if (threadIdx.x % 32 == 5) return; __syncwarp();", "lane 5 has left the kernel|for ever"),
        ("if (threadIdx.x % 32 == 5) __ballot_sync(0x1fu, 1);", "leaves itself out"),
        ("b[0] = __ballot_sync(threadIdx.x % 32 < 16 ? 0xffffu : 0xffffffffu, 1);", "but lane"),
        ("b[0] = a[0] << (a[3] * 8);", "a shift by too many bits"),
        ("b[0] = (a[0] + 2147483646) + a[0];", "a sum overflows"),
        ("while (*(volatile const int *)a == 1) __nanosleep(8);", "does not end"),
    ],
)  # fmt: skip
def test_what_no_gpu_allows_fails_the_launch(run, body, message):
    with pytest.raises(EmulationError, match=message):
        run(body)


@pytest.mark.parametrize(
    "body",
    [
        "GD_FOR(i, n) b[0] = b[0] + 1;",  # lost additions
        "__shared__ int c[256]; const int t = threadIdx.x; c[t] = t; b[t] = c[255 - t];",  # no barrier
        "__shared__ int c; if (threadIdx.x == 0) c = 5; b[threadIdx.x] = c;",
        "__shared__ int c; if (threadIdx.x == 255) c++; __syncthreads(); b[0] = c;",  # shared memory that nobody filled
        "const int i = atomicAdd(b, 1); b[1 + i % 255] = threadIdx.x;",  # places that depend on the order
        "const unsigned mask = __activemask(); b[threadIdx.x] = mask;",
        "b[0] = threadIdx.x;",
        "if (b[0] == 7) { atomicAdd(b + 1, 1); b[0] = 8; }",  # a look and a write that are not one
    ],
)
def test_what_depends_on_an_order_differs_from_seed_to_seed(run, body):
    found = {run(body, seed=seed).tobytes() for seed in range(8)}
    assert len(found) > 1


def test_a_barrier_orders_what_is_before_and_after(run):
    body = """__shared__ int c[256];
    for (int i = 0; i < 5; i++) { c[threadIdx.x] = threadIdx.x + i; __syncthreads();
        b[threadIdx.x] = c[255 - threadIdx.x]; __syncthreads(); }"""
    for seed in range(4):
        np.testing.assert_array_equal(run(body, seed=seed), 259 - np.arange(256))


def test_a_launch_gives_shared_memory_and_no_more_than_it_says(run):
    body = "extern __shared__ int c[]; const int t = threadIdx.x; c[t] = t; __syncthreads(); b[t] = c[127 - t];"
    size = {"threads": 128, "shared": 512}
    assert run(body, n=128, block=size)[:129].tolist() == [*range(127, -1, -1), 7]
    with pytest.raises(EmulationError, match="thread 127: writes 4 bytes of shared memory outside of the 511 of"):
        run(body, n=128, block={**size, "shared": 511})
    with pytest.raises(EmulationError, match="232449 bytes of shared memory of 232448"):
        run(body, n=128, block={**size, "shared": (227 << 10) + 1})
    with pytest.raises(EmulationError, match="512 threads a block of 256"):  # no __launch_bounds__
        run(body, n=512, block={**size, "threads": 512})


def test_a_launch_has_as_many_threads_and_blocks_as_it_says(run):
    body = "if (threadIdx.x == 0) { b[2 * blockIdx.x] = gridDim.x; b[2 * blockIdx.x + 1] = blockDim.x; }"
    assert run(body, n=256, block={"threads": 64})[:5].tolist() == [3, 64, 3, 64, 3]
    assert run(body, n=65, block={"threads": 64})[:5].tolist() == [2, 64, 2, 64, 7]
    assert run(body, n=256, block={"threads": 64, "per_processor": 1})[:5].tolist() == [2, 64, 2, 64, 7]


def test_threads_that_have_left_are_not_waited_for(run):
    body = "if (threadIdx.x >= 40) return; atomicAdd(b, 1); __syncthreads(); b[1 + threadIdx.x] = b[0];"
    assert run(body)[:42].tolist() == [47] * 41 + [7]


@pytest.mark.slow
def test_blocks_of_a_cooperative_launch_wait_for_each_other(run):
    body = """if (threadIdx.x == 0) { atomicAdd(b, 1); while (*(volatile int *)b < 7 + (int)gridDim.x) __nanosleep(8); }
    __syncthreads(); if (threadIdx.x == 0) b[1 + blockIdx.x] = b[0];"""
    assert run(body, n=1024, blocks=4, cooperative=True)[:6].tolist() == [11] * 5 + [7]


def test_intrinsics_of_a_warp(run):
    t, full = np.arange(256), "0xffffffffu"
    lane = t % 32
    warp = t - lane
    expected = {
        f"(int)(2 * __shfl_xor_sync({full}, t / 2.0, 31))": warp + (lane ^ 31),
        f"__match_any_sync({full}, t % 2)": np.where(t % 2, 0xAAAAAAAA, 0x55555555),
        f"__ballot_sync({full}, t % 5 == 0)": np.packbits(t % 5 == 0, bitorder="little").view(np.uint32)[t // 32],
        f"__any_sync({full}, t == 40)": t // 32 == 1,
        f"__all_sync({full}, t != 40)": t // 32 != 1,
        f"__reduce_add_sync({full}, t % 32)": 496,
        f"__reduce_min_sync({full}, t % 32 - 8) + 9": 1,
        f"__reduce_max_sync({full}, t % 32 - 8)": 23,
        f"__reduce_max_sync({full}, (unsigned)t % 32 - 8)": 0xFFFFFFFF,
        f"__reduce_or_sync({full}, (unsigned)t)": t // 32 * 32 + 31,
        "__syncthreads_count(t < 77)": 77,
        "__syncthreads_or(t == 77) + 2 * __syncthreads_and(t < 256)": 3,
        "t % 32 < 16 ? __ballot_sync(0xffffu, 1) : __ballot_sync(0xffff0000u, t % 2)": np.where(
            lane < 16, 0xFFFF, 0xAAAA0000
        ),
    }
    for width, by in ((8, 1), (8, 5), (32, 1), (32, 5)):
        begin = lane // width * width
        down, up = lane + by, lane - by
        expected |= {
            f"__shfl_sync({full}, t, {by}, {width})": warp + begin + by,
            f"__shfl_down_sync({full}, t, {by}, {width})": warp + np.where(down < begin + width, down, lane),
            f"__shfl_up_sync({full}, t, {by}, {width})": warp + np.where(up >= begin, up, lane),
            f"__shfl_xor_sync({full}, (long long)t, {by}, {width})": warp + (lane ^ by),
        }
    body = "const int t = threadIdx.x;\n" + "\n".join(f"b[{256 * i} + t] = {call};" for i, call in enumerate(expected))
    found = run(body, b=256 * len(expected)).view(np.uint32).reshape(-1, 256)
    for row, (call, values) in zip(found, expected.items(), strict=True):
        np.testing.assert_array_equal(row, values, call)


def test_intrinsics_of_a_thread(run):
    expected = {
        "__popc(0xf0u)": 4, "__popcll(~0ull)": 64, "__ffs(8)": 4, "__ffs(0)": 0, "__clz(1)": 31, "__clz(0)": 32,
        "__umulhi(1u << 31, 6u)": 3, "__umul64hi(1ull << 63, 6ull)": 3, "min(3, 4ll)": 3, "max(3u, 4u)": 4,
        "__double2ull_rn(2.5)": 2, "__double2ull_rn(-1.0)": 0, "__double_as_longlong(1.0) >> 52": 1023,
    }  # fmt: skip
    body = "\n".join(f"b[{i}] = (int)({call});" for i, call in enumerate(expected))
    assert run(body, n=1, b=len(expected)).tolist() == list(expected.values())


def test_lanes_that_are_here_together_share_one_atomic(run):
    body = "__shared__ unsigned long long tail; if (threadIdx.x == 0) tail = 0; __syncthreads();\n"
    body += "if (threadIdx.x % 3) b[gd_reserve(&tail)] = threadIdx.x;"
    found = run(body)
    expected = [t for t in range(256) if t % 3]
    assert sorted(found[: len(expected)].tolist()) == expected
    assert (found[len(expected) :] == 7).all()


def test_a_kernel_that_fails_is_named(run):
    with pytest.raises(KernelError, match=r"wrong\d+.wrong failed: an index was out of range"):
        run("if (threadIdx.x == 9) gd_fail(2);")


def test_arguments_are_what_the_kernel_takes():
    backend = EmulatedCuda()
    kernels = backend.kernels("codec", index_t=np.int32)
    ids, words = backend.xp.zeros(4, np.int32), backend.xp.zeros(1, np.uint32)
    good = (ids[:1], words, 4)
    kernels.codec_set_bits(1, *good)
    for at, wrong, message in [
        (0, np.zeros(4, np.int32), "ids is an array of the host"),
        (0, backend.xp.zeros(4, np.int64), r"ids is \*i4 in the kernel, and an array of int64"),
        (0, backend.xp.zeros(4, np.float32), r"ids is \*i4"),
        (0, ids[::2], "an array with gaps"),
        (1, 3, "words is a pointer"),
        (2, 4.0, "universe is i8 in the kernel, and a float64"),
        (2, np.int32(4), "universe is i8 in the kernel, and a int32"),
        (2, True, "universe is i8 in the kernel, and a bool"),
        (2, words, "universe is a number"),
    ]:
        with pytest.raises(EmulationError, match=message):
            kernels.codec_set_bits(1, *good[:at], wrong, *good[at + 1 :])
    with pytest.raises(EmulationError, match="takes 4 arguments, not 3"):
        kernels.codec_set_bits(1, *good[:2])


def test_arrays_of_the_device_do_not_mix_with_those_of_the_host():
    xp = EmulatedCuda().xp
    on_device, on_host = xp.arange(4), np.arange(4)
    assert (xp.concatenate([on_device, on_device]) + 1).get().tolist() == [1, 2, 3, 4, 1, 2, 3, 4]
    assert int(on_device.sum()) == 6
    for mixed in (
        lambda: on_device + on_host, lambda: on_host + on_device, lambda: xp.concatenate([on_device, on_host]),
        lambda: np.asarray(on_device), lambda: on_device.__setitem__(slice(None), on_host),
        lambda: xp.add.at(on_device, on_device, 1),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            mixed()
