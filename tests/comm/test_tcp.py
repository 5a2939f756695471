"""TCP ranks as threads of one process: exchanges against NumPy, aborts, cancellation, timeouts; plain and over TLS."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tcp_ranks import Alarm, join, ranks, tls_contexts

from graphdask.comm.protocol import META, Cancel
from graphdask.comm.tcp.communicator import TcpPlane
from graphdask.device.backend import cuda_device_count, get_backend
from graphdask.errors import CommunicationError, InputError, PeerLost, StaleMessage, VerificationError

SIZES = [1, 2, 3, 4, 7]


@pytest.fixture(params=["plain", "tls"])
def contexts(request):
    return None if request.param == "plain" else tls_contexts()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float64"])
def test_alltoallv_transposes_ragged_arrays(size, dtype, contexts):
    rng = np.random.default_rng(size)
    parts = [
        [rng.integers(0, 99, rng.choice([0, 1, 700, 70_000])).astype(dtype) for _ in range(size)] for _ in range(size)
    ]
    got = ranks(size, lambda comm: comm.alltoallv(parts[comm.rank]), contexts)
    for receiver in range(size):
        for sender in range(size):
            np.testing.assert_array_equal(got[receiver][sender], parts[sender][receiver], strict=True)


@pytest.mark.parametrize("size", SIZES)
def test_reductions_are_those_of_numpy_on_every_rank(size, contexts):
    values = np.random.default_rng(size).normal(size=(size, 3, 2))

    def body(comm):
        mine = values[comm.rank]
        return comm.allgather(mine), *(comm.allreduce(mine, op) for op in ("sum", "min", "max"))

    for gathered, total, least, most in ranks(size, body, contexts):
        np.testing.assert_array_equal(gathered, values)
        np.testing.assert_array_equal(total, values.sum(axis=0))
        np.testing.assert_array_equal(least, values.min(axis=0))
        np.testing.assert_array_equal(most, values.max(axis=0))


def test_control_integers_may_be_many():
    values = np.arange(3 * 100_000).reshape(3, -1)
    for got in ranks(3, lambda comm: comm.allgather(values[comm.rank])):
        np.testing.assert_array_equal(got, values)


def test_exchange_brings_payload_meta_and_control():
    def body(comm):
        sends = [np.full(10 * comm.rank + q, comm.rank, np.uint8) for q in range(3)]
        meta = np.arange(3 * META).reshape(3, META) + 100 * comm.rank
        got = comm.exchange(sends, meta, np.array([comm.rank, -comm.rank]))
        assert got.payloads[comm.rank] is sends[comm.rank]
        return [part.copy() for part in got.payloads], got.meta, got.control, comm.bytes_sent

    for rank, (payloads, meta, control, sent) in enumerate(ranks(3, body)):
        assert [part.tolist() for part in payloads] == [[q] * (10 * q + rank) for q in range(3)]
        assert meta.tolist() == [[100 * q + rank * META + i for i in range(META)] for q in range(3)]
        assert control.tolist() == [[0, 0], [1, -1], [2, -2]]
        assert sent == sum(10 * rank + q for q in range(3) if q != rank)


def test_one_rank_may_send_and_the_others_nothing(contexts):
    """Also: rank 0 leaves while ranks 1 and 2 still transfer."""

    def body(comm):
        part = np.full(32 << 20, 7, np.uint8) if comm.rank == 2 else None
        got = comm.exchange([None, part, None]).payloads
        return [None if p is None else (len(p), int(p.min()), int(p.max())) for p in got]

    assert ranks(3, body, contexts) == [[None] * 3, [None, None, (32 << 20, 7, 7)], [None] * 3]


def test_large_payloads_cross(contexts):
    def body(comm):
        part = np.random.default_rng(comm.rank).integers(0, 256, 32 << 20, np.uint8)
        got = comm.exchange([part, part]).payloads[1 - comm.rank]
        return np.array_equal(got, np.random.default_rng(1 - comm.rank).integers(0, 256, 32 << 20, np.uint8))

    assert ranks(2, body, contexts) == [True, True]


def test_thousand_exchanges(contexts):
    def body(comm):
        total = 0
        for number in range(1000):
            sends = [None if (number + q) % 3 == 0 else np.full(number % 50, q, np.uint8) for q in range(3)]
            got = comm.exchange(sends, control=np.full(number % 3, number)).payloads
            total += sum(0 if part is None else int(part.sum()) for part in got)
        return total

    expected = [3 * q * sum(n % 50 for n in range(1000) if (n + q) % 3) for q in range(3)]
    assert ranks(3, body, contexts) == expected


def test_receive_buffers_are_reused():
    def body(comm):
        part = np.zeros(1 << 20, np.uint8)
        places = {comm.exchange([part, part]).payloads[1 - comm.rank].ctypes.data for _ in range(5)}
        places |= {comm.exchange([part[:9], part[:9]]).payloads[1 - comm.rank].ctypes.data}
        return len(places)

    assert ranks(2, body) == [1, 1]


def test_a_plane_serves_one_run_after_the_other():
    with TcpPlane("127.0.0.1") as first, TcpPlane("127.0.0.1") as second:
        planes = [first, second]

        def one(rank):
            seen = []
            for run in range(20):
                with join(planes[rank], rank, [first.address, second.address], run=run) as comm:
                    seen.append(comm.allreduce(np.array([run + rank])).tolist())
            return seen

        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(one, range(2))) == [[[2 * run + 1] for run in range(20)]] * 2


def test_error_of_one_rank_is_raised_by_all(contexts):
    def body(comm):
        comm.barrier()
        if comm.rank == 1:
            raise VerificationError("edge 3 breaks it")
        comm.barrier()

    for error in ranks(3, body, contexts):
        assert isinstance(error, VerificationError)
        assert "edge 3 breaks it" in str(error)


def test_foreign_error_of_one_rank_is_a_lost_peer_elsewhere():
    def body(comm):
        if comm.rank == 0:
            raise ZeroDivisionError("by nothing")
        comm.barrier()

    first, *others = ranks(3, body)
    assert isinstance(first, ZeroDivisionError)
    for error in others:
        assert isinstance(error, PeerLost)
        assert "ZeroDivisionError: by nothing" in str(error)


@pytest.mark.parametrize("crossing", [False, True])
def test_abort_in_the_middle_of_a_payload(contexts, crossing):
    """Rank 0 is cancelled while its payload fills the socket; rank 1 reads only after that."""
    alarm, failed = Alarm(), threading.Event()
    part = np.zeros(64 << 20, np.uint8)

    def body(comm):
        if comm.rank == 1:
            failed.wait()
            comm.exchange([part if crossing else None, None])
        alarm.arm(5)
        try:
            comm.exchange([None, part])
        finally:
            failed.set()

    first, second = ranks(2, body, contexts, cancels=[Cancel(alarm, "the client gave up"), Cancel()])
    for error in (first, second):
        assert isinstance(error, PeerLost)
        assert "the client gave up" in str(error)


def test_abort_reaches_a_peer_that_is_in_the_middle_of_receiving():
    """Rank 0 sends to rank 1, which reads all the while, and is cancelled on the way."""
    alarm = Alarm()
    part = np.zeros(256 << 20, np.uint8)

    def body(comm):
        if comm.rank == 0:
            alarm.arm(20)
        comm.exchange([None, part if comm.rank == 0 else None])

    for error in ranks(2, body, cancels=[Cancel(alarm, "the client gave up"), Cancel()]):
        assert isinstance(error, PeerLost)
        assert "the client gave up" in str(error)


def test_cancel_ends_the_wait_for_a_peer():
    alarm, done = Alarm(), threading.Event()

    def body(comm):
        if comm.rank == 1:
            done.wait()
            return
        alarm.arm(5)
        try:
            comm.barrier()
        finally:
            done.set()

    error, _ = ranks(2, body, cancels=[Cancel(alarm, "worker 3 has died"), Cancel()])
    assert isinstance(error, PeerLost)
    assert str(error) == "worker 3 has died"


def test_check_raises_what_a_peer_reports_and_not_what_it_sends(contexts):
    """Rank 1 is ahead by a message, then fails, while rank 0 computes."""
    ahead, go = threading.Event(), threading.Event()

    def body(comm):
        comm.barrier()
        if comm.rank == 1:
            try:
                comm.exchange([np.ones(5, np.uint8), None])
            finally:
                ahead.set()
            go.wait()
            raise VerificationError("vertex 8 has no parent")
        for _ in range(100):
            comm.check()
        assert comm.exchange([None, None]).payloads[1].tolist() == [1] * 5
        ahead.wait()
        comm.check()
        go.set()
        while True:
            comm.check()

    for error in ranks(2, body, contexts):
        assert isinstance(error, VerificationError)
        assert "vertex 8 has no parent" in str(error)


def test_check_raises_when_cancelled():
    cancel = Cancel()

    def body(comm):
        comm.check()
        if comm.rank == 0:
            cancel.set("the client gave up")
        comm.check()

    first, second = ranks(2, body, cancels=[cancel, Cancel()])
    assert isinstance(first, PeerLost)
    assert str(first) == "the client gave up"
    assert second is None or isinstance(second, PeerLost)


def test_silent_peer_is_lost_after_the_timeout_and_so_is_every_later_exchange():
    done = threading.Event()

    def body(comm):
        if comm.rank == 1:
            done.wait()
            return None
        comm._timeout = 0.2  # from now on: to find each other the ranks may need more
        try:
            for _ in range(2):
                with pytest.raises(PeerLost, match=r"waited 0\.2 s for ranks \[1\] in exchange 0"):
                    comm.barrier()
        finally:
            done.set()
        return True

    assert ranks(2, body) == [True, None]


def test_peer_that_has_closed_is_lost_and_a_closed_communicator_refuses():
    def body(comm):
        comm.barrier()
        if comm.rank == 1:
            comm.close()
        comm.barrier()

    first, second = ranks(2, body)
    assert isinstance(first, PeerLost)
    assert "has closed its communicator before exchange 1" in str(first)
    assert isinstance(second, CommunicationError)
    assert "is closed" in str(second)


def test_unequal_numbers_of_control_integers_are_refused():
    for error in ranks(2, lambda comm: comm.exchange([None, None], control=np.zeros(comm.rank, np.int64))):
        assert isinstance(error, CommunicationError)
        assert "control integers" in str(error)


def test_payload_that_is_no_byte_array_is_refused():
    with TcpPlane("127.0.0.1") as plane, join(plane, 0, [plane.address]) as comm:
        for wrong in (np.zeros(3, np.int32), np.zeros((2, 2), np.uint8), np.zeros(8, np.uint8)[::2]):
            with pytest.raises(InputError, match="uint8"):
                comm.exchange([wrong])


def test_message_of_another_exchange_is_stale():
    def body(comm):
        comm._number = comm.rank
        comm.barrier()

    assert all(isinstance(error, StaleMessage) for error in ranks(2, body))


@pytest.mark.gpu
@pytest.mark.skipif(cuda_device_count() == 0, reason="no CUDA device")
@pytest.mark.parametrize("size", [2, 3])
def test_device_arrays_travel_through_host_memory(size):
    backend = get_backend("cuda")

    def body(comm):
        with backend.activate():
            for length in (0, 1, 3 << 20, 5):
                sends = [backend.from_host(np.full(length + q, comm.rank, np.uint8)) for q in range(size)]
                got = comm.exchange(sends).payloads
                for q, part in enumerate(got):
                    assert isinstance(part, backend.xp.ndarray)
                    np.testing.assert_array_equal(backend.to_host(part), np.full(length + comm.rank, q, np.uint8))
        return True

    assert ranks(size, body, backend=backend) == [True] * size
