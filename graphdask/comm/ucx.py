"""UcxCommunicator: exchange over libucxx tag messages, driven by one progress loop in the calling thread.

Per exchange and peer one header in host memory (words of `HEAD`, then the control integers, then the payload if it is
small and in host memory), so that a small superstep is one message each way; a larger payload follows on its own from
where it lies. A receive for the next header of each peer is always posted: that is where an abort arrives, also while
a payload is awaited.

Tags carry gang, run, exchange, kind and sender. A header is received whatever its run and exchange, and judged: of an
older run of the gang it is dropped, of a newer run or another exchange it raises StaleMessage. Messages of other
gangs never match.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.backend import Array
from graphdask.comm.arguments import checked, settle
from graphdask.comm.failure import pack_failure, unpack_failure
from graphdask.comm.protocol import META, Cancel, Communicator, Received
from graphdask.comm.ucx_plane import UcxPlane, ucx_available, ucx_transports
from graphdask.comm.ucx_wire import (
    ABORT,
    CONTROL,
    DATA,
    DONE,
    FITTING,
    GOODBYE,
    HEAD,
    HEADER,
    HEADER_BYTES,
    HEADER_MASK,
    MAGIC,
    PAYLOAD,
    RANK_BITS,
    STEP,
    Peer,
    tag_of,
)
from graphdask.errors import CommunicationError, InputError, PeerLost, StaleMessage

__all__ = ["UcxCommunicator", "UcxPlane", "ucx_available", "ucx_transports"]

SPIN_SECONDS = 100e-6
"""How long a wait polls before it sleeps on UCX's event descriptor."""
FAREWELL = 2.0
"""Seconds that `close` waits for the peers' last words."""


class UcxCommunicator(Communicator):
    """Ranks that exchange over UCX: processes of one or many hosts, or threads with a plane each.

    Parameters
    ----------
    plane : UcxPlane
        This rank's; its backend is where payloads arrive. One communicator uses it at a time.
    rank : int
    addresses : sequence of bytes
        `UcxPlane.address` of every rank, in rank order.
    gang, run : int
        What every message carries.
    timeout : float
        Seconds that one exchange may last.
    cancel : Cancel, optional
        When set, every wait raises PeerLost.

    Raises
    ------
    CommunicationError
        If the plane is spoiled by a failed run, or there is no way to a peer.
    """

    name = "ucx"

    def __init__(
        self,
        plane: UcxPlane,
        rank: int,
        addresses: Sequence[bytes],
        gang: int,
        run: int,
        timeout: float = 120.0,
        cancel: Cancel | None = None,
    ):
        if plane.spoiled:
            raise CommunicationError("this UcxPlane is closed or a run on it failed; make a new one for the next run")
        if not 0 <= rank < len(addresses) < 1 << RANK_BITS:
            raise InputError(f"rank {rank} of {len(addresses)} ranks; at most {(1 << RANK_BITS) - 1} are possible")
        from ucxx._lib.arr import Array as Descriptor

        self.rank, self.size = rank, len(addresses)
        self.bytes_sent = 0
        self._plane, self._gang, self._run = plane, gang, run
        self._timeout, self._cancel = timeout, cancel or Cancel()
        self._descriptor = Descriptor
        self._tag, self._mask = plane.library.UCXXTag, plane.library.UCXXTagMask(HEADER_MASK)
        self._cuda = plane.backend.name == "cuda"
        self._exchange = 0
        self._failed = self._closed = False
        self._sending: list[Any] = []
        self._words: list[np.ndarray] = []
        self._peers: list[Peer] = []
        self._ucx_error = plane.library.UCXError
        with plane.backend.activate():
            for q, address in enumerate(addresses):
                if q != rank:
                    self._connect(q, address)

    def _connect(self, q: int, address: bytes) -> None:
        tag = self._tag(tag_of(self._gang, self._run, 0, HEADER, q))
        failure = ""
        try:
            peer = Peer(q, self._plane.link(address), self._descriptor, tag)
            self._post_header(peer)
            self._peers.append(peer)
        except (PeerLost, self._ucx_error) as error:
            failure = str(error)
        if failure:  # raised out here, because UCX's own exceptions cannot be pickled, chained ones neither
            self._fail()
            raise PeerLost(f"rank {q} is gone: {failure}")

    def exchange(
        self, sends: Sequence[Array | None], meta: np.ndarray | None = None, control: np.ndarray | None = None
    ) -> Received:
        meta, control = checked(self.size, sends, meta, control)
        if self._failed or self._closed:
            raise CommunicationError("this communicator has failed or is closed")
        if not self._cuda:
            return self._exchange_all(sends, meta, control)
        with self._plane.backend.activate():
            # payloads must be complete before a peer reads them, and the last ones read before new ones overwrite them
            settle(self._plane.backend)
            return self._exchange_all(sends, meta, control)

    def _exchange_all(self, sends: Sequence[Array | None], meta: np.ndarray, control: np.ndarray) -> Received:
        number = self._exchange
        self._exchange += 1
        payloads: list[Array | None] = [None] * self.size
        metas = np.empty((self.size, META), np.int64)
        controls = np.empty((self.size, len(control)), np.int64)
        payloads[self.rank], metas[self.rank], controls[self.rank] = (
            sends[self.rank],
            meta[self.rank],
            control,
        )
        failure = ""
        try:
            for peer in self._peers:
                peer.payload = peer.control = None
                peer.state = HEADER
                self._send(peer, number, sends[peer.rank], meta[peer.rank], control)
            self._wait(number, payloads, metas, controls)
        except self._ucx_error as error:
            failure = f"{type(error).__name__}: {error}"
        except BaseException:
            self._fail()
            raise
        if failure:  # see _connect
            self._fail()
            raise PeerLost(f"UCX lost a peer: {failure}")
        return Received(payloads, metas, controls)

    def _send(self, peer: Peer, number: int, part: Array | None, meta: np.ndarray, control: np.ndarray) -> None:
        out, endpoint = peer.out, peer.link.endpoint
        nbytes = -1 if part is None else part.nbytes
        end = HEAD.size
        wide = len(control) > FITTING
        if len(control) and not wide:
            end += 8 * len(control)
            out[HEAD.size : end] = control.view(np.uint8)
        inline = False
        if isinstance(part, np.ndarray) and end + nbytes <= HEADER_BYTES:
            inline = True
            out[end : end + nbytes] = part
            end += nbytes
        HEAD.pack_into(
            peer.head,
            0,
            MAGIC,
            self._gang,
            self._run,
            number,
            DATA,
            nbytes,
            inline,
            len(control),
            *meta.tolist(),
        )
        sending = self._sending
        tag = self._tag(tag_of(self._gang, self._run, number, HEADER, self.rank))
        sending.append(endpoint.tag_send(peer.arrays[(end - 1) // STEP], tag))
        if wide:
            tag = self._tag(tag_of(self._gang, self._run, number, CONTROL, self.rank))
            sending.append(endpoint.tag_send(self._descriptor(control), tag))
        if nbytes > 0:
            self.bytes_sent += nbytes
            if not inline:
                tag = self._tag(tag_of(self._gang, self._run, number, PAYLOAD, self.rank))
                sending.append(endpoint.tag_send(self._descriptor(part), tag))

    def _post_header(self, peer: Peer) -> None:
        peer.turn ^= 1
        peer.next = peer.link.endpoint.tag_recv(peer.inboxes[peer.turn][2], peer.tag, self._mask)

    def _wait(self, number: int, payloads: list[Array | None], metas: np.ndarray, controls: np.ndarray) -> None:
        """Progress until every peer's header, control and payload are here and all sends are done."""
        progress, waiting = self._plane.worker.progress, list(self._peers)
        start, spins = time.perf_counter(), 0
        while True:
            progress()
            for peer in waiting:
                if peer.state == HEADER and peer.next.completed:
                    self._header(peer, number, payloads, metas, controls)
                if peer.state == PAYLOAD and self._arrived(peer.control) and self._arrived(peer.payload):
                    self._finish(peer, payloads)
            if waiting:
                waiting = [peer for peer in waiting if peer.state != DONE]
            if not waiting and all([request.completed for request in self._sending]):
                for request in self._sending:
                    if request.status != 0:
                        self._find_cause("a send failed")
                self._sending.clear()
                return
            spins += 1
            if spins & 7 == 0:
                now = time.perf_counter()
                if now - start > SPIN_SECONDS:
                    self._look(start, now, waiting)
                    self._doze()
                else:
                    os.sched_yield()  # ranks may outnumber cores

    def _header(
        self, peer: Peer, number: int, payloads: list[Array | None], metas: np.ndarray, controls: np.ndarray
    ) -> None:
        """Judge the header that arrived, and post what it announces."""
        if peer.next.status != 0:
            self._lost(peer)
        head, inbox, _ = peer.inboxes[peer.turn]
        magic, gang, run, exchange, kind, nbytes, inline, c, *meta = HEAD.unpack_from(head)
        if magic != MAGIC or gang != self._gang:
            raise StaleMessage(f"rank {peer.rank} sent a message of gang {gang:#x}, this is gang {self._gang:#x}")
        if run < self._run:
            self._post_header(peer)
            return
        if run > self._run:
            raise StaleMessage(f"rank {peer.rank} is in run {run} of the gang, this rank still in run {self._run}")
        if kind == ABORT:
            raise unpack_failure(bytes(head[HEAD.size : HEAD.size + nbytes]), peer.rank)
        if kind == GOODBYE:
            raise PeerLost(f"rank {peer.rank} left after {exchange} exchanges, this rank is at exchange {number}")
        if exchange != number:
            raise StaleMessage(f"rank {peer.rank} is at exchange {exchange}, this rank at {number}")
        if c != controls.shape[1]:
            raise CommunicationError(f"rank {peer.rank} sent {c} control integers, this rank {controls.shape[1]}")
        q, end = peer.rank, HEAD.size
        metas[q] = meta
        if c:
            if c > FITTING:
                peer.control = self._receive(peer, CONTROL, number, controls[q])
            else:
                controls[q] = inbox[end : end + 8 * c].view(np.int64)
                end += 8 * c
        peer.nbytes, peer.inline = nbytes, None
        if nbytes == 0:
            peer.inline = self._plane.backend.xp.empty(0, dtype="uint8")
        elif inline:
            peer.inline = self._plane.backend.from_host(inbox[end : end + nbytes])
        elif nbytes > 0:
            peer.payload = self._receive(peer, PAYLOAD, number, self._buffer(peer))
        peer.state = PAYLOAD
        self._post_header(peer)

    def _buffer(self, peer: Peer) -> Array:
        return self._plane.receive_buffer(peer.rank, peer.nbytes)[: peer.nbytes]

    def _receive(self, peer: Peer, kind: int, number: int, buffer: Array) -> tuple[Any, Any, Any]:
        tag = self._tag(tag_of(self._gang, self._run, number, kind, peer.rank))
        descriptor = self._descriptor(buffer)
        return peer.link.endpoint.tag_recv(descriptor, tag), descriptor, buffer

    @staticmethod
    def _arrived(receive: tuple[Any, Any, Any] | None) -> bool:
        return receive is None or receive[0].completed

    def _finish(self, peer: Peer, payloads: list[Array | None]) -> None:
        for receive in (peer.control, peer.payload):
            if receive is not None and receive[0].status != 0:
                self._lost(peer)
        payloads[peer.rank] = peer.inline if peer.payload is None else peer.payload[2]
        peer.state = DONE

    def _look(self, start: float, now: float, waiting: list[Peer]) -> None:
        """Raise for what ends a wait: cancel, a dead peer, a peer's abort, the timeout."""
        self._check_peers()
        if now - start > self._timeout:
            missing = ", ".join(str(peer.rank) for peer in waiting) or "none, but sends are not done"
            raise PeerLost(f"an exchange passed its timeout of {self._timeout} s; missing ranks: {missing}")

    def _check_peers(self) -> None:
        self._cancel.check()
        for peer in self._peers:
            if peer.next.completed:
                if peer.next.status != 0:
                    self._lost(peer)
                self._raise_abort(peer)
            elif not peer.link.alive:
                self._lost(peer)

    def check(self) -> None:
        if not self._closed:
            self._plane.worker.progress()
            self._check_peers()

    def _doze(self) -> None:
        """Give up the processor until something arrives."""
        if self._cuda:  # not every device path signals the descriptor
            os.sched_yield()
        else:
            self._plane.worker.progress_worker_event(5)

    def _raise_abort(self, peer: Peer) -> None:
        head = peer.inboxes[peer.turn][0]
        magic, gang, run, _, kind, nbytes, *_ = HEAD.unpack_from(head)
        if (magic, gang, run, kind) == (MAGIC, self._gang, self._run, ABORT):
            raise unpack_failure(bytes(head[HEAD.size : HEAD.size + nbytes]), peer.rank)

    def _find_cause(self, what: str) -> None:
        for peer in self._peers:
            if not peer.link.alive or (peer.next.completed and peer.next.status != 0):
                self._lost(peer)
        raise PeerLost(what)

    def _lost(self, peer: Peer) -> None:
        """Raise what a dead peer said last, or that it is lost."""
        if not peer.next.completed:  # its end was seen outside UCX: an abort may still be on its way
            self._progress_while(lambda: not peer.next.completed, 0.02)
        if peer.next.completed and peer.next.status == 0:
            self._raise_abort(peer)
        probe = self._plane.worker.tag_probe(peer.tag, self._mask, remove=True)
        if probe.matched and probe.length <= HEADER_BYTES:
            request = self._plane.worker.tag_recv_with_handle(peer.inboxes[peer.turn][2], probe)
            self._progress_while(lambda: not request.completed, 0.02)
            if request.completed and request.status == 0:
                self._raise_abort(peer)
        raise PeerLost(f"rank {peer.rank} is gone: its process ended or the connection broke")

    def _progress_while(self, condition: Any, seconds: float) -> None:
        deadline = time.perf_counter() + seconds
        while condition() and time.perf_counter() < deadline:
            self._plane.worker.progress()

    def _fail(self) -> None:
        """Keep what UCX may still touch alive in the plane, and refuse further use."""
        self._failed = True
        held = [(peer, peer.payload, peer.control) for peer in self._peers]
        self._plane.spoil(self._sending[:], held, self)

    def _last_words(self, kind: int, words: bytes) -> None:
        for peer in self._peers:
            if peer.link.alive:
                identity = (MAGIC, self._gang, self._run, self._exchange)
                head = HEAD.pack(*identity, kind, len(words), 1, 0, *[0] * META)
                out = np.frombuffer(head + words, np.uint8)  # of its own: a header may still be on its way
                self._words.append(out)
                tag = self._tag(tag_of(self._gang, self._run, self._exchange, HEADER, self.rank))
                try:
                    self._sending.append(peer.link.endpoint.tag_send(self._descriptor(out), tag))
                except Exception:  # the endpoint died in between; there is nobody left to tell
                    continue

    def abort(self, error: BaseException) -> None:
        if self._closed:
            return
        try:
            self._fail()
            self._last_words(ABORT, pack_failure(error, self.rank))
            self._progress_while(lambda: not all(request.completed for request in self._sending), 0.2)
        except Exception:  # an abort that cannot be told ends as a lost peer on the other side
            pass

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            if not self._failed:
                self._last_words(GOODBYE, b"")
            self._say_farewell()
        except self._ucx_error:  # a peer died meanwhile; leaving needs nobody
            self._fail()

    def _say_farewell(self) -> None:
        """Wait until every peer has said its last word or is dead, at most FAREWELL seconds."""
        leaving = set(self._peers)
        deadline = time.perf_counter() + FAREWELL
        while leaving and time.perf_counter() < deadline:
            self._plane.worker.progress_worker_event(1)
            leaving = {peer for peer in leaving if not self._has_left(peer)}
        if leaving or not all(request.completed for request in self._sending):
            self._fail()

    def _has_left(self, peer: Peer) -> bool:
        """Whether the peer has said its last word or is dead; messages it sent before a failure are consumed."""
        while peer.next.completed and peer.next.status == 0:
            kind = HEAD.unpack_from(peer.inboxes[peer.turn][0])[4]
            if kind != DATA:
                return True
            self._post_header(peer)
        return peer.next.completed or not peer.link.alive
