"""Link: the byte stream between two ranks, cut into messages, on a non-blocking socket.

A message is a header of eleven int64 (magic, gang, run, exchange, kind, payload bytes, control integers, and the META
integers of the payload), the control integers, and the payload in chunks of CHUNK bytes, with a word of 8 bytes between
two chunks: GO, or STOP where the sender failed in the middle. After STOP, and in place of any message, an abort may
come (kind ABORT, the payload is the packed error) or, from a rank that is done, a goodbye (kind BYE).

Reading is a generator that is resumed whenever bytes may have come. It reads one header ahead of the exchange that it
is in: so an abort or a dead peer shows also while this rank waits for others.
"""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Generator, Iterator

import numpy as np

from graphdask.comm.failure import unpack_failure
from graphdask.comm.protocol import META
from graphdask.comm.tcp.staging import HostStaging
from graphdask.errors import CommunicationError, PeerLost, StaleMessage

MAGIC = 0x31_50_43_54_41_44_47  # "GDATCP1", little-endian
WORDS = 7 + META
HEADER = struct.Struct(f"={WORDS}q")
WORD = struct.Struct("=q")
DATA, ABORT, BYE = 1, 2, 3
GO, STOP = WORD.pack(0), WORD.pack(-1)
NOTHING = -1
"""Payload bytes where there is no payload, as against an empty one."""

CHUNK = 1 << 20
TURN = 8
"""Parts that are sent before other links, and the cancellation, have their turn."""
STAGE = 4096
"""Bytes read ahead: a small message is one system call, a large one is received where it belongs."""
DISCARDS = 4096
"""Reads of STAGE bytes that one discarding makes at most."""

BLOCKED = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


def header(gang: int, run: int, exchange: int, kind: int, nbytes: int) -> bytes:
    """Return the header of a message without control integers and META."""
    return HEADER.pack(MAGIC, gang, run, exchange, kind, nbytes, 0, *[0] * META)


class Link:
    """The connection to one peer.

    Parameters
    ----------
    connection : socket.socket
        Connected, non-blocking; plain or TLS.
    peer, gang, run : int
        The rank at the other end, and what both ends belong to.
    staging : HostStaging
        Where payloads are received.
    """

    def __init__(self, connection: socket.socket, peer: int, gang: int, run: int, staging: HostStaging):
        self.connection, self.peer, self.gang, self.run = connection, peer, gang, run
        self.secure = isinstance(connection, ssl.SSLSocket)
        self.readable = self.writable = True
        """Whether a system call may succeed: set by the poller, cleared by a call that would block."""
        self.ended = False
        """Whether the poller has seen the end of the stream."""
        self.received = self.sent = True
        """Whether this exchange's message has come in, and gone out."""
        self.payload: np.ndarray | None = None
        self._staging = staging
        self._row = memoryview(b"")
        self._head = bytearray(HEADER.size)
        self._stage = bytearray(STAGE)
        self._staged = memoryview(self._stage)
        self._low = self._high = 0
        self._parts: list[memoryview] = []
        self._at = 0
        self._begun = False
        self._number = 0
        self._incoming = self._read_messages()

    def open(self, number: int, head: memoryview, payload: np.ndarray | None, row: memoryview) -> None:
        """Begin exchange `number`: send `head` and `payload`, receive header and control integers into `row`."""
        self._number = number
        self._row = row
        self.received = self.sent = self._begun = False
        self._at = 0
        if payload is None or len(payload) == 0:
            self._parts = [head]
        elif len(payload) <= CHUNK:
            self._parts = [head, payload.data]
        else:
            whole, go = payload.data, memoryview(GO)
            self._parts = [head]
            for start in range(0, len(payload), CHUNK):
                self._parts += [whole[start : start + CHUNK], go]
            self._parts.pop()

    def send(self) -> None:
        """Send until the socket would block, the message is out, or it is others' turn."""
        parts, at = self._parts, self._at
        try:
            for _ in range(TURN):
                count = (
                    self.connection.send(parts[at]) if self.secure else self.connection.sendmsg(parts[at : at + TURN])
                )
                self._begun = True
                while at < len(parts) and count >= len(parts[at]):
                    count -= len(parts[at])
                    at += 1
                if at == len(parts):
                    self.sent = True
                    break
                parts[at] = parts[at][count:]
        except BLOCKED:
            self.writable = False
            self._begun |= self.secure  # TLS may hold a part of it already
        except OSError as error:
            raise self._lost(error) from error
        finally:
            self._at = at

    def receive(self) -> None:
        """Take what has come; raise what the peer reports, or PeerLost where the stream has ended."""
        next(self._incoming)

    def idle(self) -> bool:
        """Whether no message is half sent."""
        return self._at == len(self._parts) or not self._begun

    def append(self, message: bytes) -> None:
        """Send `message` in place of what is unsent, after the current chunk where a message is half sent."""
        if self.idle():
            self._parts, self._at, self._begun = [memoryview(message)], 0, False
        else:
            last = min(self._at | 1, len(self._parts) - 1)  # chunks have the odd places
            stop = [memoryview(STOP)] if last + 1 < len(self._parts) else []
            self._parts = [*self._parts[: last + 1], *stop, memoryview(message)]
        self.sent = False

    def discard(self) -> bool:
        """Throw away what has come, so that closing does not reset the connection; return whether it still stands."""
        try:
            for _ in range(DISCARDS):
                if not self.connection.recv_into(self._staged):
                    return False
        except BLOCKED:
            pass
        except OSError:
            return False
        return True

    def close(self) -> None:
        self._incoming.close()
        self.connection.close()

    def _read_messages(self) -> Generator[None, None, None]:
        head = memoryview(self._head)
        while True:
            yield from self._fill(head)
            magic, gang, run, number, kind, nbytes, controls = HEADER.unpack_from(head)[:7]
            if magic != MAGIC:
                raise CommunicationError(f"rank {self.peer} sent bytes that are no message (they begin {magic:#x})")
            if gang != self.gang or run != self.run:
                raise StaleMessage(
                    f"rank {self.peer} sent a message of gang {gang}, run {run}; "
                    f"this is gang {self.gang}, run {self.run}"
                )
            if kind == ABORT:
                text = bytearray(nbytes)
                yield from self._fill(memoryview(text))
                raise unpack_failure(bytes(text), self.peer)
            while self.received:
                yield
            if kind == BYE:
                raise PeerLost(f"rank {self.peer} has closed its communicator before exchange {self._number}")
            if number != self._number:
                raise StaleMessage(f"rank {self.peer} is in exchange {number}; this rank is in {self._number}")
            row = self._row
            if controls * 8 + HEADER.size != len(row):
                raise CommunicationError(
                    f"rank {self.peer} sent {controls} control integers where this rank has "
                    f"{(len(row) - HEADER.size) // 8}; all ranks must give equally many"
                )
            row[: HEADER.size] = head
            if controls:
                yield from self._fill(row[HEADER.size :])
            self.payload = None
            if nbytes != NOTHING:
                payload = self._staging.receive_buffer(self.peer, nbytes)
                yield from self._read_payload(payload.data, nbytes)
                self.payload = payload
            self.received = True

    def _read_payload(self, payload: memoryview, nbytes: int) -> Iterator[None]:
        word = memoryview(bytearray(WORD.size))
        for start in range(0, nbytes, CHUNK):
            if start:
                yield from self._fill(word)
                if word == STOP:
                    self.received = True  # what follows is an abort, not the rest
                    return (yield from self._read_abort())
            yield from self._fill(payload[start : start + CHUNK])
            if nbytes - start > CHUNK:
                yield  # let other links move

    def _read_abort(self) -> Iterator[None]:
        head = memoryview(bytearray(HEADER.size))
        yield from self._fill(head)
        text = bytearray(HEADER.unpack_from(head)[5])
        yield from self._fill(memoryview(text))
        raise unpack_failure(bytes(text), self.peer)

    def _fill(self, target: memoryview) -> Iterator[None]:
        """Fill `target` from what is staged, then from the socket; yield while nothing is there."""
        missing = len(target)
        while True:
            ready = min(self._high - self._low, missing)
            if ready:
                start = len(target) - missing
                target[start : start + ready] = self._staged[self._low : self._low + ready]
                self._low += ready
                missing -= ready
            if not missing:
                return
            direct = missing >= STAGE
            into = target[len(target) - missing :] if direct else self._staged
            while not self.readable:
                yield
            try:
                count = self.connection.recv_into(into)
            except BLOCKED:
                self.readable = False
                yield
                continue
            except OSError as error:
                raise self._lost(error) from error
            if not count:
                raise self._lost(None)
            if count < len(into) and not self.secure and not self.ended:
                self.readable = False  # drained; the poller reports what comes later
            if direct:
                missing -= count
            else:
                self._low, self._high = 0, count

    def _lost(self, error: OSError | None) -> PeerLost:
        how = "closed the connection" if error is None else f"is unreachable: {error}"
        return PeerLost(f"rank {self.peer} {how} (its process has died or was stopped), in exchange {self._number}")
