"""Which way payloads take where NCCL moves them: the ranks are threads with emulated GPUs, and NCCL is a stand-in."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from nccl_stand_in import StandInPlane, World
from ranks import block, device_ring, fail_on_device, many_blocks, traffic

from graphdask.comm.nccl import NcclCommunicator
from graphdask.comm.threads import run_threads
from graphdask.comm.tuning import COMM
from graphdask.errors import InputError, PeerLost

RIDING = 4096
MIXED = [[-1, 0, 8, 70_000], [1 << 20, -1, 3, 4000], [17, 8 << 20, 5, 0], [1, 2, 1 << 20, -1]]


@pytest.fixture(autouse=True)
def device(monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    tuned(COMM, riding=RIDING)


def on_nccl(size, body, *arguments, world=None, timeout=30.0):
    world = World() if world is None else world

    def work(control, rank):
        with StandInPlane(emulated(), world) as plane, NcclCommunicator(control, plane, timeout=timeout) as nccl:
            return body(nccl, *arguments)

    return run_threads(size, work, [emulated()] * size, timeout, 120.0)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_payloads_of_any_length_arrive_as_sent(size):
    on_nccl(size, many_blocks, MIXED, "cuda")


@pytest.mark.parametrize(("size", "riding"), [(2, RIDING), (3, RIDING), (2, 0), (3, 10_000)])
def test_payloads_of_any_length_in_turn_stay_until_the_next_exchange(size, riding, tuned):
    tuned(COMM, riding=riding)
    on_nccl(size, traffic, 7, 60, "cuda")


def test_a_device_buffer_may_be_refilled_after_each_exchange():
    on_nccl(2, device_ring, 50)


@pytest.mark.parametrize("nbytes", [1, RIDING, RIDING + 1, 1 << 20])
def test_short_payloads_ride_with_the_header(nbytes):
    world = World()

    def body(communicator):
        backend, peer = emulated(), 1 - communicator.rank
        sends = [None, None]
        sends[peer] = backend.from_host(np.full(nbytes, communicator.rank + 1, np.uint8))
        before = communicator.bytes_sent
        arrived = communicator.exchange(sends).payloads[peer]
        assert communicator.bytes_sent - before == nbytes
        assert backend.to_host(arrived).tolist() == [peer + 1] * nbytes

    on_nccl(2, body, world=world)
    moved = [nbytes for _, _, nbytes in world.moved if nbytes > 1]  # a byte connects each pair
    assert moved == ([nbytes] * 2 if nbytes > RIDING else [])


def steady(communicator, lengths, begins):
    """Exchange payloads of lengths[exchange][sender] bytes; rank r calls `begin` before where begins[r]."""
    backend, rank, size = emulated(), communicator.rank, communicator.size
    for number, of_ranks in enumerate(lengths):
        sends = [None] * size
        for peer in range(size):
            if peer != rank and of_ranks[rank] >= 0:
                sends[peer] = backend.from_host(block(number, rank, peer, of_ranks[rank]))
        if begins[rank]:
            communicator.begin(sends)
            communicator.begin(sends)  # once more does nothing
        arrived = communicator.exchange(sends, control=np.array([number], np.int64))
        assert arrived.control.tolist() == [[number]] * size
        for peer in range(size):
            if peer == rank:
                continue
            if of_ranks[peer] < 0:
                assert arrived.payloads[peer] is None
            else:
                found = backend.to_host(arrived.payloads[peer])
                np.testing.assert_array_equal(found, block(number, peer, rank, of_ranks[peer]))


@pytest.mark.parametrize("begins", [(True, True, True), (False, False, False), (True, False, True)])
def test_what_is_expected_begins_before_lengths_are_known(begins):
    """Rank 0 keeps its length, the others change it, to more, fewer, few, no bytes and none."""
    world, long = World(), 100_000
    others = [long, long, long, 2 * long, 2 * long, 50_000, 50_000, 50_000, 100, 0, -1, -1, long]
    lengths = [(long, other, 7000 if number < 6 else -1) for number, other in enumerate(others)]
    on_nccl(3, steady, lengths, begins, world=world)
    of_first = [nbytes for sender, _, nbytes in world.moved if sender == 0 and nbytes > 1]
    assert of_first == [long] * 2 * len(others)  # it was always right, so nothing went twice
    of_second = [nbytes for sender, receiver, nbytes in world.moved if (sender, receiver) == (1, 0) and nbytes > 1]
    expected = [long, long, long, long, 2 * long, 2 * long, 2 * long, 50_000, 50_000, 50_000, 50_000, long]
    assert of_second == expected


def test_a_peer_that_is_lost_after_it_began_ends_the_exchange():
    def body(communicator):
        sends = [None, None]
        sends[1 - communicator.rank] = emulated().xp.zeros(1 << 20, np.uint8)
        for number in range(5):
            if number == 3 and communicator.rank == 1:
                communicator.begin(sends)
                raise ZeroDivisionError("no such number")
            communicator.exchange(sends)

    with pytest.raises(ZeroDivisionError, match="no such number"):
        on_nccl(2, body)


@pytest.mark.parametrize("nbytes", [100, 10 * RIDING])
def test_payloads_may_be_arrays_of_the_host(nbytes):
    def body(communicator):
        backend, peer = emulated(), 1 - communicator.rank
        sends = [None, None]
        sends[peer] = np.full(nbytes, communicator.rank, np.uint8)
        assert communicator.takes_host_memory
        assert backend.to_host(communicator.exchange(sends).payloads[peer]).tolist() == [peer] * nbytes

    on_nccl(2, body)


def test_an_abort_ends_the_exchange_on_every_rank():
    with pytest.raises(InputError, match="source 7 is outside the graph"):
        on_nccl(3, fail_on_device, 1)


def test_a_rank_that_is_absent_ends_the_exchange_by_its_deadline():
    def body(communicator):
        communicator.exchange([emulated().xp.zeros(1 << 20, np.uint8)] * 2)
        if communicator.rank == 0:
            communicator.exchange([None] * 2)

    with pytest.raises(PeerLost):
        on_nccl(2, body, timeout=1.0)
