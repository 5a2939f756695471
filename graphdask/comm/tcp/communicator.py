"""TcpCommunicator: ranks that exchange over plain TCP sockets, or TLS; needs nothing but the standard library.

One edge-triggered poll serves all links of a rank, so a superstep costs one system call per message and a few polls.
Every link is sent to and received from as far as it goes before the rank waits: two large payloads that cross cannot
block each other. A rank spins for a moment before it sleeps where every rank of its host has a core and a process
to itself; elsewhere it sleeps at once.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import select
import termios
import time
from collections.abc import Sequence

import numpy as np

from graphdask.comm.arguments import checked
from graphdask.comm.failure import pack_failure
from graphdask.comm.protocol import META, Cancel, Communicator, Received
from graphdask.comm.tcp.link import ABORT, BYE, DATA, MAGIC, NOTHING, WORDS, Link, header
from graphdask.comm.tcp.plane import Address, TcpPlane
from graphdask.device.backend import Array, Backend
from graphdask.errors import CommunicationError, PeerLost

__all__ = ["TcpCommunicator", "TcpPlane"]

SPIN = 100e-6
"""Seconds of polling before the rank sleeps."""
WAIT = 0.05
"""Seconds of sleep between two checks of the cancellation."""
FAREWELL = 1.0
"""Seconds that an abort may take to reach peers that do not read."""

EVENTS = select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET
ENDED = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR


class _Headers:
    """The headers of an exchange with `controls` control integers: one row per rank, to send and received."""

    def __init__(self, size: int, controls: int, gang: int, run: int):
        self.out = np.zeros((size, WORDS + controls), np.int64)
        self.out[:, [0, 1, 2, 4, 6]] = MAGIC, gang, run, DATA, controls
        self.into = np.zeros_like(self.out)
        self.out_rows = [row.data.cast("B") for row in self.out]
        self.into_rows = [row.data.cast("B") for row in self.into]


class TcpCommunicator(Communicator):
    """One of `len(addresses)` ranks that are joined pairwise by TCP connections.

    Parameters
    ----------
    plane : TcpPlane
        This rank's; `addresses[rank]` is its address. It may serve one communicator after the other.
    rank : int
    addresses : list of bytes
        The planes' addresses, by rank.
    gang, run : int
        What every message carries; those of another gang or run are refused.
    backend : Backend
        Where payloads are. On CUDA they are staged through pinned host memory.
    timeout : float
        Seconds that connecting may take, and that an exchange may go without any progress.
    cancel : Cancel
        When set, the wait that the rank is in ends with PeerLost.

    Raises
    ------
    PeerLost
        A peer cannot be reached or did not come in time.
    StaleMessage
        A peer is in a later run.
    """

    name = "tcp"

    def __init__(
        self,
        plane: TcpPlane,
        rank: int,
        addresses: list[bytes],
        gang: int,
        run: int,
        backend: Backend,
        timeout: float,
        cancel: Cancel,
    ):
        if not 0 <= rank < len(addresses) or addresses[rank] != plane.address:
            raise CommunicationError(f"the address of rank {rank} of {len(addresses)} is not that of its own plane")
        self.rank, self.size = rank, len(addresses)
        self._gang, self._run, self._timeout, self._cancel = gang, run, timeout, cancel
        self._staging = plane.staging(backend)
        self._headers: dict[int, _Headers] = {}
        self._number = 0
        self._failure: BaseException | None = None
        self._aborted = self._closed = False
        self._spin = SPIN if _cores_suffice(rank, addresses) else 0.0
        self._poll = select.epoll()
        self._links: dict[int, Link] = {}
        try:
            for peer, connection in plane.connect(rank, addresses, gang, run, timeout, cancel).items():
                self._links[connection.fileno()] = Link(connection, peer, gang, run, self._staging)
                self._poll.register(connection.fileno(), EVENTS)
        except BaseException:
            self._poll.close()
            raise
        self._in_order = sorted(self._links.values(), key=lambda link: (link.peer - rank) % self.size)

    def exchange(
        self, sends: Sequence[Array | None], meta: np.ndarray | None = None, control: np.ndarray | None = None
    ) -> Received:
        meta, control = checked(self.size, sends, meta, control)
        if self._closed:
            raise CommunicationError(f"the communicator of rank {self.rank} is closed")
        if self._failure is not None:
            raise self._failure
        self._cancel.check()
        headers = self._headers.get(len(control))
        if headers is None:
            headers = _Headers(self.size, len(control), self._gang, self._run)
            self._headers[len(control)] = headers
        out, into = headers.out, headers.into
        out[:, 3] = self._number
        out[:, 5] = [NOTHING if part is None else len(part) for part in sends]
        out[:, 7:WORDS] = meta
        out[:, WORDS:] = control
        into[self.rank] = out[self.rank]
        try:
            leaving = self._staging.outgoing(sends, self.rank)
            for link in self._in_order:
                peer = link.peer
                link.open(self._number, headers.out_rows[peer], leaving[peer], headers.into_rows[peer])
            self._progress()
            payloads: list[Array | None] = [None] * self.size
            payloads[self.rank] = sends[self.rank]
            for link in self._in_order:
                payloads[link.peer] = link.payload
            payloads = self._staging.incoming(payloads, self.rank)
        except BaseException as error:
            self._failure = error
            raise
        self._number += 1
        self.bytes_sent += sum(len(part) for q, part in enumerate(sends) if part is not None and q != self.rank)
        return Received(payloads, into[:, 7 : 7 + META].copy(), into[:, WORDS:].copy())

    def _progress(self) -> None:
        """Send and receive until every link has done both for this exchange."""
        cancelled = self._cancel.event.is_set
        moved = time.perf_counter()
        while True:
            left = active = False
            for link in self._in_order:
                if link.writable and not link.sent:
                    self._send(link)
                link.receive()
                if not (link.received and link.sent):
                    left = True
                    active |= (link.readable and not link.received) or (link.writable and not link.sent)
            if not left:
                return
            if cancelled():
                self._cancel.check()
            quiet = time.perf_counter() - moved
            spinning = quiet < self._spin
            if spinning and not active:
                os.sched_yield()  # the peer may be waiting for this core
            if self._look(0.0 if active or spinning else WAIT) or active:
                moved = time.perf_counter()
            elif quiet > self._timeout:
                slow = [link.peer for link in self._in_order if not (link.received and link.sent)]
                raise PeerLost(
                    f"rank {self.rank} waited {self._timeout:g} s for ranks {slow} in exchange {self._number}; "
                    "they are stopped, unreachable or still computing"
                )

    def _look(self, seconds: float) -> bool:
        """Ask the kernel which links can move; sleep for at most `seconds` while none can."""
        events = self._poll.poll(seconds, self.size)
        for descriptor, happened in events:
            link = self._links[descriptor]
            link.readable = link.writable = True
            if happened & ENDED:
                link.ended = True
        return bool(events)

    def _send(self, link: Link) -> None:
        """Send; where the peer is gone, prefer the reason that it left behind."""
        try:
            link.send()
        except PeerLost:
            link.readable = link.ended = True
            while link.readable:
                link.receive()
                if link.received:
                    break
            raise

    def abort(self, error: BaseException) -> None:
        """Notify all peers, also those in the middle of a payload or not yet in the exchange. Never raises.

        Peers that do not read are given FAREWELL seconds.
        """
        if self._aborted or self._closed:
            return
        self._aborted = True
        self._failure = self._failure or PeerLost(f"rank {self.rank} has aborted: {error}")
        with contextlib.suppress(Exception):
            packed = pack_failure(error, self.rank)
            message = header(self._gang, self._run, self._number, ABORT, len(packed)) + packed
            for link in self._in_order:
                link.append(message)
            self._flush(list(self._in_order))

    def _flush(self, links: list[Link]) -> None:
        """Send what is appended, discarding what comes, until the peers' hosts have it or FAREWELL is over."""
        deadline = time.perf_counter() + FAREWELL
        while links and time.perf_counter() < deadline:
            for link in list(links):
                try:
                    if not link.sent:
                        link.send()
                    arrived = link.sent and _unsent(link) == 0
                except (PeerLost, OSError):
                    arrived = True  # nobody is there
                if not link.discard() or arrived:
                    links.remove(link)
            if links:
                self._look(0.001)

    def check(self) -> None:
        """See the base class; one poll, and a read of what has come."""
        if self._closed:
            return
        if self._failure is not None:
            raise self._failure
        try:
            self._cancel.check()
            self._look(0.0)
            for link in self._in_order:
                link.receive()
        except BaseException as error:
            self._failure = error
            raise

    def close(self) -> None:
        """Say goodbye and free the connections. Does not wait for peers."""
        if self._closed:
            return
        self._closed = True
        for link in self._in_order:
            with contextlib.suppress(Exception):
                if self._failure is None and link.idle():
                    link.append(header(self._gang, self._run, self._number, BYE, NOTHING))
                    link.send()
                link.discard()
            with contextlib.suppress(OSError):
                link.close()
        self._poll.close()
        self._headers.clear()


def _unsent(link: Link) -> int:
    """Bytes in the socket that the peer's host has not acknowledged."""
    count = array.array("i", [0])
    fcntl.ioctl(link.connection.fileno(), termios.TIOCOUTQ, count)
    return count[0]


def _cores_suffice(rank: int, addresses: list[bytes]) -> bool:
    """Whether every rank on this rank's host can have a core, and is a process of its own."""
    known = [Address.unpack(address) for address in addresses]
    mine = known[rank]
    here = [peer.process for peer in known if peer.host == mine.host]
    return len(here) <= len(os.sched_getaffinity(0)) and len(set(here)) == len(here)
