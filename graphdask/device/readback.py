"""Readback: copy a few words from a device to the host without waiting for kernels that were launched later."""

from __future__ import annotations

import ctypes

import numpy as np

from graphdask.device.backend import Array, Backend, CudaBackend


def readback_of(backend: Backend, length: int, count: int) -> Readback:
    """Return a Readback for the device of a backend: up to `count` reads in flight, each of `length` words."""
    return CudaReadback(backend, length, count) if isinstance(backend, CudaBackend) else Readback()


class Readback:
    """Words of the device in the state in which they are when `send` is called, by the number that it returns."""

    def __init__(self) -> None:
        self._sent: dict[int, np.ndarray] = {}
        self._count = 0

    def send(self, words: Array) -> int:
        """Copy the words after the kernels launched so far; return a number for `read`."""
        self._count += 1
        self._sent[self._count] = words.get() if hasattr(words, "get") else words.copy()
        return self._count

    def read(self, number: int) -> np.ndarray:
        """Wait for the words of a `send` and return them. They are lost after `count` further calls of `send`."""
        return self._sent.pop(number)


class CudaReadback(Readback):
    """Readback through page-locked memory, in the order of the stream."""

    def __init__(self, backend: Backend, length: int, count: int):
        super().__init__()
        self._cuda = backend.xp.cuda
        words = np.frombuffer(self._cuda.alloc_pinned_memory(8 * length * count), np.uint64, length * count)
        self._buffers = words.reshape(count, length)
        self._events = [self._cuda.Event(block=False, disable_timing=True) for _ in range(count)]

    def send(self, words: Array) -> int:
        number = self._count
        self._count += 1
        stream, buffer = self._cuda.get_current_stream(), self._buffers[number % len(self._buffers)]
        words.data.copy_to_host_async(buffer.ctypes.data_as(ctypes.c_void_p), words.nbytes, stream)
        self._events[number % len(self._buffers)].record(stream)
        return number

    def read(self, number: int) -> np.ndarray:
        self._events[number % len(self._buffers)].synchronize()
        return self._buffers[number % len(self._buffers)].copy()
