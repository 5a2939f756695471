"""A resident set: partitions of arrays in host memory, some of which are on the device at a time.

On a GPU the host's arrays are page-locked and copied on a stream of their own, so that copies run beside kernels:
events make kernels wait for what they read, and copies for the kernels that still read what they replace. On a CPU
"on the device" is a copy in main memory, of arrays that may be mapped from a file.

Source: Pandey et al., c-saw, Section V-B (asynchronous copies of partitions, a stream for each kernel).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend, CudaBackend

STAGED = 1 << 24
"""Bytes of an array from which on it is fetched from a GPU by pieces."""
PIECE, STAGES = 1 << 21, 8
"""Bytes of a piece, and how many are on their way."""
Piece = Mapping[str, np.ndarray]
"""Arrays of a partition by name, with entries of the same shapes and dtypes in all partitions."""


def page_locked(backend: Backend, array: np.ndarray) -> np.ndarray:
    """A copy of an array that a GPU reads while its kernels run; on a CPU the array itself."""
    if not isinstance(backend, CudaBackend) or not array.size:
        return array
    locked = page_locked_buffer(backend, array.nbytes).view(array.dtype).reshape(array.shape)
    locked[...] = array
    return locked


def page_locked_buffer(backend: Backend, nbytes: int) -> np.ndarray:
    """Return host memory, uint8; for a GPU it is page-locked, so that copies run beside kernels."""
    if not isinstance(backend, CudaBackend) or not nbytes:
        return np.empty(nbytes, np.uint8)
    cuda = backend.xp.cuda
    # not from CuPy's pool, which rounds up to a power of two
    return np.ndarray(nbytes, np.uint8, cuda.PinnedMemoryPointer(cuda.PinnedMemory(nbytes), 0))


def fetched(array: Array, out: np.ndarray | None = None) -> np.ndarray:
    """An array of any device as a NumPy array, `out` where it is given, else one in host memory is itself.

    A large one of a GPU comes by way of page-locked memory, a piece at a time, from which threads copy it to where it
    stays: the first touch of new memory takes several times as long as the bus.
    """
    staged = hasattr(array, "get") and array.nbytes >= STAGED and array.flags.c_contiguous
    if not staged or type(array).__module__.partition(".")[0] != "cupy":
        there = array.get() if hasattr(array, "get") else np.asarray(array)
        if out is None:
            return there
        out[...] = there
        return out
    import cupyx

    made = np.empty(array.shape, array.dtype) if out is None else out
    source, target = array.reshape(-1).view(np.uint8), made.reshape(-1).view(np.uint8)
    with array.device, ThreadPoolExecutor(STAGES) as threads:
        buffers = [cupyx.empty_pinned(PIECE, np.uint8) for _ in range(STAGES)]
        copies: list[Future[None] | None] = [None] * STAGES
        for number, begin in enumerate(range(0, len(source), PIECE)):
            stage, end = number % STAGES, min(begin + PIECE, len(source))
            before, buffer = copies[stage], buffers[stage][: end - begin]
            if before is not None:
                before.result()
            source[begin:end].get(out=buffer)
            copies[stage] = threads.submit(np.copyto, target[begin:end], buffer)
        for copy in copies:
            if copy is not None:
                copy.result()
    return made


def sent(backend: Backend, array: np.ndarray) -> Array:
    """A copy on the device.

    A large one goes by way of page-locked memory, a piece at a time, to which threads copy it: CuPy would page-lock
    memory for all of it, which takes longer than the copy.
    """
    if not isinstance(backend, CudaBackend) or array.nbytes < STAGED or not array.flags.c_contiguous:
        return backend.from_host(array)
    import cupyx

    cuda, made = backend.xp.cuda, backend.xp.empty(array.shape, array.dtype)
    source, target = array.reshape(-1).view(np.uint8), made.reshape(-1).view(np.uint8)
    pieces = [slice(begin, min(begin + PIECE, len(source))) for begin in range(0, len(source), PIECE)]
    buffers = [cupyx.empty_pinned(PIECE, np.uint8) for _ in range(STAGES)]
    copied = [cuda.Event(disable_timing=True) for _ in range(STAGES)]

    def fill(number: int) -> np.ndarray:
        stage, piece = number % STAGES, pieces[number]
        if number >= STAGES:
            copied[stage].synchronize()
        buffer = buffers[stage][: piece.stop - piece.start]
        np.copyto(buffer, source[piece])
        return buffer

    stream = cuda.get_current_stream()
    with ThreadPoolExecutor(STAGES) as threads:
        filled = [threads.submit(fill, number) for number in range(min(STAGES, len(pieces)))]
        for number, piece in enumerate(pieces):
            target[piece].set(filled[number].result(), stream=stream)
            copied[number % STAGES].record(stream)
            if number + STAGES < len(pieces):
                filled.append(threads.submit(fill, number + STAGES))
    stream.synchronize()  # the buffers are anybody's now
    return made


HOST_MEMORY = 1
"""What CUDA calls page-locked memory of the host; other memory of the host is 0, unregistered."""


def give_back(backend: Backend) -> None:
    """Return unused memory of a pool to the device, because the pool cannot make a larger array of it."""
    if backend.name == "cuda" and hasattr(backend.xp, "get_default_memory_pool"):
        backend.synchronize()
        backend.xp.get_default_memory_pool().free_all_blocks()


def seen_in_place(backend: Backend, array: np.ndarray) -> Array:
    """An array as kernels read it over the bus, page-locked first if it is not; on a CPU the array itself."""
    if not isinstance(backend, CudaBackend):
        return backend.from_host(array)
    if not array.size:
        return backend.xp.empty(array.shape, array.dtype)
    cuda = backend.xp.cuda
    if cuda.runtime.pointerGetAttributes(array.ctypes.data).type != HOST_MEMORY:
        array = page_locked(backend, array)
    # one address space: a GPU takes the host's address of page-locked memory
    memory = cuda.UnownedMemory(array.ctypes.data, array.nbytes, array, backend.device)
    return backend.xp.ndarray(array.shape, array.dtype, cuda.MemoryPointer(memory, 0))


def on_device(backend: Backend, array: np.ndarray) -> Array:
    """A copy on the device, straight from memory that is page-locked."""
    out = backend.xp.empty(array.shape, array.dtype)
    _copy(out, array)
    return out


class ResidentSet:
    """Memory for `slots` partitions on the device, and the partitions that are resident in it.

    Parameters
    ----------
    backend : Backend
    pieces : sequence of mappings
        The partitions.
    slots : int
    lengths : mapping, optional
        By name, the number of entries that a slot can hold. Default: that of the longest partition.

    Attributes
    ----------
    pools : dict
        By name, the memory of all slots, one after the other.
    transfers, nbytes : int
        Partitions that were copied to the device so far, and all bytes that were.
    """

    def __init__(self, backend: Backend, pieces: Sequence[Piece], slots: int, lengths: Mapping[str, int] | None = None):
        self._backend, self._pieces, self._lengths = backend, pieces, lengths or longest(pieces)
        self.pools = {
            name: backend.xp.empty((slots * self._lengths[name], *array.shape[1:]), array.dtype)
            for name, array in pieces[0].items()
        }
        self._count, self._free = slots, list(range(slots))
        self._slots: dict[int, int] = {}
        """By partition; in the order in which they came."""
        self._arrays: dict[int, dict[str, Array]] = {}
        """Those of the partitions that are there."""
        self._seen: dict[int, dict[str, Array]] = {}
        """Those of partitions that have been read in place."""
        self._copies = _CudaCopies(backend, slots) if isinstance(backend, CudaBackend) else _Copies()
        self.transfers = self.nbytes = 0

    def __contains__(self, number: int) -> bool:
        return number in self._slots

    @property
    def numbers(self) -> list[int]:
        """The partitions that are on the device, or on their way."""
        return list(self._slots)

    @property
    def free_slots(self) -> int:
        """Number of free slots."""
        return len(self._free)

    def start(self, number: int) -> None:
        """Begin to copy a partition to the device. It must not be resident, and a slot must be free."""
        slot, piece = self._free.pop(0), self._pieces[number]
        arrays = {name: self.pools[name][slot * length :][:length] for name, length in self._lengths.items()}
        arrays = {name: arrays[name][: len(array)] for name, array in piece.items()}
        with self._copies.into(slot) as copy:
            for name, array in piece.items():
                if len(array):
                    copy(arrays[name], array)
                self.nbytes += array.nbytes
        self._slots[number], self._arrays[number] = slot, arrays
        self.transfers += 1

    def __getitem__(self, number: int) -> dict[str, Array]:
        """The arrays of a partition; what the current stream is given from now on waits until they are copied."""
        self._copies.wait(self._slots[number])
        return self._arrays[number]

    def slot(self, number: int) -> int:
        """Which slot of the pools a partition has, for which the current stream waits likewise."""
        self._copies.wait(self._slots[number])
        return self._slots[number]

    def in_place(self, number: int) -> dict[str, Array]:
        """The arrays of a partition where the host has them, which kernels read over the bus."""
        if number not in self._seen:
            piece = self._pieces[number]
            self._seen[number] = {name: seen_in_place(self._backend, array) for name, array in piece.items()}
        return self._seen[number]

    def release(self, number: int) -> None:
        """Let another partition take the place of this one, after what the current stream has been given so far."""
        slot = self._slots.pop(number)
        del self._arrays[number]
        self._copies.used(slot)
        self._free.append(slot)

    def close(self) -> None:
        """Wait for copies that nobody has waited for; the host's arrays may go then."""
        self._copies.finish()

    def visit(self, numbers: Sequence[int]) -> Iterator[tuple[int, dict[str, Array]]]:
        """Iterate over partitions and their arrays; later partitions are copied meanwhile."""
        for (number,) in self.visit_together([[number] for number in numbers]):
            yield number, self[number]

    def visit_together(self, groups: Sequence[Sequence[int]]) -> Iterator[Sequence[int]]:
        """Iterate over groups of partitions, each of which fits the slots; later groups are copied meanwhile."""
        for place, group in enumerate(groups):
            ahead = [number for each in groups[place:] for number in each][: self._count]
            for wanted in ahead:
                if wanted not in self._slots:
                    if not self._free:
                        self.release(next(held for held in self._slots if held not in ahead))
                    self.start(wanted)
            yield group


class Lanes:
    """Streams for launches that run beside each other; on a CPU one runs after the other."""

    def __init__(self, backend: Backend, count: int):
        self._streams: list[Any] = []
        self._events: list[Any] = []
        """Of each lane when it is joined, and of the stream that they fork from."""
        self._used, self._xp = 0, backend.xp
        if isinstance(backend, CudaBackend):
            cuda = backend.xp.cuda
            self._streams = [cuda.Stream(non_blocking=True) for _ in range(count)]
            self._events = [cuda.Event(disable_timing=True) for _ in range(count + 1)]

    def fork(self, launches: int) -> None:
        """Make ready for so many launches: lanes wait for what the current stream has been given so far.

        No more lanes are taken than there are launches; one alone stays on the current stream.
        """
        self._used = min(launches, len(self._streams)) if launches > 1 else 0
        if self._used:
            self._events[-1].record(self._xp.cuda.get_current_stream())
            for stream in self._streams[: self._used]:
                stream.wait_event(self._events[-1])

    def __getitem__(self, launch: int) -> Any:
        """Context manager for a launch since `fork`, by its number."""
        return self._streams[launch % self._used] if self._used else nullcontext()

    def join(self) -> None:
        """Let the current stream wait for the lanes that were taken."""
        for stream, event in zip(self._streams[: self._used], self._events, strict=False):
            event.record(stream)
            self._xp.cuda.get_current_stream().wait_event(event)


def longest(pieces: Sequence[Piece]) -> dict[str, int]:
    """By name, entries of the longest array."""
    return {name: max(len(piece[name]) for piece in pieces) for name in pieces[0]}


class _Copies:
    """Copies that are done when the call returns."""

    @contextmanager
    def into(self, slot: int) -> Iterator[Any]:
        yield _copy

    def wait(self, slot: int) -> None:
        pass

    def used(self, slot: int) -> None:
        pass

    def finish(self) -> None:
        pass


def _copy(out: Array, array: np.ndarray) -> None:
    if isinstance(out, np.ndarray):
        out[...] = array
    elif array.size:
        out.set(array)


class _CudaCopies(_Copies):
    """Copies on a stream of their own; an event for each slot when it is filled, and when it may be filled again."""

    def __init__(self, backend: Backend, slots: int):
        self._cuda = backend.xp.cuda
        self._stream = self._cuda.Stream(non_blocking=True)
        self._filled = [self._cuda.Event(disable_timing=True) for _ in range(slots)]
        self._unused = [self._cuda.Event(disable_timing=True) for _ in range(slots)]
        for slot in range(slots):  # whose memory may have been somebody's before
            self.used(slot)

    @contextmanager
    def into(self, slot: int) -> Iterator[Any]:
        self._stream.wait_event(self._unused[slot])
        yield lambda out, array: out.set(array, stream=self._stream)
        self._filled[slot].record(self._stream)

    def wait(self, slot: int) -> None:
        self._cuda.get_current_stream().wait_event(self._filled[slot])

    def used(self, slot: int) -> None:
        self._unused[slot].record(self._cuda.get_current_stream())

    def finish(self) -> None:
        self._stream.synchronize()
