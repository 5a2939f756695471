"""UCX payloads arrive in receives posted before: any length, one direction, beyond the buffer, at the end of a run."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest
from ranks import needs_ucx, run_ucx_threads, traffic

from graphdask.comm.threads import run_threads
from graphdask.comm.ucx.communicator import UcxCommunicator, UcxPlane
from graphdask.comm.ucx.plane import FIRST_CAPACITY
from graphdask.errors import CommunicationError, PeerLost

NO_CONTROL = np.empty(0, np.int64)


@pytest.fixture
def planes():
    """Two planes of this process."""
    needs_ucx()
    with ExitStack() as stack:
        yield [stack.enter_context(UcxPlane()) for _ in range(2)]


def on(planes, body, run=0, timeout=60.0):
    """Run `body(communicator)` as threads on the planes."""
    addresses = [plane.address for plane in planes]

    def work(_, rank):
        with UcxCommunicator(planes[rank], rank, addresses, gang=3, run=run, timeout=timeout) as communicator:
            return body(communicator)

    return run_threads(len(planes), work, deadline=240.0)


def ends(planes):
    """Of each plane, the length of its buffer and what it takes its peer's to be."""
    links = [next(iter(plane._links.values())) for plane in planes]
    return [(len(link.buffer), link.peer_capacity) for link in links]


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("runner", ["ucx-threads", "ucx-processes"])
def test_payloads_of_any_length_in_turn_stay_until_the_next_exchange(runner, size, request):
    needs_ucx()
    run = run_ucx_threads if runner == "ucx-threads" else request.getfixturevalue("rank_processes")
    run(size, traffic, 71 + size, 500 if runner == "ucx-processes" or size == 2 else 150, timeout=60.0)


def test_a_buffer_grows_by_half_or_to_the_payload_and_both_ends_know(planes):
    assert FIRST_CAPACITY == 262_144
    expected = {0: 262_144, 100_000: 262_144, 262_144: 262_144, 262_145: 393_216, 5: 393_216, 2_000_000: 2_000_000}

    def send(nbytes):
        def body(communicator):
            for fill in range(3):
                got = communicator.exchange([np.full(nbytes, fill + 10 * communicator.rank, np.uint8)] * 2)
                assert np.array_equal(
                    got.payloads[1 - communicator.rank], [fill + 10 * (1 - communicator.rank)] * nbytes
                )

        return body

    for run, (nbytes, room) in enumerate(expected.items()):
        on(planes, send(nbytes), run)
        assert ends(planes) == [(room, room)] * 2
        assert not any(plane.spoiled for plane in planes)


def test_one_direction_grows_one_buffer(planes):
    def body(communicator):
        for number, nbytes in enumerate([20_000, 300_000, 300_001, 0, 700_000] * 10):
            sends = [None, np.full(nbytes, number, np.uint8)] if communicator.rank == 0 else [None, None]
            got = communicator.exchange(sends).payloads[1 - communicator.rank]
            if communicator.rank == 0:
                assert got is None
            else:
                assert np.array_equal(got, [number] * nbytes)

    on(planes, body)
    assert ends(planes) == [(262_144, 700_000), (700_000, 262_144)]
    assert not any(plane.spoiled for plane in planes)


def test_a_payload_of_an_older_run_is_not_taken_for_one_of_this(planes):
    """Rank 0's header and payload of run 0 lie at rank 1 when both begin run 1."""
    addresses = [plane.address for plane in planes]
    old = UcxCommunicator(planes[0], 0, addresses, gang=3, run=0, timeout=60.0)
    old._send(0, [None, np.full(5000, 99, np.uint8)], [[0] * 4] * 2, NO_CONTROL)
    old._send(1, [None, np.full(20_000, 99, np.uint8)], [[0] * 4] * 2, NO_CONTROL)
    old._peers[0].next = None

    def body(communicator):
        got = communicator.exchange([np.full(20_000, communicator.rank, np.uint8)] * 2).payloads
        return [np.unique(part).tolist() for part in got]

    assert on(planes, body, run=1) == [[[0], [1]]] * 2


def test_more_runs_than_a_tag_can_tell_apart(planes):
    addresses = [plane.address for plane in planes]

    def work(_, rank):
        for run in range(300):
            with UcxCommunicator(planes[rank], rank, addresses, gang=4, run=run, timeout=60.0) as communicator:
                nbytes = 20_000 * (run % 3)
                got = communicator.exchange([np.full(nbytes, run % 251, np.uint8) if run % 4 else None] * 2)
                part = got.payloads[1 - rank]
                assert (part is None) == (run % 4 == 0)
                assert part is None or np.array_equal(part, [run % 251] * nbytes)

    run_threads(2, work, deadline=240.0)
    assert not any(plane.spoiled for plane in planes)


def test_leaving_while_a_payload_is_under_way_spoils_the_plane(planes):
    def body(communicator):
        communicator.barrier()
        if communicator.rank == 1:
            communicator.exchange([np.zeros(100_000, np.uint8)] * 2)

    with pytest.raises(PeerLost, match="rank 0 left after 1 exchanges"):
        on(planes, body)
    assert [plane.spoiled for plane in planes] == [True, True]


def test_ends_that_disagree_on_a_buffer_are_an_error(planes):
    def body(communicator):
        if communicator.rank == 0:
            communicator._peers[0].link.peer_capacity = 10
        communicator.exchange([np.zeros(100_000, np.uint8)] * 2)

    with pytest.raises(CommunicationError, match="buffer of 262144 bytes for one of another length"):
        on(planes, body)
