"""Communicator: what the engine asks of a data plane.

One call, `exchange`, is one BSP superstep: payloads go to each peer, and with them, in host memory, a few integers
for that peer (`meta`: how its payload is coded) and a few for everyone (`control`: votes and counters). The control
integers of all ranks arrive everywhere, so a reduction over ranks costs no second round.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from graphdask.comm.outgoing import SendBuffer
from graphdask.device.backend import Array, Backend
from graphdask.errors import CommunicationError, InputError, PeerLost

CHECK_SECONDS = 0.5e-3
"""How often a wait asks for lost peers, the control communicator and `cancel`."""
META = 4
"""int64 integers that accompany each payload."""

REDUCTIONS: dict[str, Callable[..., np.ndarray]] = {"sum": np.sum, "min": np.min, "max": np.max}


@dataclass
class Cancel:
    """Set from outside (another thread, the client) to end every wait of a rank with PeerLost."""

    event: threading.Event = field(default_factory=threading.Event)
    reason: str = ""

    def set(self, reason: str) -> None:
        self.reason = self.reason or reason
        self.event.set()

    def check(self) -> None:
        if self.event.is_set():
            raise PeerLost(self.reason)


class Received(NamedTuple):
    """What one exchange brought."""

    payloads: list[Array | None]
    """Per rank, uint8 arrays on this rank's backend, valid until the next exchange; None where nothing was sent."""
    meta: np.ndarray
    """int64, shape (size, META): what each rank announces of its payload for this rank."""
    control: np.ndarray
    """int64, shape (size, c): what each rank announces to all."""


Launch = Callable[[Array, int], None]
"""Starts a kernel for rows that describe ranks, and so many of them."""


@dataclass
class PeerMemory:
    """What ranks know of the memory that they have mapped of each other; all of them alike."""

    number: int = 0
    """Of calls of `Peers.memory`."""
    moved: int = 0
    """How often any of the memory has been replaced."""
    meeting: int = 0
    """Number of the last meeting."""
    closed: bool = False


class Peers(ABC):
    """A rank among those that it meets in kernels, which write into each other's memory (graphdask.comm.peers)."""

    relayed = False
    """Whether the hosts carry the messages of kernels (graphdask.comm.relay)."""
    kept: PeerMemory | None = None
    """Of memory that stays for later runs: as long as it has not moved, what `memory` has returned is valid."""

    @abstractmethod
    def memory(self, nbytes: int, announced: np.ndarray, regions: np.ndarray) -> tuple[list[int], np.ndarray]:
        """Have at least `nbytes` that the others write to. Every rank calls it, and before each `run` anew unless it
        is `kept`.

        Parameters
        ----------
        nbytes : int
        announced : int64 array, shape (c,)
            For all ranks.
        regions : int64 array, shape (size, 2)
            By rank, where the part of this memory begins that it alone writes to, and its length; 0 if there is none.

        Returns
        -------
        list of int
            Where the memory of each rank begins, for kernels of this one.
        int64 array, shape (size, c)
            What all ranks announced.
        """

    def common(self, nbytes: int, addresses: list[int]) -> list[int]:
        """Return by rank where words for all ranks stand, so many bytes of each rank for two meetings in turn.

        Parameters
        ----------
        nbytes : int
        addresses : list of int
            What `memory` has returned, where such words come first if ranks write into each other's memory.
        """
        return addresses

    @abstractmethod
    def takes(self, nbytes: int) -> int:
        """Bytes that `memory` takes besides what it has."""

    @abstractmethod
    def run(self, row: np.ndarray, launch: Launch) -> None:
        """Let the kernels of all ranks run to their end. Every rank calls it.

        Parameters
        ----------
        row : int64 array
            What the kernel must know of this rank; the part that every team has is filled in here.
        launch : callable
            Given the rows, int64 on the device, of shape (ranks, words), and their number.

        Raises
        ------
        PeerLost
            A rank is gone, or did not come to a meeting in time.
        """

    @abstractmethod
    def met(self, number: int) -> None:
        """Write down the number of the last meeting of a run."""

    @abstractmethod
    def late(self) -> PeerLost:
        """Return the error to raise if a synchronization failed and no rank gave a reason."""


class Communicator(ABC):
    """`size` ranks that exchange in lockstep. Every rank joins every call, in the same order.

    A rank that fails calls `abort`; its peers then raise `PeerLost` (or the error's own type where it is a
    graphdask error) from the call they are in.
    """

    name: str
    """`single`, `threads`, `tcp`, `ucx`, `nccl` or `shm`; shown in `r.stats`."""
    rank: int
    size: int
    bytes_sent: int = 0
    """Payload bytes sent to other ranks since the communicator was made."""
    takes_host_memory: bool = False
    """Whether short payloads of a GPU may be arrays of the host, which saves a copy that is waited for."""
    raises = True
    """Whether short payloads for a GPU arrive in its memory. If not, they may stay in page-locked memory of the host,
    where kernels find them too."""
    sending: SendBuffer | None = None
    """Where payloads are written; that of the plane where there is one, so that it outlives the run."""

    @abstractmethod
    def exchange(
        self, sends: Sequence[Array | None], meta: np.ndarray | None = None, control: np.ndarray | None = None
    ) -> Received:
        """Send `sends[q]` (contiguous uint8, any length, or None) to every rank q, and receive likewise.

        `sends[rank]` comes back as it is; when the call returns, every buffer may be reused. `meta` is int64 of shape
        (size, META), `control` int64 of shape (c,) with c the same on all ranks.

        Raises
        ------
        PeerLost
            A peer died, aborted, or the exchange passed its timeout.
        StaleMessage
            A message of another gang, run or exchange arrived.
        """

    def exchange_settled(self, sends: Sequence[Array | None], control: np.ndarray) -> Received:
        """Exchange as `exchange` does, for a caller whose device is current and whose payloads are complete."""
        return self.exchange(sends, None, control)

    def begin(self, sends: Sequence[Array | None]) -> None:  # noqa: B027  # not every one has something to do
        """Take the payloads of the next exchange before the caller knows its control integers.

        The device may still write them. The caller passes the same payloads to `exchange`, and does not use what the
        last exchange brought any more. Not every rank has to call it.
        """

    @abstractmethod
    def abort(self, error: BaseException) -> None:
        """Notify all peers that this rank failed. Never raises."""

    @abstractmethod
    def check(self) -> None:
        """Raise if a peer is known to have died or aborted, or `cancel` is set; never waits."""

    @abstractmethod
    def close(self) -> None:
        """Free endpoints and buffers. The communicator cannot be used afterwards."""

    def outgoing(self, backend: Backend, nbytes: int) -> Array:
        """Return uint8 memory of at least `nbytes` on this rank's backend for all payloads of the next exchange.

        Views of it are sent. It is the same for every exchange, or for every other, as long as it suffices; what was in
        it may be overwritten.
        """
        if self.sending is None:
            self.sending = SendBuffer(backend)
        return self.sending.take(nbytes)

    def peers(self, backend: Backend) -> Peers | None:
        """This rank among those whose kernels write into each other's memory; None where they cannot, on all ranks.

        Every rank calls it.
        """
        return None

    def __enter__(self) -> Communicator:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is not None:
            self.abort(error)
        self.close()

    def alltoallv(self, sends: Sequence[Array]) -> list[Array]:
        """Send the array `sends[q]` to rank q; return what every rank sent here, as copies of one's own.

        All arrays have one dtype, the same on all ranks, and one dimension; empty ones are fine.
        """
        if len(sends) != self.size:
            raise InputError(f"alltoallv wants {self.size} arrays, one per rank, and got {len(sends)}")
        dtype = sends[self.rank].dtype
        raw = [None if len(part) == 0 else _bytes_of(part) for part in sends]
        received = self.exchange(raw).payloads
        empty = sends[self.rank][:0]
        return [empty.copy() if part is None else part.view(dtype).copy() for part in received]

    def allgather(self, values: np.ndarray) -> np.ndarray:
        """Return everyone's small host array, shape (size, *values.shape); dtype is that of `values`, 8 bytes wide."""
        values = np.ascontiguousarray(values)
        if values.dtype.itemsize != 8:
            raise InputError(f"allgather takes 8-byte integers or floats, not {values.dtype}")
        control = self.exchange([None] * self.size, control=values.reshape(-1).view(np.int64)).control
        return np.ascontiguousarray(control).view(values.dtype).reshape(self.size, *values.shape)

    def allreduce(self, values: np.ndarray, op: str = "sum") -> np.ndarray:
        """Reduce a small host array over ranks with `sum`, `min` or `max`; the same bits on every rank."""
        if op not in REDUCTIONS:
            raise InputError(f"op={op!r} is not one of {', '.join(REDUCTIONS)}")
        return REDUCTIONS[op](self.allgather(values), axis=0)

    def barrier(self) -> None:
        """Wait until every rank is here."""
        self.exchange([None] * self.size)


def _bytes_of(array: Array) -> Array:
    if array.ndim != 1 or not array.flags.c_contiguous:
        raise CommunicationError(f"only contiguous 1-D arrays travel, not shape {array.shape}")
    return array.view("uint8")
