"""Memory in tests: how much of it is free, and what tests that trace it have to know of the rest of the process."""

from __future__ import annotations

import gc
import os
import resource
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from device_arrays import DeviceArray

from graphdask.device.backend import Backend, get_backend

OTHERS = 1 << 20
"""Bytes that other threads may take while a test traces memory: those of the clusters that tests share, for one."""


@contextmanager
def free(size: int | Callable[[], int], of: str | Backend = "cpu") -> Iterator[None]:
    """Let a backend, or that of a name, say that so many bytes are free, or what a function returns, in the block."""
    kind = type(get_backend(of) if isinstance(of, str) else of)
    with pytest.MonkeyPatch.context() as patch:
        # How much is free differs from machine to machine, and from moment to moment.
        patch.setattr(kind, "free_memory", lambda backend, enough=None: size() if callable(size) else size)
        yield


class DevicePeak:
    """Most bytes that device arrays take at the same time while the context is open, those of before not counted.

    Only arrays that a backend of the emulator has made; what NumPy takes within a function is not on the device.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.bytes = self._taken = 0
        self._lock, self._monkeypatch = threading.RLock(), monkeypatch

    def __enter__(self) -> DevicePeak:
        init = DeviceArray.__init__
        self._known = {id(_owner(made.memory)) for made in gc.get_objects() if type(made) is DeviceArray}

        def counted(array: DeviceArray, memory: np.ndarray) -> None:
            init(array, memory)
            memory = _owner(memory)
            with self._lock:
                if id(memory) not in self._known:
                    self._known.add(id(memory))
                    self._taken += memory.nbytes
                    self.bytes = max(self.bytes, self._taken)
                    weakref.finalize(memory, self._gone, id(memory), memory.nbytes)

        self._context = self._monkeypatch.context()
        self._context.__enter__().setattr(DeviceArray, "__init__", counted)
        return self

    def leave_out(self, arrays: list[np.ndarray]) -> None:
        """Count nothing of what is in these arrays of the host."""
        self._known.update(id(_owner(array)) for array in arrays)

    def _gone(self, number: int, nbytes: int) -> None:
        with self._lock:
            self._known.discard(number)
            self._taken -= nbytes

    def __exit__(self, *error: object) -> None:
        self._context.__exit__(*error)


def _owner(memory: np.ndarray) -> np.ndarray:
    while isinstance(memory.base, np.ndarray):
        memory = memory.base
    return memory


def uncounted() -> int:
    """Bytes of a process that Linux may not have counted yet: each core keeps some pages to itself.

    See `percpu_counter_batch` in lib/percpu_counter.c of Linux: 32 pages, or two for each core if that is more.
    """
    cores = os.cpu_count() or 1
    return cores * max(32, 2 * cores) * resource.getpagesize()
