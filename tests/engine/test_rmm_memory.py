"""Memory of RMM: what the resource of a worker holds free counts as free, and CuPy allocates from it."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from graphdask.device import rmm_memory

GIB = 1 << 30


class CudaMemoryResource:
    """Stands for the resource of this name, as the others do."""


class PoolMemoryResource:
    def __init__(self, upstream_mr: Any, size: int):
        self.upstream_mr, self._size = upstream_mr, size

    def pool_size(self) -> int:
        return self._size


class TrackingResourceAdaptor:
    def __init__(self, upstream_mr: Any, used: int):
        self.upstream_mr, self._used = upstream_mr, used

    def get_allocated_bytes(self) -> int:
        return self._used


class LimitingResourceAdaptor(TrackingResourceAdaptor):
    limit = 10 * GIB

    def get_allocation_limit(self) -> int:
        return self.limit


class StatisticsResourceAdaptor:
    def __init__(self, upstream_mr: Any):
        self.upstream_mr, self.allocation_counts = upstream_mr, SimpleNamespace(current_bytes=0)


class ManagedMemoryResource:
    pass


@pytest.fixture
def memory(monkeypatch):
    """Stands for `rmm.mr`, with one device; and `cupy` beside it."""
    resources = {0: CudaMemoryResource()}
    mr = SimpleNamespace(
        resources=resources,
        get_per_device_resource=resources.__getitem__,
        set_per_device_resource=resources.__setitem__,
        StatisticsResourceAdaptor=StatisticsResourceAdaptor,
    )
    rmm, allocators = ModuleType("rmm"), ModuleType("rmm.allocators.cupy")
    rmm.mr, allocators.rmm_cupy_allocator = mr, lambda nbytes: None
    for name, module in (("rmm", rmm), ("rmm.allocators", ModuleType("rmm.allocators")),
                         ("rmm.allocators.cupy", allocators)):  # fmt: skip
        monkeypatch.setitem(sys.modules, name, module)
    mr.allocator = allocators.rmm_cupy_allocator
    return mr


class Cupy:
    """The allocators of CuPy."""

    def __init__(self) -> None:
        self.pool = SimpleNamespace(malloc="CuPy's pool")
        self.allocator: Any = self.pool.malloc
        self.cuda = SimpleNamespace(
            get_allocator=lambda: self.allocator, set_allocator=lambda chosen: setattr(self, "allocator", chosen)
        )

    def get_default_memory_pool(self) -> Any:
        return self.pool


def test_without_rmm_nothing_changes(monkeypatch):
    monkeypatch.delitem(sys.modules, "rmm", raising=False)
    cupy = Cupy()
    assert rmm_memory.usable(cupy, 0, 7 * GIB, 80 * GIB) == 7 * GIB
    assert cupy.allocator == "CuPy's pool"


@pytest.mark.parametrize("make", [CudaMemoryResource, lambda: TrackingResourceAdaptor(CudaMemoryResource(), GIB)])
def test_a_resource_that_holds_nothing_leaves_cupy_its_pool(memory, make):
    memory.resources[0] = make()
    cupy = Cupy()
    assert rmm_memory.usable(cupy, 0, 7 * GIB, 80 * GIB) == 7 * GIB
    assert cupy.allocator == "CuPy's pool"


def test_what_a_pool_holds_free_counts(memory):
    memory.resources[0] = PoolMemoryResource(CudaMemoryResource(), 60 * GIB)
    cupy = Cupy()
    assert rmm_memory.usable(cupy, 0, 5 * GIB, 80 * GIB) == 65 * GIB
    assert cupy.allocator is memory.allocator
    counting = memory.resources[0]
    assert isinstance(counting, StatisticsResourceAdaptor)
    counting.allocation_counts.current_bytes = 20 * GIB  # as the real one counts what goes through it
    assert rmm_memory.usable(cupy, 0, 5 * GIB, 80 * GIB) == 45 * GIB
    assert memory.resources[0] is counting


def test_an_adaptor_that_counts_already_is_asked(memory):
    tracked = TrackingResourceAdaptor(PoolMemoryResource(ManagedMemoryResource(), 60 * GIB), 55 * GIB)
    memory.resources[0] = tracked
    assert rmm_memory.usable(Cupy(), 0, 30 * GIB, 80 * GIB) == 35 * GIB
    assert memory.resources[0] is tracked


def test_no_more_is_usable_than_the_device_has_or_a_limit_allows(memory):
    memory.resources[0] = TrackingResourceAdaptor(PoolMemoryResource(ManagedMemoryResource(), 60 * GIB), GIB)
    assert rmm_memory.usable(Cupy(), 0, 70 * GIB, 80 * GIB) == 80 * GIB
    memory.resources[0] = LimitingResourceAdaptor(CudaMemoryResource(), 4 * GIB)
    assert rmm_memory.usable(Cupy(), 0, 70 * GIB, 80 * GIB) == 6 * GIB


def test_managed_memory_is_what_the_device_reports(memory):
    memory.resources[0] = ManagedMemoryResource()
    cupy = Cupy()
    assert rmm_memory.usable(cupy, 0, 70 * GIB, 80 * GIB) == 70 * GIB
    assert cupy.allocator is memory.allocator


def test_an_allocator_that_was_chosen_stays(memory):
    memory.resources[0] = PoolMemoryResource(CudaMemoryResource(), 60 * GIB)
    cupy = Cupy()
    cupy.allocator = "of the caller"
    assert rmm_memory.usable(cupy, 0, 5 * GIB, 80 * GIB) == 5 * GIB
    assert cupy.allocator == "of the caller"


RESOURCES = {"pool": {"rmm_pool_size": "2GB"}, "async": {"rmm_async": True}, "managed": {"rmm_managed_memory": True}}


@pytest.mark.gpu
@pytest.mark.parametrize("kind", RESOURCES)
def test_workers_of_dask_cuda_use_their_resource(kind):
    """Other processes may use the same GPU, so only what the resource itself holds has a known size."""
    import graphdask as gd

    pytest.importorskip("rmm")
    dask_cuda = pytest.importorskip("dask_cuda")
    from distributed import Client

    def state() -> tuple[int, str]:
        """On a worker: bytes that the resource holds free, and the allocator of CuPy."""
        import cupy

        from graphdask.device import rmm_memory
        from graphdask.device.backend import get_backend

        get_backend("cuda").synchronize()
        held = rmm_memory.usable(cupy, 0, 0, cupy.cuda.runtime.memGetInfo()[1])
        return held, getattr(cupy.cuda.get_allocator(), "__name__", "")

    with dask_cuda.LocalCUDACluster(n_workers=1, **RESOURCES[kind]) as cluster, Client(cluster) as client:
        ((before, allocator),) = client.run(state).values()
        assert allocator == "rmm_cupy_allocator"
        G = gd.generate.rmat(16, seed=1)
        found = gd.bfs(G, 0, client=client).verify()
        assert (found.depth == gd.bfs(G, 0).depth).all()
        ((after, _),) = client.run(state).values()
        if kind == "pool":  # holds what it was given, of which the graph's partition has some
            assert before == pytest.approx(2e9, rel=0.02)
            assert 0.5 * before < after < before
        if kind == "managed":
            assert (before, after) == (0, 0)


IN_A_PROCESS = """
import sys

import cupy
import numpy as np
import rmm

import graphdask as gd
from graphdask.device import rmm_memory
from graphdask.device.backend import get_backend
from graphdask.errors import OverBudget

GIB, kind = 1 << 30, sys.argv[1]
device, total = rmm.mr.CudaMemoryResource(), cupy.cuda.runtime.memGetInfo()[1]


def pool(upstream):
    return rmm.mr.PoolMemoryResource(upstream, initial_pool_size=2 * GIB, maximum_pool_size=2 * GIB)


resource = {
    "plain": lambda: device,
    "pool": lambda: pool(device),
    "tracked pool": lambda: rmm.mr.TrackingResourceAdaptor(pool(device)),
    "limited pool": lambda: rmm.mr.LimitingResourceAdaptor(pool(device), allocation_limit=GIB + GIB // 2),
    "async": lambda: rmm.mr.CudaAsyncMemoryResource(initial_pool_size=2 * GIB),
    "managed": lambda: rmm.mr.ManagedMemoryResource(),
    "pool of managed": lambda: pool(rmm.mr.ManagedMemoryResource()),
}[kind]()
rmm.mr.set_current_device_resource(resource)
backend = get_backend("cuda")
holds = {"plain": 0, "managed": 0, "limited pool": 1.5}.get(kind, 2)


def held():
    # what can be allocated where nothing is left of the device but what the resource holds
    cupy.cuda.Device().synchronize()
    cupy.get_default_memory_pool().free_all_blocks()
    return rmm_memory.usable(cupy, 0, 0, total) / GIB


name = getattr(cupy.cuda.get_allocator(), "__name__", "")
assert (name == "rmm_cupy_allocator") == (kind != "plain"), name
before = held()
assert abs(before - holds) < 0.1, (before, holds)
taken = cupy.zeros(GIB, np.uint8)
after = held()
assert abs(after - max(holds - 1, 0)) < 0.1, (after, holds)
del taken
assert abs(held() - holds) < 0.1, (held(), holds)

G = gd.generate.rmat(14, seed=1)
expected = gd.bfs(G.partition(1, device="cpu"), 0).depth
seeds = np.arange(1000)
sampled = gd.sample.neighbors(G.partition(1, device="cpu"), seeds, [5, 5], edge_rows=True)


def check():
    on_gpu = gd.generate.rmat(14, seed=1).partition(1, device="cuda")
    np.testing.assert_array_equal(gd.bfs(on_gpu, 0).verify().depth, expected)
    found = gd.sample.neighbors(on_gpu, seeds, [5, 5], edge_rows=True)
    for name in ("src", "dst", "edge"):
        np.testing.assert_array_equal(getattr(found, name), getattr(sampled, name))


check()
if kind != "managed":
    real = cupy.cuda.runtime.memGetInfo
    cupy.cuda.runtime.memGetInfo = lambda: (0, real()[1])
    cupy.get_default_memory_pool().free_all_blocks()
    try:
        check()
    except OverBudget:
        assert kind == "plain"
    else:
        assert kind != "plain"
print("as expected")
"""

KINDS = ["plain", "pool", "tracked pool", "limited pool", "async", "managed", "pool of managed"]


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_memory_of_the_resource_of_a_process_counts_as_free(kind):
    pytest.importorskip("rmm")
    done = subprocess.run([sys.executable, "-c", IN_A_PROCESS, kind], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip()[-11:]) == (0, "as expected"), done.stderr[-2000:]
