"""Small arrays between the host and a device by way of page-locked memory that each thread keeps: a copy through memory
that is new costs more than the copy."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from threading import local
from typing import Any

import numpy as np

READ = 8192
"""Bytes up to which an array is read so."""
SENT = 1 << 18
"""Bytes up to which arrays are sent so, one after the other as long as one of them is under way."""
ALIGNED = 64


class PageLocked(local):
    """The memory of one device, of the thread that asks.

    Parameters
    ----------
    cupy : module
    """

    def __init__(self, cupy: Any):
        self._xp, self._cuda = cupy, cupy.cuda
        self._for_reading: Any = None
        self._for_sending: Any = None
        self._sent: Any = None
        """An event after what was sent last."""
        self._stream, self._end = 0, 0
        """Where that was, and where its memory ends."""

    def _read(self) -> Any:
        if self._for_reading is None:
            self._for_reading = self._cuda.alloc_pinned_memory(READ)
        return self._for_reading

    def read(self, array: Any) -> np.ndarray:
        """A contiguous array of READ bytes at most, once the stream has got that far."""
        runtime, memory, stream = self._cuda.runtime, self._read(), self._cuda.get_current_stream()
        runtime.memcpyAsync(memory.ptr, array.data.ptr, array.nbytes, runtime.memcpyDeviceToHost, stream.ptr)
        stream.synchronize()
        return np.frombuffer(memory, array.dtype, array.size).reshape(array.shape).copy()

    def read_together(self, arrays: Sequence[Any]) -> list[np.ndarray]:
        """Contiguous 1-D arrays, once the stream has got that far: one wait for all of READ bytes at most together."""
        if sum([array.nbytes for array in arrays]) > READ:
            return [self._xp.asnumpy(array) for array in arrays]
        runtime, memory, stream = self._cuda.runtime, self._read(), self._cuda.get_current_stream()
        at = 0
        for array in arrays:
            runtime.memcpyAsync(memory.ptr + at, array.data.ptr, array.nbytes, runtime.memcpyDeviceToHost, stream.ptr)
            at += array.nbytes
        stream.synchronize()
        found, at = np.frombuffer(memory, np.uint8, at).copy(), 0
        read = []
        for array in arrays:
            read.append(found[at : at + array.nbytes].view(array.dtype))
            at += array.nbytes
        return read

    def read_words(self, addresses: Sequence[int]) -> list[int]:
        """The int32 at each of READ / 4 addresses at most, once the stream has got that far: one wait for all."""
        runtime, memory, stream = self._cuda.runtime, self._read(), self._cuda.get_current_stream()
        for k, address in enumerate(addresses):
            runtime.memcpyAsync(memory.ptr + 4 * k, address, 4, runtime.memcpyDeviceToHost, stream.ptr)
        stream.synchronize()
        return np.frombuffer(memory, np.int32, len(addresses)).tolist()

    def send(self, array: np.ndarray) -> Any:
        """A copy on the device; through other memory where the array is large, or what is under way leaves none."""
        if not array.size or array.nbytes > SENT or not array.flags.c_contiguous:
            return self._xp.asarray(array)
        if self._for_sending is None:
            self._for_sending = self._cuda.alloc_pinned_memory(SENT)
            self._sent = self._cuda.Event(block=False, disable_timing=True)
        runtime, memory, stream = self._cuda.runtime, self._for_sending, self._cuda.get_current_stream()
        if self._sent.done:
            self._end = 0
        elif self._end + array.nbytes > SENT or stream.ptr != self._stream:
            return self._xp.asarray(array)
        begin, self._stream = memory.ptr + self._end, stream.ptr
        self._end += -(-array.nbytes // ALIGNED) * ALIGNED
        found = self._xp.empty(array.shape, array.dtype)
        ctypes.memmove(begin, array.ctypes.data, array.nbytes)
        runtime.memcpyAsync(found.data.ptr, begin, array.nbytes, runtime.memcpyHostToDevice, stream.ptr)
        self._sent.record(stream)
        return found
