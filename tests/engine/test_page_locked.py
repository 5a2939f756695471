"""Small arrays go between host and device through memory that is kept, and never over what is still under way."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from graphdask.device.backend import get_backend
from graphdask.device.page_locked import READ, SENT, PageLocked


class Memory:
    """Of the host or the device alike."""

    def __init__(self, nbytes):
        self.block = ctypes.create_string_buffer(max(nbytes, 1))
        self.ptr = ctypes.addressof(self.block)


class Array:
    def __init__(self, shape, dtype):
        self.shape, self.dtype, self.size = shape, np.dtype(dtype), int(np.prod(shape))
        self.nbytes = self.size * self.dtype.itemsize
        self.data = Memory(self.nbytes)

    def host(self):
        return np.frombuffer(self.data.block, self.dtype, self.size).reshape(self.shape)


class Cupy:
    """Copies are done when the stream gets that far: `run`."""

    def __init__(self):
        self.waiting, self.taken, self.others = [], [], 0
        self.cuda = self.runtime = self
        self.memcpyHostToDevice, self.memcpyDeviceToHost, self.ptr = 1, 2, 5

    def empty(self, shape, dtype):
        return Array(shape, dtype)

    def asarray(self, array):
        self.others += 1
        found = Array(array.shape, array.dtype)
        found.host()[...] = array
        return found

    def alloc_pinned_memory(self, nbytes):
        self.taken.append(nbytes)
        return ctypes_memory(nbytes)

    def Event(self, **options):
        return Event(self)

    def get_current_stream(self):
        return self

    def memcpyAsync(self, to, source, nbytes, kind, stream):
        assert stream == self.ptr
        self.waiting.append(lambda: ctypes.memmove(to, source, nbytes))

    def synchronize(self):
        while self.waiting:
            self.waiting.pop(0)()


def ctypes_memory(nbytes):
    class Block(ctypes.Array):
        _type_, _length_ = ctypes.c_char, nbytes
        ptr = property(ctypes.addressof)

    return Block()


class Event:
    def __init__(self, stream):
        self.stream, self.done = stream, True

    def record(self, stream):
        assert stream is self.stream
        self.done = False
        stream.waiting.append(lambda: setattr(self, "done", True))


def test_what_is_under_way_is_not_written_over(rng):
    cupy = Cupy()
    memory = PageLocked(cupy)
    first, second = rng.integers(0, 99, (2, 40))
    large = rng.integers(0, 99, SENT // 8 - 60)
    sent = [memory.send(array) for array in (first, second, large)]
    assert cupy.others == 1  # the last, another way
    cupy.ptr = 6  # another stream, whose copies may be done before
    sent.append(memory.send(first))
    assert cupy.others == 2
    cupy.ptr = 5
    cupy.synchronize()
    for found, given in zip(sent, (first, second, large, first), strict=True):
        np.testing.assert_array_equal(found.host(), given)
    third = memory.send(second.reshape(4, 10))
    cupy.synchronize()
    np.testing.assert_array_equal(third.host(), second.reshape(4, 10))
    assert cupy.others == 2
    assert cupy.taken == [SENT]


@pytest.mark.parametrize("array", [np.zeros(0), np.zeros(SENT + 1, np.uint8), np.arange(9)[::2]], ids=str)
def test_large_empty_and_scattered_arrays_go_another_way(array):
    cupy = Cupy()
    np.testing.assert_array_equal(PageLocked(cupy).send(array).host(), array)
    assert (cupy.others, cupy.taken) == (1, [])


def test_words_are_read_with_one_wait(rng):
    cupy = Cupy()
    memory, words = PageLocked(cupy), rng.integers(-9, 9, 5).astype(np.int32)
    device = Array((5,), np.int32)
    device.host()[...] = words
    assert memory.read_words([device.data.ptr + 4 * k for k in (3, 0, 4)]) == words[[3, 0, 4]].tolist()
    np.testing.assert_array_equal(memory.read(device), words)
    assert cupy.taken == [READ]


def test_arrays_are_read_with_one_wait(rng):
    cupy = Cupy()
    memory, given = PageLocked(cupy), [rng.integers(0, 99, 5), rng.random(3), rng.integers(0, 9, 7).astype(np.uint8)]
    devices = []
    for array in given:
        devices.append(Array(array.shape, array.dtype))
        devices[-1].host()[...] = array
    found = memory.read_together(devices)
    memory.read(devices[0])  # through the same memory
    for one, other in zip(found, given, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    assert cupy.taken == [READ]


@pytest.mark.gpu
def test_a_device_is_sent_what_was_given(rng):
    backend = get_backend("cuda")
    given = [rng.integers(0, 1 << 40, int(size)) for size in rng.integers(1, 40_000, 60)]
    with backend.activate():
        busy = backend.xp.arange(1 << 24)
        sent = [(busy.sort(), backend.from_host(array))[1] for array in given]
        for found, array in zip(sent, given, strict=True):
            np.testing.assert_array_equal(backend.to_host(found), array)
