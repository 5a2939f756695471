"""ShmPeers: processes of a host, each with a GPU, whose kernels write into each other's memory through CUDA IPC."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from graphdask.comm.arguments import settle
from graphdask.comm.peers import BOARD_BYTES, RankPeers
from graphdask.comm.protocol import CHECK_SECONDS, Communicator, Launch, PeerMemory
from graphdask.comm.shm.memory import Outbox, Window
from graphdask.device.backend import Backend

if TYPE_CHECKING:
    from collections.abc import Sequence


class MappedMemory(PeerMemory):
    """What a rank keeps for its peers between runs, and what it has mapped of them: a board, and memory to write to.

    Parameters
    ----------
    backend : Backend
    pids : sequence of (int, int)
        Rank and process of each peer.
    """

    def __init__(self, backend: Backend, pids: Sequence[tuple[int, int]]):
        super().__init__()
        self.backend = backend
        self.boards: list[int] = []
        """By rank, as far as they are mapped here."""
        self.generations = np.zeros(0, np.int64)
        """Of all memory of all ranks."""
        self.ran = True
        """Whether kernels have met since peers were notified. Then all of them have mapped the new memory."""
        self.mine = Outbox(backend), Outbox(backend)
        self.theirs = [(q, (Window(backend, q, pid), Window(backend, q, pid))) for q, pid in pids]
        self.abort = backend.xp.cuda.alloc_pinned_memory(8)
        self.mine[0].take(BOARD_BYTES)[:] = 0
        settle(backend)

    def clear(self) -> None:
        """Free the memory that was replaced, once no peer maps it."""
        if self.ran:
            for outbox in self.mine:
                outbox.clear()

    def close(self) -> None:
        """Unmap and give up everything."""
        self.closed = True
        for _, windows in self.theirs:
            for window in windows:
                window.close()
        for outbox in self.mine:
            outbox.close()


class ShmPeers(RankPeers):
    """This rank among those of its host."""

    def __init__(self, comm: Communicator, backend: Backend, timeout: float, kept: MappedMemory):
        super().__init__(comm, backend, timeout)
        self.kept = self._kept = kept
        self.meeting = kept.meeting

    def met(self, number: int) -> None:
        super().met(number)
        self._kept.meeting = number

    def memory(self, nbytes: int, announced: np.ndarray, regions: np.ndarray) -> tuple[list[int], np.ndarray]:
        kept, comm = self._kept, self.comm
        memory = kept.mine[1]
        kept.clear()
        kept.ran = False
        memory.take(max(nbytes, 1))
        mine: list[Any] = [kept.meeting]
        for outbox in kept.mine:
            generation, capacity, handle = outbox.memory
            mine += [generation, capacity, *handle.tolist()]
        gathered = comm.allgather(np.concatenate([mine, announced]).astype(np.int64))
        self.met(int(gathered[:, 0].max()))
        words = (len(mine) - 1) // 2
        addresses = [[0, 0] for _ in range(comm.size)]
        for at, outbox in enumerate(kept.mine):
            addresses[comm.rank][at] = self.backend.address(outbox.bytes)
        for q, windows in kept.theirs:
            for at, window in enumerate(windows):
                at_peer = gathered[q, 1 + at * words : 1 + (at + 1) * words]
                if at_peer[0] != window.generation:
                    window.follow(int(at_peer[0]), int(at_peer[1]), at_peer[2:].copy())
                addresses[q][at] = self.backend.address(window.bytes)
        generations = gathered[:, 1 : len(mine) : words]
        kept.number, kept.moved = kept.number + 1, kept.moved + (not np.array_equal(generations, kept.generations))
        kept.generations, kept.boards = generations.copy(), [first for first, _ in addresses]
        return [second for _, second in addresses], gathered[:, len(mine) :]

    def takes(self, nbytes: int) -> int:
        return self._kept.mine[1].takes(max(nbytes, 1))

    def run(self, row: np.ndarray, launch: Launch) -> None:
        kept, cuda = self._kept, self.backend.xp.cuda
        kept.clear()
        stop = np.frombuffer(kept.abort, np.int32, 1)
        stop[0] = 0
        described = self._described(row, kept.boards, kept.abort.ptr)
        launch(described[None, : len(row)], 1)
        event = cuda.Event(disable_timing=True)
        event.record()
        looked = time.perf_counter()
        try:
            while not event.done:
                now = time.perf_counter()
                if now - looked > CHECK_SECONDS:
                    looked = now
                    self.comm.check()
                os.sched_yield()
            kept.ran = True
        except BaseException:
            stop[0] = 1
            settle(self.backend)
            raise
