"""Latency and bandwidth of the communicators: all-to-all `exchange`, medians, with the data checked.

The peer in the same run is `ucx-raw`: the
same messages over bare libucxx endpoints, sizes known beforehand, no headers, no checks, no deadline.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from graphdask.bench.harness import Record, recorded
from graphdask.bench.processes import TcpProcesses, UcxProcesses
from graphdask.comm.protocol import Communicator
from graphdask.comm.threads import run_threads
from graphdask.comm.ucx.communicator import ucx_available
from graphdask.device.backend import Backend, cuda_device_count, get_backend
from graphdask.errors import CommunicationError, InputError

SIZES = (8, 64, 1024, 4096, 65536, 1 << 20, 1 << 24, 1 << 27)
KINDS = ("threads", "tcp", "shm", "ucx", "ucx-raw", "nccl")


def _repeats(nbytes: int) -> int:
    return 400 if nbytes <= 1 << 16 else 100 if nbytes <= 1 << 20 else 20 if nbytes <= 1 << 24 else 6


def _buffers(communicator: Communicator, backend: Backend, nbytes: int) -> list[Any]:
    return [backend.xp.full(nbytes, communicator.rank, dtype=np.uint8) for _ in range(communicator.size)]


def measure(communicator: Communicator, backend: Backend, sizes: Sequence[int]) -> list[float]:
    """Return the median seconds of an all-to-all exchange for each payload size."""
    medians = []
    control = np.zeros(4, np.int64)
    for nbytes in sizes:
        sends = _buffers(communicator, backend, nbytes)
        received = communicator.exchange(sends, control=control)
        for q, part in enumerate(received.payloads):
            if part is None or len(part) != nbytes or not bool((part == q).all()):
                raise CommunicationError(f"rank {communicator.rank} received wrong data from rank {q}")
        seconds = []
        for _ in range(_repeats(nbytes)):
            start = time.perf_counter()
            communicator.exchange(sends, control=control)
            seconds.append(time.perf_counter() - start)
        medians.append(statistics.median(seconds))
    return medians


def measure_raw(communicator: Communicator, backend: Backend, sizes: Sequence[int]) -> list[float]:
    """Return the same for bare tag messages on the endpoints of a UcxCommunicator."""
    from ucxx._lib.arr import Array as Descriptor

    plane, peers = communicator._plane, communicator._peers  # type: ignore[attr-defined]
    tag_type, progress, medians, kind = plane.library.UCXXTag, plane.worker.progress, [], 3 << 14
    for nbytes in sizes:
        sends = _buffers(communicator, backend, nbytes)
        receives = {peer.rank: backend.xp.empty(nbytes, dtype=np.uint8) for peer in peers}
        seconds = []
        backend.synchronize()
        for i in range(_repeats(nbytes)):
            start = time.perf_counter()
            requests = [
                peer.link.endpoint.tag_recv(Descriptor(receives[peer.rank]), tag_type(i << 16 | kind | peer.rank))
                for peer in peers
            ]
            own = tag_type(i << 16 | kind | communicator.rank)
            requests += [peer.link.endpoint.tag_send(Descriptor(sends[peer.rank]), own) for peer in peers]
            while not all([request.completed for request in requests]):
                progress()
            seconds.append(time.perf_counter() - start)
        medians.append(statistics.median(seconds))
    return medians


def _rank_of_processes(communicator: Communicator, measured: str, device: str, sizes: Sequence[int]) -> list[float]:
    backend = get_backend(device, communicator.rank)
    if measured == "ucx-raw":
        return measure_raw(communicator, backend, sizes)
    if measured == "shm":
        from graphdask.comm.shm.communicator import ShmCommunicator, ShmPlane

        with ShmPlane(backend) as shm_plane, ShmCommunicator(communicator, shm_plane) as shm:
            return measure(shm, backend, sizes)
    if measured == "nccl":
        from graphdask.comm.nccl import NcclCommunicator, NcclPlane

        with NcclPlane(backend) as plane, NcclCommunicator(communicator, plane) as nccl:
            return measure(nccl, backend, sizes)
    return measure(communicator, backend, sizes)


def _medians(kind: str, device: str, size: int, sizes: Sequence[int]) -> list[list[float]]:
    if kind == "threads":
        backends = [get_backend(device, rank) for rank in range(size)]
        body: Callable[[Communicator, int], Any] = lambda communicator, rank: measure(  # noqa: E731
            communicator, backends[rank], sizes
        )
        return run_threads(size, body, backends)
    over_tcp = kind == "tcp" or (kind == "shm" and not ucx_available()[0])
    with TcpProcesses(size, device) if over_tcp else UcxProcesses(size, device) as processes:
        return processes.run(_rank_of_processes, kind, device, list(sizes), deadline=600.0)


@recorded
def run(
    communicator: str = "all",
    device: str = "cpu",
    ranks: Sequence[int] = (2, 4),
    sizes: Sequence[int] = SIZES,
) -> Iterator[Record]:
    """Measure all-to-all exchanges between ranks of this host.

    Parameters
    ----------
    communicator : {"threads", "tcp", "shm", "ucx", "ucx-raw", "nccl", "all"}
        `all` takes those that the device and the installation allow. All but threads run one process per rank.
    device : {"cpu", "cuda"}
    ranks : sequence of int
    sizes : sequence of int
        Payload bytes for each peer.

    Yields
    ------
    dict
        `communicator`, `device`, `ranks`, `bytes` (for each peer), `us` (median of the slowest rank) and `gbs`
        (10^9 bytes/s that a rank sends).
    """
    if communicator not in (*KINDS, "all"):
        raise InputError(f"communicator={communicator!r} is not one of {', '.join(KINDS)}, all")
    if device not in ("cpu", "cuda"):
        raise InputError(f"device={device!r} is not cpu or cuda")
    if communicator == "nccl" and device != "cuda":
        raise InputError("NCCL moves device memory only: device must be cuda")
    kinds: list[str] = [communicator]
    if communicator == "all":
        kinds = ["threads", "tcp", "shm"] + (["ucx", "ucx-raw"] if ucx_available()[0] else [])
        kinds += ["nccl"] if device == "cuda" and ucx_available()[0] else []
    devices = cuda_device_count()
    if device == "cuda" and max(ranks) > devices:
        raise InputError(f"{max(ranks)} ranks need as many GPUs, and there are {devices}; give fewer ranks")
    for kind in kinds:
        for size in ranks:
            slowest = np.max(_medians(kind, device, size, sizes), axis=0)
            for nbytes, seconds in zip(sizes, slowest, strict=True):
                sent = nbytes * (size - 1)
                yield {
                    "communicator": kind, "device": device, "ranks": size, "bytes": nbytes,
                    "us": round(float(seconds) * 1e6, 1), "gbs": round(sent / float(seconds) / 1e9, 3),
                }  # fmt: skip
