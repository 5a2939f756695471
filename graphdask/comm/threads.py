"""ThreadGroup: N ranks as threads of one process, for tests, for one rank per core, and for several GPUs of a host.

An exchange is: deposit, barrier, read. Large payloads are copied by the reader into its own buffer (between GPUs a peer
copy), and a second barrier lets the sender reuse its buffer; small host payloads are copied at the deposit, which saves
that barrier. Deposits alternate between two slots: who deposits for exchange e + 2 has passed the barrier of e + 1,
so everyone has read those of e.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphdask.comm.arguments import checked, settle
from graphdask.comm.failure import is_secondary, pack_failure, unpack_failure
from graphdask.comm.peers import thread_peers
from graphdask.comm.protocol import Cancel, Communicator, Peers, Received
from graphdask.device.backend import Array, Backend, get_backend
from graphdask.errors import CommunicationError, DeadlineExceeded, InputError, PeerLost

SMALL = 16384
"""Bytes up to which a host payload is copied by its sender."""

TICK = 0.05
"""Seconds between two checks of `cancel` while waiting."""


class _Deposit(NamedTuple):
    sends: list[Array | None]
    meta: np.ndarray
    control: np.ndarray
    shared: bool
    """Whether a reader copies from the sender's own memory, which must stay until all have."""


class ThreadGroup:
    """What the ranks of one process share.

    Parameters
    ----------
    size : int
    timeout : float
        Seconds that one exchange may last.
    cancel : Cancel, optional
        When set, every wait raises PeerLost.
    """

    def __init__(self, size: int, timeout: float = 120.0, cancel: Cancel | None = None):
        if size < 1:
            raise InputError(f"a group has at least one rank, not {size}")
        self.size, self.timeout, self.cancel = size, timeout, cancel or Cancel()
        self._changed = threading.Condition(threading.Lock())
        self._arrived = 0
        self._generation = 0
        self._present: set[int] = set()
        self._failure: bytes | None = None
        self._failed_rank = -1
        self._left: dict[int, int] = {}
        self._slots: list[list[_Deposit | None]] = [[None] * size, [None] * size]

    def communicator(self, rank: int, backend: Backend | None = None) -> ThreadCommunicator:
        """Return the communicator of one rank, which receives on `backend` (the CPU by default)."""
        if not 0 <= rank < self.size:
            raise InputError(f"rank {rank} is not one of 0..{self.size - 1}")
        return ThreadCommunicator(self, rank, backend or get_backend("cpu"))

    def meet(self, rank: int) -> None:
        """Wait until every rank is here; raise for an abort, cancel, a rank that left, or the timeout."""
        with self._changed:
            self._raise_failure(rank)
            generation = self._generation
            self._arrived += 1
            self._present.add(rank)
            if self._arrived == self.size:
                self._arrived = 0
                self._present.clear()
                self._generation += 1
                self._changed.notify_all()
                return
            deadline = time.monotonic() + self.timeout
            while self._generation == generation:
                self._raise_failure(rank)
                if time.monotonic() > deadline:
                    missing = sorted(set(range(self.size)) - self._present)
                    raise PeerLost(
                        f"an exchange passed its timeout of {self.timeout} s; missing ranks: "
                        + ", ".join(map(str, missing))
                    )
                self._changed.wait(TICK)

    def raise_failure(self) -> None:
        """Raise what a rank reported, or PeerLost if `cancel` is set."""
        if self._failure is not None:
            raise unpack_failure(self._failure, self._failed_rank)
        self.cancel.check()

    def _raise_failure(self, rank: int) -> None:
        self.raise_failure()
        if self._left:
            gone, exchanges = next(iter(self._left.items()))
            raise PeerLost(f"rank {gone} left after {exchanges} exchanges, rank {rank} still exchanges")

    def fail(self, rank: int, error: BaseException) -> None:
        """Make every wait raise what `rank` reports; the first report counts."""
        with self._changed:
            if self._failure is None:
                self._failure, self._failed_rank = pack_failure(error, rank), rank
            self._changed.notify_all()

    def leave(self, rank: int, exchanges: int) -> None:
        """Say that `rank` joins no more exchanges."""
        with self._changed:
            self._left[rank] = exchanges
            self._changed.notify_all()


class ThreadCommunicator(Communicator):
    """One rank of a ThreadGroup."""

    name = "threads"
    takes_host_memory = True

    def __init__(self, group: ThreadGroup, rank: int, backend: Backend):
        self.rank, self.size = rank, group.size
        self.bytes_sent = 0
        self._group, self._backend = group, backend
        self._cuda = backend.name == "cuda"
        self._exchange = 0
        self._buffers: dict[int, Array] = {}
        self._closed = False

    def exchange(
        self, sends: Sequence[Array | None], meta: np.ndarray | None = None, control: np.ndarray | None = None
    ) -> Received:
        meta, control = checked(self.size, sends, meta, control)
        if self._closed:
            raise CommunicationError("this communicator is closed")
        with self._backend.activate():
            if self._cuda:
                # payloads must be complete before a peer reads them, and the last ones read before they are overwritten
                settle(self._backend)
            return self._exchange_all(sends, meta, control)

    def _exchange_all(self, sends: Sequence[Array | None], meta: np.ndarray, control: np.ndarray) -> Received:
        group, rank = self._group, self.rank
        slots = group._slots[self._exchange & 1]
        self._exchange += 1
        deposit: list[Array | None] = list(sends)
        shared = False
        for q, part in enumerate(sends):
            if part is None or q == rank:
                continue
            self.bytes_sent += part.nbytes
            if part.nbytes <= SMALL and isinstance(part, np.ndarray):
                deposit[q] = part.copy()
            else:
                shared = True
        slots[rank] = _Deposit(deposit, meta.copy(), control.copy(), shared)
        group.meet(rank)
        others: list[_Deposit] = list(slots)  # type: ignore[arg-type]  # everyone has deposited
        if len({len(other.control) for other in others}) > 1:
            lengths = ", ".join(str(len(other.control)) for other in others)
            raise CommunicationError(f"ranks sent different numbers of control integers: {lengths}")
        payloads = [self._read(q, other.sends[rank]) for q, other in enumerate(others)]
        received = Received(
            payloads,
            np.stack([other.meta[rank] for other in others]),
            np.stack([other.control for other in others]),
        )
        if any(other.shared for other in others):
            if self._cuda:
                settle(self._backend)
            group.meet(rank)
            slots[rank] = None  # all have their copies
        return received

    def _read(self, q: int, part: Array | None) -> Array | None:
        """Return rank q's payload in memory of this rank."""
        if part is None or q == self.rank:
            return part
        on_host = isinstance(part, np.ndarray)
        if not self._cuda:
            if on_host and part.nbytes <= SMALL:
                return part
            buffer = self._buffer(q, part.nbytes)
            np.copyto(buffer, part if on_host else part.get())
            return buffer
        if part.nbytes == 0:
            return self._backend.xp.empty(0, dtype="uint8")
        buffer = self._buffer(q, part.nbytes)
        if on_host:
            buffer.set(part)
        else:
            stream = self._backend.xp.cuda.get_current_stream()
            buffer.data.copy_from_device_async(part.data, part.nbytes, stream)
        return buffer

    def _buffer(self, q: int, nbytes: int) -> Array:
        buffer = self._buffers.get(q)
        if buffer is None or len(buffer) < nbytes:
            grown = nbytes if buffer is None else max(nbytes, len(buffer) * 3 // 2)
            buffer = self._buffers[q] = self._backend.xp.empty(grown, dtype="uint8")
        return buffer[:nbytes]

    def peers(self, backend: Backend) -> Peers | None:
        return thread_peers(self, backend, self._group.timeout)

    def abort(self, error: BaseException) -> None:
        self._group.fail(self.rank, error)

    def check(self) -> None:
        self._group.raise_failure()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._buffers.clear()
            self._group.leave(self.rank, self._exchange)


def run_threads(
    size: int,
    function: Callable[[Communicator, int], Any],
    devices: Sequence[Backend] | None = None,
    timeout: float = 120.0,
    deadline: float = 600.0,
    cancel: Cancel | None = None,
    on_wait: Callable[[], None] | None = None,
    moved: Callable[[], float] | None = None,
    time_limit: float = math.inf,
) -> list[Any]:
    """Run `function(communicator, rank)` on `size` threads and return their results in rank order.

    Parameters
    ----------
    devices : sequence of Backend, optional
        One per rank, current in its thread; the CPU by default.
    timeout, deadline : float
        Seconds that one exchange may last, and the whole without progress.
    cancel : Cancel, optional
        When set, every wait raises PeerLost.
    on_wait : callable, optional
        Called now and then in the caller's thread while it waits.
    moved : callable, optional
        Returns `time.monotonic()` of the last progress; default: there is none after the start.
    time_limit : float
        Seconds that the whole may last.

    Raises
    ------
    Exception
        The first error of a rank that is not a report of another rank's.
    DeadlineExceeded
        If a thread has not ended by the deadline.
    """
    backends = list(devices) if devices is not None else [get_backend("cpu")] * size
    if len(backends) != size:
        raise InputError(f"{len(backends)} devices for {size} ranks; give one for each rank")
    group = ThreadGroup(size, timeout, cancel)
    results: list[Any] = [None] * size
    raised: list[BaseException] = []

    def work(rank: int) -> None:
        try:
            with backends[rank].activate(), group.communicator(rank, backends[rank]) as communicator:
                results[rank] = function(communicator, rank)
        except BaseException as error:  # it is raised again in the caller's thread
            group.fail(rank, error)
            raised.append(error)

    threads = [threading.Thread(target=work, args=(rank,), name=f"rank-{rank}", daemon=True) for rank in range(size)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                end = min(started + time_limit, (started if moved is None else moved()) + deadline)
                if time.monotonic() >= end:
                    break
                thread.join(min(TICK, max(0.0, end - time.monotonic())))
                if on_wait is not None:
                    on_wait()
    except BaseException as interruption:  # Ctrl-C: let the ranks go
        group.fail(-1, interruption)
        raise
    late = [thread.name for thread in threads if thread.is_alive()]
    if late:
        limit = f"{time_limit} s" if time.monotonic() >= started + time_limit else f"{deadline} s without progress"
        error = DeadlineExceeded(f"{', '.join(late)} did not end within {limit}")
        group.fail(-1, error)
        raise error
    if raised:
        raise min(raised, key=is_secondary)
    return results
