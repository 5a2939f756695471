"""What ranks of one host find in each other's memory, and what ends their waits."""

from __future__ import annotations

import os
import threading
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from ranks import die, exchange_blocks, needs_ucx, over_shm, run_shm_threads

from graphdask.bench.processes import UcxProcesses
from graphdask.comm.protocol import META, Cancel
from graphdask.comm.shm.board import BULK, CONTROLS, NOTHING, Board, SharedMemory, host_identity, mapped, words_of
from graphdask.comm.shm.communicator import ShmCommunicator, ShmPlane
from graphdask.comm.shm.memory import SMALLEST, Outbox, Window, driver_memory
from graphdask.comm.threads import run_threads
from graphdask.comm.tuning import COMM
from graphdask.device.backend import get_backend
from graphdask.errors import CommunicationError, OverBudget, PeerLost, Unsupported

CPU = get_backend("cpu")


def test_what_is_written_on_a_board_is_read_from_its_map():
    memory = SharedMemory(8 * words_of(3))
    mine, seen = Board(memory.bytes, 3), Board(mapped(os.getpid(), memory.fd, 8 * words_of(3)), 3)
    meta = np.arange(3 * META).reshape(3, META).tolist()
    handle = np.arange(8) - 4
    for number in range(4):
        assert seen.flag(number) < number + 1
        mine.write(number, np.array([7, number]), [(5, 256), (NOTHING, NOTHING), (9, BULK)], meta, (2, 1 << 40, handle))
        assert seen.flag(number) == number + 1
        assert [seen.read(number, rank) for rank in range(3)] == [
            ([2, 1, 2, *entry], [7, number])
            for entry in ((5, 256, *meta[0]), (NOTHING, NOTHING, *meta[1]), (9, BULK, *meta[2]))
        ]
        assert seen.memory(number)[:2] == (2, 1 << 40)
        assert seen.memory(number)[2].tolist() == handle.tolist()
    mine.write(4, np.zeros(CONTROLS + 1, np.int64), [(NOTHING, NOTHING)] * 3, meta, (2, 1 << 40, handle))
    assert seen.read(4, 0)[0][:2] == [CONTROLS + 1, 1]
    memory.close()


def test_a_map_for_reading_refuses_writes():
    memory = SharedMemory(64)
    with pytest.raises(ValueError, match="read-only"):
        mapped(os.getpid(), memory.fd, 64)[0] = 1
    memory.close()


def test_an_outbox_takes_parts_where_they_lie_and_copies_others():
    outbox, window = Outbox(CPU), Window(CPU, 1, os.getpid())
    taken = outbox.take(1000)[:1000]
    taken[:] = 3
    other = np.full(500, 4, np.uint8)
    places = outbox.place([taken[100:200], other, other])
    window.follow(*outbox.memory)
    assert places[0] == 100
    assert places[1] == places[2]
    assert window.bytes[100:200].tolist() == [3] * 100
    assert window.bytes[places[1] : places[1] + 500].tolist() == [4] * 500
    large = np.full(SMALLEST, 5, np.uint8)
    places = outbox.place([taken, large])  # both move to longer memory
    assert outbox.memory[0] == 2
    window.follow(*outbox.memory)
    assert window.bytes[places[0] : places[0] + 1000].tolist() == [3] * 1000
    assert (window.bytes[places[1] : places[1] + SMALLEST] == 5).all()
    outbox.close()


def test_what_an_outbox_replaces_is_given_back():
    outbox, held = Outbox(CPU), []
    for power in range(22, 27):
        assert outbox.takes(1 << power) == 1 << power
        outbox.take(1 << power)
        assert outbox.takes(1 << power) == 0
        outbox.clear()
        held.append(Path("/proc/self/maps").read_text().count("memfd:graphdask"))
    assert held == held[:1] * 5
    before = held[0]
    outbox.close()
    assert Path("/proc/self/maps").read_text().count("memfd:graphdask") == before - 1


@pytest.mark.parametrize("refusals", [0, 1, 2])
def test_memory_that_a_pool_holds_is_given_back_before_a_gpu_has_none(refusals):
    freed = []

    class Cupy:
        class cuda:
            class runtime:
                CUDARuntimeError = ArithmeticError

            class memory:
                @staticmethod
                def Memory(nbytes):
                    left.append(nbytes)
                    if len(left) <= refusals:
                        raise ArithmeticError("out of memory")
                    return nbytes

        @staticmethod
        def get_default_memory_pool():
            return type("Pool", (), {"free_all_blocks": lambda self: freed.append(len(left))})()

    left = []
    if refusals < 2:
        assert driver_memory(Cupy, 1 << 21) == 1 << 21
    else:
        with pytest.raises(OverBudget, match="no 2 MiB are left on the GPU for what a rank sends"):
            driver_memory(Cupy, 1 << 21)
    assert freed == ([1] if refusals else [])


@pytest.mark.parametrize("bulky", [1 << 10, 1 << 25])
def test_payloads_and_control_integers_that_no_board_holds_come_another_way(tuned, bulky):
    tuned(COMM, bulky=bulky)
    lengths = [[100, 5000, -1], [0, 200_000, 3], [-1, 700, 8 << 20]]

    def body(communicator):
        for seed in range(3):
            exchange_blocks(communicator, seed, lengths)
        many = np.arange(CONTROLS + 5) + communicator.rank
        assert communicator.allgather(many).tolist() == [(np.arange(CONTROLS + 5) + q).tolist() for q in range(3)]

    run_shm_threads(3, body)


def test_a_plane_stays_connected_between_runs_of_a_gang():
    seen = []

    def work(communicator, rank):
        with ShmPlane(CPU) as plane:
            for gang in (1, 1, 2):
                with ShmCommunicator(communicator, plane, gang) as shared:
                    shared.barrier()
                    assert shared.allreduce(np.array([rank])).tolist() == [1]
                    seen.append((gang, rank, plane.board.token))
            communicator.barrier()

    run_threads(2, work, deadline=120.0)
    tokens = {(gang, rank): {token for g, r, token in seen if (g, r) == (gang, rank)} for gang, rank, _ in seen}
    assert all(len(found) == 1 for found in tokens.values())
    assert tokens[1, 0] != tokens[2, 0]


@pytest.mark.parametrize(("buses", "own"), [("01", True), ("00", False)], ids=["two GPUs", "one GPU"])
def test_ranks_that_share_a_gpu_are_distinguished_from_those_with_one_each(buses, own):
    planes = [ShmPlane(CPU) for _ in buses]
    for plane, bus in zip(planes, buses, strict=True):
        device = SimpleNamespace(pci_bus_id=f"0000:{bus}3:00.0")
        cuda = SimpleNamespace(Device=lambda _, device=device: device)
        plane.backend = SimpleNamespace(name="cuda", device=0, xp=SimpleNamespace(cuda=cuda))
    reported = np.array([plane.announce(2) for plane in planes])
    for rank, plane in enumerate(planes):
        assert "GPUs share memory between processes" in plane.connect(rank, reported)
        assert plane.own_devices == own
        plane.close()


def test_a_rank_that_leaves_early_is_lost_at_once():
    def body(communicator):
        for _ in range(2 if communicator.rank == 0 else 3):
            communicator.barrier()

    with pytest.raises(PeerLost, match="rank 0 left after 2 exchanges, this rank is at exchange 2"):
        run_shm_threads(2, body, timeout=60.0)


def test_a_rank_that_does_not_come_is_named_at_the_timeout():
    over = threading.Event()

    def body(communicator):
        communicator.barrier()
        if communicator.rank == 1:
            over.wait(120.0)
        else:
            try:
                communicator.barrier()
            finally:
                over.set()

    with pytest.raises(PeerLost, match=r"timeout of 0.3 s; missing ranks: 1"):
        run_shm_threads(2, body, timeout=0.3)


def test_cancel_ends_a_wait():
    cancel = Cancel()

    def body(communicator):
        communicator.barrier()
        if communicator.rank == 1:
            cancel.set("the client went away")
            cancel.check()
        communicator.barrier()

    with pytest.raises(PeerLost, match="the client went away"):
        run_shm_threads(2, body, cancel=cancel)


def test_ranks_on_two_hosts_are_refused_on_all(monkeypatch):
    def work(communicator, rank):
        with ShmPlane(CPU) as plane:
            with pytest.raises(Unsupported, match="more than one host"):
                ShmCommunicator(communicator, plane)
            assert communicator.allreduce(np.array([1])).tolist() == [2]  # as good as before

    users = count()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: next(users))  # ranks of different users have no files in common either
        run_threads(2, work, deadline=120.0)
    assert host_identity() == host_identity() != ""


def test_a_failed_exchange_ends_the_use_of_the_plane():
    def body(communicator):
        with pytest.raises(CommunicationError, match="control integers"):
            communicator.exchange([None, None], None, np.zeros(communicator.rank, np.int64))
        with pytest.raises(CommunicationError, match="has failed or is closed"):
            communicator.barrier()

    run_shm_threads(2, body)


@pytest.mark.chaos
@pytest.mark.parametrize(("nbytes", "at"), [(8, 0), (100_000, 500), (64 << 20, 2)])
def test_a_killed_peer_is_lost_long_before_the_timeout(nbytes, at):
    needs_ucx()
    with UcxProcesses(3) as processes:
        ranks = processes.start(over_shm, die, 1, nbytes, at, timeout=200.0)
        answers = processes.results([rank for rank in ranks if rank != 1], deadline=100.0)
    for _, error in answers:
        assert isinstance(error, PeerLost), error
        assert "rank 1 is gone" in str(error)
