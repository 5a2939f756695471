"""Kernels of a GPU that are compiled ahead, in threads, beside what a process does before it needs them.

Where nothing is kept yet, a family of kernels takes NVRTC 0.1 to 1.5 s, and a first call needs several. So a call names
those that it is going to need when it begins (`engine.Primitive.families`). Threads compile them while edges are made
and sorted, and a call that needs one of them waits for its thread. When CuPy has compiled a few of its own kernels, one
after the other, for a call, that call is going to need more: threads compile those that calls use most.
"""

from __future__ import annotations

import operator as op
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

MOST_THREADS = 8
"""Threads that compile families at the same time."""
FOR_CUPY = 3
"""Threads that compile CuPy's kernels. NVRTC takes a lock for a part of each: on an H100's host 30 of them take 3.0 s
one after the other, and 1.4 s by 8 threads, so that each takes three times as long; those that somebody waits for, too.
"""
SEVERAL = 10
"""Kernels that CuPy compiles for calls before those are compiled ahead that calls use most. First calls of BFS,
components, PageRank and core numbers need fewer, and nobody compiles beside them; triangles need 28, Louvain 63.
"""
PROCESSORS = 8
"""Processors from which on that is done: on fewer, kernels that nobody needs would take the time of others."""


class Family(NamedTuple):
    """Kernels as `Backend.kernels` takes them."""

    name: str
    cooperative: bool
    types: tuple[tuple[str, Any], ...]


def family(name: str, *, cooperative: bool = False, **types: Any) -> Family:
    """Name a family with its types."""
    return Family(name, cooperative, tuple(types.items()))


class Ahead:
    """What is compiled ahead for a device.

    Parameters
    ----------
    backend : CudaBackend
    alone : callable
        Whether this process uses one device. While kernels of several wait for each other, none can be loaded.
    """

    def __init__(self, backend: Any, alone: Callable[[], bool]):
        self._backend, self._alone = backend, alone
        self._jobs, self._begun = Jobs(MOST_THREADS), set[Family]()
        self._ours = threading.local()
        """`compiling`: whether the thread compiles a family, or ahead."""
        self._of_cupy = 0
        """Kernels that CuPy has compiled for calls."""

    def families(self, families: Iterable[Family]) -> None:
        """Let threads compile those of these families that nobody has named before."""
        new = [each for each in families if each not in self._begun]
        if new and self._alone():
            self._begun.update(new)
            kernels = self._backend.kernels
            jobs = (partial(kernels, name, cooperative=together, **dict(types)) for name, together, types in new)
            self._jobs.give(jobs, before_others=True)

    @contextmanager
    def by_us(self) -> Iterator[None]:
        """While this thread compiles what no call of CuPy asked for."""
        self._ours.compiling = True
        try:
            yield
        finally:
            self._ours.compiling = False

    def compiled(self, begins: bool) -> None:
        """Note that a kernel is compiled now, or was; if it was one more of CuPy's, compile others of its ahead."""
        if begins or getattr(self._ours, "compiling", False):
            return
        self._of_cupy += 1
        if self._of_cupy == SEVERAL and self._alone():
            Jobs(FOR_CUPY).give(partial(self._beside, job) for job in kernels_of_cupy(self._backend.xp))

    def _beside(self, job: Callable[[], object]) -> None:
        with self.by_us(), self._backend.activate(), self._backend.xp.cuda.Stream(non_blocking=True):
            job()


class Jobs:
    """Threads that do jobs in the order in which these are given. A thread ends when no job is left."""

    def __init__(self, most: int):
        self._most = min(most, len(os.sched_getaffinity(0)))
        self._lock, self._running = threading.Lock(), 0
        self._left: deque[Callable[[], object]] = deque()

    def give(self, jobs: Iterable[Callable[[], object]], before_others: bool = False) -> None:
        """Begin with these jobs after those that are left, or before them. What a job raises is dropped."""
        with self._lock:
            if before_others:
                self._left.extendleft(reversed(list(jobs)))
            else:
                self._left.extend(jobs)
            more = min(self._most - self._running, len(self._left))
            self._running += more
        for _ in range(more):
            threading.Thread(target=self._work, name="graphdask-compile").start()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            with suppress(Exception):  # a call that needs the kernel meets the same error
                job()

    def _next(self) -> Callable[[], object] | None:
        """The next job; none when the process ends, which waits for the threads."""
        with self._lock:
            if self._left and threading.main_thread().is_alive():
                return self._left.popleft()
            self._running -= 1
            return None


def kernels_of_cupy(xp: Any) -> list[Callable[[], object]]:
    """What calls use most of CuPy's arrays; the first use of each makes CuPy compile a kernel.

    They stand in the order in which calls meet them. Each works on new arrays, so that threads have none in common.
    """

    def use(function: Callable[..., object], types: list[Any]) -> object:
        return function(*(xp.zeros(2, dtype) for dtype in types))

    few = len(os.sched_getaffinity(0)) < PROCESSORS
    return [] if few else [partial(use, function, types) for function, *types in _uses(xp)]


def _uses(xp: Any) -> Iterator[tuple[Any, ...]]:
    """A function, and the types of the arrays that it is called with."""
    i64, i32, u64, u32, u8, truth = np.int64, np.int32, np.uint64, np.uint32, np.uint8, np.bool_
    each: Any
    for each in (i32, i64):
        yield lambda a: xp.arange(2, dtype=a.dtype), each
        yield lambda a, b: xp.concatenate([a, b]), each, each
        yield op.getitem, each, i64
        yield op.getitem, each, truth
        yield op.sub, each, each
        yield op.ne, each, each
        yield op.eq, each, each
        yield lambda a: a.fill(1), each
    yield op.getitem, i64, i32
    yield op.getitem, i32, i32
    yield lambda a: a.astype(i64), i32
    yield lambda a: a.astype(i32), i64
    yield op.add, i64, i64
    yield lambda a: a > 0, i64
    yield lambda a: a - 1, i64
    yield lambda a: a + 1, i64
    yield xp.flatnonzero, truth
    yield xp.searchsorted, i64, i64
    yield op.setitem, i64, i64, i64
    yield lambda a, b: op.setitem(a, b, 0), i64, truth
    yield op.lt, i64, i64
    yield lambda a: a < 1, i64
    yield lambda a: a * 2, i64
    yield lambda a: a // 3, i64
    yield lambda a: a % 3, i64
    yield lambda a: a >> 1, i64
    yield lambda a: a & 1, i64
    yield op.mul, i64, i64
    yield lambda a: a <= 1, i64
    yield lambda a: a >= 1, i64
    yield xp.cumsum, truth
    yield xp.unique, i64
    yield lambda a, b: xp.where(a, b, 0), truth, i64
    yield xp.where, truth, i64, i64
    yield op.invert, truth
    yield op.and_, truth, truth
    yield op.or_, truth, truth
    for each in (i64, i32):
        yield xp.add.at, u64, each, u64
    yield lambda a: a < 1, i32
    yield lambda a: a >= 1, i32
    yield lambda a: a - i32(1), i32
    yield lambda a: a + i32(1), i32
    yield op.lt, i32, i64
    yield op.setitem, i32, i32, i32
    yield lambda a, b: op.setitem(a, b, 0), i32, truth
    yield lambda a: a.astype(i64), truth
    yield lambda a: a.astype(u8), truth
    yield lambda a: a.astype(truth), u8
    yield lambda a, b: op.setitem(a, b, 1), u8, i64
    yield lambda a, b: op.setitem(a, b, True), truth, i32
    for each in (u8, truth, np.float64, np.float32):
        yield lambda a: a.fill(1), each
        yield op.getitem, each, i64
    for each in (np.float64, np.float32):
        yield op.mul, each, each
        yield op.add, each, each
        yield op.sub, each, each
    yield xp.searchsorted, i32, i32
    yield lambda a: a.astype(i64), u32
    yield lambda a: a.astype(u64), i64
    yield lambda a: a * u64(3), u64
    yield lambda a: a + u64(3), u64
    yield lambda a: a >> u64(3), u64
    yield op.xor, u64, u64
    yield lambda a: a.astype(u8), u64
