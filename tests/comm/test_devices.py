"""Exchanges of device memory: threads, UCX and NCCL, several GPUs or ranks that share one."""

from __future__ import annotations

import numpy as np
import pytest
from ranks import (
    device_ring,
    die_with_device,
    exchange_blocks,
    fail_on_device,
    many_blocks,
    needs_ucx,
    over_nccl,
    over_shm_on_device,
    traffic,
    twice_over_nccl,
)

from graphdask.bench.processes import UcxProcesses
from graphdask.comm.nccl import NcclCommunicator, NcclPlane, nccl_available
from graphdask.comm.single import SingleCommunicator
from graphdask.comm.threads import run_threads
from graphdask.comm.ucx.communicator import UcxCommunicator, UcxPlane
from graphdask.device.backend import cuda_device_count, get_backend
from graphdask.errors import InputError, PeerLost

MIXED = [[-1, 0, 8, 70_000], [1 << 20, -1, 3, 4000], [17, 8 << 20, 5, 0], [1, 2, 1 << 20, -1]]


def on_threads(size, body, *arguments):
    backends = [get_backend("cuda", rank) for rank in range(size)]
    return run_threads(size, lambda communicator, rank: body(communicator, *arguments), backends, 30.0, 120.0)


def on_ucx_threads(size, body, *arguments):
    needs_ucx()
    backends = [get_backend("cuda", rank) for rank in range(size)]
    planes = [UcxPlane(backend=backend) for backend in backends]

    def work(_, rank):
        with UcxCommunicator(planes[rank], rank, [plane.address for plane in planes], 3, 0, 30.0) as communicator:
            return body(communicator, *arguments)

    try:
        return run_threads(size, work, backends, deadline=120.0)
    finally:
        for plane in planes:
            plane.close()


def test_nccl_says_whether_it_is_there():
    found, reason = nccl_available()
    assert found is (reason.startswith("NCCL ") and "cannot" not in reason)


def test_nccl_refuses_host_memory():
    with pytest.raises(InputError, match="device memory only"), SingleCommunicator() as control:
        NcclCommunicator(control, NcclPlane(get_backend("cpu")))


@pytest.mark.gpu
@pytest.mark.parametrize("runner", [on_threads, on_ucx_threads])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_device_payloads_arrive_as_sent(runner, size):
    """Ranks beyond the number of GPUs share them."""
    runner(size, many_blocks, MIXED, "cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("runner", [on_threads, on_ucx_threads])
def test_a_device_buffer_may_be_refilled_after_each_exchange(runner):
    runner(2, device_ring, 200)


@pytest.mark.gpu
@pytest.mark.parametrize("size", [2, 3])
def test_device_payloads_of_any_length_in_turn_stay_until_the_next_exchange(size):
    on_ucx_threads(size, traffic, 5, 150, "cuda")


@pytest.mark.gpu
def test_a_receive_buffer_is_in_nobodys_use():
    """Another rank of this process may have freed its memory with kernels that write to it still to run."""
    needs_ucx()
    import cupy

    backend = get_backend("cuda")
    with backend.activate(), UcxPlane(backend=backend) as plane:
        freed = cupy.empty(1 << 24, np.uint8)
        address = freed.data.ptr
        work = cupy.ones((4096, 4096), np.float64)
        for _ in range(20):
            work = work @ work
        freed.fill(1)
        del freed
        buffer, _ = plane.new_buffer(1 << 24)
        assert cupy.cuda.get_current_stream().done
        assert buffer.data.ptr == address


@pytest.mark.gpu
def test_nccl_with_one_rank():
    on_threads(1, over_nccl, many_blocks, MIXED, "cuda")


@pytest.mark.multigpu
@pytest.mark.parametrize("over", [None, over_nccl, over_shm_on_device])
def test_a_process_for_each_gpu(over):
    needs_ucx()
    size = min(4, cuda_device_count())
    with UcxProcesses(size, "cuda") as processes:
        for body, arguments in (
            (many_blocks, (MIXED, "cuda")),
            (device_ring, (200,)),
            (exchange_blocks, (1, MIXED, "cuda")),
            (traffic, (6, 300, "cuda")),
        ):
            processes.run(*([] if over is None else [over]), body, *arguments, deadline=120.0)


@pytest.mark.gpu
@pytest.mark.parametrize("size", [2, 3])
def test_processes_share_the_memory_of_gpus(size):
    """Those beyond the number of GPUs share one."""
    needs_ucx()
    with UcxProcesses(size, "cuda") as processes:
        for body, arguments in ((many_blocks, (MIXED, "cuda")), (device_ring, (200,)), (traffic, (6, 150, "cuda"))):
            processes.run(over_shm_on_device, body, *arguments, deadline=120.0)


@pytest.mark.multigpu
def test_nccl_stays_connected_between_runs():
    needs_ucx()
    with UcxProcesses(2, "cuda") as processes:
        processes.run(twice_over_nccl, many_blocks, MIXED, "cuda", deadline=120.0)


@pytest.mark.multigpu
def test_an_abort_ends_nccl_on_every_rank():
    with pytest.raises(InputError, match="source 7 is outside the graph"), UcxProcesses(2, "cuda") as processes:
        processes.run(over_nccl, fail_on_device, 1, deadline=120.0)


@pytest.mark.chaos
@pytest.mark.multigpu
@pytest.mark.parametrize("nccl", [False, True])
def test_a_killed_process_ends_the_exchange_of_device_memory(nccl):
    needs_ucx()
    with UcxProcesses(2, "cuda") as processes:
        body = (over_nccl, die_with_device) if nccl else (die_with_device,)
        processes.start(*body, 1, timeout=30.0)
        processes.processes[1].join(60.0)
        [(_, error)] = processes.results([0], deadline=20.0)
        assert isinstance(error, PeerLost), error
