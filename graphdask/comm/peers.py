"""Peers: ranks whose kernels write into each other's memory and synchronize there, without their hosts
(kernels/common/team.cuh).

Each rank has a board, which its peers write to when they synchronize, and memory for what they send to it. If GPUs of
one host exchange through shared memory, board and memory are mapped into all processes, and each rank launches its own
kernel. Ranks that are threads of one process and share a device are launched together.

Source: the model of one-sided communication of OpenSHMEM and NVSHMEM. A synchronization is their barrier with a sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.comm.protocol import Communicator, Launch, Peers
from graphdask.device.backend import Array, Backend
from graphdask.errors import PeerLost
from graphdask.kernels.common.team import (
    ABORT,
    BOARD,
    BOARDS,
    LIMIT,
    LOCAL,
    MEETING,
    RANK,
    SIZE,
    TEAM_LOCAL,
    TEAM_RANKS,
    TEAM_WORDS,
)

MOST_RANKS = TEAM_RANKS
BOARD_BYTES = 8 * 2 * TEAM_RANKS * TEAM_WORDS


class RankPeers(Peers):
    """What all kinds of peers do.

    Parameters
    ----------
    comm : Communicator
        Of the same ranks.
    backend : Backend
    timeout : float
        Seconds that a rank waits for the others in a meeting.
    """

    def __init__(self, comm: Communicator, backend: Backend, timeout: float):
        self.comm, self.backend, self.timeout = comm, backend, timeout
        self.meeting = 0
        """Number of the last meeting, the same on all ranks."""

    def _described(self, row: np.ndarray, boards: list[int], abort: int) -> Array:
        """The row, filled in and on the device, and behind it the words of the rank's own, for two kernels."""
        words = np.concatenate([row, np.zeros(2 * TEAM_LOCAL, np.int64)])
        described = self.backend.xp.empty(len(words), np.int64)
        row, words[len(row) + MEETING] = words[: len(row)], self.meeting
        row[RANK], row[SIZE] = self.comm.rank, self.comm.size
        row[LOCAL], row[LIMIT] = self.backend.address(described) + row.nbytes, int(self.timeout * 1e9)
        row[ABORT], row[BOARD] = abort, boards[self.comm.rank]
        row[BOARDS : BOARDS + len(boards)] = boards
        described.set(words)
        return described

    def met(self, number: int) -> None:
        self.meeting = number

    def late(self) -> PeerLost:
        return PeerLost(f"a rank did not come to a meeting of kernels within {self.timeout} s, or its kernel failed")


class NoPeers(RankPeers):
    """A rank that is alone."""

    def __init__(self, comm: Communicator, backend: Backend):
        super().__init__(comm, backend, 0.0)
        self._board = backend.xp.zeros(BOARD_BYTES // 8, np.int64)

    def memory(self, nbytes: int, announced: np.ndarray, regions: np.ndarray) -> tuple[list[int], np.ndarray]:
        return [0], announced[None, :]

    def takes(self, nbytes: int) -> int:
        return 0

    def run(self, row: np.ndarray, launch: Launch) -> None:
        launch(self._described(row, [self.backend.address(self._board)], 0)[None, : len(row)], 1)


class ThreadPeers(RankPeers):
    """Ranks that are threads of one process, on one device."""

    def __init__(self, comm: Communicator, backend: Backend, timeout: float):
        super().__init__(comm, backend, timeout)
        self._board = backend.xp.zeros(BOARD_BYTES // 8, np.int64)
        self._memory: Array = backend.xp.empty(0, np.uint8)
        backend.synchronize()
        self._boards = comm.allgather(np.array([backend.address(self._board)], np.int64))[:, 0].tolist()

    def memory(self, nbytes: int, announced: np.ndarray, regions: np.ndarray) -> tuple[list[int], np.ndarray]:
        if len(self._memory) < nbytes:
            self._memory = self.backend.xp.empty(nbytes, np.uint8)
        gathered = self.comm.allgather(
            np.concatenate([[self.backend.address(self._memory)], announced]).astype(np.int64)
        )
        return gathered[:, 0].tolist(), gathered[:, 1:]

    def takes(self, nbytes: int) -> int:
        return nbytes if len(self._memory) < nbytes else 0

    def run(self, row: np.ndarray, launch: Launch) -> None:
        described = self._described(row, self._boards, 0)
        self.backend.synchronize()  # the kernel runs on the stream of another thread
        rows = self.comm.allgather(self.backend.to_host(described)[: len(row)])
        if self.comm.rank == 0:
            launch(self.backend.from_host(rows), self.comm.size)
            self.backend.synchronize()
        self.comm.barrier()


def thread_peers(comm: Communicator, backend: Backend, timeout: float) -> Peers | None:
    """The peers of a rank that is a thread, where all share one device; else None. Every rank calls it."""
    device = getattr(backend, "device", -1) if backend.name == "cuda" else -1
    devices: Any = comm.allgather(np.array([device], np.int64))[:, 0]
    if comm.size > MOST_RANKS or device < 0 or len(set(devices.tolist())) > 1:
        return None
    return ThreadPeers(comm, backend, timeout)
