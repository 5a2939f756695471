"""ShmCommunicator: ranks of one host that exchange through shared memory, GPUs through CUDA's inter-process memory.

In an exchange each rank writes a line on its board and reads the boards of the others. That takes a few microseconds; a
message takes tens. Payloads stay in the sender's memory, and receivers read them there. Shared memory does not show
that a peer died or aborted. A control communicator of the same ranks reports it, and is polled while a rank waits. It
also sends payloads that are too large to be worth keeping twice, and sets up the connection.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.comm.arguments import checked, settle
from graphdask.comm.peers import MOST_RANKS
from graphdask.comm.protocol import CHECK_SECONDS, Cancel, Communicator, Peers, Received
from graphdask.comm.shm.board import BULK, CONTROLS, NOTHING, Board, SharedMemory, host_identity, mapped, words_of
from graphdask.comm.shm.memory import Outbox, Window
from graphdask.comm.shm.peers import MappedMemory, ShmPeers
from graphdask.comm.tuning import COMM
from graphdask.device.backend import Array, Backend
from graphdask.errors import CommunicationError, GraphdaskError, PeerLost, StaleMessage, Unsupported

SPIN_SECONDS = 2e-3
"""How long a wait polls without a pause."""
PAUSE = 50e-6
"""Seconds between looks after that."""


class ShmPlane:
    """What one rank keeps between runs: its board and outboxes, and what it has mapped of the others.

    Parameters
    ----------
    backend : Backend
    """

    def __init__(self, backend: Backend):
        self.backend = backend
        self.ranks: tuple[int, int, int] | None = None
        """Gang, rank and size that it is connected for."""
        self.number = 0
        """Of the next exchange."""
        self.own_devices = False
        """Whether each rank has a GPU of its own."""
        self.board: Board | None = None
        self.boards: list[tuple[int, Board, tuple[Window, Window]]] = []
        """Rank, board and windows of each peer."""
        self.outboxes = (Outbox(backend), Outbox(backend))
        self.peers: MappedMemory | None = None
        """For kernels that write into each other's memory, once they do."""
        self._pids: list[tuple[int, int]] = []
        """Rank and process of each peer."""
        self._memory: SharedMemory | None = None

    def announce(self, size: int) -> np.ndarray:
        """Make a new board; return what peers must know of it, int64."""
        self.close()
        self._memory = SharedMemory(8 * words_of(size))
        self.board = Board(self._memory.bytes, size)
        self.board.token = secrets.randbits(62)
        host = host_identity().encode() or secrets.token_bytes(8)  # where it is unknown, nobody is on the same
        digest = int.from_bytes(hashlib.sha256(host).digest()[:8], "little", signed=True)
        return np.array([digest, os.getpid(), self._memory.fd, self.board.token, self._device()], np.int64)

    def _device(self) -> int:
        """A number that two ranks have in common where they share a GPU."""
        if self.backend.name != "cuda":
            return 0
        bus = self.backend.xp.cuda.Device(self.backend.device).pci_bus_id  # type: ignore[attr-defined]
        return int.from_bytes(hashlib.sha256(bus.encode()).digest()[:8], "little", signed=True)

    def connect(self, rank: int, announced: np.ndarray) -> str:
        """Map the boards of all ranks; return why that cannot be, or nothing."""
        size = len(announced)
        self.own_devices = len(set(announced[:, 4].tolist())) == size
        if len(set(announced[:, 0].tolist())) > 1:
            return "the ranks are on more than one host"
        if self.backend.name == "cuda" and len(set(announced[:, 1].tolist())) < size:
            return "two ranks are in one process, and GPUs share memory between processes"
        for q, (_, pid, fd, token, _) in enumerate(announced.tolist()):
            if q == rank:
                continue
            try:
                board = Board(mapped(pid, fd, 8 * words_of(size)), size)
            except OSError as error:
                return f"rank {rank} cannot map the memory of rank {q}: {error}"
            if board.token != token:
                return f"rank {rank} finds another board than that of rank {q}: its processes are not to be seen"
            windows = (Window(self.backend, q, pid), Window(self.backend, q, pid))
            self.boards.append((q, board, windows))
            self._pids.append((q, pid))
        return ""

    def peer_memory(self) -> MappedMemory:
        """What is kept for kernels that write into each other's memory."""
        if self.peers is None:
            self.peers = MappedMemory(self.backend, self._pids)
        return self.peers

    def close(self) -> None:
        """Unmap everything."""
        self.ranks, self.number, self.board = None, 0, None
        for _, _, windows in self.boards:
            for window in windows:
                with contextlib.suppress(Exception):  # of a context that a failed kernel has ended
                    window.close()
        self.boards, self._pids = [], []
        if self.peers is not None:
            with contextlib.suppress(Exception):
                self.peers.close()
            self.peers = None
        for outbox in self.outboxes:
            outbox.close()
        self.outboxes = (Outbox(self.backend), Outbox(self.backend))
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def __enter__(self) -> ShmPlane:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


class ShmCommunicator(Communicator):
    """Ranks of one host; on GPUs each in a process of its own.

    Parameters
    ----------
    control : Communicator
        Of the same ranks.
    plane : ShmPlane
        This rank's; connected here where it is not yet.
    gang : int
        A plane that served another gang is connected anew.
    timeout : float
        Seconds that one exchange may last.
    cancel : Cancel, optional
        When set, every wait raises PeerLost.
    owns_control : bool
        Whether closing this closes `control` too.

    Raises
    ------
    Unsupported
        On all ranks alike, where one of them cannot map the memory of another; `control` is then as good as before.
    """

    name = "shm"

    def __init__(
        self,
        control: Communicator,
        plane: ShmPlane,
        gang: int = 0,
        timeout: float = 120.0,
        cancel: Cancel | None = None,
        owns_control: bool = False,
    ):
        self.rank, self.size, self.bytes_sent = control.rank, control.size, 0
        self._control, self._plane, self._backend = control, plane, plane.backend
        self._timeout, self._cancel = timeout, cancel or Cancel()
        self._closed, self._owns_control = False, owns_control
        self._cuda = plane.backend.name == "cuda"
        wanted = (gang, self.rank, self.size)
        if plane.board is not None:
            plane.board.left = 0  # before the ranks meet: nobody takes the end of the last run for that of this one
        state = control.allgather(np.array([plane.ranks == wanted, plane.number], np.int64))
        if not state[:, 0].all() or len(set(state[:, 1].tolist())) > 1:
            self._connect(control, plane)
            plane.ranks = wanted
        assert plane.board is not None
        self._board, self._boards, self._outboxes = plane.board, plane.boards, plane.outboxes
        self._first = plane.number

    def _connect(self, control: Communicator, plane: ShmPlane) -> None:
        """Map everything that will be needed at first, and agree on whether all could."""
        problem = ""
        announced = control.allgather(plane.announce(self.size))
        try:
            with self._backend.activate():
                problem = plane.connect(self.rank, announced)
                for outbox in plane.outboxes if not problem else ():
                    outbox.take(1)
                    outbox.clear()
        except (GraphdaskError, OSError, MemoryError) as error:
            problem = str(error)
        except Exception as error:  # CuPy's, where CUDA refuses
            problem = f"{type(error).__name__}: {error}"
        mine = [int(not problem)]
        for outbox in plane.outboxes:
            generation, capacity, handle = outbox.memory
            mine += [generation, capacity, *handle.tolist()]
        everyone = control.allgather(np.array(mine, np.int64))
        if everyone[:, 0].all():
            try:
                with self._backend.activate():
                    for q, _, windows in plane.boards:
                        for window, words in zip(windows, everyone[q, 1:].reshape(2, -1), strict=True):
                            window.follow(int(words[0]), int(words[1]), words[2:])
            except GraphdaskError as error:
                problem = str(error)
        if not control.allreduce(np.array([not problem], np.int64), "min")[0]:
            plane.close()
            raise Unsupported(f"shared memory cannot be used: {problem or 'another rank cannot map this one'}")

    def outgoing(self, backend: Backend, nbytes: int) -> Array:
        return self._outboxes[self._plane.number & 1].take(nbytes)

    def exchange(
        self, sends: Sequence[Array | None], meta: np.ndarray | None = None, control: np.ndarray | None = None
    ) -> Received:
        meta, control = checked(self.size, sends, meta, control)
        if self._closed or self._plane.ranks is None:
            raise CommunicationError("this communicator has failed or is closed")
        try:
            if not self._cuda:
                return self._exchange_all(sends, meta, control)
            with self._backend.activate():
                return self._exchange_all(sends, meta, control)
        except BaseException:
            self._plane.close()
            raise

    def _exchange_all(self, sends: Sequence[Array | None], meta: np.ndarray, control: np.ndarray) -> Received:
        plane, rank = self._plane, self.rank
        number, c = plane.number, len(control)
        outbox = self._outboxes[number & 1]
        entries, bulk = self._place(outbox, sends)
        if self._cuda:
            settle(self._backend)  # payloads complete, and what the last exchange brought read
        self._board.write(number, control, entries, meta.tolist(), outbox.memory)
        self._wait(number)
        plane.number = number + 1
        self._outboxes[number & 1 ^ 1].clear()
        payloads: list[Array | None] = [None] * self.size
        payloads[rank] = sends[rank]
        metas, controls, parity = meta.tolist(), [control.tolist()] * self.size, number & 1
        apart = c > CONTROLS or bulk is not None
        for q, peer, windows in self._boards:
            (count, elsewhere, generation, nbytes, first, *metas[q]), controls[q] = peer.read(number, rank)
            if count != c:
                raise CommunicationError(f"rank {q} sent {count} control integers, this rank {c}")
            if generation != windows[parity].generation:
                windows[parity].follow(*peer.memory(number))
            apart = apart or bool(elsewhere)
            if first >= 0:
                payloads[q] = windows[parity].bytes[first : first + nbytes]
        everyone = np.array(controls, np.int64) if c <= CONTROLS else np.empty((self.size, c), np.int64)
        if apart:
            self._apart(bulk, payloads, everyone, control if c > CONTROLS else None)
        return Received(payloads, np.array(metas, np.int64), everyone)

    def _place(
        self, outbox: Outbox, sends: Sequence[Array | None]
    ) -> tuple[list[tuple[int, int]], list[Array | None] | None]:
        """Put the payloads where peers can read them: bytes and place by receiver. Also what must go another way."""
        entries = [(NOTHING, NOTHING)] * self.size
        mine = [(q, part, part.nbytes) for q, part in enumerate(sends) if part is not None and q != self.rank]
        if not mine:
            return entries, None
        self.bytes_sent += sum([nbytes for _, _, nbytes in mine])
        outside = [(q, part, nbytes) for q, part, nbytes in mine if not outbox.holds(part)]
        if not outside:
            for q, part, nbytes in mine:
                entries[q] = nbytes, outbox.offset(part)
            return entries, None
        if sum({id(part): nbytes for _, part, nbytes in outside}.values()) > COMM.bulky:
            bulk: list[Array | None] = [None] * self.size
            for q, part, nbytes in mine:
                bulk[q], entries[q] = part, (nbytes, BULK)
            return entries, bulk
        places = outbox.place([part for _, part, _ in mine])
        for (q, _, nbytes), first in zip(mine, places, strict=True):
            entries[q] = nbytes, first
        return entries, None

    def _apart(
        self,
        bulk: list[Array | None] | None,
        payloads: list[Array | None],
        controls: np.ndarray,
        control: np.ndarray | None,
    ) -> None:
        """Exchange by the control communicator what is too large; every rank knows that it must."""
        received = self._control.exchange(bulk or [None] * self.size, None, control)
        for q, part in enumerate(received.payloads):
            if part is not None and q != self.rank:
                payloads[q] = part
        if control is not None:
            controls[:] = received.control

    def _wait(self, number: int) -> None:
        """Poll the boards until all have raised the flag, or raise for what ends a wait."""
        wanted, waiting = number + 1, self._boards
        start = looked = time.perf_counter()
        spins = 0
        while True:
            waiting = [peer for peer in waiting if peer[1].flag(number) != wanted]
            if not waiting:
                self._board.fence()
                return
            spins += 1
            if spins & 7:
                continue
            now = time.perf_counter()
            if now - looked > CHECK_SECONDS:
                looked = now
                self._look(number, now - start, waiting)
            if now - start > SPIN_SECONDS:
                time.sleep(PAUSE)
            else:
                os.sched_yield()

    def _look(self, number: int, waited: float, waiting: list[tuple[int, Board, tuple[Window, Window]]]) -> None:
        """Raise for a lost peer, an abort, `cancel`, a peer that has left or is at another exchange, the timeout."""
        try:
            self.check()
        except GraphdaskError:
            if all(board.flag(number) == number + 1 for _, board, _ in waiting):
                return  # it came after the flag, and ends the next wait
            raise
        for q, board, _ in waiting:
            left = board.left
            board.fence()
            flag, here = board.flag(number), number - self._first
            if flag > number + 1:
                raise StaleMessage(f"rank {q} is at exchange {flag - 1 - self._first}, this rank at {here}")
            if left and flag != number + 1:
                raise PeerLost(f"rank {q} left after {left - 1} exchanges, this rank is at exchange {here}")
        if waited > self._timeout:
            missing = ", ".join(str(q) for q, _, _ in waiting)
            raise PeerLost(f"an exchange passed its timeout of {self._timeout} s; missing ranks: {missing}")

    def peers(self, backend: Backend) -> Peers | None:
        if not self._cuda or self.size > MOST_RANKS or not self._plane.own_devices:
            return None  # kernels of two processes that wait for each other on one GPU would take turns, slowly
        with backend.activate():
            return ShmPeers(self, backend, self._timeout, self._plane.peer_memory())

    def check(self) -> None:
        self._cancel.check()
        self._control.check()

    def abort(self, error: BaseException) -> None:
        self._control.abort(error)
        self._plane.close()

    def close(self) -> None:
        """End this use of the plane, which stays connected unless the run failed."""
        if not self._closed and self._plane.ranks is not None:
            self._board.fence()
            self._board.left = self._plane.number - self._first + 1
        self._closed = True
        if self._owns_control:
            self._control.close()
