"""Emulated GPUs that share no memory: each runs its kernels by itself, beside its host, which carries the messages.

The emulator of `emulated.py` runs one launch at a time. Here each device has its own copy of the libraries of kernels
that run through supersteps together, and a thread that launches them. Their hosts are threads, which exchange over
`ThreadCommunicator`.
"""

from __future__ import annotations

import ctypes
import shutil
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from device_arrays import DeviceNumpy
from emulated import EmulatedCuda, EmulatedKernels, library, source_of, sources

from graphdask.comm import relay, threads
from graphdask.comm.ucx.carrier import UcxCarrier
from graphdask.comm.ucx.communicator import UcxCommunicator, UcxPlane
from graphdask.device import backend as backends
from graphdask.device.backend import macro_of
from graphdask.gang import local
from graphdask.kernels.functions.inserted import cuda_text, digests


class Pinned(ctypes.Array):
    """Page-locked memory."""

    _type_, _length_ = ctypes.c_uint8, 1 << 17

    @property
    def ptr(self) -> int:
        return ctypes.addressof(self)


class Buffers(dict):
    """Buffers of a communicator that outlive it."""

    def clear(self) -> None:
        pass


class RelayedStream(AbstractContextManager):
    """A stream; kernels that find memory of others are launched on its device's thread, whatever the stream."""

    def __init__(self, device: RelayedCuda):
        self.device = device

    def __exit__(self, *_: Any) -> None:
        pass

    def synchronize(self) -> None:
        self.device.finish()


class CurrentStream:
    """The stream on which nothing runs that has not ended."""

    def synchronize(self) -> None:
        pass


class Ended:
    """An event."""

    def __init__(self, device: RelayedCuda):
        self.device = device

    def record(self) -> None:
        self.last = self.device.last

    @property
    def done(self) -> bool:
        return self.last.done()


class RelayedKernels(EmulatedKernels):
    """Kernels of a family that a device launches on a thread, from a library of its own."""

    def __init__(self, device: RelayedCuda, family: str, macros: tuple[str, ...], cooperative: bool, functions: Any):
        super().__init__(device, family, macros, cooperative, functions)
        copy = device.folder / f"{family}-{len(list(device.folder.iterdir()))}.so"
        texts = {**sources(), f"{family}.cu": cuda_text(family, source_of(family), functions)}
        shutil.copy(library(family, macros, texts), copy)
        self._library = ctypes.CDLL(str(copy))  # without the interpreter's lock
        self._library.emulated_status.restype = ctypes.POINTER(ctypes.c_int)

    def __getattr__(self, name: str) -> Any:
        launch = super().__getattr__(name)
        setattr(self, name, lambda *arguments, **options: self._backend.start(launch, *arguments, **options))
        return getattr(self, name)


class RelayedCuda(EmulatedCuda):
    """One of several GPUs."""

    def __init__(self, number: int, folder: Path):
        super().__init__(number, most_blocks=2)
        folder.mkdir()
        self.device, self.folder, self.relay = number, folder, None
        self.buffers = Buffers()
        """Where payloads arrive, if they last."""
        self.launches = ThreadPoolExecutor(1)
        self.last: Future = Future()
        self.last.set_result(None)
        self.xp = DeviceNumpy()
        self.xp.cuda = SimpleNamespace(
            get_current_stream=CurrentStream, Device=DeviceNumpy.cuda.Device, alloc_pinned_memory=self.pinned,
            Stream=lambda non_blocking: RelayedStream(self), Event=lambda disable_timing: Ended(self),
            runtime=SimpleNamespace(getDeviceProperties=lambda device: {"uuid": bytes([device])}),
        )  # fmt: skip

    def pinned(self, nbytes: int) -> Pinned:
        memory = Pinned()
        assert nbytes <= len(memory)
        self.may_touch(memory.ptr, len(memory))
        return memory

    def may_touch(self, address: int, nbytes: int) -> None:
        """Let kernels touch memory that is not of the device."""
        self._addressed.append((address, address + nbytes))

    def start(self, launch: Any, *arguments: Any, **options: Any) -> None:
        for array in self.buffers.values():
            self.address(array)
        self.last = self.launches.submit(launch, *arguments, **options)

    def finish(self) -> None:
        self.last.result()

    def kernels(self, family: str, *, cooperative: bool = False, functions: Any = None, **types: Any) -> Any:
        if not family.endswith("_team"):
            return super().kernels(family, cooperative=cooperative, functions=functions, **types)
        macros = tuple(f"{name}={macro_of(value)}" for name, value in sorted(types.items()))
        key = family, cooperative, digests(functions), macros
        if key not in self._modules:
            self._modules[key] = RelayedKernels(self, family, macros, cooperative, functions)
        return self._modules[key]


class UcxCarriers:
    """Makes carriers of ranks that are threads, which exchange over UCX, each with a plane of its own."""

    def __init__(self, size: int, stack: ExitStack):
        planes = [stack.enter_context(UcxPlane()) for _ in range(size)]
        addresses = [plane.address for plane in planes]
        self.comms = [
            stack.enter_context(UcxCommunicator(plane, rank, addresses, 5, 0)) for rank, plane in enumerate(planes)
        ]

    def __call__(self, comm: Any, backend: RelayedCuda, kept: relay.RelayMemory, row: list[int]) -> UcxCarrier:
        ucx, longest = self.comms[comm.rank], kept.longest
        for _ in range(2):  # buffers grow
            ucx.exchange([np.zeros(nbytes, np.uint8) for nbytes in longest[:, comm.rank].tolist()])
        for q in range(comm.size):
            if q != comm.rank:
                _, buffer = ucx.link_of(q)
                backend.may_touch(buffer.ctypes.data, len(buffer))  # where the emulator's kernels find messages
        return UcxCarrier(ucx, backend, kept, row)


def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the emulated GPUs of ranks that are threads share no memory, as those of different hosts."""
    # The threads of one process do share it.
    monkeypatch.setattr(threads.ThreadCommunicator, "peers", lambda *_: None)


def relay_between(
    monkeypatch: pytest.MonkeyPatch, folder: Path, size: int, lasting: bool = False, carrier: Any = relay.Carrier
) -> list[RelayedCuda]:
    """Let `device="cuda"` mean so many emulated GPUs, of ranks that are threads and share no memory.

    What hosts keep is `lasting`, as that of processes, or made anew in each run. `carrier` makes what carries the
    messages of a run.
    """
    devices = [RelayedCuda(number, folder / str(number)) for number in range(size)]
    for device in devices:
        # Otherwise it means a GPU of the machine.
        monkeypatch.setitem(backends.cuda_backends, device.device, device)
    for module in (backends, local):
        # A host of several GPUs, or of none, counts its own.
        monkeypatch.setattr(module, "cuda_device_count", lambda: size)
    buffer = threads.ThreadCommunicator._buffer

    def known(comm: threads.ThreadCommunicator, q: int, nbytes: int) -> Any:
        if lasting:
            comm._buffers = comm._backend.buffers
        found = buffer(comm, q, nbytes)
        comm._backend.address(found)  # for the emulator, which asks what a kernel may touch
        return found

    # The emulator asks what a kernel may touch.
    monkeypatch.setattr(threads.ThreadCommunicator, "_buffer", known)
    # Threads share their memory, and those of different hosts do not.
    monkeypatch.setattr(
        threads.ThreadCommunicator,
        "peers",
        lambda comm, backend: relay.relay_peers(
            comm, backend, 60.0, backend, None if lasting else comm._group, carrier
        ),
    )
    return devices
