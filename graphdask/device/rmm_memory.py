"""Memory of RAPIDS Memory Manager: allocate from the resource that a worker was given, and count what it holds free.

Dask-CUDA gives a worker a resource by `rmm_pool_size=`, `rmm_async=` or `rmm_managed_memory=`. A pool takes its memory
from the device beforehand, so the device reports it as used. What a pool has handed out is counted by an adaptor of
RMM above it; what was handed out before the adaptor was there counts as free. The driver itself says what an
asynchronous pool holds and has handed out.

A resource is a chain: adaptors, each with an upstream resource, and at its end one that asks the driver.
"""

from __future__ import annotations

import sys
from typing import Any

PLAIN = {
    "CudaMemoryResource",
    "FailureCallbackResourceAdaptor",
    "LoggingResourceAdaptor",
    "PrefetchResourceAdaptor",
    "StatisticsResourceAdaptor",
    "TrackingResourceAdaptor",
}
"""Classes of resources that hold no memory back. Of these alone CuPy's own pool is faster."""
POOLS = {"PoolMemoryResource"}
"""Those that state their size."""
PROBE = 256
"""Bytes that are allocated to ask the driver for the pool that they are from."""


def chain(resource: Any) -> list[Any]:
    """A resource and its upstream resources, the one that asks the driver last."""
    found = [resource]
    while (upstream := getattr(found[-1], "upstream_mr", None)) is not None:
        found.append(upstream)
    return found


def adopted(cupy: Any, device: int) -> list[Any]:
    """Let CuPy allocate from the resource that was set up for a device, unless CuPy's allocator was chosen already.

    Returns
    -------
    list
        The chain of that resource; empty where none was set up, or CuPy does not allocate from it.
    """
    rmm = sys.modules.get("rmm")
    if rmm is None:
        return []
    links = chain(rmm.mr.get_per_device_resource(device))
    if all(type(link).__name__ in PLAIN for link in links):
        return []
    from rmm.allocators.cupy import rmm_cupy_allocator

    if cupy.cuda.get_allocator() == cupy.get_default_memory_pool().malloc:
        cupy.cuda.set_allocator(rmm_cupy_allocator)
    return links if cupy.cuda.get_allocator() == rmm_cupy_allocator else []


def usable(cupy: Any, device: int, free: int, total: int) -> int:
    """Return how many bytes can still be allocated on a device.

    Parameters
    ----------
    cupy : module
    device : int
    free, total : int
        Bytes that the device reports as free, and all of its own.
    """
    links = adopted(cupy, device)
    if not links:
        return free
    pool = next((place for place, link in enumerate(links) if type(link).__name__ in POOLS), None)
    if pool is not None:
        free += max(int(links[pool].pool_size()) - _handed_out(device, links[:pool], links[0]), 0)
    elif type(links[-1]).__name__ == "CudaAsyncMemoryResource":
        free += _held_by_driver(links[-1])
    for link in links:
        if type(link).__name__ == "LimitingResourceAdaptor":
            free = min(free, int(link.get_allocation_limit()) - int(link.get_allocated_bytes()))
    return max(min(free, total), 0)


def _handed_out(device: int, adaptors: list[Any], resource: Any) -> int:
    """Bytes of a pool that were handed out through adaptors; if none of them counts, one that does is set up."""
    counts = [int(link.get_allocated_bytes()) for link in adaptors if hasattr(link, "get_allocated_bytes")]
    counts += [int(link.allocation_counts.current_bytes) for link in adaptors if hasattr(link, "allocation_counts")]
    if not counts:
        memory = sys.modules["rmm"].mr
        memory.set_per_device_resource(device, memory.StatisticsResourceAdaptor(resource))
    return max(counts, default=0)


def _held_by_driver(resource: Any) -> int:
    """Bytes that the pool of an asynchronous resource holds and has not handed out."""
    from cuda.bindings import driver

    address = resource.allocate(PROBE)
    try:
        attribute = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE
        failure, pool = driver.cuPointerGetAttribute(attribute, address)
        if int(failure):
            return 0
        attributes = driver.CUmemPool_attribute
        reserved, used = (
            int(driver.cuMemPoolGetAttribute(pool, name)[1])
            for name in (attributes.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, attributes.CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
        )
        return max(reserved - used, 0)
    finally:
        resource.deallocate(address, PROBE)
