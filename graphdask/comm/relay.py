"""RelayPeers: kernels of GPUs that share no memory go through supersteps together; their hosts carry the messages.

A kernel writes what it has for a peer into memory of its own GPU, and meets the others by words in page-locked memory
of its host. While the kernels wait in a meeting, the hosts exchange the votes and the messages, and then let their
kernels go on. So a meeting costs one exchange between hosts, and neither a launch nor the end of one. What arrives
stays where the communicator has received it, valid until the next meeting; the host writes its address into the board
of the kernel. Short messages never leave page-locked memory.

As long as a kernel runs, it holds the GPU: nothing may be launched, allocated or freed. Buffers for the longest
messages are therefore exchanged once before (`memory`), and copies run on a stream of their own.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import time
from typing import Any

import numpy as np

from graphdask.comm.arguments import settle
from graphdask.comm.peers import MOST_RANKS, RankPeers
from graphdask.comm.protocol import CHECK_SECONDS, Communicator, Launch, PeerMemory
from graphdask.device.backend import Array, Backend
from graphdask.kernels.common import team as at

ALIGNED = 256
LOOKS = 64
"""How often a host looks for a meeting before it asks whether the kernel has ended."""
SMALL = 64
"""Bytes of a message that goes with the headers."""


class _Pinned:
    """Page-locked memory that grows."""

    def __init__(self, cuda: Any):
        self._cuda, self._nbytes = cuda, 0
        self._memory: Any = None

    def take(self, nbytes: int) -> int:
        """The address of at least so many bytes."""
        if self._memory is None or self._nbytes < nbytes:
            self._memory, self._nbytes = self._cuda.alloc_pinned_memory(max(nbytes, 1)), nbytes
        return int(self._memory.ptr)


class RelayMemory(PeerMemory):
    """What a rank keeps for runs: its board, the board that its kernel writes for peers, and what it sends from.

    Parameters
    ----------
    backend : Backend
    """

    def __init__(self, backend: Backend):
        super().__init__()
        cuda = backend.xp.cuda
        self._inboxes, self._common = _Pinned(cuda), _Pinned(cuda)
        words, short = 2 * at.TEAM_RANKS * at.TEAM_WORDS, at.TEAM_RANKS * at.TEAM_SHORT
        self.pinned = cuda.alloc_pinned_memory(8 * (2 * words + 1) + short)
        self.words = np.frombuffer(self.pinned, np.int64, 2 * words + 1)
        self.words[:] = 0
        self.short = np.frombuffer(self.pinned, np.uint8, short, self.words.nbytes).reshape(-1, at.TEAM_SHORT)
        """By step, short messages that the kernel sends."""
        self.board, self.out = self.words[: 2 * words].reshape(2, -1, at.TEAM_WORDS)
        """What peers vote, and what the kernel votes for them: two slots for each sender, in turn."""
        self.stop = self.words[-1:].view(np.int32)
        self.outbox: Array = backend.xp.empty(0, np.uint8)
        """By peer, in rank order, longer ones."""
        self.longest: np.ndarray | None = None
        """By receiver and sender, how many bytes there are for that."""
        self.stream, self.kernel_stream = (cuda.Stream(non_blocking=True) for _ in range(2))
        self.ended = cuda.Event(disable_timing=True)

    def address(self, which: int) -> int:
        """Of the board (0), what the kernel writes (1), the word that ends all waiting (2), or short messages (3)."""
        return int(self.pinned.ptr) + (self.words.nbytes if which == 3 else which * self.board.nbytes)

    def inboxes(self, nbytes: int) -> int:
        """The address of page-locked memory for short messages that arrive."""
        return self._inboxes.take(nbytes)

    def common(self, nbytes: int) -> int:
        """The address of page-locked memory for words that ranks write for all; the same as long as it suffices."""
        return self._common.take(nbytes)

    def close(self) -> None:
        """Give up everything."""
        self.closed = True
        self.outbox = self.outbox[:0]


class RelayPeers(RankPeers):
    """This rank among those whose hosts carry the messages of kernels.

    Parameters
    ----------
    comm : Communicator
        Of the same ranks, each of which has a GPU of its own.
    backend : Backend
    timeout : float
    kept : RelayMemory
    carrier : type of Carrier
    """

    relayed = True

    def __init__(self, comm: Communicator, backend: Backend, timeout: float, kept: RelayMemory, carrier: type[Carrier]):
        super().__init__(comm, backend, timeout)
        self._carrier = carrier
        self.kept = self._memory = kept
        self.meeting = kept.meeting

    def met(self, number: int) -> None:
        super().met(number)
        self._memory.meeting = number

    def memory(self, nbytes: int, announced: np.ndarray, regions: np.ndarray) -> tuple[list[int], np.ndarray]:
        comm, kept, rank, size = self.comm, self._memory, self.comm.rank, self.comm.size
        mine = np.concatenate([[kept.meeting], regions.reshape(-1)])
        gathered = comm.allgather(np.concatenate([mine, announced]).astype(np.int64))
        self.met(int(gathered[:, 0].max()))
        all_regions = gathered[:, 1 : len(mine)].reshape(size, size, 2)
        kept.number += 1
        lengths, before = all_regions[:, :, 1], kept.longest
        longest = lengths if before is None else np.maximum(lengths, before)
        if before is None or (longest > before).any():  # all ranks alike
            kept.moved, kept.longest = kept.moved + 1, longest
            kept.outbox = kept.outbox[:0]
            kept.outbox = self.backend.xp.empty(int(longest[:, rank].sum()), np.uint8)
            self._warm_up(longest[:, rank].tolist())
        begins = self.backend.address(kept.outbox) + np.cumsum(longest[:, rank]) - longest[:, rank]
        return (begins - all_regions[:, rank, 0]).tolist(), gathered[:, len(mine) :]

    def _warm_up(self, lengths: list[int]) -> None:
        """Exchange the longest messages that there may be, for which buffers are made and mapped, and short ones."""
        outbox, begin, comm = self._memory.outbox, 0, self.comm
        longest: list[Array | None] = []
        for length in lengths:
            longest.append(outbox[begin : begin + length] if length else None)
            begin += length
        sent = comm.bytes_sent
        settle(self.backend)
        with self._memory.stream:
            for sends in (longest, longest, [part if part is None else part[:SMALL] for part in longest]):
                comm.exchange(sends)
            settle(self.backend)
        comm.bytes_sent = sent

    def common(self, nbytes: int, addresses: list[int]) -> list[int]:
        return [self._memory.common(2 * self.comm.size * nbytes)] * self.comm.size

    def takes(self, nbytes: int) -> int:
        # what is sent, and the communicator's buffers for what arrives; peers take about as much as this rank
        return max(0, 2 * (nbytes - len(self._memory.outbox)))

    def run(self, row: np.ndarray, launch: Launch) -> None:
        kept, backend, comm = self._memory, self.backend, self.comm
        kept.stop[0] = 0
        row[at.SHORT] = kept.address(3)
        boards = [kept.address(q != comm.rank) for q in range(comm.size)]
        described = self._described(row, boards, kept.address(2))
        carrier = self._carrier(comm, backend, kept, row.tolist())
        settle(backend)
        with kept.kernel_stream:
            launch(described[None, : len(row)], 1)
            kept.ended.record()
        comm.raises = False
        try:
            with backend.activate(), kept.stream:
                carrier.serve(self.meeting + 1)
        except BaseException:
            kept.stop[0] = 1
            kept.kernel_stream.synchronize()
            raise
        finally:
            comm.raises = True
        kept.kernel_stream.synchronize()


class Carrier:
    """Carries the messages of the kernel of a run, in one meeting after the other.

    Parameters
    ----------
    row : list of int
        What describes the rank to the kernel.
    """

    def __init__(self, comm: Communicator, backend: Backend, kept: RelayMemory, row: list[int]):
        self.comm, self.backend, self.kept, self.row = comm, backend, kept, row
        self.first = backend.address(kept.outbox)
        self.peers = [((comm.rank + step) % comm.size, step) for step in range(1, comm.size)]
        self.common = kept.common(2 * comm.size * row[at.COMMON])
        """The address of words for all ranks, of which each has row[COMMON] bytes."""
        held = ctypes.c_int64 * (2 * comm.size * row[at.COMMON] // 8)
        self.common_words = np.ctypeslib.as_array(held.from_address(self.common)).reshape(2, comm.size, -1)

    def serve(self, meeting: int) -> None:
        """Carry the messages of this meeting and the next ones, until the kernel ends."""
        kept, comm, looks, checked = self.kept, self.comm, 0, time.perf_counter()
        slots = [kept.out[2 * comm.rank + parity] for parity in range(2)]
        flags = [memoryview(slot)[at.TEAM_FLAG :] for slot in slots]
        while True:
            flag = flags[meeting % 2]
            if flag[0] == meeting:
                self.meet(slots[meeting % 2].copy(), meeting)
                meeting, looks = meeting + 1, 0
                continue
            looks += 1
            if looks % LOOKS:
                continue
            if kept.ended.done:
                if flag[0] == meeting:  # its last word
                    continue
                return
            now = time.perf_counter()
            if now - checked > CHECK_SECONDS:
                checked = now
                comm.check()
            os.sched_yield()

    def meet(self, words: np.ndarray, meeting: int) -> None:
        """Exchange messages and votes, and let the kernel go on."""
        comm, sent, parity = self.comm, self.comm.bytes_sent, meeting % 2
        common = self.common_words[parity]
        received = comm.exchange_settled(self.sends(words.tolist()), np.concatenate([words, common[comm.rank]]))
        comm.bytes_sent = sent  # the kernel counts them
        board, votes = self.kept.board, received.control[:, : at.TEAM_WORDS]
        common[:] = received.control[:, at.TEAM_WORDS :]
        for q, _ in self.peers:
            slot, payload, words = board[2 * q + parity], received.payloads[q], votes[q]
            words[at.TEAM_AT] = 0 if payload is None else address_of(self.backend, payload)
            slot[: at.TEAM_FLAG] = words[: at.TEAM_FLAG]
            slot[at.TEAM_FLAG] = meeting  # last: then the kernel goes on

    def sends(self, words: list[int]) -> list[Array | None]:
        """What goes to each rank, by the words that the kernel has written."""
        sends: list[Array | None] = [None] * self.comm.size
        coded, row, kept = words[at.TEAM_MESSAGE], self.row, self.kept
        kind, area, short, group = coded & 0xFF, coded >> 8 & 0x7F, coded >> 15 & 1, coded >> 16
        if not kind:
            return sends
        for q, step in self.peers:
            if kind == at.SENT_LISTS:
                nbytes = -(-words[at.TEAM_TO + q] // at.TEAM_GROUP) * group
            else:
                held = row[at.BOUNDS + step + 1] - row[at.BOUNDS + step]
                nbytes = 4 * (((row[at.HELD + step] if kind == at.SENT_BITS else held) + 31) // 32)
            if nbytes and (short or (kind != at.SENT_LISTS and nbytes <= at.TEAM_SHORT)):
                sends[q] = kept.short[step, :nbytes]
            elif nbytes:
                begin = row[at.OUT + area * at.TEAM_RANKS + step] - self.first
                sends[q] = kept.outbox[begin : begin + nbytes]
        return sends


def address_of(backend: Backend, payload: Array) -> int:
    """Where a kernel finds a payload, in memory of the GPU or page-locked memory of the host."""
    return int(payload.ctypes.data) if isinstance(payload, np.ndarray) else backend.address(payload)


def _device(backend: Backend) -> np.ndarray:
    """A number that two ranks have in common if they share a GPU."""
    found = backend.xp.cuda.runtime.getDeviceProperties(backend.device)["uuid"]  # type: ignore[attr-defined]
    return np.frombuffer(hashlib.sha256(bytes(found)).digest()[:8], np.int64)


def relay_peers(
    comm: Communicator, backend: Backend, timeout: float, plane: Any, key: Any, carrier: type[Carrier] = Carrier
) -> RelayPeers | None:
    """The peers of a rank whose host exchanges over `comm`; None, on all ranks, where two of them share a GPU.

    Parameters
    ----------
    plane : object
        Keeps the memory from run to run, as its attribute `relay`.
    key : object
        Equal as long as the ranks are the same; the same on all ranks.
    carrier : type of Carrier
        Carries the messages of a run.
    """
    if comm.size > MOST_RANKS or backend.name != "cuda":
        return None
    kept = plane.relay
    if kept is None or kept[0] != key:
        own = len(set(comm.allgather(_device(backend))[:, 0].tolist())) == comm.size
        with backend.activate():
            kept = plane.relay = key, RelayMemory(backend) if own else None
    return None if kept[1] is None else RelayPeers(comm, backend, timeout, kept[1], carrier)
