"""NCCL that is not there: sends and receives of threads through the memory of the process, in NCCL's manners.

Operations of a group begin when it ends, and are matched by pairs of ranks in their order. A stream is done when all of
its receives are. A send and its receive have one length, or the exchange fails as on a GPU: by an error of the
communicator.
"""

from __future__ import annotations

import ctypes
import threading
from collections import defaultdict, deque
from types import SimpleNamespace
from typing import Any

from graphdask.comm.nccl import NcclPlane
from graphdask.comm.outgoing import SendBuffer


class NcclError(RuntimeError):
    """As CuPy's."""


class World:
    """The messages under way among the ranks of a test."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.sent: dict[tuple[int, int], deque[bytes]] = defaultdict(deque)
        self.moved: list[tuple[int, int, int]] = []
        """(sender, receiver, bytes) of all sends."""


class StandInStream:
    """A stream with the receives that it waits for."""

    ptr = 0

    def __init__(self) -> None:
        self.receives: deque[tuple[Any, int, int, int]] = deque()

    @property
    def done(self) -> bool:
        while self.receives:
            communicator, pointer, nbytes, peer = self.receives[0]
            if not communicator.received(pointer, nbytes, peer):
                return False
            self.receives.popleft()
        return True

    def wait_event(self, event: Any) -> None:
        pass

    def synchronize(self) -> None:
        if not self.done:
            raise AssertionError("a wait that nobody could end")


class StandInCommunicator:
    """What `cupy.cuda.nccl.NcclCommunicator` is."""

    def __init__(self, module: StandInNccl, rank: int):
        self._module, self._rank, self._error = module, rank, ""

    def send(self, pointer: int, nbytes: int, kind: int, peer: int, stream: int) -> None:
        assert nbytes > 0
        self._module.group.append(lambda: self._send(pointer, nbytes, peer))

    def recv(self, pointer: int, nbytes: int, kind: int, peer: int, stream: int) -> None:
        assert nbytes > 0
        self._module.group.append(lambda: self._module.stream.receives.append((self, pointer, nbytes, peer)))

    def _send(self, pointer: int, nbytes: int, peer: int) -> None:
        world = self._module.world
        with world.lock:
            world.sent[self._rank, peer].append(ctypes.string_at(pointer, nbytes))
            world.moved.append((self._rank, peer, nbytes))

    def received(self, pointer: int, nbytes: int, peer: int) -> bool:
        world = self._module.world
        with world.lock:
            queue = world.sent[peer, self._rank]
            if not queue:
                return False
            message = queue.popleft()
        if len(message) != nbytes:
            self._error = f"rank {peer} sent {len(message)} bytes, and {nbytes} are expected"
            return False
        ctypes.memmove(pointer, message, nbytes)
        return True

    def check_async_error(self) -> None:
        if self._error:
            raise NcclError(self._error)

    def abort(self) -> None:
        self._module.stream.receives.clear()


class StandInNccl:
    """What the module `cupy.cuda.nccl` is, for one rank."""

    NCCL_UINT8 = 1
    NcclError = NcclError

    def __init__(self, world: World):
        self.world, self.stream = world, StandInStream()
        self.group: list[Any] = []

    def get_unique_id(self) -> tuple[int, ...]:
        return tuple(range(128))

    def NcclCommunicator(self, size: int, unique: Any, rank: int) -> StandInCommunicator:
        return StandInCommunicator(self, rank)

    def groupStart(self) -> None:
        self.group.clear()

    def groupEnd(self) -> None:
        for start in self.group:
            start()
        self.group.clear()


class StandInPlane(NcclPlane):
    """The plane of a rank with an emulated GPU."""

    def __init__(self, backend: Any, world: World):
        self.backend, self.nccl = backend, StandInNccl(world)
        self.communicator, self.ranks, self.buffers = None, None, {}
        self.sending = SendBuffer(backend)
        self.stream, self.ready = self.nccl.stream, SimpleNamespace(record=lambda stream: None)
