"""How fast and in how much memory a generator makes its edges, on CPU threads or on one or more GPUs of this host.

Every device has a thread (on a GPU also a stream) of its own and makes its share of the edges in blocks that are
dropped, so a graph larger than the memory can be measured; where the share fits it is one block. All begin together,
and the time is that from the first begin to the last end, by the wall clock. Short runs are repeated back to back
within one measurement. The first run, which compiles, loads and fills the memory pool, is not counted; some of its
targets are compared with those that a CPU computes for the same vertices.
"""

from __future__ import annotations

import gc
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from graphdask.bench.generation.work import Work
from graphdask.bench.memory import HighWater
from graphdask.device.backend import Backend, get_backend
from graphdask.errors import OverBudget

LONG_ENOUGH = 0.05
"""Seconds of one measurement; shorter runs are repeated within it."""
MOST_BLOCK = 1 << 36
"""Bytes of a block at most."""


@dataclass(frozen=True)
class Measurement:
    """What one case took."""

    seconds: list[float]
    """Of each counted run, wall clock."""
    back_to_back: int
    """Runs within one measurement."""
    blocks: int
    """Blocks on each device; more than one where the share was streamed."""
    held_bytes: int
    """Output that stands in memory at one time, on all devices."""
    peak_bytes: int | None
    """Growth of the memory in use at its peak, on all devices; None if it cannot be measured."""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def team(device: str, size: int) -> list[Backend]:
    """Return the backends of `size` GPUs, or so many times that of the CPU."""
    return [get_backend(device, rank) for rank in range(size)]


def measure(
    work: Work, backends: Sequence[Backend], repeats: int, seconds: float = 3.0, shortest: float = LONG_ENOUGH
) -> Measurement:
    """Measure how long the backends need together.

    Parameters
    ----------
    work : Work
    backends : sequence of Backend
        One for each share of the edges.
    repeats : int
        Counted runs; fewer where they would take longer than `seconds`, at least one.
    seconds : float
        Time for the counted runs; a case that takes longer is run once after the first run.
    shortest : float
        Seconds of a measurement at least; shorter runs are repeated within it.

    Raises
    ------
    OverBudget
        If not even a small block fits the memory.
    VerificationError
        If a device makes other edges than a CPU.
    """
    blocks = _blocks(work, backends)
    streams = [_stream(backend) for backend in backends]
    with ThreadPoolExecutor(len(backends)) as pool:
        barrier = threading.Barrier(len(backends))

        def together(times: int, check: bool = False) -> tuple[float, int]:
            """Seconds that `times` runs took, and the bytes that they held at one time."""
            ranks = range(len(backends))
            shared = (len(backends), blocks, times, barrier, check)
            futures = [pool.submit(_share, work, backends[r], streams[r], r, *shared) for r in ranks]
            errors = [error for future in futures if (error := future.exception()) is not None]
            if errors:  # a broken barrier follows from another error
                raise min(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError))
            spans = [future.result() for future in futures]
            return max(end for _, end, _ in spans) - min(begin for begin, _, _ in spans), sum(s[2] for s in spans)

        together(1, check=True)
        with _PeakMemory(backends) as memory:
            once, held = together(1)
        times = min(64, max(1, round(shortest / max(once, 1e-6))))
        counted = 0 if once > seconds else repeats
        if times > 1:  # a short run is mostly overhead of its first call
            once = together(times)[0] / times
            times = min(64, max(1, round(shortest / max(once, 1e-6))))
        counted = min(counted, max(1, int(seconds / max(once * times, 1e-9))))
        spans = [together(times)[0] / times for _ in range(counted)] or [once]
    for backend in backends:
        _pool_bytes(backend, empty=True)
    return Measurement(spans, times, blocks, held, memory.peak)


def _share(
    work: Work,
    backend: Backend,
    stream: Any,
    rank: int,
    size: int,
    blocks: int,
    times: int,
    barrier: threading.Barrier,
    check: bool,
) -> tuple[float, float, int]:
    """Make the blocks of one device; return begin, end and the bytes of the largest block."""
    held = 0
    try:
        with backend.activate(), stream:
            barrier.wait(600)
            begin = time.perf_counter()
            for _ in range(times):
                for block in range(blocks):
                    made = work.block(backend, rank * blocks + block, size * blocks)
                    held = max(held, sum(array.nbytes for array in made))
                    if check and block == 0:
                        work.check(backend, made, rank * blocks, size * blocks)
                    del made
            backend.synchronize()
            return begin, time.perf_counter(), held
    except BaseException:
        barrier.abort()  # the others must not wait for this one
        raise


def _stream(backend: Backend) -> Any:
    """A stream for all runs of a device: the memory pool keeps what was freed apart for each stream."""
    if backend.name == "cpu":
        return nullcontext()
    with backend.activate():
        return backend.xp.cuda.Stream(non_blocking=True)


def _pool_bytes(backend: Backend, empty: bool = False) -> int:
    """What the memory pool of a GPU holds, after giving back what is not in use if `empty`; 0 on the CPU."""
    if backend.name == "cpu":
        return 0
    with backend.activate():
        pool = backend.xp.get_default_memory_pool()
        if empty:
            pool.free_all_blocks()
        return int(pool.total_bytes())


def _blocks(work: Work, backends: Sequence[Backend]) -> int:
    """Blocks for each device, so that one takes at most half of what is free."""
    if not work.divisible:
        return 1
    share = -(-work.num_edges * work.bytes_per_edge // len(backends))
    free = min(backend.free_memory() for backend in backends)
    if backends[0].name == "cpu":
        free //= len(backends)
    if free < 1 << 20:
        raise OverBudget(f"{free} bytes are free on {backends[0].description}; a benchmark needs 1 MiB at least")
    return -(-share // min(free // 2, MOST_BLOCK))


@contextmanager
def kept_apart() -> Iterator[None]:
    """Leave what is there already out of the collections of garbage before each case, which take longer than a small
    case to go through all of it."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class _PeakMemory:
    """Growth of the memory in use at its peak, while the context is open.

    On the CPU the high-water mark of the process, which Linux lets a process reset; on GPUs what CuPy's pool, emptied
    before, has taken from the driver.
    """

    def __init__(self, backends: Sequence[Backend]):
        self.gpus = [backend for backend in backends if backend.name == "cuda"]
        self.peak: int | None = None

    def __enter__(self) -> _PeakMemory:
        self._process = HighWater().__enter__()
        self._before = [_pool_bytes(gpu, empty=True) for gpu in self.gpus]
        return self

    def __exit__(self, *exception: Any) -> None:
        if self.gpus:
            self.peak = sum(_pool_bytes(gpu) - before for gpu, before in zip(self.gpus, self._before, strict=True))
            return
        self._process.__exit__()
        self.peak = self._process.bytes
