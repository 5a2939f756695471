"""How TCP ranks find each other: late, absent, stale and strange peers; plain and over TLS."""

import resource
import select
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tcp_ranks import in_background, join, ranks, tls_contexts

from graphdask.comm.protocol import Cancel
from graphdask.comm.tcp.communicator import TcpPlane
from graphdask.comm.tcp.plane import ADDRESS, Address
from graphdask.errors import CommunicationError, PeerLost, StaleMessage


@pytest.fixture(params=["plain", "tls"])
def contexts(request):
    return None if request.param == "plain" else tls_contexts()


def test_late_peer_is_waited_for(contexts):
    with TcpPlane("127.0.0.1", contexts) as low, TcpPlane("127.0.0.1", contexts) as high, ThreadPoolExecutor() as pool:
        addresses = [low.address, high.address]
        early = in_background(pool, high, 1, addresses)
        select.select([low._listener], [], [])  # the higher rank has called
        with join(low, 0, addresses), early.result():
            pass


def test_peer_that_never_comes_is_lost_after_the_timeout():
    with TcpPlane("127.0.0.1") as low, TcpPlane("127.0.0.1") as high:
        for plane, rank in ((low, 0), (high, 1)):
            with pytest.raises(PeerLost, match=r"waited 0\.2 s"):
                join(plane, rank, [low.address, high.address], timeout=0.2)


def test_peer_whose_plane_is_gone_is_lost_at_once():
    with TcpPlane("127.0.0.1") as high:
        low = TcpPlane("127.0.0.1")
        low.close()
        with pytest.raises(PeerLost, match="cannot be reached"):
            join(high, 1, [low.address, high.address])


def test_cancel_ends_the_wait_for_peers_to_connect():
    cancel = Cancel()
    cancel.set("the client gave up")
    with TcpPlane("127.0.0.1") as low, TcpPlane("127.0.0.1") as high, pytest.raises(PeerLost, match="gave up"):
        join(low, 0, [low.address, high.address], cancel=cancel)


def test_strangers_are_refused_and_disturb_nobody(contexts):
    planes = [TcpPlane("127.0.0.1", contexts) for _ in range(3)]
    low, high, stranger = planes
    addresses = [low.address, high.address]
    forged = bytes(16) + low.address[16:]
    port = low._listener.getsockname()[1]
    with ThreadPoolExecutor() as pool:
        silent = socket.create_connection(("127.0.0.1", port))
        noisy = socket.create_connection(("127.0.0.1", port))
        noisy.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10)
        thief = in_background(pool, stranger, 1, [forged, stranger.address], timeout=0.5)
        waiting = in_background(pool, low, 0, addresses)
        assert isinstance(thief.exception(), PeerLost)
        with join(high, 1, addresses) as second, waiting.result() as first:
            done = pool.submit(first.allreduce, np.array([1]))
            assert second.allreduce(np.array([2])).tolist() == [3]
            done.result()
        silent.close()
        noisy.close()
    for plane in planes:
        plane.close()


class Recorder:
    """A listener that passes one connection on to a port, and records what the caller sends."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.to, self.sent = self.listener.getsockname()[1], port, b""
        self.thread = threading.Thread(target=self._pass_on, daemon=True)
        self.thread.start()

    def _pass_on(self):
        caller, _ = self.listener.accept()
        with caller, socket.create_connection(("127.0.0.1", self.to)) as called, self.listener:
            while True:
                for ready in select.select([caller, called], [], [])[0]:
                    data = ready.recv(1 << 16)
                    if not data:
                        return
                    self.sent += data if ready is caller else b""
                    (called if ready is caller else caller).sendall(data)


def through(address, port):
    """The address of a plane, at another port."""
    where = Address.unpack(address)
    return ADDRESS.pack(where.secret, where.process, port, where.secure) + where.host.encode()


def test_what_a_rank_has_said_once_is_of_no_use_to_who_says_it_again(contexts):
    """All bytes of a rank's last run, sent again while the next run begins, and after it has begun."""
    with TcpPlane("127.0.0.1", contexts) as low, TcpPlane("127.0.0.1", contexts) as high, ThreadPoolExecutor() as pool:
        addresses, port = [low.address, high.address], low._listener.getsockname()[1]
        recorder = Recorder(port)
        waiting = in_background(pool, low, 0, addresses, run=1)
        relayed = [through(low.address, recorder.port), high.address]
        with join(high, 1, relayed, run=1) as second, waiting.result() as first:
            done = pool.submit(first.allreduce, np.array([1]))
            assert second.allreduce(np.array([2])).tolist() == [3]
            done.result()
        recorder.thread.join(10.0)
        assert len(recorder.sent) > 100
        thieves = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        for thief in thieves[:2]:
            thief.sendall(recorder.sent)
        waiting = in_background(pool, low, 0, addresses, run=2)
        with join(high, 1, addresses, run=2) as second, waiting.result() as first:
            thieves[2].sendall(recorder.sent)
            done = pool.submit(first.allreduce, np.array([5]))
            assert second.allreduce(np.array([2])).tolist() == [7]
            done.result()
        for thief in thieves:
            thief.close()


FLOOD = """
import resource, socket, sys
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
calls = []
for number in range(int(sys.argv[2])):
    calls.append(socket.socket())
    calls[-1].settimeout(5.0)
    try:
        calls[-1].connect(("127.0.0.1", int(sys.argv[1])))
        if number % 2:
            calls[-1].send(b"GDHELLO1")
    except OSError:
        pass
    if number == 2500:
        print("begun", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def few_descriptors():
    """This process may open as many descriptors as most may; a stranger may open more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 1024), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
def test_thousands_of_silent_connections_keep_no_rank_out(contexts, few_descriptors):
    """They come before the ranks and while these meet, and each says half of a hello or nothing."""
    with TcpPlane("127.0.0.1", contexts) as low, TcpPlane("127.0.0.1", contexts) as high, ThreadPoolExecutor() as pool:
        addresses, port = [low.address, high.address], low._listener.getsockname()[1]
        waiting = in_background(pool, low, 0, addresses, run=1, timeout=30.0)
        with subprocess.Popen(
            [sys.executable, "-c", FLOOD, str(port), "3000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as flood:
            try:
                assert flood.stdout.readline() == b"begun\n"
                for run in (1, 2):
                    with join(high, 1, addresses, run=run, timeout=30.0) as second, waiting.result() as first:
                        done = pool.submit(first.allreduce, np.array([1]))
                        assert second.allreduce(np.array([2])).tolist() == [3]
                        done.result()
                    if run == 1:
                        waiting = in_background(pool, low, 0, addresses, run=2, timeout=30.0)
            finally:
                flood.kill()


def test_bytes_that_are_no_address_are_refused():
    with TcpPlane("127.0.0.1") as plane, pytest.raises(CommunicationError, match="no address"):
        join(plane, 0, [plane.address, b"tcp://10.0.0.1"])


def test_peer_of_an_earlier_run_is_stale_and_does_not_disturb_the_later_one():
    with TcpPlane("127.0.0.1") as low, TcpPlane("127.0.0.1") as high, ThreadPoolExecutor() as pool:
        addresses = [low.address, high.address]
        waiting = in_background(pool, low, 0, addresses, run=2)
        with pytest.raises(StaleMessage, match="run 2, and refuses gang 1, run 1"):
            join(high, 1, addresses, run=1)
        with join(high, 1, addresses, run=2), waiting.result():
            pass


def test_peer_of_a_later_run_makes_this_rank_stale_and_waits_for_its_next_run():
    with TcpPlane("127.0.0.1") as low, TcpPlane("127.0.0.1") as high, ThreadPoolExecutor() as pool:
        addresses = [low.address, high.address]
        waiting = in_background(pool, high, 1, addresses, run=2)
        with pytest.raises(StaleMessage, match="in run 2 already"):
            join(low, 0, addresses, run=1)
        with join(low, 0, addresses, run=2), waiting.result():
            pass


@pytest.mark.slow
def test_peer_of_another_gang_is_stale():
    with TcpPlane("127.0.0.1") as low, TcpPlane("127.0.0.1") as high, ThreadPoolExecutor() as pool:
        addresses = [low.address, high.address]
        cancel = Cancel()
        other = in_background(pool, low, 0, addresses, gang=8, timeout=120.0, cancel=cancel)
        with pytest.raises(StaleMessage, match="rank 0 is in gang 8"):
            join(high, 1, addresses, gang=9, timeout=3.0)  # until then the peer may become free
        assert not other.done()
        cancel.set("nobody else comes")
        assert isinstance(other.exception(), PeerLost)


def test_plain_and_encrypted_planes_do_not_mix():
    with (
        TcpPlane("127.0.0.1", tls_contexts()) as low,
        TcpPlane("127.0.0.1") as high,
        pytest.raises(CommunicationError, match="do not both use TLS"),
    ):
        join(high, 1, [low.address, high.address])


def test_bytes_on_the_wire_are_encrypted():
    def body(comm):
        return [link.connection.cipher() is not None for link in comm._in_order]

    assert ranks(2, body, tls_contexts()) == [[True], [True]]


def test_address_of_no_interface_is_refused():
    with pytest.raises(CommunicationError, match="cannot listen on"):
        TcpPlane("192.0.2.1")
