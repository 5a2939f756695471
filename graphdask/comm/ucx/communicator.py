"""UcxCommunicator: exchange over libucxx tag messages, driven by one progress loop in the calling thread.

Per exchange and peer one header in host memory: words of `HEAD`, the control integers, and the payload if it is small;
from a GPU it is copied there, which takes less time than a message between GPUs. Other payloads travel from where they
lie, at the same time as the header: their receive is posted before, into the buffer that the link keeps for the peer.
Both ends know how long that buffer is (`ucx_plane.grown`).
A payload that does not fit goes one round slower: the header announces it, an empty message ends the receive that is
posted, and the payload follows into a longer buffer, which takes the place of the old one. A receive that an exchange
did not use waits for the next one; payloads of a sender match receives in order. When a communicator closes, an empty
message ends it. A receive for the next header of each peer is always posted too: that is where an abort arrives, also
while a payload is awaited.

Tags carry gang, run, kind and sender. A header is received whatever its run, and judged: of an older run of the gang it
is dropped, of a newer run or another exchange it raises StaleMessage. Messages of other gangs never match.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.comm.arguments import checked, settle
from graphdask.comm.failure import pack_failure, unpack_failure
from graphdask.comm.protocol import META, Cancel, Communicator, Peers, Received
from graphdask.comm.relay import relay_peers
from graphdask.comm.ucx.plane import UcxPlane, grown, ucx_available, ucx_transports
from graphdask.comm.ucx.wire import (
    ABORT,
    APART,
    CONTROL,
    DATA,
    FITTING,
    GOODBYE,
    GROW,
    HEAD,
    HEADER,
    HEADER_BYTES,
    HEADER_MASK,
    INLINE,
    MAGIC,
    PAYLOAD,
    RANK_BITS,
    RELAYED,
    WORDS,
    Peer,
    tag_of,
)
from graphdask.device.backend import Array, Backend
from graphdask.errors import CommunicationError, InputError, PeerLost

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
    takes_host_memory = True

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
        self.rank, self.size, self._addresses = rank, len(addresses), tuple(addresses)
        self.bytes_sent, self.sending = 0, plane.sending
        self._plane, self._gang, self._run = plane, gang, run
        self.timeout, self._cancel = timeout, cancel or Cancel()
        self._descriptor = plane.descriptor
        self._mask = plane.library.UCXXTagMask(HEADER_MASK)
        self._header_tag, self._payload_tag = self._tag(HEADER, rank), self._tag(PAYLOAD, rank)
        self._empty = self._descriptor(np.empty(0, np.uint8))
        self._cuda = plane.backend.name == "cuda"
        self._no_meta = np.zeros((self.size, META), np.int64)
        self._exchange = 0
        self._failed = self._closed = False
        self._sending: list[Any] = []
        self._sent: list[Any] = []
        self._peers: list[Peer] = []
        self._ucx_error = plane.library.UCXError
        with plane.backend.activate():
            for q, address in enumerate(addresses):
                if q != rank:
                    self._connect(q, address)

    def _tag(self, kind: int, sender: int, exchange: int = 0) -> Any:
        return self._plane.library.UCXXTag(tag_of(self._gang, self._run, exchange, kind, sender))

    def _connect(self, q: int, address: bytes) -> None:
        failure = ""
        try:
            link = self._plane.link(address)
            peer = Peer(q, link, self._descriptor, self._tag(HEADER, q), self._tag(PAYLOAD, q))
            peer.post_header(self._mask)
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
            sends = self._plane.stage.lowered(sends, self.rank, HEADER_BYTES - HEAD.size - 8 * len(control))
            settle(self._plane.backend)
            return self._exchange_all(sends, meta, control)

    def exchange_settled(self, sends: Sequence[Array | None], control: np.ndarray) -> Received:
        if self._failed or self._closed:
            raise CommunicationError("this communicator has failed or is closed")
        return self._exchange_all(sends, self._no_meta, control)

    def _exchange_all(self, sends: Sequence[Array | None], meta: np.ndarray, control: np.ndarray) -> Received:
        number = self._exchange
        self._exchange += 1
        payloads: list[Array | None] = [None] * self.size
        payloads[self.rank] = sends[self.rank]
        metas, controls = meta.copy(), np.empty((self.size, len(control)), np.int64)
        controls[self.rank] = control
        failure = ""
        try:
            self._send(number, sends, meta.tolist(), control)
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

    def _send(self, number: int, sends: Sequence[Array | None], meta: list[list[int]], control: np.ndarray) -> None:
        """Post the receives and send everything, payloads first: they move while the headers are written."""
        c = len(control)
        end = HEAD.size + 8 * c if c <= FITTING else HEAD.size
        for peer in self._peers:
            peer.state, peer.way, part = Peer.ABSENT, APART, sends[peer.rank]
            if peer.posted is None:
                peer.post_payload()
            if part is not None and (nbytes := part.nbytes):
                self.bytes_sent += nbytes
                if end + nbytes <= HEADER_BYTES and isinstance(part, np.ndarray):
                    peer.way = INLINE
                    continue
                if nbytes > peer.link.peer_capacity:
                    peer.way = GROW
                    peer.link.peer_capacity = grown(peer.link.peer_capacity, nbytes)
                    self._sending.append(peer.send(self._empty, self._payload_tag))
                self._send_apart(peer.send, part, self._payload_tag)
        identity = (MAGIC, self._gang, self._run, number, DATA)
        for peer in self._peers:
            head = peer.write(identity, sends[peer.rank], meta[peer.rank], control, end)
            self._sending.append(peer.send(head, self._header_tag))
            if c > FITTING:
                self._send_apart(peer.send, control, self._tag(CONTROL, self.rank, number))

    def _send_apart(self, send: Any, array: Array | None, tag: Any) -> None:
        descriptor = self._descriptor(array)
        self._sent.append(descriptor)
        self._sending.append(send(descriptor, tag))

    def _wait(self, number: int, payloads: list[Array | None], metas: np.ndarray, controls: np.ndarray) -> None:
        """Progress until every peer's header, control and payload are here and all sends are done."""
        progress, waiting, sending = self._plane.worker.progress, list(self._peers), self._sending
        start, spins = time.perf_counter(), 0
        looked = start
        while True:
            progress()
            done = False
            for peer in waiting:
                if peer.state == Peer.ABSENT and peer.next.completed:
                    self._header(peer, number, metas, controls)
                if peer.state == Peer.ANNOUNCED and all([receive.completed for receive in peer.awaited]):
                    self._finish(peer, payloads)
                    done = True
            if done:
                waiting = [peer for peer in waiting if peer.state != Peer.DONE]
            if not waiting and all([request.completed for request in sending]):
                for request in sending:
                    if request.status != 0:
                        self._find_cause("a send failed")
                sending.clear()
                self._sent.clear()
                return
            spins += 1
            if spins & 7 == 0:
                now = time.perf_counter()
                if now - looked > SPIN_SECONDS:
                    self._look(start, now, waiting)
                    looked = time.perf_counter() if self._cuda else looked
                    self._doze()
                else:
                    os.sched_yield()  # ranks may outnumber cores

    def _header(self, peer: Peer, number: int, metas: np.ndarray, controls: np.ndarray) -> None:
        """Judge the header that arrived, and find out which receives to wait for."""
        if peer.next.status != 0:
            self._lost(peer)
        inbox, q = peer.inbox, peer.rank
        announced = inbox.judge(q, self._gang, self._run, number)
        if announced is None:
            peer.post_header(self._mask)
            return
        nbytes, way, c = announced
        if c != controls.shape[1]:
            raise CommunicationError(f"rank {q} sent {c} control integers, this rank {controls.shape[1]}")
        peer.post_header(self._mask)
        metas[q] = inbox.words[WORDS - META : WORDS]
        end = HEAD.size
        peer.awaited, peer.state = (), Peer.ANNOUNCED
        if 0 < c <= FITTING:
            controls[q] = inbox.words[WORDS : WORDS + c]
            end += 8 * c
        elif c:
            peer.held = self._descriptor(controls[q])
            peer.awaited = (peer.receive(peer.held, self._tag(CONTROL, q, number)),)
        if way == INLINE:
            arrived = inbox.array[end : end + nbytes]
            peer.brought = peer.link.raised(arrived) if self._cuda and self.raises else arrived
        elif nbytes > 0:
            self._await_payload(peer, nbytes, way)
        else:
            peer.brought = None if nbytes < 0 else self._plane.backend.xp.empty(0, dtype="uint8")

    def _await_payload(self, peer: Peer, nbytes: int, way: int) -> None:
        link = peer.link
        if (nbytes > len(link.buffer)) != (way == GROW):
            raise CommunicationError(
                f"rank {peer.rank} takes this rank's receive buffer of {len(link.buffer)} bytes for one of another "
                f"length (payload of {nbytes} bytes); connect with new planes"
            )
        receives: tuple[Any, ...] = (peer.posted,)
        peer.posted = None
        if way == GROW:  # the empty message ends the posted receive; until then its buffer must stay
            peer.held = (peer.held, link.descriptor)
            link.grow(nbytes)
            receives += (peer.receive(link.descriptor, peer.payload_tag),)
        peer.awaited += receives
        peer.brought = link.arrived(nbytes)

    def _finish(self, peer: Peer, payloads: list[Array | None]) -> None:
        for receive in peer.awaited:
            if receive.status != 0:
                self._lost(peer)
        payloads[peer.rank] = peer.brought
        peer.awaited, peer.held, peer.brought = (), None, None
        peer.state = Peer.DONE

    def _look(self, start: float, now: float, waiting: list[Peer]) -> None:
        """Raise for what ends a wait: cancel, a dead peer, a peer's abort, the timeout."""
        self._check_peers()
        if now - start > self.timeout:
            missing = ", ".join(str(peer.rank) for peer in waiting) or "none, but sends are not done"
            raise PeerLost(f"an exchange passed its timeout of {self.timeout} s; missing ranks: {missing}")

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
            with self._plane.backend.activate():
                self._plane.worker.progress()
                self._check_peers()

    def peers(self, backend: Backend) -> Peers | None:
        from graphdask.comm.ucx.carrier import UcxCarrier  # which loads Numba

        return relay_peers(self, backend, self.timeout, self._plane, self._addresses, UcxCarrier)

    @property
    def worker(self) -> int:
        """UCX's handle of the worker."""
        return int(self._plane.worker.handle)

    def link_of(self, q: int) -> tuple[int, Array]:
        """UCX's handle of the endpoint to a rank, and the buffer for its payloads."""
        link = next(peer.link for peer in self._peers if peer.rank == q)
        return int(link.endpoint.handle), link.buffer

    def tags_of_relay(self, sender: int) -> list[int]:
        """The tags, as signed words, of short and of long messages that are relayed for kernels."""
        tags = [tag_of(self._gang, self._run, number, RELAYED, sender) for number in range(2)]
        return np.array(tags, np.uint64).view(np.int64).tolist()

    def give_up(self, *in_use: Any) -> None:
        """Refuse further use, and keep what UCX may still touch."""
        self._fail()
        self._plane.spoil(*in_use)

    def _doze(self) -> None:
        """Give up the processor until something arrives."""
        if self._cuda:  # not every device path signals the descriptor
            os.sched_yield()
        else:
            self._plane.worker.progress_worker_event(5)

    def _raise_abort(self, peer: Peer) -> None:
        head = peer.inbox.head
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
        probe = self._plane.worker.tag_probe(peer.header_tag, self._mask, remove=True)
        if probe.matched and probe.length <= HEADER_BYTES:
            request = self._plane.worker.tag_recv_with_handle(peer.inbox.descriptor, probe)
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
        self._plane.spoil(self)

    def _last_words(self, kind: int, words: bytes) -> None:
        for peer in self._peers:
            if peer.link.alive:
                identity = (MAGIC, self._gang, self._run, self._exchange)
                head = HEAD.pack(*identity, kind, len(words), INLINE, 0, *[0] * META)
                out = np.frombuffer(head + words, np.uint8)  # of its own: a header may still be on its way
                try:
                    self._send_apart(peer.send, out, self._header_tag)
                    if kind == GOODBYE:  # the peer's posted receive has to end
                        self._sending.append(peer.send(self._empty, self._payload_tag))
                except Exception:  # the endpoint died in between; no peer is left to notify
                    continue

    def abort(self, error: BaseException) -> None:
        if self._closed:
            return
        try:
            self._fail()
            self._last_words(ABORT, pack_failure(error, self.rank))
            self._progress_while(lambda: not all(request.completed for request in self._sending), 0.2)
        except Exception:  # an abort that cannot be sent ends as a lost peer on the other side
            pass

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            with self._plane.backend.activate():
                if not self._failed:
                    for peer in self._peers:
                        if peer.posted is None:
                            peer.post_payload()
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
        receives = [peer.posted for peer in self._peers]
        if leaving or not all(request is not None and request.completed for request in self._sending + receives):
            self._fail()

    def _has_left(self, peer: Peer) -> bool:
        """Whether the peer has said its last word or is dead; messages it sent before a failure are consumed."""
        while peer.next.completed and peer.next.status == 0:
            kind = HEAD.unpack_from(peer.inbox.head)[4]
            if kind == GOODBYE:
                return peer.posted is None or peer.posted.completed or not peer.link.alive
            if kind == ABORT:
                return True
            if not self._failed:  # a peer that is ahead will fail, and its payload may be under way
                self._fail()
            peer.post_header(self._mask)
        return peer.next.completed or not peer.link.alive
