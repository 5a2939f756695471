"""Hosts carry what their kernels write over UCX, in compiled code. The kernels are threads of Python."""

from __future__ import annotations

import ctypes
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from ranks import needs_ucx, run_ucx_threads

from graphdask.errors import InputError, PeerLost
from graphdask.kernels.common import team as at

GROUP, ENDS = 32, 60.0
LENGTHS = [0, GROUP, at.TEAM_SHORT, at.TEAM_SHORT + GROUP, 1 << 20]
"""Bytes of a list: none, what goes with the words at its shortest and longest, and what is a message of its own."""


class Kernel:
    """A kernel that meets those of the other ranks, and the memory that its host keeps for it."""

    def __init__(self, rank: int, size: int):
        self.rank, self.size = rank, size
        self.out, self.board = (np.zeros((2 * at.TEAM_RANKS, at.TEAM_WORDS), np.int64) for _ in range(2))
        self.short = np.zeros((at.TEAM_RANKS, at.TEAM_SHORT), np.uint8)
        self.lists = np.zeros((size, max(LENGTHS)), np.uint8)
        self.arrives, self.outbox = np.zeros(1 << 17, np.uint8), np.zeros(8, np.uint8)
        self.longest = np.full((size, size), max(LENGTHS))
        self.ended = SimpleNamespace(done=False)
        self.words = np.zeros((2, size, 70), np.int64)
        """For all ranks."""
        self.row = np.zeros(at.OWN, np.int64)
        self.row[at.COMMON] = self.words[0, 0].nbytes
        for step in range(1, size):
            self.row[at.OUT + at.TEAM_RANKS + step] = self.lists[step].ctypes.data

    def address(self, which: int) -> int:
        return {0: self.board, 1: self.out, 3: self.short}[which].ctypes.data

    def common(self, nbytes: int) -> int:
        return self.words.ctypes.data

    def inboxes(self, nbytes: int) -> int:
        assert nbytes <= len(self.arrives)
        return self.arrives.ctypes.data

    def write(self, meeting: int) -> None:
        """Vote, and send each rank a list of bytes that say from whom, to whom and when."""
        nbytes, slot = LENGTHS[meeting % len(LENGTHS)], self.out[2 * self.rank + meeting % 2]
        short = nbytes <= at.TEAM_SHORT
        for step in range(1, self.size):
            (self.short if short else self.lists)[step, :nbytes] = expected(meeting, self.rank, step)
            slot[at.TEAM_TO + (self.rank + step) % self.size] = nbytes // GROUP * at.TEAM_GROUP
        slot[0] = 1000 * self.rank + meeting
        self.words[meeting % 2, self.rank] = slot[0] + np.arange(70)
        slot[at.TEAM_MESSAGE] = (at.SENT_LISTS + (1 << 8) + (short << 15) + (GROUP << 16)) if nbytes else 0
        slot[at.TEAM_FLAG] = meeting

    def run(self, meetings: int, found: list) -> None:
        ends = time.monotonic() + ENDS
        for meeting in range(1, meetings + 1):
            self.write(meeting)
            for step in range(1, self.size):
                q = (self.rank + step) % self.size
                slot = self.board[2 * q + meeting % 2]
                while slot[at.TEAM_FLAG] != meeting:
                    if time.monotonic() > ends or self.ended.done:
                        return
                    time.sleep(1e-4)
                nbytes, address = LENGTHS[meeting % len(LENGTHS)], int(slot[at.TEAM_AT])
                came = set(ctypes.string_at(address, nbytes)) if address else set()
                for_all = np.unique(self.words[meeting % 2, q] - np.arange(70)).tolist()
                found.append((meeting, q, int(slot[0]), came, for_all))
        self.ended.done = True


def expected(meeting: int, sender: int, step: int) -> int:
    return (sender + 5 * step + 11 * meeting) % 251


def carried(comm, meetings, before=lambda comm: None, most_bytes=None):
    """Carry the messages of a kernel; return what it found. With `most_bytes` buffers pass for having so many bytes."""
    from graphdask.comm.ucx.carrier import UcxCarrier
    from graphdask.comm.ucx.carrying import LONG_BYTES

    kernel, found = Kernel(comm.rank, comm.size), []
    for _ in range(2):  # the buffers for payloads grow
        comm.exchange([np.zeros(max(LENGTHS), np.uint8)] * comm.size)
    carrier = UcxCarrier(comm, SimpleNamespace(address=lambda array: array.ctypes.data), kernel, kernel.row.tolist())
    if most_bytes is not None:
        carrier.of_peers[:, LONG_BYTES] = most_bytes
    thread = threading.Thread(target=kernel.run, args=(meetings, found))
    thread.start()
    try:
        before(comm)
        carrier.serve(1)
    finally:
        kernel.ended.done = True
        thread.join()
    return found


@pytest.mark.parametrize("size", [2, 3])
def test_every_kernel_finds_what_the_others_have_written(size):
    needs_ucx()
    meetings = 4 * len(LENGTHS)
    for rank, found in enumerate(run_ucx_threads(size, carried, meetings)):
        assert len(found) == meetings * (size - 1)
        for meeting, q, vote, came, for_all in found:
            assert for_all == [vote] == [1000 * q + meeting]
            nbytes = LENGTHS[meeting % len(LENGTHS)]
            assert came == ({expected(meeting, q, (rank - q) % size)} if nbytes else set())


def test_the_error_of_a_host_ends_the_meetings_of_the_others():
    needs_ucx()

    def fails(comm):
        if comm.rank == 1:
            raise InputError("a graph without a name")

    with pytest.raises(InputError, match="a graph without a name"):
        run_ucx_threads(3, carried, 50, fails)


def test_a_message_that_is_longer_than_its_buffer_is_not_received():
    needs_ucx()
    with pytest.raises(PeerLost, match="a message failed"):
        run_ucx_threads(2, lambda comm: carried(comm, 4 * len(LENGTHS), most_bytes=max(LENGTHS) - 1))
    run_ucx_threads(2, lambda comm: carried(comm, 4 * len(LENGTHS), most_bytes=max(LENGTHS)))


def test_a_rank_whose_kernel_does_not_come_is_lost_at_the_timeout():
    needs_ucx()
    over = threading.Event()

    def body(comm):
        if comm.rank == 1:
            for _ in range(2):
                comm.exchange([np.zeros(max(LENGTHS), np.uint8)] * comm.size)
            over.wait(ENDS)
            return
        try:
            carried(comm, 10, lambda comm: setattr(comm, "timeout", 0.3))
        finally:
            over.set()

    with pytest.raises(PeerLost, match=r"timeout of 0.3 s"):
        run_ucx_threads(2, body)
