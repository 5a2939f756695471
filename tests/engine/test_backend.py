"""Backends: what memory they see, and that ranks may share one."""

from __future__ import annotations

import ctypes
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from threading import local

import numpy as np
import pytest

from graphdask.device import host_memory
from graphdask.device.arrays import minus_ones
from graphdask.device.backend import CudaBackend, CudaKernels, get_backend
from graphdask.device.launch import packed_arguments
from graphdask.errors import KernelError


@pytest.mark.parametrize(
    ("limit", "current", "stat", "free"),
    [
        ("1000", 900, "anon 100\nfile 800\ninactive_file 700\nactive_file 100\n", 800),
        ("1000", 900, "anon 900\ninactive_file 0\n", 100),
        ("1000", 1200, "anon 1200\n", 0),
        ("max", 900, "inactive_file 0\n", 1 << 62),
    ],
)
def test_file_pages_that_the_kernel_takes_back_are_free(tmp_path, limit, current, stat, free):
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    (tmp_path / "memory.current").write_text(f"{current}\n")
    (tmp_path / "memory.stat").write_text(stat)
    assert host_memory.of_control_group(str(tmp_path), str(tmp_path / "none")) == free


@pytest.mark.parametrize("version", [1, 2])
def test_the_limits_of_groups_that_hold_others_count(tmp_path, version):
    """As those that Slurm and systemd make; the job has a limit, the step in it has none."""
    top = tmp_path / "memory" if version == 1 else tmp_path
    names = ("limit_in_bytes", "usage_in_bytes") if version == 1 else ("max", "current")
    none, inactive = ("9223372036854771712", "total_inactive_file") if version == 1 else ("max", "inactive_file")
    for group, limit, used in (("slurm", none, 5000), ("slurm/job_7", "4000", 3000), ("slurm/job_7/step_0", none, 10)):
        (top / group).mkdir(parents=True)
        for name, value in zip(names, (limit, used), strict=True):
            (top / group / f"memory.{name}").write_text(f"{value}\n")
        (top / group / "memory.stat").write_text(f"cache 99\n{inactive} 500\n")
    own = tmp_path / "own"
    own.write_text("3:cpu,cpuacct:/\n4:memory:/slurm/job_7/step_0\n" if version == 1 else "0::/slurm/job_7/step_0\n")
    assert host_memory.of_control_group(str(tmp_path), str(own)) == 1500


def test_without_a_control_group_there_is_no_limit(tmp_path):
    assert host_memory.of_control_group(str(tmp_path / "none"), str(tmp_path / "none")) == 1 << 62


class WithoutGpu(CudaBackend):
    """What a GPU is asked is answered by what a test puts for CuPy; no kernel fails."""

    def _named_failures(self):
        return nullcontext()

    def _statuses(self, modules):
        return [0] * len(modules)

    def activate(self):
        return nullcontext()


def test_a_rank_may_load_kernels_while_another_synchronizes():
    backend = object.__new__(WithoutGpu)
    checked = []

    class Module:
        unseen, last = True, 5

        def __init__(self, number):
            self.number = number

        def check(self, code, last):
            checked.append(self.number)
            backend._modules["loaded meanwhile", self.number] = Module(2)

    class Cupy:
        class cuda:
            @staticmethod
            def get_current_stream():
                return type("Stream", (), {"synchronize": lambda self: None})()

    backend.xp, backend._launched, backend._modules = Cupy, deque(), {("bfs",): Module(0), ("codec",): Module(1)}
    backend.synchronize()
    assert checked == [0, 1]


class FakeArray:
    """What a launch needs of an array on a device."""

    def __init__(self, ptr):
        self.data = type("Pointer", (), {"ptr": ptr})()


def words_at(pointers, n):
    """The words of a launch's arguments, as the driver reads them."""
    table = ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(ctypes.c_int64)))
    return tuple(table[i].contents.value for i in range(n))


def test_arguments_are_words_that_a_kernel_reads_with_its_own_types():
    arguments = (7, -1, None, True, 0.5, FakeArray(1 << 46), np.float32(0.25), np.uint64(2**64 - 1), np.int32(-3))
    words = words_at(packed_arguments(arguments, FakeArray), len(arguments))
    assert words[:4] == (7, -1, 0, 1)
    assert np.int64(words[4]).view(np.float64) == 0.5
    assert words[5] == 1 << 46
    raw = np.array(words[6:], np.int64)
    assert raw[:1].view(np.float32)[0] == 0.25
    assert raw[1:2].view(np.uint64)[0] == 2**64 - 1
    assert raw[2:3].view(np.int32)[0] == -3
    with pytest.raises(TypeError, match="not ndarray"):
        packed_arguments((np.zeros(3),), FakeArray)


def test_threads_do_not_share_the_memory_of_arguments():
    here = packed_arguments((1, 2), FakeArray)
    with ThreadPoolExecutor(1) as pool:
        there = pool.submit(packed_arguments, (3, 4), FakeArray).result(60)
        assert words_at(here, 2) == (1, 2)
        assert words_at(there, 2) == (3, 4)


@pytest.fixture
def cuda_kernels(monkeypatch):
    """Kernels of five processors that hold three blocks each, without a device, and what is launched and allowed."""

    class Kernel:
        kernel = type("Function", (), {"ptr": 7})()

        def __setattr__(self, name, value):
            launches.append((name, value))

    class Cupy:
        class cuda:
            class driver:
                @staticmethod
                def occupancyMaxActiveBlocksPerMultiprocessor(function, threads, shared):
                    assert function == 7
                    return 768 // threads

                @staticmethod
                def launchKernel(function, grid, _1, _2, block, _3, _4, shared, stream, pointers, extra):
                    assert (function, _1, _2, _3, _4, stream, extra) == (7, 1, 1, 1, 1, 11, 0)
                    launches.append(((grid,), (block,), words_at(pointers, 2), {"shared_mem": shared}))

                @staticmethod
                def launchCooperativeKernel(function, grid, _1, _2, block, _3, _4, shared, stream, pointers):
                    assert (function, _1, _2, _3, _4, stream) == (7, 1, 1, 1, 1, 11)
                    options = {"shared_mem": shared, "enable_cooperative_groups": True}
                    launches.append(((grid,), (block,), words_at(pointers, 2), options))

                CUDADriverError = OSError

            class runtime:
                @staticmethod
                def setDevice(device):
                    assert device == 3

            @staticmethod
            def get_current_stream():
                return type("Stream", (), {"ptr": 11})()

        ndarray = FakeArray

    launches = []
    backend = object.__new__(WithoutGpu)
    backend.xp, backend._launched, backend.processors, backend.device, backend.watch = Cupy, deque(), 5, 3, None

    def make(cooperative):
        kernels = object.__new__(CudaKernels)
        kernels._backend, kernels._family, kernels._cooperative = backend, "cuppa", cooperative
        kernels._module = type("Module", (), {"get_function": lambda self, name: Kernel()})()
        return kernels, launches

    return make


@pytest.mark.parametrize(
    ("n", "cooperative", "blocks"), [(1, True, 1), (300, True, 2), (10**9, True, 15), (10**9, False, 160)]
)
def test_a_cooperative_kernel_gets_no_more_blocks_than_run_at_the_same_time(cuda_kernels, n, cooperative, blocks):
    kernels, launches = cuda_kernels(cooperative)
    kernels.cuppa_targets(n, 5)
    kernels.cuppa_targets(0, 5)
    options = {"shared_mem": 0} | ({"enable_cooperative_groups": True} if cooperative else {})
    assert launches == [((blocks,), (256,), (n, 5), options)]
    assert list(kernels._backend._launched) == ["cuppa.cuppa_targets"]


def test_a_launch_says_what_blocks_it_wants(cuda_kernels):
    kernels, launches = cuda_kernels(False)
    most, less, little = 192 << 10, 96 << 10, 48 << 10
    for shared in (little, less, most, less):
        kernels.cuppa_targets(10**9, 5, threads=1024, per_processor=1, shared=shared)
    kernels.cuppa_targets(1025, 5, threads=1024, per_item=2)
    granted = "max_dynamic_shared_size_bytes"
    launch = (5,), (1024,), (10**9, 5)
    assert launches == [
        (*launch, {"shared_mem": little}),
        (granted, less), (*launch, {"shared_mem": less}),
        (granted, most), (*launch, {"shared_mem": most}), (*launch, {"shared_mem": less}),
        ((3,), (1024,), (1025, 5), {"shared_mem": 0}),
    ]  # fmt: skip


def test_a_cooperative_launch_of_other_blocks_gets_as_many_as_run_at_the_same_time(cuda_kernels):
    kernels, launches = cuda_kernels(True)
    kernels.cuppa_targets(10**9, 5, threads=384)
    kernels.cuppa_targets(10**9, 5, threads=384, per_processor=1)
    assert [grid for grid, *_ in launches] == [(10,), (5,)]


def test_the_status_of_kernels_is_read_once_after_a_launch_by_each_thread(cuda_kernels):
    kernels, _ = cuda_kernels(False)
    backend, reads, codes = kernels._backend, [], [0, 0, 2]

    class Status:
        def fill(self, code):
            assert code == 0

    def statuses(modules):
        reads.extend(modules)
        return [codes.pop(0) for _ in modules]

    kernels.last, kernels._checked, kernels.status = 0, local(), Status()
    backend._modules, backend._statuses = {"cuppa": kernels}, statuses
    backend.synchronize()
    assert reads == []
    kernels.cuppa_targets(9, 5)
    backend.synchronize()
    backend.synchronize()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(backend.synchronize).result(60)
    assert reads == [kernels, kernels]
    kernels.cuppa_targets(9, 5)
    with pytest.raises(KernelError, match=r"cuppa\.cuppa_targets failed: an index was out of range"):
        backend.synchronize()


def test_the_cpu_takes_what_a_launch_says(rng):
    reported, x, place = rng.random(3), np.zeros(3), np.array([2, 0, 1], np.int32)
    kernels = get_backend("cpu").kernels("pagerank")
    kernels.pagerank_scatter(3, reported, place, x, threads=1024, per_processor=1, shared=1 << 16)
    assert x[place].tolist() == reported.tolist()


@pytest.mark.parametrize("length", [0, 1, 1000])
def test_arrays_of_minus_one_have_a_signed_type(backend, dtype, length):
    made = minus_ones(backend.xp, length, dtype)
    assert made.dtype == dtype
    assert backend.to_host(made).tolist() == [-1] * length
