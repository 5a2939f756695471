"""Board: where a rank writes what it says in an exchange, in memory that the other ranks of its host map.

A board has two slots, for exchanges of even and odd number. A rank writes a slot and then its flag, the exchange's
number plus one; a peer that sees the flag reads the rest. The slot of exchange e is written again for e + 2, and no
rank gets there before all have finished e + 1, which they begin when they are done with what e brought.

The memory is anonymous (memfd) and opened through /proc: it takes no name, no place in /dev/shm, and ends with the last
process that maps it, however that dies.
"""

from __future__ import annotations

import mmap
import os
import platform
import struct
import threading
from collections.abc import Sequence

import numpy as np

from graphdask.comm.protocol import META

CONTROLS = 512
"""Control integers that a slot can hold."""
ENTRY_WORDS = 2 + META
ENTRY = struct.Struct(f"={ENTRY_WORDS}q")
"""For each receiver: payload bytes, where it begins, the META integers."""
NOTHING, BULK = -1, -2
"""Instead of a payload's place: there is none; it comes by the control communicator."""
HANDLE = 8
"""Words of a CUDA inter-process handle; of host memory the first is a file descriptor."""

_TOKEN, _LEFT, _FIRST = 0, 8, 16
"""Words of the head: the token; the exchanges after which the rank left, plus one; the first slot."""
_FLAG, _COUNT, _BULK, _GENERATION, _CAPACITY, _HANDLE = 0, 8, 9, 10, 11, 12
"""Words of a slot."""
_CONTROL = _HANDLE + HANDLE
_ENTRIES = _CONTROL + CONTROLS
_IN_ORDER = platform.machine() in ("x86_64", "AMD64")
"""Whether the processor lets no write pass a write, and no read a read."""


class SharedMemory:
    """Anonymous memory that other processes of this host can map while this one lives.

    Parameters
    ----------
    nbytes : int
    """

    def __init__(self, nbytes: int):
        self.fd = os.memfd_create("graphdask", os.MFD_CLOEXEC)
        try:
            os.fchmod(self.fd, 0o600)  # Linux makes it open to all, but for /proc, which asks whose process it is
            os.ftruncate(self.fd, nbytes)
            self._map = mmap.mmap(self.fd, nbytes)
        except BaseException:
            os.close(self.fd)
            raise
        self.bytes = np.frombuffer(self._map, np.uint8)

    def close(self) -> None:
        """Give up the descriptor; the memory goes with its last view."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def mapped(pid: int, fd: int, nbytes: int, writable: bool = False) -> np.ndarray:
    """Map the memory that another process (or this one) shares; uint8, shape (nbytes,).

    Raises
    ------
    OSError
        When that process is gone, or not to be seen from here.
    """
    access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
    with open(f"/proc/{pid}/fd/{fd}", "r+b" if writable else "rb") as file:
        return np.frombuffer(mmap.mmap(file.fileno(), nbytes, access=access), np.uint8)


def host_identity() -> str:
    """Return an id of the host, or of the container if it is isolated from others; "" if /proc is missing."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as boot:
            spaces = [os.stat(f"/proc/self/ns/{space}").st_ino for space in ("pid", "net", "user")]
            return "-".join([boot.read().strip(), *map(str, spaces), str(os.getuid())])
    except OSError:
        return ""


def words_of(size: int) -> int:
    """Words of a board among `size` ranks."""
    return _FIRST + 2 * _slot_words(size)


def _slot_words(size: int) -> int:
    return -(-(_ENTRIES + ENTRY.size // 8 * size) // 8) * 8


class Board:
    """A board, one's own or a peer's.

    Parameters
    ----------
    memory : uint8 array, shape (8 * words_of(size),)
    size : int
        Ranks.
    """

    def __init__(self, memory: np.ndarray, size: int):
        words = memory.view(np.int64)
        self._words = words.data  # a read through it takes a third of the time of one through NumPy
        self._bytes = memory.data
        span = _slot_words(size)
        self._slots = (_FIRST, _FIRST + span)
        self._controls = [words[slot + _CONTROL : slot + _ENTRIES] for slot in self._slots]
        self._written = [0, 0]
        """Generations of the payload memory that the slots refer to."""
        self._fence = threading.Lock()

    @property
    def token(self) -> int:
        """Random number by which a peer recognizes the board that was announced to it."""
        return self._words[_TOKEN]

    @token.setter
    def token(self, token: int) -> None:
        self._words[_TOKEN] = token

    @property
    def left(self) -> int:
        """0, or one more than the exchanges after which the rank left its run."""
        return self._words[_LEFT]

    @left.setter
    def left(self, exchanges: int) -> None:
        self._words[_LEFT] = exchanges

    def flag(self, number: int) -> int:
        """The flag of the slot of exchange `number`: `number` + 1 once it is written."""
        return self._words[self._slots[number & 1]]

    def fence(self) -> None:
        """Let no write or read pass: a release and an acquisition of a lock, where the processor reorders them."""
        if not _IN_ORDER:
            for _ in range(2):
                self._fence.acquire()
                self._fence.release()

    def write(
        self,
        number: int,
        control: np.ndarray,
        entries: Sequence[tuple[int, int]],
        meta: list[list[int]],
        memory: tuple[int, int, np.ndarray],
    ) -> None:
        """Write the slot of exchange `number` and raise its flag.

        Parameters
        ----------
        number : int
        control : int64 array, shape (c,)
            What does not fit is left out: it goes another way.
        entries : sequence of (int, int)
            By receiver, payload bytes and where the payload begins.
        meta : list of list of int
            By receiver, META integers.
        memory : (int, int, int64 array)
            Generation, capacity and handle of the memory that payloads lie in.
        """
        parity = number & 1
        slot, words, c = self._slots[parity], self._words, len(control)
        if self._written[parity] != memory[0]:
            self._written[parity], words[slot + _CAPACITY], _ = memory
            words[slot + _GENERATION] = memory[0]
            for k, word in enumerate(memory[2].tolist()):
                words[slot + _HANDLE + k] = word
        words[slot + _COUNT] = c
        if c <= CONTROLS:
            self._controls[parity][:c] = control
        at = 8 * (slot + _ENTRIES)
        bulk = c > CONTROLS
        for place, integers in zip(entries, meta, strict=True):
            ENTRY.pack_into(self._bytes, at, *place, *integers)
            at += ENTRY.size
            bulk = bulk or place[1] == BULK
        words[slot + _BULK] = bulk
        self.fence()
        words[slot + _FLAG] = number + 1

    def read(self, number: int, rank: int) -> tuple[list[int], list[int]]:
        """What the slot of an exchange says, once its flag is up.

        Returns
        -------
        list of int
            How many control integers, whether something comes another way for anybody, the generation of the memory,
            and of the payload for a rank its bytes, where it begins, and the META integers.
        list of int
            The control integers, where they fit.
        """
        slot, words = self._slots[number & 1], self._words
        head, at = words[slot + _COUNT : slot + _GENERATION + 1].tolist(), slot + _ENTRIES + ENTRY_WORDS * rank
        head += words[at : at + ENTRY_WORDS].tolist()
        return head, words[slot + _CONTROL : slot + _CONTROL + min(head[0], CONTROLS)].tolist()

    def memory(self, number: int) -> tuple[int, int, np.ndarray]:
        """Generation, capacity and handle of the memory that the payloads of an exchange lie in."""
        slot, words = self._slots[number & 1], self._words
        handle = np.array(words[slot + _HANDLE : slot + _CONTROL], np.int64)
        return words[slot + _GENERATION], words[slot + _CAPACITY], handle
