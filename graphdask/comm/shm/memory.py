"""Memory for payloads that the peers of a host read where it lies: shared host memory, or a GPU's through CUDA IPC.

An Outbox belongs to the sender; it is replaced by a longer one where it is too short, under the next generation. A
Window is a peer's view of it, and follows the generations. Nothing is copied on the receiver's side: what is sent is
written to the outbox, at best by the kernel that codes it, and read by the kernel that decodes it, over NVLink between
GPUs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.comm.shm.board import HANDLE, SharedMemory, mapped
from graphdask.device.backend import Array, Backend
from graphdask.errors import CommunicationError, OverBudget, PeerLost

SMALLEST = 1 << 21
"""Bytes of the first outbox. CUDA shares whole blocks of 2 MiB, so allocations are multiples of it."""
ALIGNMENT = 256
"""Payloads begin at multiples of this many bytes."""


def _aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


class Outbox:
    """Memory of one rank for what it sends in every other exchange; it grows by half at least, and stays."""

    def __init__(self, backend: Backend):
        self._backend = backend
        self._memory: Any = None
        self._retired: list[Any] = []
        """Replaced, but peers have it mapped until they see what takes its place."""
        self.bytes: Array = np.empty(0, np.uint8)
        self.memory: tuple[int, int, np.ndarray] = (0, 0, np.zeros(HANDLE, np.int64))
        """Generation, capacity, and what peers map it by."""
        self._taken = 0

    def take(self, nbytes: int) -> Array:
        """Return uint8 memory of at least `nbytes` from the beginning; what was taken before is overwritten."""
        self._grow(nbytes)
        self._taken = max(self._taken, nbytes)
        return self.bytes

    def clear(self) -> None:
        """What is in it has been read, and all peers have seen its generation."""
        self._taken = 0
        self._retired.clear()

    def place(self, parts: Sequence[Array]) -> list[int]:
        """Return where each part begins, copying (in the order of the stream) those that do not lie here already."""
        placed: dict[int, int] = {}
        outside = {id(part): part for part in parts if not self.holds(part)}
        needed = sum(_aligned(part.nbytes) for part in outside.values())
        if _aligned(self._taken) + needed > len(self.bytes):
            inside = {id(part): part for part in parts if id(part) not in outside}
            outside = inside | outside
            needed = sum(_aligned(part.nbytes) for part in outside.values())
            self._taken = 0
            self._grow(needed)
        at = _aligned(self._taken)
        for key, part in outside.items():
            placed[key] = at
            self.bytes[at : at + part.nbytes] = part
            at += _aligned(part.nbytes)
        return [placed[id(part)] if id(part) in placed else self.offset(part) for part in parts]

    def offset(self, part: Array) -> int:
        """Where a part that lies here begins."""
        address = part.data.ptr if self._backend.name == "cuda" else part.__array_interface__["data"][0]
        return int(address) - self._first

    def holds(self, part: Array) -> bool:
        """Whether a part lies in memory that was taken from here since it was cleared."""
        return self._taken > 0 and 0 <= self.offset(part) < len(self.bytes)

    def takes(self, nbytes: int) -> int:
        """Bytes of the memory that would have to be made for so many; 0 where there is enough."""
        if nbytes <= len(self.bytes) and self._memory is not None:
            return 0
        return -(-max(nbytes, len(self.bytes) * 3 // 2, SMALLEST) // SMALLEST) * SMALLEST

    def _grow(self, nbytes: int) -> None:
        nbytes = self.takes(nbytes)
        if not nbytes:
            return
        if self._memory is not None:
            if isinstance(self._memory, SharedMemory):
                self._memory.close()
            self._retired.append((self._memory, self.bytes))
        handle = np.zeros(HANDLE, np.int64)
        if self._backend.name != "cuda":
            self._memory = SharedMemory(nbytes)
            self.bytes = self._memory.bytes
            handle[0] = self._memory.fd
            self._first = int(self.bytes.__array_interface__["data"][0])
        else:
            cupy = self._backend.xp
            self._memory = driver_memory(cupy, nbytes)
            self.bytes = cupy.ndarray((nbytes,), np.uint8, cupy.cuda.MemoryPointer(self._memory, 0))
            self._first = int(self._memory.ptr)
            handle[:] = np.frombuffer(cupy.cuda.runtime.ipcGetMemHandle(self._first), np.int64)
        self.memory = self.memory[0] + 1, nbytes, handle

    def close(self) -> None:
        """Give up the memory."""
        if isinstance(self._memory, SharedMemory):
            self._memory.close()
        self._retired, self._memory, self.bytes = [], None, np.empty(0, np.uint8)


def driver_memory(cupy: Any, nbytes: int) -> Any:
    """Memory of the driver's own, for a pool's blocks cannot be shared; the pool gives back what it does not use."""
    error = cupy.cuda.runtime.CUDARuntimeError
    try:
        return cupy.cuda.memory.Memory(nbytes)
    except error:
        cupy.get_default_memory_pool().free_all_blocks()
    try:
        return cupy.cuda.memory.Memory(nbytes)
    except error as reason:
        raise OverBudget(
            f"no {nbytes / 2**20:.0f} MiB are left on the GPU for what a rank sends ({reason}); use more workers, or "
            "comm ucx"
        ) from reason


class Window:
    """A peer's outbox, seen from this rank; it follows the generations."""

    def __init__(self, backend: Backend, rank: int, pid: int):
        self._backend, self._rank, self._pid = backend, rank, pid
        self.generation = 0
        self._pointer = 0
        self.bytes: Array = np.empty(0, np.uint8)

    def follow(self, generation: int, capacity: int, handle: np.ndarray) -> None:
        """Map the peer's memory of this generation; nothing to do where it is mapped.

        Raises
        ------
        PeerLost
            The peer is gone.
        CommunicationError
            CUDA refuses to map it.
        """
        if generation == self.generation:
            return
        self.close()
        if self._backend.name != "cuda":
            try:
                self.bytes = mapped(self._pid, int(handle[0]), capacity)
            except OSError as error:
                raise PeerLost(f"the memory of rank {self._rank} cannot be mapped any more: {error}") from error
        else:
            if self._pid == os.getpid():
                raise CommunicationError("GPUs share memory between processes, and two ranks are in one")
            cupy = self._backend.xp
            try:
                self._pointer = cupy.cuda.runtime.ipcOpenMemHandle(handle.tobytes())
            except cupy.cuda.runtime.CUDARuntimeError as error:
                raise CommunicationError(f"CUDA cannot map the memory of rank {self._rank}: {error}") from error
            foreign = cupy.cuda.UnownedMemory(self._pointer, capacity, self, self._backend.device)  # type: ignore[attr-defined]
            self.bytes = cupy.ndarray((capacity,), np.uint8, cupy.cuda.MemoryPointer(foreign, 0))
        self.generation = generation

    def close(self) -> None:
        """Unmap it; nothing may read from it any more."""
        self.bytes, self.generation = np.empty(0, np.uint8), 0
        if self._pointer:
            pointer, self._pointer = self._pointer, 0
            self._backend.xp.cuda.runtime.ipcCloseMemHandle(pointer)
