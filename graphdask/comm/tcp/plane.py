"""TcpPlane: the listening socket of one rank, and how the ranks of a gang connect to each other.

Every pair of ranks has one connection, from the higher rank to the lower. It opens with a hello (magic, the secret in
the listener's address, gang, run, size, rank) that is answered by a verdict: WELCOME; STALE, when the listener is in
a later run of the gang; BUSY, when it is not yet where the caller is, who then tries again. Whoever does not know the
secret gets no answer. Each handshake is a generator that yields the socket and the event it waits for; one selector
drives all of them under one deadline.
"""

from __future__ import annotations

import errno
import hmac
import os
import secrets
import selectors
import socket
import ssl as tls
import struct
import time
from collections.abc import Generator
from typing import Any, NamedTuple

from graphdask.comm.protocol import Cancel
from graphdask.comm.tcp.link import BLOCKED
from graphdask.comm.tcp.staging import HostStaging
from graphdask.device.backend import Backend
from graphdask.errors import CommunicationError, PeerLost, StaleMessage

ADDRESS = struct.Struct("!16sIHB")
"""Secret, process id, port, whether TLS is spoken; the host follows."""
HELLO = struct.Struct("!8s16sqqII")
VERDICT = struct.Struct("!8sIqq")
HELLO_MAGIC, VERDICT_MAGIC = b"GDHELLO1", b"GDREPLY1"
WELCOME, STALE, BUSY = 0, 1, 2

TICK = 0.05
"""Seconds between two checks of the cancellation, and before a busy listener is called again."""

KEEPALIVE = {"TCP_KEEPIDLE": 2, "TCP_KEEPINTVL": 1, "TCP_KEEPCNT": 3}
"""A host that vanishes is noticed after 5 s. TCP_USER_TIMEOUT stays unset: it would override this, and it also kills
the connection to a healthy peer that computes for so long without reading (Linux counts zero-window time too)."""

STRANGERS = 256
"""Connections that have not said who they are, at most. For one more, the one that has waited longest is closed: a rank
says so at once, and calls again where it is closed before."""

Handshake = Generator[tuple[socket.socket, int], None, None]


class Address(NamedTuple):
    """What `TcpPlane.address` says, unpacked."""

    secret: bytes
    process: int
    port: int
    secure: bool
    host: str

    @classmethod
    def unpack(cls, packed: bytes) -> Address:
        """Raise CommunicationError where `packed` is no address of a TcpPlane."""
        if len(packed) <= ADDRESS.size:
            raise CommunicationError(f"{packed!r} is no address of a TCP data plane")
        secret, process, port, secure = ADDRESS.unpack_from(packed)
        return cls(secret, process, port, bool(secure), packed[ADDRESS.size :].decode())


class TcpPlane:
    """The listener of one rank, and the buffers that it keeps between runs.

    Parameters
    ----------
    host : str
        The address of the interface on which peers reach this process.
    ssl : (ssl.SSLContext, ssl.SSLContext), optional
        Contexts for accepted and for opened connections; with them everything is encrypted.

    Raises
    ------
    CommunicationError
        When `host` is not an address of this machine.
    """

    def __init__(self, host: str, ssl: tuple[tls.SSLContext, tls.SSLContext] | None = None):
        self.ssl = ssl
        self._secret = secrets.token_bytes(16)
        try:
            family, _, _, _, where = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
            self._listener = socket.create_server(where[:2], family=family, backlog=1024)
        except OSError as error:
            raise CommunicationError(
                f"cannot listen on {host!r}: {error}; give the address of a network interface"
            ) from error
        self._listener.setblocking(False)
        port = self._listener.getsockname()[1]
        self.address = ADDRESS.pack(self._secret, os.getpid(), port, ssl is not None) + host.encode()
        """What peers connect to; valid while the plane is open. It holds a secret."""
        self._staging: dict[int, HostStaging] = {}

    def staging(self, backend: Backend) -> HostStaging:
        """Return the host buffers for payloads of `backend`, made on first use."""
        return self._staging.setdefault(id(backend), HostStaging(backend))

    def connect(
        self, rank: int, addresses: list[bytes], gang: int, run: int, timeout: float, cancel: Cancel
    ) -> dict[int, socket.socket]:
        """Return a connection to every other rank, non-blocking.

        Raises
        ------
        PeerLost
            A peer is not there, or has not come within `timeout` seconds.
        StaleMessage
            A peer is in a later run.
        """
        meeting = _Meeting(self._listener, self._secret, self.ssl, rank, addresses, gang, run)
        try:
            meeting.hold(time.monotonic() + timeout, timeout, cancel)
        except BaseException:
            meeting.break_off()
            raise
        return meeting.connections

    def close(self) -> None:
        """Stop listening and free the buffers; open communicators go on."""
        self._listener.close()
        self._staging.clear()

    def __enter__(self) -> TcpPlane:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


class _Meeting:
    """All handshakes of one rank for one run."""

    def __init__(
        self,
        listener: socket.socket,
        secret: bytes,
        ssl: tuple[tls.SSLContext, tls.SSLContext] | None,
        rank: int,
        addresses: list[bytes],
        gang: int,
        run: int,
    ):
        self.listener, self.secret, self.ssl = listener, secret, ssl
        self.rank, self.size, self.gang, self.run = rank, len(addresses), gang, run
        self.peers = [Address.unpack(address) for address in addresses]
        self.connections: dict[int, socket.socket] = {}
        self.again: list[tuple[float, int]] = []
        """When to call which busy peer again."""
        self.elsewhere: dict[int, int] = {}
        """The gang that a busy peer is in, where it is not this one."""
        self.later: StaleMessage | None = None
        self.open: set[socket.socket] = set()
        self.answering: dict[Handshake, socket.socket] = {}
        """What those that connected wait for, the first of them first."""
        self.selector = selectors.DefaultSelector()

    def hold(self, deadline: float, timeout: float, cancel: Cancel) -> None:
        """Meet all peers."""
        with self.selector:
            self.selector.register(self.listener, selectors.EVENT_READ)
            for peer in range(self.rank):
                self._resume(self._call(peer))
            while len(self.connections) < self.size - 1:
                now = time.monotonic()
                if now > deadline:
                    raise self._late(timeout)
                for key, _ in self.selector.select(max(0.0, min(TICK, deadline - now))):
                    if key.fileobj is self.listener:
                        self._accept()
                    elif isinstance(key.fileobj, socket.socket) and key.fileobj.fileno() >= 0:  # else it was dropped
                        self.selector.unregister(key.fileobj)
                        self._resume(key.data)
                cancel.check()
                if self.later is not None:
                    raise self.later
                due = [peer for when, peer in self.again if when <= now]
                self.again = [(when, peer) for when, peer in self.again if when > now]
                for peer in due:
                    self._resume(self._call(peer))
        for connection in self.open - set(self.connections.values()):
            connection.close()

    def _late(self, timeout: float) -> CommunicationError:
        missing = [q for q in range(self.size) if q != self.rank and q not in self.connections]
        waited = f"rank {self.rank} of gang {self.gang}, run {self.run} waited {timeout:g} s for ranks {missing}"
        for peer, gang in self.elsewhere.items():
            if peer in missing:
                return StaleMessage(f"{waited}; rank {peer} is in gang {gang}")
        return PeerLost(f"{waited} to connect; they have not started, cannot be reached, or refused")

    def break_off(self) -> None:
        """Close everything."""
        for connection in self.open | set(self.connections.values()):
            connection.close()

    def _resume(self, handshake: Handshake) -> None:
        try:
            waits_for, event = next(handshake)
        except StopIteration:
            self.answering.pop(handshake, None)
            return
        if handshake in self.answering:
            self.answering[handshake] = waits_for
        self.selector.register(waits_for, event, handshake)

    def _accept(self) -> None:
        if len(self.answering) >= STRANGERS:
            self._drop_oldest()
        try:
            connection, _ = self.listener.accept()
        except OSError:  # the caller has gone again
            return
        handshake = self._answer(self._prepared(connection))
        self.answering[handshake] = connection
        self._resume(handshake)

    def _drop_oldest(self) -> None:
        """Close the connection that has waited longest without saying who it is."""
        handshake = next(iter(self.answering))
        connection = self.answering.pop(handshake)
        self.selector.unregister(connection)
        self.open.discard(connection)
        handshake.close()
        connection.close()

    def _prepared(self, connection: socket.socket) -> socket.socket:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in KEEPALIVE.items():
            if hasattr(socket, option):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        self.open.add(connection)
        return connection

    def _call(self, peer: int) -> Handshake:
        """Connect to a lower rank."""
        address = self.peers[peer]
        who = f"rank {peer} at {address.host}:{address.port}"
        if address.secure != (self.ssl is not None):
            raise CommunicationError(f"{who} and rank {self.rank} do not both use TLS; give all workers one security")
        try:
            family, _, _, _, where = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
            connection = self._prepared(socket.socket(family, socket.SOCK_STREAM))
            code = connection.connect_ex(where)
            if code == errno.EINPROGRESS:
                yield connection, selectors.EVENT_WRITE
                code = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                raise OSError(code, os.strerror(code))
        except OSError as error:
            raise PeerLost(f"{who} cannot be reached: {error}") from error
        try:
            if self.ssl is not None:
                connection = yield from self._encrypt(connection, self.ssl[1], server=False, name=address.host)
            yield from _write(
                connection,
                HELLO.pack(HELLO_MAGIC, address.secret, self.gang, self.run, self.size, self.rank),
            )
            reply = yield from _read(connection, VERDICT.size)
        except (ConnectionError, tls.SSLEOFError):
            # its process has ended, then the next call is refused; or it had just met all its peers of an earlier run
            return self._call_again(connection, peer)
        except OSError as error:
            raise PeerLost(f"{who} cannot be spoken to: {error}") from error
        magic, verdict, gang, run = VERDICT.unpack(reply)
        if magic != VERDICT_MAGIC:
            raise PeerLost(f"{who} is not a graphdask data plane any more")
        if verdict == STALE:
            raise StaleMessage(f"{who} is in gang {gang}, run {run}, and refuses gang {self.gang}, run {self.run}")
        if verdict == BUSY:
            if gang != self.gang:
                self.elsewhere[peer] = gang
            self._call_again(connection, peer)
        else:
            self.connections[peer] = connection

    def _call_again(self, connection: socket.socket, peer: int) -> None:
        self.open.discard(connection)
        connection.close()
        self.again.append((time.monotonic() + TICK, peer))

    def _answer(self, connection: socket.socket) -> Handshake:
        """Serve one that connected; whatever a stranger does must not disturb the others."""
        try:
            if self.ssl is not None:
                connection = yield from self._encrypt(connection, self.ssl[0], server=True)
            magic, secret, gang, run, size, rank = HELLO.unpack((yield from _read(connection, HELLO.size)))
            known = magic == HELLO_MAGIC and hmac.compare_digest(secret, self.secret)
            if known:
                verdict = self._judge(gang, run, size, rank)
                yield from _write(connection, VERDICT.pack(VERDICT_MAGIC, verdict, self.gang, self.run))
                if verdict == WELCOME:
                    self.connections[rank] = connection
                    return
        except OSError:  # gone, or not one of us
            pass
        self.open.discard(connection)
        connection.close()

    def _judge(self, gang: int, run: int, size: int, rank: int) -> int:
        if gang != self.gang:
            return BUSY
        if run > self.run:
            self.later = StaleMessage(f"gang {gang} is in run {run} already; rank {self.rank} is still in {self.run}")
            return BUSY
        return WELCOME if run == self.run and size == self.size and self.rank < rank < size else STALE

    def _encrypt(
        self, connection: socket.socket, context: tls.SSLContext, server: bool, name: str | None = None
    ) -> Generator[tuple[socket.socket, int], None, socket.socket]:
        self.open.discard(connection)
        secure = context.wrap_socket(
            connection, server_side=server, do_handshake_on_connect=False, server_hostname=name
        )
        self.open.add(secure)
        try:
            while True:
                try:
                    secure.do_handshake()
                    return secure
                except tls.SSLWantReadError:
                    yield secure, selectors.EVENT_READ
                except tls.SSLWantWriteError:
                    yield secure, selectors.EVENT_WRITE
        except BaseException:  # whoever called has only the socket below it
            self.open.discard(secure)
            secure.close()
            raise


def _write(connection: socket.socket, message: bytes) -> Generator[tuple[socket.socket, int], None, None]:
    while message:
        try:
            message = message[connection.send(message) :]
        except BLOCKED:
            yield connection, selectors.EVENT_WRITE


def _read(connection: socket.socket, length: int) -> Generator[tuple[socket.socket, int], None, bytes]:
    message = b""
    while len(message) < length:
        try:
            part = connection.recv(length - len(message))
        except BLOCKED:
            yield connection, selectors.EVENT_READ
            continue
        if not part:
            raise ConnectionResetError("it closed the connection without an answer")
        message += part
    return message
