"""HostChunks: chunks of a store in page-locked host memory, from which a device takes them; threads read ahead.

Chunks stay as long as memory allows, also from one run to the next. The other chunks pass through a few buffers. Each
of several ranks has its own HostChunks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend, get_backend
from graphdask.device.readback import Readback, readback_of
from graphdask.device.residency import page_locked_buffer, seen_in_place
from graphdask.errors import OverBudget
from graphdask.stream.format import Section
from graphdask.stream.own_chunks import Own
from graphdask.stream.store import Store

STAGES = 4
"""Buffers for chunks that do not stay."""
READERS = 8
"""Threads at most."""
Key = tuple[str, int]
Done = Callable[[], Any] | None
"""Waits until a buffer may be changed."""


class Shelf:
    """Where a rank has its HostChunks from one run to the next; they are made when a device first asks for them.

    Parameters
    ----------
    own : Own
        What the rank will ask for.
    memory : int, optional
        Bytes. Default: the part `share` of what is free then.
    """

    def __init__(self, store: Store, own: Own, memory: int | None, share: float):
        self._given = store, own, memory, share
        self._made: HostChunks | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Shelf, self._given

    def __call__(self, backend: Backend) -> HostChunks:
        if self._made is None:
            store, own, memory, share = self._given
            if memory is None:
                memory = int(get_backend("cpu").free_memory() * share)
            self._made = HostChunks(store, backend, memory, own)
        return self._made


class HostChunks:
    """Chunks in host memory, within a number of bytes.

    Attributes
    ----------
    lock : Lock
        Held by the run that uses it.
    nbytes : int
        That were read from the file so far.
    """

    def __init__(self, store: Store, backend: Backend, memory: int, own: Own):
        self._store, self._backend, self._own = store, backend, own
        self.lock, self.nbytes = Lock(), 0
        self._kept: dict[Key, np.ndarray] = {}
        self._seen: dict[Key, Array] = {}
        """Of those that stay, what kernels read in place."""
        self._coming: dict[Key, tuple[Future[np.ndarray], int | None]] = {}
        self._columns: dict[str, np.ndarray] = {}
        self._readbacks: dict[int, Readback] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._memory = self._free_bytes = memory - 8 * store.num_vertices
        self._stages: list[np.ndarray] = []
        self._free: list[tuple[int, Done]] = []

    @contextmanager
    def reading(self, wanted: Own | None = None) -> Iterator[None]:
        """Threads read while it lasts, those chunks that are wanted: by default the rank's own.

        Raises
        ------
        OverBudget
            Where not one of them fits.
        """
        count = min(READERS, len(os.sched_getaffinity(0)))
        with self.lock, ThreadPoolExecutor(count, "graphdask-read") as self._pool:
            try:
                self._make_stages(self._own if wanted is None else wanted)
                yield
            finally:
                for key in list(self._coming):
                    self._give_up(key)
                self._pool = None

    def _make_stages(self, wanted: Own) -> None:
        """Make buffers if the wanted chunks cannot all stay; chunks that stay are released to free memory for them."""
        sections, memory = self._store.sections, self._memory
        sizes = [sum(section.sizes(k)) for name, section in sections.items() for k in wanted.chunks[name]]
        most, total = max(sizes, default=0), sum(sizes)
        if total <= memory - sum(map(len, self._stages)) or (self._stages and most <= len(self._stages[0])):
            return
        if memory < most:
            raise OverBudget(
                f"chunks of {self._store.path} have up to {most / 2**20:,.1f} MiB, and of host_memory= "
                f"{max(memory, 0) / 2**20:,.1f} MiB are left for them; give more, or build the file with a smaller "
                "chunk="
            )
        count = max(1, min(STAGES, memory // max(most, 1) // 2))
        self._free_bytes += sum(map(len, self._stages)) - count * most
        self._stages = []
        while self._free_bytes < 0:
            key, array = self._kept.popitem()
            self._seen.pop(key, None)
            self._free_bytes += len(array)
        self._stages = [page_locked_buffer(self._backend, most) for _ in range(count)]
        self._free = [(stage, None) for stage in range(count)]

    @property
    def sections(self) -> dict[str, Section]:
        """Of the store."""
        return self._store.sections

    @property
    def all_stay(self) -> bool:
        """Whether host memory can hold all chunks that are wanted."""
        return not self._stages

    def in_place(self, section: Section, number: int) -> Array:
        """The bytes of a chunk that stays, as kernels read them where they are."""
        key = section.name, number
        if key not in self._seen:
            self._seen[key] = seen_in_place(self._backend, self.take(section, number)[0])
        return self._seen[key]

    def ask(self, section: Section, number: int) -> bool:
        """Begin to read a chunk, unless it is in memory or being read.

        Return False if there is neither memory nor a free buffer for it.
        """
        key = section.name, number
        if key in self._kept or key in self._coming:
            return True
        assert self._pool is not None
        size = sum(section.sizes(number))
        if size <= self._free_bytes:
            self._free_bytes -= size
            self._coming[key] = self._pool.submit(self._read, section, number, None, None), None
        elif self._free:
            stage, done = self._free.pop(0)
            self._coming[key] = self._pool.submit(self._read, section, number, self._stages[stage], done), stage
        else:
            return False
        return True

    def ready(self, section: Section, number: int) -> bool:
        """Whether `take` would not wait."""
        key = section.name, number
        return key in self._kept or (key in self._coming and self._coming[key][0].done())

    def take(self, section: Section, number: int) -> tuple[np.ndarray, Callable[[Done], None]]:
        """Return the bytes of a chunk, and a function to call with a `Done` that waits until they have been copied."""
        key = section.name, number
        while not self.ask(section, number):
            self._give_up(next(key for key, (_, stage) in self._coming.items() if stage is not None))
        if key in self._kept:
            return self._kept[key], _ignore
        future, stage = self._coming[key]
        try:
            array = future.result()
        except BaseException:
            self._give_up(key)
            raise
        del self._coming[key]
        if stage is None:
            self._kept[key] = array
            return array, _ignore
        free = self._free
        return array, lambda done: free.append((stage, done))

    def _read(self, section: Section, number: int, stage: np.ndarray | None, done: Done) -> np.ndarray:
        size = sum(section.sizes(number))
        if done is not None:
            done()
        array = page_locked_buffer(self._backend, size) if stage is None else stage[:size]
        self._store.read(section, number, array)
        self.nbytes += size
        return array

    def _give_up(self, key: Key) -> None:
        """A chunk that was asked for; one that has been read and has a place of its own stays."""
        future, stage = self._coming.pop(key)
        fine = not future.cancel() and future.exception() is None
        if stage is not None:
            self._free.append((stage, None))
        elif fine:
            self._kept[key] = future.result()
        else:
            self._free_bytes += sum(self._store.sections[key[0]].sizes(key[1]))

    def column(self, name: str) -> np.ndarray:
        """int32: `ids`, the vertex numbers by position, or `degrees`, numbers of out-edges of the own rows."""
        if name not in self._columns:
            store, own = self._store, self._own
            own = Own.whole(store) if name == "ids" else own
            made = page_locked_buffer(self._backend, 4 * own.count).view(np.int32)
            for first, degrees, ids in store.rows(store.sections["out"], own.chunks["out"]):
                at = first - own.begin
                made[at : at + len(degrees)] = ids if name == "ids" else degrees.view(np.int32)
            self._columns[name] = made
        return self._columns[name]

    def readback(self, length: int) -> Readback:
        """Return the `Readback` that copies `length` words of the device to the host, one copy at a time.

        It is kept, because it takes long to make page-locked memory.
        """
        if length not in self._readbacks:
            self._readbacks[length] = readback_of(self._backend, length, 1)
        return self._readbacks[length]


def _ignore(done: Done) -> None:
    """What stays is not changed."""
