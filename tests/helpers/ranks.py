"""Groups of ranks for the tests of the communicators, and what the ranks do in them.

The bodies are module-level functions, so that ranks in processes of their own can import them.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphdask.bench.processes import UcxProcesses
from graphdask.comm.protocol import META, Communicator
from graphdask.comm.shm.communicator import ShmCommunicator, ShmPlane
from graphdask.comm.single import SingleCommunicator
from graphdask.comm.threads import run_threads
from graphdask.comm.ucx.communicator import UcxCommunicator, UcxPlane, ucx_available
from graphdask.comm.ucx.plane import FIRST_CAPACITY
from graphdask.device.backend import get_backend
from graphdask.errors import InputError


def needs_ucx() -> None:
    """Skip the test, with the reason, where UCX cannot be used."""
    found, reason = ucx_available()
    if not found:
        pytest.skip(reason)


def run_single(size: int, body: Callable[..., Any], *arguments: Any, **settings: Any) -> list[Any]:
    assert size == 1
    settings.pop("timeout", None)
    with SingleCommunicator(**settings) as communicator:
        return [body(communicator, *arguments)]


def run_in_threads(size: int, body: Callable[..., Any], *arguments: Any, **settings: Any) -> list[Any]:
    return run_threads(size, lambda communicator, rank: body(communicator, *arguments), deadline=240.0, **settings)


def run_ucx_threads(size: int, body: Callable[..., Any], *arguments: Any, **settings: Any) -> list[Any]:
    """Ranks as threads, each with a plane of its own; `run_threads` starts them and collects their errors."""
    gangs = settings.pop("gangs", [17] * size)
    runs = settings.pop("runs", [0] * size)
    with ExitStack() as stack:
        planes = [stack.enter_context(UcxPlane()) for _ in range(size)]
        addresses = [plane.address for plane in planes]

        def work(_: Communicator, rank: int) -> Any:
            with UcxCommunicator(planes[rank], rank, addresses, gangs[rank], runs[rank], **settings) as communicator:
                return body(communicator, *arguments)

        return run_threads(size, work, deadline=240.0)


def run_shm_threads(size: int, body: Callable[..., Any], *arguments: Any, **settings: Any) -> list[Any]:
    """Ranks as threads that exchange through shared memory, and through each other for the rest."""
    return run_threads(
        size, lambda communicator, rank: over_shm(communicator, body, *arguments, **settings), deadline=240.0
    )


def over_shm(communicator: Communicator, body: Callable[..., Any], *arguments: Any, **settings: Any) -> Any:
    """Run a body on a ShmCommunicator with `communicator` for control."""
    device = settings.pop("device", "cpu")
    with (
        ShmPlane(get_backend(device, communicator.rank)) as plane,
        ShmCommunicator(communicator, plane, **settings) as shm,
    ):
        return body(shm, *arguments)


def over_shm_on_device(communicator: Communicator, body: Callable[..., Any], *arguments: Any) -> Any:
    return over_shm(communicator, body, *arguments, device="cuda", timeout=30.0)


class ProcessRunner:
    """Runs bodies on rank processes that live as long as the test session."""

    def __init__(self, size: int):
        self.processes = UcxProcesses(size)

    def __call__(self, size: int, body: Callable[..., Any], *arguments: Any, **settings: Any) -> list[Any]:
        for plural, singular in (("gangs", "gang"), ("runs", "run")):
            if plural in settings:
                settings[singular] = settings.pop(plural)
        try:
            return self.processes.run(body, *arguments, size=size, **settings)
        except Exception:
            self.processes.renew()
            raise


class ShmProcessRunner:
    """The same with shared memory above UCX."""

    def __init__(self, runner: ProcessRunner):
        self.runner = runner

    def __call__(self, size: int, body: Callable[..., Any], *arguments: Any, **settings: Any) -> list[Any]:
        return self.runner(size, over_shm, body, *arguments, **settings)


def block(seed: int, sender: int, receiver: int, nbytes: int) -> np.ndarray:
    """The bytes that `sender` sends to `receiver`: known to both without a message."""
    return np.random.default_rng([seed, sender, receiver]).integers(0, 256, nbytes, dtype=np.uint8)


def exchange_blocks(communicator: Communicator, seed: int, lengths: list[list[int]], device: str = "cpu") -> None:
    """Exchange blocks of `lengths[sender][receiver]` bytes (-1: nothing) and compare with what the sender meant."""
    rank, size = communicator.rank, communicator.size
    backend = get_backend(device, rank)
    sends = [None if n < 0 else backend.from_host(block(seed, rank, q, n)) for q, n in enumerate(lengths[rank][:size])]
    meta = np.array([[seed, rank, q, -rank] for q in range(size)], np.int64)
    sent_before = communicator.bytes_sent
    payloads, metas, control = communicator.exchange(sends, meta, np.array([seed, rank, 1 << 62], np.int64))
    assert communicator.bytes_sent - sent_before == sum(
        max(n, 0) for q, n in enumerate(lengths[rank][:size]) if q != rank
    )
    for sender, payload in enumerate(payloads):
        n = lengths[sender][rank]
        if n < 0:
            assert payload is None
        else:
            assert isinstance(payload, backend.xp.ndarray)
            assert payload.dtype == np.uint8
            np.testing.assert_array_equal(backend.to_host(payload), block(seed, sender, rank, n))
    assert metas.shape == (size, META)
    assert metas.tolist() == [[seed, q, rank, -q] for q in range(size)]
    assert control.tolist() == [[seed, q, 1 << 62] for q in range(size)]


def count_supersteps(communicator: Communicator, n: int) -> int:
    """Send counters around a ring for n exchanges; return the sum of what arrived."""
    rank, size = communicator.rank, communicator.size
    total = 0
    for i in range(n):
        sends: list[np.ndarray | None] = [None] * size
        sends[(rank + 1) % size] = np.full(8, i % 251, np.uint8)
        received = communicator.exchange(sends, control=np.array([i], np.int64))
        assert received.control[:, 0].tolist() == [i] * size
        arrived = received.payloads[(rank - 1) % size]
        assert arrived is not None
        assert arrived.tolist() == [i % 251] * 8
        total += int(arrived[0])
    return total


def overwrite_after_exchange(communicator: Communicator, nbytes: int) -> None:
    """Overwrite the sent buffers at once: what the peers received must not change."""
    rank, size = communicator.rank, communicator.size
    sends = [np.full(nbytes, rank + 1, np.uint8) for _ in range(size)]
    received = communicator.exchange(list(sends)).payloads
    for q, part in enumerate(sends):
        if q != rank:
            part.fill(255)
    communicator_values = [
        np.unique(part).tolist() for q, part in enumerate(received) if q != rank and part is not None
    ]
    assert communicator_values == [[q + 1] for q in range(size) if q != rank]


def collectives(communicator: Communicator) -> None:
    """Compare every collective with NumPy over what all ranks contribute."""
    rank, size = communicator.rank, communicator.size
    values = [np.random.default_rng(q).integers(-(10**9), 10**9, (2, 3)) for q in range(size)]
    np.testing.assert_array_equal(communicator.allgather(values[rank]), np.stack(values))
    for op, reduction in (("sum", np.sum), ("min", np.min), ("max", np.max)):
        np.testing.assert_array_equal(communicator.allreduce(values[rank], op), reduction(values, axis=0))
    floats = [np.random.default_rng(q).random(5) for q in range(size)]
    np.testing.assert_array_equal(communicator.allreduce(floats[rank]), np.sum(floats, axis=0))
    wide = [np.arange(q, q + 3000, dtype=np.int64) for q in range(size)]
    np.testing.assert_array_equal(communicator.allgather(wide[rank]), np.stack(wide))
    for dtype in (np.int32, np.int64, np.float64):
        parts = [[np.arange(17 * ((q + r) % 3), dtype=dtype) * (q + 1) for r in range(size)] for q in range(size)]
        received = communicator.alltoallv(parts[rank])
        for q in range(size):
            assert received[q].dtype == dtype
            np.testing.assert_array_equal(received[q], parts[q][rank])
    communicator.barrier()


def fail_on(communicator: Communicator, rank: int, at: int, kind: str) -> None:
    """Exchange for ever; `rank` raises before exchange number `at`."""
    errors = {"zero": ZeroDivisionError("no such number"), "input": InputError("source 7 is outside the graph")}
    for i in range(at + 1000):
        if communicator.rank == rank and i == at:
            raise errors[kind]
        communicator.exchange([np.zeros(10, np.uint8)] * communicator.size)


def fail_within(communicator: Communicator, rank: int) -> None:
    """`rank` fails after its peers have begun to wait for it."""
    if communicator.rank == rank:
        # the others are inside the exchange as soon as their first messages are here
        communicator.exchange([None] * communicator.size)
        raise ZeroDivisionError("no such number")
    communicator.exchange([None] * communicator.size)
    communicator.exchange([np.zeros(1 << 20, np.uint8)] * communicator.size)


def leave_early(communicator: Communicator) -> None:
    """Rank 0 makes one exchange less than the others."""
    for _ in range(2 if communicator.rank == 0 else 3):
        communicator.exchange([None] * communicator.size)


def exchange_once(communicator: Communicator) -> None:
    communicator.exchange([None] * communicator.size)


def stop_oneself(communicator: Communicator, rank: int) -> None:
    """`rank` stops its process between two exchanges, as a debugger or a job scheduler would."""
    communicator.exchange([None] * communicator.size)
    if communicator.rank == rank:
        os.kill(os.getpid(), signal.SIGSTOP)
    communicator.exchange([None] * communicator.size)


def die(communicator: Communicator, rank: int, nbytes: int, at: int, note: Path | None = None) -> float:
    """`rank` is killed before exchange `at` while the others exchange; return when the others learned it.

    The errors say last when they were raised, and the file `note` when the rank was killed.
    """
    try:
        for i in range(at + 100000):
            if communicator.rank == rank and i == at:
                if note is not None:
                    note.write_text(str(time.monotonic()))
                os.kill(os.getpid(), signal.SIGKILL)
            communicator.exchange([np.zeros(nbytes, np.uint8)] * communicator.size)
    except Exception as error:
        error.args = (*error.args, time.monotonic())
        raise
    return time.monotonic()


def absent_for_ever(communicator: Communicator, rank: int) -> None:
    """`rank` takes part in one exchange, and then does something else."""
    communicator.exchange([None] * communicator.size)
    if communicator.rank == rank:
        signal.pause()
    communicator.exchange([None] * communicator.size)


def many_blocks(communicator: Communicator, lengths: list[list[int]], device: str) -> None:
    """Several exchanges of device memory, small and large in turn, with collectives between them."""
    for seed in range(6):
        exchange_blocks(communicator, seed, [[n >> 4 * (seed % 2) for n in row] for row in lengths], device)
        assert communicator.allreduce(np.array([communicator.rank])).tolist() == [sum(range(communicator.size))]


def over_nccl(communicator: Communicator, body: Callable[..., Any], *arguments: Any) -> Any:
    """Run a body on an NcclCommunicator whose control messages go through `communicator`."""
    from graphdask.comm.nccl import NcclCommunicator, NcclPlane

    backend = get_backend("cuda", communicator.rank)
    with NcclPlane(backend) as plane, NcclCommunicator(communicator, plane, timeout=30.0) as nccl:
        return body(nccl, *arguments)


def twice_over_nccl(communicator: Communicator, body: Callable[..., Any], *arguments: Any) -> None:
    """Run a body twice over one plane, which connects once."""
    from graphdask.comm.nccl import NcclCommunicator, NcclPlane

    with NcclPlane(get_backend("cuda", communicator.rank)) as plane:
        connections = set()
        for _ in range(2):
            with NcclCommunicator(communicator, plane, gang=1, timeout=30.0) as nccl:
                body(nccl, *arguments)
            connections.add(plane.communicator)
        assert len(connections) == 1


def device_ring(communicator: Communicator, n: int) -> None:
    """Fill the send buffer anew, on the stream, before each exchange: what arrives is of this exchange."""
    rank, size = communicator.rank, communicator.size
    backend = get_backend("cuda", rank)
    sends: list[Any] = [None] * size
    sends[(rank + 1) % size] = backend.xp.empty(100_000, np.uint8)
    for i in range(n):
        sends[(rank + 1) % size].fill((i + rank) % 251)
        arrived = communicator.exchange(sends).payloads[(rank - 1) % size]
        expected = (i + (rank - 1) % size) % 251
        assert bool((arrived == expected).all())


def fail_on_device(communicator: Communicator, rank: int) -> None:
    """`rank` fails after two exchanges of device memory."""
    backend = get_backend("cuda", communicator.rank)
    sends = [backend.xp.zeros(1 << 20, np.uint8)] * communicator.size
    for i in range(1000):
        if communicator.rank == rank and i == 2:
            raise InputError("source 7 is outside the graph")
        communicator.exchange(sends)


def die_with_device(communicator: Communicator, rank: int) -> None:
    """`rank` is killed between exchanges of device memory."""
    backend = get_backend("cuda", communicator.rank)
    sends = [backend.xp.zeros(1 << 20, np.uint8)] * communicator.size
    for i in range(100_000):
        if communicator.rank == rank and i == 20:
            os.kill(os.getpid(), signal.SIGKILL)
        communicator.exchange(sends)


def traffic_bytes(seed: int, number: int, size: int) -> np.ndarray:
    """Payload bytes of exchange `number`, shape (sender, receiver); -1 is None. Around a link's first buffer."""
    rng = np.random.default_rng([seed, number])
    small = rng.integers(1, 12_000, (size, size))
    medium = rng.integers(12_000, FIRST_CAPACITY + 2, (size, size))
    large = rng.integers(FIRST_CAPACITY, 4 * FIRST_CAPACITY, (size, size))
    kind = rng.choice(5, (size, size), p=[0.2, 0.1, 0.3, 0.37, 0.03])
    return np.select([kind == 0, kind == 1, kind == 2, kind == 3], [-1, 0, small, medium], large)


def traffic(communicator: Communicator, seed: int, n: int, device: str = "cpu") -> None:
    """Make n exchanges of random lengths; what arrived is compared at once, and again just before the next exchange.

    In between messages are let in, so that peers that are ahead get the chance to overwrite it.
    """
    rank, size = communicator.rank, communicator.size
    backend = get_backend(device, rank)
    stock = np.random.default_rng(seed).integers(0, 256, 5 * FIRST_CAPACITY, dtype=np.uint8)

    def part(number: int, sender: int, receiver: int, nbytes: int) -> np.ndarray:
        first = (number * 7919 + sender * 104_729 + receiver * 1_299_709) % FIRST_CAPACITY
        return stock[first : first + nbytes]

    def compare(number: int, payloads: Sequence[Any], lengths: np.ndarray) -> None:
        for sender, payload in enumerate(payloads):
            if lengths[sender, rank] < 0:
                assert payload is None
            else:
                expected = part(number, sender, rank, lengths[sender, rank])
                assert np.array_equal(backend.to_host(payload), expected), (number, sender, len(expected))

    for number in range(n):
        lengths = traffic_bytes(seed, number, size)
        sends = [
            None if nbytes < 0 else backend.from_host(part(number, rank, q, nbytes))
            for q, nbytes in enumerate(lengths[rank])
        ]
        received = communicator.exchange(sends, control=np.full(number % 3, rank, np.int64))
        assert received.control.tolist() == [[q] * (number % 3) for q in range(size)]
        compare(number, received.payloads, lengths)
        for _ in range((number + rank) % 4 * 5):
            communicator.check()
        compare(number, received.payloads, lengths)
