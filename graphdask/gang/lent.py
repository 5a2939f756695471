"""Columns that workers of the caller's host lend it: shared memory that the caller maps, in place of a message.

A worker puts the values into anonymous memory and returns where it is; the caller maps that, which copies nothing, and
lets the worker close its end. A worker of another host returns the values.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from graphdask.comm.shm.board import SharedMemory, host_identity, mapped
from graphdask.device.arrays import Array
from graphdask.device.residency import fetched
from graphdask.engine.loop import RankResult
from graphdask.results.columns import PickColumn

LEAST = 1 << 20
"""Bytes from which on a column is lent."""
HEAD = 64
"""Bytes before the values, which begin with the number of the loan."""
KEPT = 120.0
"""Seconds after which a worker closes a loan that nobody has taken."""
_numbers = count(1)
_lent: dict[int, tuple[SharedMemory, threading.Timer]] = {}


@dataclass(frozen=True)
class Loan:
    """Where a column is."""

    number: int
    pid: int
    fd: int
    dtype: np.dtype
    shape: tuple[int, ...]

    def taken(self) -> np.ndarray:
        """Map the values, read-only.

        Raises
        ------
        OSError
            If the memory is not to be seen from here, or not there any more.
        """
        nbytes = int(np.prod(self.shape)) * self.dtype.itemsize
        memory = mapped(self.pid, self.fd, HEAD + nbytes)
        if memory[:8].view(np.int64)[0] != self.number:
            raise OSError(f"the loan {self.number} of process {self.pid} is closed")
        return memory[HEAD:].view(self.dtype).reshape(self.shape)


@dataclass(frozen=True)
class Lend:
    """Picks a column of a rank's result: as a loan if the caller is on the same host, else as `PickColumn`."""

    name: str
    host: str
    """That of the caller, as `host_identity` says."""

    def __call__(self, value: RankResult) -> np.ndarray | Loan:
        column = value.columns[self.name]
        if column.nbytes < LEAST or not self.host or host_identity() != self.host:
            return fetched(column)
        try:
            return _loan(column)
        except OSError:
            return fetched(column)


def _loan(column: Array) -> Loan:
    memory, number = SharedMemory(HEAD + column.nbytes), next(_numbers)
    memory.bytes[:8].view(np.int64)[0] = number
    fetched(column, out=memory.bytes[HEAD:].view(column.dtype).reshape(column.shape))
    timer = threading.Timer(KEPT, close, ([number],))
    timer.daemon = True
    _lent[number] = memory, timer
    timer.start()
    return Loan(number, os.getpid(), memory.fd, column.dtype, column.shape)


def close(numbers: list[int]) -> None:
    """Close loans on the worker; their memory goes with the last mapping of it."""
    for number in numbers:
        found = _lent.pop(number, None)
        if found is not None:
            memory, timer = found
            timer.cancel()  # its thread ends
            memory.close()


def lending(select: Any) -> Any:
    """What to ask workers for in place of `select`: a loan, if that is a column."""
    return Lend(select.name, host_identity()) if type(select) is PickColumn else select
